// A library that hands on what the package gave it: its declarations must be able to say what that is.
import type { AgentEvent, ContentPart } from 'coxswain';
import {
  agentTool,
  auditOf,
  createHost,
  createView,
  defineTool,
  fromAgent,
  LlmAgent,
  readStream,
  run,
  subagentTool,
} from 'coxswain';
import { connect } from 'coxswain/client';
import { z } from 'zod';
export const tool = defineTool({
  name: 'read_note',
  description: 'x',
  inputSchema: z.object({ name: z.string() }),
  execute: ({ name }) => name,
});
export const agent = new LlmAgent({ name: 'bot', outputSchema: z.object({ a: z.string() }) });
export const host = createHost({ app: 'x', agents: [agent], tools: [tool] });
export const session = await host.open('bot');
export const stream = session.stream('x');
export const result = await run(session, 'x');
export const pending = await session.pending();
export const first = pending[0];
export const events = session.events();
export const approvals = host.approvals;
export const list = await host.approvals.list();
export const reading = readStream(stream);
export const view = createView();
export const messages = view.messages;
export const threads = view.threads;
export const items = view.items;
export const audit = await auditOf(events);
export const outcome = audit[0]?.outcome;
export const provider = host.sessions();
export const source = fromAgent(agent);
export const sub = subagentTool(source);
export const at = agentTool(agent);
export const answered = await session.respond('x', { kind: 'approve' });
export const remote = await connect('ws://x');
export const rs = await remote.open('bot');
export const part = (p: ContentPart) => {
  if (p.type !== 'text') throw new Error('no text');
  return p;
};
export const message = (e: AgentEvent) => {
  if (e.type !== 'message') throw new Error('no message');
  return e;
};
