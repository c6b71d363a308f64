import { describe, expect, test, vi } from 'vitest';
import type { AgentEvent, AgentSession } from '../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent } from '../../src/index.ts';
import type { Agent } from '../../src/runtime/index.ts';
import { agentTool, InMemorySessionService, ParallelAgent } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { brief, host, llm, tool } from './kit.ts';

const longRunning = { annotations: { longRunning: true } };
const render = tool('render', () => ({ ticket: 7 }), longRunning);
const film = { content: [{ type: 'text' as const, text: 'film.mp4' }] };
const calling = (name = 'render', args = {}) => ({ calls: [[name, args] as const] });

async function hear(session: AgentSession, input: Parameters<AgentSession['stream']>[0]) {
  const events: AgentEvent[] = [];
  const result = await run(session, input, { onEvent: (event) => events.push(event) });
  const callId = events.find((event) => event.type === 'tool_request' && event.name === 'render');
  return { ...result, events, callId: callId?.type === 'tool_request' ? callId.requestId : '' };
}

const open = (agent: Agent, hosted: boolean, sessions = new InMemorySessionService()) =>
  hosted
    ? createHost({ app: 'shop', agents: [fromAgent(agent)], store: sessions, policy: allowAll() }).open(agent.name)
    : fromAgent(agent, { store: sessions }).open({}, host);

describe.each([
  ['without a host', false],
  ['under a host', true],
])('S0-68 R23 a long-running tool %s', (_, hosted) => {
  test.each<[string, Parameters<typeof tool>[1], object, string]>([
    ['throws', () => Promise.reject(new Error('no room')), {}, 'failed'],
    ['says that it failed', () => ({ content: [], isError: true, errorType: 'failed' }), {}, 'failed'],
    ['does not begin in time', () => new Promise(() => {}), { timeoutMs: 5 }, 'timeout'],
  ])('that %s is over: nobody waits for its result', async (__, execute, extra, errorType) => {
    const broken = tool('render', execute, { ...longRunning, ...extra });
    const session = await open(llm('bot', new ScriptedModel([calling(), 'told']), { tools: [broken] }), hosted);
    const { events, text } = await hear(session, 'go');
    expect(text).toBe('told');
    expect(events.find(({ type }) => type === 'tool_response')).toMatchObject({ name: 'render', errorType });
    expect(events.at(-1)).not.toHaveProperty('data.pendingToolIds');
  });

  test('a result that is given by respond is taken; what comes next is told of it', async () => {
    const model = new ScriptedModel([calling(), 'wait', 'it is there']);
    const session = await open(llm('bot', model, { tools: [render] }), hosted);
    const { callId } = await hear(session, 'go');
    expect(await session.respond(callId, { kind: 'result', result: film })).toMatchObject({ status: 'settled' });
    // Once: a turn that has heard of it is complete.
    expect(await run(session, { kind: 'continue' })).toMatchObject({ reason: 'completed', text: 'it is there' });
    expect(brief(model.requests[2]?.contents).at(-1)).toMatch(/render has come: \{"content":"film.mp4"\}$/);
    await expect(run(session, { kind: 'continue' })).rejects.toMatchObject({ code: 'E_TURN_COMPLETED' });
    await expect(session.respond(callId, { kind: 'result', result: film })).rejects.toMatchObject({
      code: 'E_REQUEST_CLOSED',
    });
  });

  test('after_tool sees its first word', async () => {
    const seen: unknown[] = [];
    const model = new ScriptedModel([calling(), 'wait']);
    const agent = llm('bot', model, {
      tools: [render],
      afterTool: (___, ____, _____, result) => {
        seen.push(result.structuredContent);
        return { ticket: 'hidden' };
      },
    });
    await hear(await open(agent, hosted), 'go');
    expect(seen).toEqual([{ ticket: 7 }]);
    expect(brief(model.requests[1]?.contents).at(-1)).toBe('user: render = {"ticket":"hidden"}');
  });
});

test('R23 an abort settles it; that is no news to go on with', async () => {
  const session = await open(llm('bot', new ScriptedModel([calling(), 'wait']), { tools: [render] }), false);
  await hear(session, 'go');
  await session.abort();
  await expect(run(session, { kind: 'continue' })).rejects.toMatchObject({ code: 'E_TURN_COMPLETED' });
});

test('ATT-B2 its question has run out of time, and its turn is over: the no is heard, and the session goes on', async () => {
  const model = new ScriptedModel([calling(), 'hello', 'so be it']);
  const asking = tool('render', (_, context) => context.requestConfirmation({ expiresIn: 60 }), longRunning);
  const session = await open(llm('bot', model, { tools: [asking] }), false);
  expect((await hear(session, 'go')).reason).toBe('input_required');
  expect((await hear(session, 'hi')).reason).toBe('completed');
  await expect(run(session, { kind: 'continue' })).rejects.toMatchObject({ code: 'E_TURN_COMPLETED' });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
  try {
    const { events, reason } = await hear(session, { kind: 'continue' });
    expect(events.find(({ type }) => type === 'tool_response')).toMatchObject({ name: 'render', errorType: 'denied' });
    expect([reason, await session.pending()]).toEqual(['completed', []]);
  } finally {
    vi.useRealTimers();
  }
});

test('R23 S3-54 what a call inside an agent run as a tool comes to later is told to whoever is asked then', async () => {
  const model = new ScriptedModel({
    byAgent: { boss: [calling('expert', { request: 'go' }), 'wait', 'it is there'], expert: [calling(), 'begun'] },
  });
  const boss = llm('boss', model, { tools: [agentTool(llm('expert', model, { tools: [render] }))] });
  const session = await open(boss, false);
  const { callId } = await hear(session, 'go');
  const later = await hear(session, { kind: 'tool_result', requestId: callId, result: film });
  expect(later.text).toBe('it is there');
  expect(brief(model.requests.at(-1)?.contents).at(-1)).toMatch(/^user: .*render has come: \{"content":"film.mp4"\}$/);
});

test('R23 S0-51 in a parallel branch: its peers are told too, else they would be asked without a word', async () => {
  const model = new ScriptedModel({ byAgent: { left: [calling(), 'wait', 'there'], right: ['done', 'still done'] } });
  const both = new ParallelAgent({
    name: 'both',
    subAgents: [llm('left', model, { tools: [render] }), llm('right', model)],
  });
  const session = await open(both, false);
  const { callId } = await hear(session, 'go');
  await hear(session, { kind: 'tool_result', requestId: callId, result: film });
  const last = model.requests.slice(-2).map(({ agent, contents }) => [agent, brief(contents).at(-1)?.slice(0, 30)]);
  expect(last.sort()).toEqual([
    ['left', 'user: The result of the earlie'],
    ['right', 'user: The result of the earlie'],
  ]);
});
