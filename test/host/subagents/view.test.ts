import { describe, expect, test } from 'vitest';
import type {
  AbortTarget,
  AgentEvent,
  AgentSession,
  ExecutionOptions,
  JsonSchema,
  ReportedRequest,
  SteerData,
} from '../../../src/contracts/index.ts';
import type { CallersStream } from '../../../src/host/frame/handle.ts';
import { callOf, namesOf, subagentPrompt } from '../../../src/host/subagents/subagent-calls.ts';
import { ClosedCalls, closedRequest, SubagentEvents } from '../../../src/host/subagents/subagent-events.ts';
import { SubagentSession, subagentThread } from '../../../src/host/subagents/subagent-session.ts';
import { SubagentTurn } from '../../../src/host/subagents/subagent-turn.ts';
import { usageOfSubagent } from '../../../src/host/terms/subagent-usage.ts';
import type { Heeded } from '../../../src/session/index.ts';
import { heed, hold, putQuestions } from '../../../src/session/index.ts';
import { all } from '../kit.ts';

const event = (type: string, more: object = {}) => ({ id: 'e', type, sessionId: 'below', ...more }) as AgentEvent;
const caller = {
  ...{ requestId: 'c', callId: 'c', kind: 'tool', sessionId: 's', turnId: 't', agentPath: ['boss'], path: 'boss' },
} as unknown as ReportedRequest;

describe('a sub-agent’s events in its caller’s stream', () => {
  const stream = (phase: () => 'early' | 'open' | 'over') => {
    const shown: AgentEvent[] = [];
    const room = Promise.resolve();
    const made = {
      options: { streamId: 'cs' },
      phase,
      show: (one: AgentEvent) => {
        shown.push(one);
        return room;
      },
    };
    return { made: made as unknown as CallersStream, shown, room };
  };

  test('are of the caller’s session, stream and turn, and have no place in its log', () => {
    const { made, shown, room } = stream(() => 'open');
    const events = new SubagentEvents();
    const message = event('message', {
      role: 'agent',
      content: [],
      seq: 3,
      cursor: 'x',
      turnId: 'own',
      streamId: 'own',
    });
    expect(events.show(message, caller, made)).toBe(room);
    expect(shown).toStrictEqual([
      { id: 'e', type: 'message', role: 'agent', content: [], sessionId: 's', streamId: 'cs', turnId: 't' },
    ]);
    const kept = new SubagentEvents();
    for (const type of ['initialize', 'session_update', 'stream_end']) {
      expect(kept.moved(event(type), caller, 'cs')).toBeUndefined();
    }
    // Its caller may go on.
    expect(kept.moved(event('error', { fatal: true }), caller, 'cs')).toMatchObject({ type: 'error', fatal: false });
    expect(kept.moved(event('custom'), caller, 'cs')).not.toHaveProperty('fatal');
  });

  test('ask once in a stream, and again in the next one', () => {
    const events = new SubagentEvents();
    const ask = event('elicitation_request', { requestId: 'q' });
    expect(events.hasAsked('q')).toBe(false);
    expect(events.moved(ask, caller, 'cs')).toBeDefined();
    expect(events.moved(ask, caller, 'cs')).toBeUndefined();
    expect([events.hasAsked('q'), events.hasAsked('r')]).toEqual([true, false]);
    events.begin();
    expect(events.hasAsked('q')).toBe(false);
    expect(events.moved(ask, caller, 'cs')).toBeDefined();
  });

  test('tell what became of calls that were shown, and of no others', () => {
    const events = new SubagentEvents();
    for (const type of ['tool_update', 'tool_response']) {
      expect(events.moved(event(type, { requestId: 'x' }), caller, 'cs')).toBeUndefined();
    }
    events.moved(event('tool_request', { requestId: 'x' }), caller, 'cs');
    events.begin();
    for (const type of ['tool_update', 'tool_response']) {
      expect(events.moved(event(type, { requestId: 'x' }), caller, 'cs')).toMatchObject({ type, requestId: 'x' });
    }
  });

  test('wait for the caller’s stream to begin, and are not shown once it is over', () => {
    let phase: 'early' | 'open' | 'over' = 'early';
    const { made, shown } = stream(() => phase);
    const events = new SubagentEvents();
    expect(events.show(event('message', { id: 'm1' }), caller, made)).toBeUndefined();
    expect(shown).toEqual([]);
    phase = 'open';
    events.release(made);
    events.release(made);
    expect(shown.map(({ id }) => id)).toEqual(['m1']);
    phase = 'over';
    expect(events.show(event('message', { id: 'm2' }), caller, made)).toBeUndefined();
    phase = 'early';
    void events.show(event('message', { id: 'm3' }), caller, made);
    events.begin();
    phase = 'open';
    events.release(made);
    expect(shown.map(({ id }) => id)).toEqual(['m1']);
    expect(events.show(event('stream_end'), caller, made)).toBeUndefined();
  });
});

describe('calls of sub-agents that are closed', () => {
  const request = (requestId: string, turnId: string | undefined, name = 'expert') =>
    event('tool_request', { requestId, name, handledBy: 'host', timestamp: 'now', ...(turnId ? { turnId } : {}) });
  const response = (requestId: string) => event('tool_response', { requestId });

  test('are those of the newest turn that has any', () => {
    const closed = new ClosedCalls(({ name }) => name === 'expert');
    for (const one of [request('a', 't1'), response('a'), request('b', 't1'), response('b')]) closed.see(one);
    expect(closed.calls.map(callOf)).toEqual(['a', 'b']);
    for (const one of [request('x', 't2', 'other'), response('x'), response('unknown')]) closed.see(one);
    expect(closed.calls.map(callOf)).toEqual(['a', 'b']);
    for (const one of [request('c', 't2'), request('d', 't2'), response('c')]) closed.see(one);
    expect(closed.calls.map(callOf)).toEqual(['c']);
  });

  test('are requests as they stood in the log', () => {
    const of = (more: object) => closedRequest({ ...request('a', 't1'), ...more } as never);
    expect(of({ threadId: 'x' })).toStrictEqual({
      ...{ requestId: 'a', callId: 'a', sessionId: 'below', turnId: 't1', name: 'expert', handledBy: 'host' },
      ...{ requestedAt: 'now', threadId: 'x', kind: 'tool', started: true, path: '', agentPath: [] },
    });
    expect(of({})).not.toHaveProperty('threadId');
    expect(closedRequest(request('a', undefined) as never).turnId).toBe('');
  });
});

test('a sub-agent is asked with its one text, or with all that it was given', () => {
  expect(subagentPrompt({ request: 'go' })).toBe('go');
  expect(subagentPrompt({ request: 'go', more: 1 })).toBe('{"request":"go","more":1}');
  expect(subagentPrompt({ request: 5 })).toBe('{"request":5}');
  expect(subagentPrompt({})).toBe('{}');
  expect(callOf({ requestId: 'q' } as ReportedRequest)).toBe('q');
  expect(callOf({ requestId: 'q', callId: 'c' } as ReportedRequest)).toBe('c');
  const names = (...ids: string[]) => namesOf(ids.map((requestId) => ({ requestId }) as ReportedRequest));
  expect(names('b', 'a')).toBe(names('a', 'b'));
  expect(names('a')).not.toBe(names('a', 'b'));
});

describe('a sub-agent’s turn', () => {
  const seen = (events: AgentEvent[], prices?: Record<string, { input: number; output: number }>) => {
    const turn = new SubagentTurn('/c', prices as never);
    for (const one of events) turn.see(one);
    return turn;
  };
  const words = (text: string, more: object = {}) =>
    event('message', { role: 'agent', threadId: '/c', content: [{ type: 'text', text }], ...more });
  const end = (reason: string, data: object = {}) => event('stream_end', { reason, data });

  test('is open once it was asked', () => {
    expect(seen([]).isOpen).toBe(false);
    expect(seen([words('hi')]).isOpen).toBe(false);
    expect(seen([words('hi', { role: 'user', threadId: '/other' })]).isOpen).toBe(false);
    expect(seen([words('hi', { role: 'user' })]).isOpen).toBe(true);
  });

  test('has ended unless it waits for somebody, or hands over', () => {
    const open = [{ requestId: 'q' }];
    const waits = seen([end('input_required', { pending: open })]);
    expect([waits.ended, waits.asked]).toEqual([undefined, open]);
    expect(seen([end('completed', { transfer: { to: 'x' } })]).ended).toBeUndefined();
    const done = seen([end('input_required', { pending: open }), end('completed')]);
    expect([done.ended, done.asked]).toEqual(['completed', []]);
  });

  test('costs what its models say, or the table', () => {
    const usage = (more: object) => event('usage', { inputTokens: 1_000_000, ...more });
    expect(seen([usage({ model: 'm' })]).usage).toEqual({ inputTokens: 1_000_000 });
    const prices = { m: { input: 2, output: 4 } };
    const both = [usage({ model: 'm' }), usage({ cost: { usd: 1 } })];
    expect(seen(both, prices).usage).toMatchObject({ inputTokens: 2_000_000 });
    expect(seen(both).usage).toEqual({ inputTokens: 2_000_000, cost: { usd: 1 } });
  });

  test('is the last words of its agent, and says where they were cut', () => {
    const result = (events: AgentEvent[], schema?: JsonSchema) => seen(events).result('expert', schema);
    expect(result([words('one'), words('two'), end('completed')])).toEqual({
      content: [{ type: 'text', text: 'two' }],
    });
    const cut = result([words('half'), end('completed', { truncated: true })]);
    expect(cut.content.map((part) => ('text' in part ? part.text : ''))).toEqual([
      'half',
      "(The answer was cut at the model's output limit.)",
    ]);
    expect(result([words('half'), end('x', { truncated: true }), end('completed', {})]).content).toHaveLength(1);
    const schema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
    expect(result([words('{"n":5}'), end('completed')], schema)).toEqual({
      content: [{ type: 'text', text: '{"n":5}' }],
      structuredContent: { n: 5 },
    });
    expect(result([words('{}'), end('completed')], schema)).toMatchObject({
      errorType: 'failed',
      content: [{ text: expect.stringContaining('the answer of agent expert does not fit its output schema: ') }],
    });
  });

  test('that did not come to an end is a failure, and says why', () => {
    const text = (events: AgentEvent[]) => {
      const { errorType, content } = seen(events).result('expert', undefined);
      return [errorType, content.map((part) => ('text' in part ? part.text : '')).join('')];
    };
    expect(text([end('aborted')])).toEqual(['interrupted', 'agent expert was aborted']);
    expect(text([words('sorry'), end('failed')])).toEqual(['failed', 'agent expert ended failed: sorry']);
    expect(text([words('sorry'), event('error', { message: 'down' }), end('failed')])).toEqual([
      'failed',
      'agent expert ended failed: down',
    ]);
    expect(text([end('max_steps')])).toEqual(['failed', 'agent expert ended max_steps']);
  });

  test('stands with the decision on its call, in the caller’s log', () => {
    const decided = (data: object, kind = 'policy_decision') => usageOfSubagent(event('custom', { kind, data }));
    const usage = { inputTokens: 3 };
    expect(decided({ callId: 'c', usage })).toEqual({ callId: 'c', usage });
    expect(decided({ callId: 'c' })).toBeUndefined();
    expect(decided({ callId: 'c', usage }, 'other')).toBeUndefined();
    expect(usageOfSubagent(event('usage', { kind: 'policy_decision', data: { callId: 'c', usage } }))).toBeUndefined();
  });
});

describe('a sub-agent’s session as its caller’s host sees it', () => {
  const own = { requestId: 'q', kind: 'tool', sessionId: 'below', agentPath: ['expert'], threadId: 'left' };
  function session(more: object = {}) {
    const told: unknown[] = [];
    const inner = {
      id: 'below',
      descriptor: { name: 'expert' },
      pending: async () => [own, { ...own, threadId: undefined }],
      async *events(options: unknown) {
        told.push(['events', options]);
        yield event('message', { threadId: '/x' });
        yield event('stream_end', { data: { pending: [own] } });
      },
      respond: async (...given: unknown[]) => {
        told.push(['respond', ...given]);
        return { status: 'settled' };
      },
      steer: async (data: SteerData) => {
        told.push(['steer', data]);
        return { steerId: '1', disposition: 'current_turn' };
      },
      abort: async (target: AbortTarget) => void told.push(['abort', target]),
      update: async (config: unknown) => {
        told.push(['update', config]);
        return { effective: 'next_step' };
      },
      [Symbol.asyncDispose]: async () => void told.push(['closed']),
      ...more,
    } as unknown as AgentSession;
    return { made: new SubagentSession(inner, caller), told };
  }

  test('has the threads of its caller’s call', async () => {
    expect(subagentThread(caller)).toBe('/c');
    expect(subagentThread({ ...caller, threadId: 'a', callId: undefined } as never)).toBe('a/c');
    const { made } = session();
    expect([made.id, made.descriptor.name, made.threadId]).toEqual(['below', 'expert', '/c']);
    expect(await made.pending()).toEqual([
      { ...own, sessionId: 's', agentPath: ['boss', 'expert'], threadId: '/c.left' },
      { ...own, sessionId: 's', agentPath: ['boss', 'expert'], threadId: '/c' },
    ]);
    expect((await all(made.events({ limit: 2 }))).map((one) => one)).toMatchObject([
      { type: 'message', threadId: '/c/x' },
      { type: 'stream_end', threadId: '/c', data: { pending: [{ sessionId: 's', threadId: '/c.left' }] } },
    ]);
    const holds = ['/c', '/c.left', '/c/x', '/cx', '/d.left', '/d/x'].map((thread) => made.holds(thread));
    expect(holds).toEqual([false, true, true, false, false, false]);
  });

  test('is told of its own threads', async () => {
    const { made, told } = session();
    await made.steer({ content: 'a' });
    await made.steer({ content: 'b', threadId: '/c' });
    await made.steer({ content: 'c', threadId: '/c.left' });
    await made.steer({ content: 'd', threadId: '/c/x' });
    await made.abort();
    await made.abort({ reason: 'r', threadId: '/c.left' });
    await made.abort({ reason: 'r', threadId: '/c' });
    expect(told).toStrictEqual([
      ['steer', { content: 'a' }],
      ['steer', { content: 'b' }],
      ['steer', { content: 'c', threadId: 'left' }],
      ['steer', { content: 'd', threadId: '/x' }],
      ['abort', {}],
      ['abort', { reason: 'r', threadId: 'left' }],
      ['abort', { reason: 'r' }],
    ]);
  });

  test('hands on what is asked of it', async () => {
    const { made, told } = session({ standing: async () => ({ isOver: true }) });
    expect(await made.respond('q', { kind: 'approve' })).toEqual({ status: 'settled' });
    await made.update({ permissionMode: 'plan' });
    expect(await made.standing()).toEqual({ isOver: true });
    await made[Symbol.asyncDispose]();
    expect(told).toEqual([['respond', 'q', { kind: 'approve' }], ['update', { permissionMode: 'plan' }], ['closed']]);
    expect(await session().made.standing()).toEqual({ isOver: false });
  });

  test('keeps questions, gives out a lease and hears of others where its executor does', async () => {
    const plain = session().made;
    await plain[putQuestions]([{ requestId: 'q' }]);
    expect([await plain[hold](), plain[heed](() => {})]).toEqual([undefined, undefined]);
    const put: unknown[] = [];
    let tell: (heard: Heeded) => void = () => {};
    const giveBack = async () => {};
    const deaf = () => {};
    const { made } = session({
      [putQuestions]: async (questions: unknown) => void put.push(questions),
      [hold]: async () => giveBack,
      [heed]: (told: typeof tell) => {
        tell = told;
        return deaf;
      },
    });
    await made[putQuestions]([{ requestId: 'q' }]);
    expect(put).toEqual([[{ requestId: 'q' }]]);
    expect(await made[hold]()).toBe(giveBack);
    const heard: Heeded[] = [];
    expect(made[heed]((one) => heard.push(one))).toBe(deaf);
    tell({});
    tell({ abort: { reason: 'r' } });
    tell({ abort: { reason: 'r', threadId: 'left' } });
    expect(heard).toStrictEqual([{}, { abort: { reason: 'r' } }, { abort: { reason: 'r', threadId: '/c.left' } }]);
  });

  test('streams as its executor does', async () => {
    const given: unknown[] = [];
    const returned: unknown[] = [];
    const { made } = session({
      stream: (input: unknown, options: ExecutionOptions) => {
        given.push(input, options);
        const items = (async function* () {
          yield event('message', {});
          yield event('message', { threadId: 'left' });
        })();
        return {
          streamId: 'own',
          abort: async (reason: string) => void given.push(reason),
          next: () => items.next(),
          return: async () => void returned.push('left'),
        };
      },
    });
    const stream = made.stream('go', { streaming: true });
    expect(stream.streamId).toBe('own');
    expect((await all(stream)).map(({ threadId }) => threadId)).toEqual(['/c', '/c.left']);
    await stream.abort('enough');
    expect(await stream.return?.()).toEqual({ value: undefined, done: true });
    expect(given).toEqual(['go', { streaming: true }, 'enough']);
    expect(returned).toEqual(['left']);
  });
});
