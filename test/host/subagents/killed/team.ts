/**
 * One process of a team that is killed: `node team.ts STORE NOTES [NAME…]`. Opens the session, says yes to the
 * questions about the named tools, shows each event's kind and what is pending as lines of JSON, and waits to be
 * killed. The notes outlive it: what ran, and which agents were asked.
 */
import { appendFileSync } from 'node:fs';
import { SqliteSessionService } from '../../../../src/adapters/stores/sql/open-sqlite.ts';
import type { AnyAgentTool, AnyTool } from '../../../../src/contracts/index.ts';
import { createHost, fromAgent, subagentTool } from '../../../../src/index.ts';
import type { Agent, Model } from '../../../../src/runtime/index.ts';
import { agentTool, LlmAgent, ParallelAgent, SequentialAgent } from '../../../../src/runtime/index.ts';

const [store = '', notes = '', ...yes] = process.argv.slice(2);
const note = (line: string) => appendFileSync(notes, `${line}\n`);
const show = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Calls its tool, if it has one that has not answered yet; then says its name. */
const model: Model = {
  name: 'rules',
  async *generate({ agent, contents, tools }) {
    note(`asked ${agent}`);
    const answered = contents.at(-1)?.parts.some(({ type }) => type === 'function_response');
    const tool = [...tools.keys()].find((name) => name === calls[agent]);
    const parts =
      tool && !answered
        ? [{ type: 'function_call' as const, id: '', name: tool, args: { request: 'go' } }]
        : [{ type: 'text' as const, text: `${agent} done` }];
    yield { content: { role: 'model', parts } };
  },
};

/** Which tool each agent calls. */
const calls: Record<string, string> = {
  left: 'ask_expert',
  expert: 'pay',
  right: 'helper',
  helper: 'ship',
  middle: 'count',
};

function tool(name: string): AnyTool {
  return {
    name,
    description: name,
    inputSchema: { type: 'object' },
    execute: (_, context) => {
      note(`ran ${name} for ${context.agentPath.join('/')}`);
      return `${name} done`;
    },
  };
}

const llm = (name: string, tools: AnyAgentTool[] = []) =>
  new LlmAgent({ name, model, tools, outputKey: `said_${name}` });
const team: Agent = new SequentialAgent({
  name: 'team',
  subAgents: [
    llm('first'),
    new ParallelAgent({
      name: 'all',
      subAgents: [llm('left', [agentTool(llm('expert'), { name: 'ask_expert' })]), llm('middle'), llm('right')],
    }),
    llm('last'),
  ],
});

const host = createHost({
  app: 'killed',
  agents: [team],
  tools: [tool('pay'), tool('ship'), tool('count'), subagentTool(fromAgent(llm('helper')))],
  store: new SqliteSessionService(store),
  policy: { evaluate: ({ action }) => ({ outcome: ['pay', 'ship'].includes(action) ? 'ask' : 'allow' }) },
});
const session = await host.open('team', { sessionId: 's', create: true });
const asked = (await session.pending()).filter(({ name, approval }) => approval && yes.includes(name ?? ''));
const answers = asked.map(({ requestId }) => ({ kind: 'tool_approval' as const, requestId }));
for await (const event of session.stream(answers.length > 0 ? answers : 'go', { streaming: false })) {
  show({ type: event.type, ...('name' in event ? { name: event.name } : {}) });
  if (event.type === 'stream_end') show({ end: event.reason, state: await stateOf() });
}
show({ pending: (await session.pending()).map(({ name, agentPath }) => `${agentPath.join('/')} ${name}`).sort() });
setInterval(() => {}, 1000);

async function stateOf(): Promise<string[]> {
  return Object.keys((await host.sessions().load('s'))?.state ?? {}).sort();
}
