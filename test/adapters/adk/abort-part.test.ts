import { describe, expect, test } from 'vitest';
import type { AgentSession, ToolCallContext } from '../../../src/contracts/index.ts';
import type { Agent, SessionService } from '../../../src/index.ts';
import { agentTool, fromAgent, InMemorySessionService, ParallelAgent, SequentialAgent } from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { all, bot, door, hostOf, notingTool, ofType, policyOf, refusal, slowTool, tool } from '../../host/kit.ts';
import { elsewhere } from '../../runtime/elsewhere.ts';

const at = { app: 'shop', userId: 'ann' };
const gated = { needsApproval: true } as const;

/** The session of an agent; made, or found again by another process that knows nothing of the first. */
async function opened(agent: Agent, sessions: SessionService, create = true): Promise<AgentSession> {
  const store = create ? sessions : elsewhere(sessions);
  return fromAgent(agent, { store, followPollMs: 20 }).open({ sessionId: 's', create }, at);
}

const names = async (session: AgentSession) => (await session.pending()).map(({ name }) => name);
const outcomes = (events: Awaited<ReturnType<typeof run>>) =>
  ofType(events, 'tool_response').map(({ name, errorType }) => `${name} ${errorType ?? 'ok'}`);
const run = (session: AgentSession, input: Parameters<AgentSession['stream']>[0]) =>
  all(session.stream(input, { streaming: false }));

/** Parallel branches a and b, then c. What a asks first is done once: a branch that is over is not asked again. */
function branches(a: readonly Script[], tools: Record<'a' | 'b', ReturnType<typeof tool>>) {
  const model = new ScriptedModel({
    byAgent: { a: [...a, 'a was asked again'], b: [{ calls: [[tools.b.name]] }, 'b done'], c: ['c done'] },
  });
  const both = new ParallelAgent({
    name: 'both',
    subAgents: [bot(model, { name: 'a', tools: [tools.a] }), bot(model, { name: 'b', tools: [tools.b] })],
  });
  const agent = new SequentialAgent({ name: 'root', subAgents: [both, bot(model, { name: 'c' })] });
  return { agent, model, asked: (name: string) => model.requests.filter((request) => request.agent === name).length };
}

describe('abort of one thread', () => {
  test('ends a branch whose tool runs, for good: its call is interrupted, nobody is asked, a restart does not enter it', async () => {
    const sessions = new InMemorySessionService();
    const slow = slowTool('slow');
    const pay = notingTool('pay', gated);
    const { agent, asked } = branches([{ calls: [['slow']] }], { a: slow.tool, b: pay.tool });
    const first = await opened(agent, sessions);
    const running = run(first, 'go');
    const { signal } = await slow.started;
    await first.abort({ threadId: 'both.a', reason: 'no more' });
    const events = await running;
    expect(signal.aborted).toBe(true);
    expect(outcomes(events)).toEqual(['slow interrupted']);
    expect(await names(first)).toEqual(['pay']);

    const second = await opened(agent, sessions, false);
    const [open] = await second.pending();
    const rest = await run(second, { kind: 'tool_approval', requestId: open?.requestId ?? '' });
    expect(rest.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    expect([pay.runs.length, slow.runs.length, asked('a'), asked('c')]).toEqual([1, 1, 1, 1]);
  });

  test('ends a branch that waits while nothing runs; what was asked there is closed', async () => {
    const sessions = new InMemorySessionService();
    const [look, pay] = [notingTool('look', gated), notingTool('pay', gated)];
    const { agent, asked } = branches([{ calls: [['look'], ['look']] }], { a: look.tool, b: pay.tool });
    const session = await opened(agent, sessions);
    await run(session, 'go');
    const question = (await session.pending()).find(({ name }) => name === 'look');
    await session.abort({ threadId: 'both.a' });
    await session.abort({ threadId: 'both.a' });
    await session.abort({ threadId: 'both.nobody' });
    expect(await names(session)).toEqual(['pay']);
    const late = await refusal(session.respond(question?.requestId ?? '', { kind: 'approve' }));
    expect(late.code).toBe('E_REQUEST_CLOSED');
    const [open] = await session.pending();
    const rest = await run(session, { kind: 'tool_approval', requestId: open?.requestId ?? '' });
    expect(rest.at(-1)).toMatchObject({ reason: 'completed' });
    expect([look.runs.length, pay.runs.length, asked('a'), asked('c')]).toEqual([0, 1, 1, 1]);
  });

  test('ends a branch that waits while another runs: the stream goes on with what follows', async () => {
    const slow = slowTool('slow');
    const look = notingTool('look', gated);
    const { agent, asked } = branches([{ calls: [['look']] }], { a: look.tool, b: slow.tool });
    const session = await opened(agent, new InMemorySessionService());
    const question = door();
    const events = (async () => {
      const seen = [];
      for await (const event of session.stream('go')) {
        seen.push(event);
        if (event.type === 'elicitation_request') question.open();
      }
      return seen;
    })();
    await Promise.all([slow.started, question.opened]);
    // The branch has gone to rest.
    await new Promise((resolve) => setImmediate(resolve));
    await session.abort({ threadId: 'both.a' });
    slow.finish('done');
    expect((await events).at(-1)).toMatchObject({ reason: 'completed' });
    expect([look.runs.length, asked('a'), asked('c')]).toEqual([0, 1, 1]);
  });

  test('is refused while another process runs the session: it would not be heard there', async () => {
    const sessions = new InMemorySessionService();
    const { agent } = branches([{ calls: [['look']] }], { a: tool('look', () => '', gated), b: tool('pay', () => '') });
    const session = await opened(agent, sessions);
    await run(session, 'go');
    const lease = await sessions.acquire({ ...at, id: 's' });
    expect((await refusal(session.abort({ threadId: 'both.a' }))).code).toBe('E_SESSION_BUSY');
    await lease.release();
    expect(await names(session)).toEqual(['look']);
    await session.abort({ threadId: 'both.a' });
    expect(await names(session)).toEqual([]);
    expect((await run(session, { kind: 'continue' })).at(-1)).toMatchObject({ reason: 'completed' });
  });

  test('under a host the tools of the branch are told, and the others go on', async () => {
    const slow = slowTool('slow');
    const quick = notingTool('quick');
    const { agent, asked } = branches([{ calls: [['slow']] }], { a: tool('slow'), b: tool('quick') });
    const { host } = hostOf(agent, { tools: [slow.tool, quick.tool], policy: policyOf({}) });
    const session = await host.open('root');
    const running = run(session, 'go');
    const { signal } = await slow.started;
    await session.abort({ threadId: 'both.a' });
    const events = await running;
    expect(events.at(-1)).toMatchObject({ reason: 'completed' });
    expect([signal.aborted, quick.runs.length, asked('a'), asked('c')]).toEqual([true, 1, 1, 1]);
    expect(outcomes(events).sort()).toEqual(['quick ok', 'slow interrupted']);
  });
});

describe('an agent run as a tool that is not gone on with', () => {
  /** boss asks deep, in which x waits for a yes; y does what is given. */
  function asking(y: readonly Script[], more: readonly ReturnType<typeof tool>[] = []) {
    const pay = notingTool('pay', gated);
    const model = new ScriptedModel({
      byAgent: {
        boss: [{ calls: [['deep', { request: 'go' }]] }, 'boss done'],
        x: [{ calls: [['pay']] }, 'x was asked again'],
        y,
      },
    });
    const deep = new ParallelAgent({
      name: 'deep',
      subAgents: [bot(model, { name: 'x', tools: [pay.tool] }), bot(model, { name: 'y', tools: more })],
    });
    return { agent: bot(model, { name: 'boss', tools: [agentTool(deep)] }), pay, model };
  }

  test('closes what waits in it when it fails: nothing is open when the turn is over', async () => {
    const { agent, pay } = asking([{ error: new Error('boom') }]);
    const session = await opened(agent, new InMemorySessionService());
    const events = await run(session, 'go');
    expect(outcomes(events)).toEqual(['pay cancelled', 'deep failed']);
    expect(events.at(-1)).toMatchObject({ reason: 'completed' });
    expect([await names(session), pay.runs]).toEqual([[], []]);
  });

  test('closes what waits in it when it fails under a host, whose approvals are over too', async () => {
    const { agent, pay } = asking([{ calls: [['look']] }, { error: new Error('boom') }], [tool('look')]);
    const { host } = hostOf(agent, { tools: [tool('look', () => 'seen')], policy: policyOf({ pay: 'ask' }) });
    const session = await host.open('boss');
    const events = await run(session, 'go');
    expect(outcomes(events)).toEqual(['look ok', 'pay cancelled', 'deep failed']);
    expect(events.at(-1)).toMatchObject({ reason: 'completed' });
    expect(await names(session)).toEqual([]);
    expect(await host.approvals.list()).toEqual([]);
    expect(pay.runs).toEqual([]);
  });

  test.each(['requestId', 'threadId'] as const)('is ended with all that waits in it by its %s', async (by) => {
    const { agent, pay } = asking(['y done']);
    const session = await opened(agent, new InMemorySessionService());
    const events = await run(session, 'go');
    const [question] = await session.pending();
    const [call] = ofType(events, 'tool_request').filter(({ name }) => name === 'deep');
    const requestId = call?.requestId ?? '';
    await session.abort(by === 'requestId' ? { requestId } : { threadId: `/${requestId}` });
    expect(await names(session)).toEqual([]);
    const late = await refusal(session.respond(question?.requestId ?? '', { kind: 'approve' }));
    expect(late.code).toBe('E_REQUEST_CLOSED');
    const rest = await run(session, { kind: 'continue' });
    expect(rest.at(-1)).toMatchObject({ reason: 'completed' });
    // It has done something: nobody says that it never ran.
    const ends = (await all(session.events())).filter((event) => event.type === 'tool_response');
    expect(ends).toMatchObject([
      { name: 'pay', errorType: 'cancelled' },
      { name: 'deep', errorType: 'interrupted' },
    ]);
    expect(pay.runs).toEqual([]);
  });

  test('is ended while it runs: its tools are told, its caller goes on', async () => {
    const slow = slowTool('slow');
    const { agent, pay } = asking([{ calls: [['slow']] }, 'y was asked again'], [slow.tool]);
    const session = await opened(agent, new InMemorySessionService());
    const call = door<string>();
    const running = (async () => {
      const seen = [];
      for await (const event of session.stream('go')) {
        seen.push(event);
        if (event.type === 'tool_request' && event.name === 'deep') call.open(event.requestId);
      }
      return seen;
    })();
    const { signal }: ToolCallContext = await slow.started;
    await session.abort({ requestId: await call.opened, reason: 'enough' });
    const events = await running;
    expect(signal.aborted).toBe(true);
    expect(outcomes(events).sort()).toEqual(['deep interrupted', 'pay cancelled', 'slow interrupted']);
    expect(events.at(-1)).toMatchObject({ reason: 'completed' });
    expect([await names(session), pay.runs]).toEqual([[], []]);
  });

  test('is closed with all that waits in it when policy does not let it go on', async () => {
    const { agent, pay } = asking(['y done']);
    const outcomes: Record<string, 'allow' | 'deny'> = {};
    const policy = { evaluate: ({ action }: { action: string }) => ({ outcome: outcomes[action] ?? 'allow' }) };
    const session = await fromAgent(agent).open({}, { ...at, policy });
    await run(session, 'go');
    expect(await names(session)).toEqual(['pay']);
    outcomes.deep = 'deny';
    const events = await run(session, { kind: 'continue' });
    expect(ofType(events, 'tool_response')).toMatchObject([
      { name: 'pay', errorType: 'cancelled' },
      { name: 'deep', errorType: 'denied' },
    ]);
    expect(events.at(-1)).toMatchObject({ reason: 'completed' });
    expect([await names(session), pay.runs]).toEqual([[], []]);
  });
});
