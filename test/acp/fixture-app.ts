import * as acp from '@agentclientprotocol/sdk';
import type { FixtureCall, FixtureEntry } from '../../src/conformance/index.ts';
import { answerFixture } from '../../src/conformance/index.ts';
import { after } from '../conformance/fixture-model.ts';

const options: acp.PermissionOption[] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

/** An agent, made with the official SDK, that does what fixture messages say. */
export function fixtureApp(): acp.AgentApp {
  const sessions = new Map<string, { entries: FixtureEntry[]; stop: AbortController }>();
  let made = 0;
  return acp
    .agent({ name: 'fixture' })
    .onRequest('initialize', () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {} }))
    .onRequest('session/new', () => {
      const sessionId = `s-${made++}`;
      sessions.set(sessionId, { entries: [], stop: new AbortController() });
      return { sessionId };
    })
    .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId)?.stop.abort())
    .onRequest('session/prompt', async ({ params: { sessionId, prompt }, client }) => {
      const session = sessions.get(sessionId) ?? { entries: [], stop: new AbortController() };
      session.stop = new AbortController();
      const { entries } = session;
      const text = prompt.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
      entries.push({ role: 'user', text });
      const update = (it: acp.SessionUpdate) => client.notify('session/update', { sessionId, update: it });
      for (;;) {
        const step = answerFixture(entries);
        if (step.fail !== undefined) throw acp.RequestError.internalError(undefined, step.fail);
        if (step.wait) {
          const { signal } = session.stop;
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        }
        if (step.waitMs !== undefined) await after(step.waitMs, session.stop.signal).catch(() => {});
        if (session.stop.signal.aborted) return { stopReason: 'cancelled' };
        if (step.thought) {
          await update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: step.thought } });
        }
        for (const words of step.text?.match(/\S+\s*/g) ?? []) {
          await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } });
        }
        const asked = step.ask ? [{ name: 'ask_person', args: step.ask }] : [];
        const calls = [...asked, ...(step.calls ?? [])].map((call) => ({ ...call, id: `c-${made++}` }));
        entries.push({ role: 'agent', calls });
        if (calls.length === 0) return { stopReason: 'end_turn' };
        entries.push(...(await Promise.all(calls.map((call) => run(client, sessionId, call)))));
        if (session.stop.signal.aborted) return { stopReason: 'cancelled' };
      }
    });
}

async function run(
  client: acp.AgentContext,
  sessionId: string,
  { id, name, args }: FixtureCall & { id: string },
): Promise<FixtureEntry> {
  const toolCall: acp.ToolCall = {
    toolCallId: id,
    title: name,
    name,
    kind: 'other',
    status: 'pending',
    rawInput: args,
  };
  await client.notify('session/update', { sessionId, update: { sessionUpdate: 'tool_call', ...toolCall } });
  const { outcome } = await client.request('session/request_permission', { sessionId, toolCall, options });
  const isAllowed = outcome.outcome === 'selected' && outcome.optionId === 'yes';
  const text = isAllowed ? JSON.stringify(args) : 'not allowed';
  await client.notify('session/update', {
    sessionId,
    update: {
      sessionUpdate: 'tool_call_update',
      toolCallId: id,
      status: isAllowed ? 'completed' : 'failed',
      content: [{ type: 'content', content: { type: 'text', text } }],
    },
  });
  return { role: 'tool', callId: id, name, text, isError: !isAllowed };
}
