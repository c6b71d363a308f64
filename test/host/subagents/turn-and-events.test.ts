import { describe, expect, test } from 'vitest';
import type { AgentEvent, ExecutionOptions, ReportedRequest } from '../../../src/contracts/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';
import type { CallersStream, Handle } from '../../../src/host/frame/index.ts';
import { callOf, namesOf, subagentPrompt } from '../../../src/host/subagents/subagent-calls.ts';
import { ClosedCalls, closedRequest, SubagentEvents } from '../../../src/host/subagents/subagent-events.ts';
import { streamSubagent } from '../../../src/host/subagents/subagent-stream.ts';
import { SubagentTurn } from '../../../src/host/subagents/subagent-turn.ts';
import { door, refusal } from '../kit.ts';
import { settle } from '../run-kit.ts';

const call = { requestId: 'r', callId: 'c', sessionId: 's', turnId: 't', kind: 'tool' } as ReportedRequest;
const event = (type: AgentEvent['type'], more: object = {}) => ({ type, ...more }) as AgentEvent;
const thread = '/c';
const says = (text: string, more: object = {}) =>
  event('message', { role: 'agent', threadId: thread, content: [{ type: 'text', text }], ...more });
const ends = (reason: string, data: object = {}) => event('stream_end', { reason, data });

describe('MUT-H21 a sub-agent is asked', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ request: 'go' }, 'go'],
    [{ request: 'go', more: 1 }, '{"request":"go","more":1}'],
    [{ request: 1 }, '{"request":1}'],
    [{}, '{}'],
  ])('%j', (args, words) => {
    expect(subagentPrompt(args)).toBe(words);
  });

  test('for a call, by the id of that or of its request; what it waits for is one text, in whichever order', () => {
    expect([callOf(call), callOf({ requestId: 'r' } as ReportedRequest)]).toEqual(['c', 'r']);
    const [a, b] = [{ requestId: 'a' }, { requestId: 'b' }] as [ReportedRequest, ReportedRequest];
    expect([namesOf([b, a]) === namesOf([a, b]), namesOf([a]) === namesOf([b]), namesOf([])]).toEqual([
      ...[true, false, '[]'],
    ]);
  });
});

/** A stream of the caller, in one of its phases. */
function stream(phase: { now: 'early' | 'open' | 'over' } = { now: 'open' }, options: object = {}) {
  const shown: AgentEvent[] = [];
  const made = {
    options: { streamId: 'x', ...options },
    phase: () => phase.now,
    limits: (used: object) => ({ tokens: 5, used }),
    show: (one: AgentEvent) => {
      shown.push(one);
      return one.type === 'usage' ? Promise.resolve() : undefined;
    },
  };
  return { made: made as unknown as CallersStream, shown };
}

describe('MUT-H22 what a sub-agent does', () => {
  test('is shown in its caller’s stream, without a place there, and not as a failure of that', () => {
    const { made, shown } = stream();
    const events = new SubagentEvents();
    for (const type of ['initialize', 'session_update', 'stream_end'] as const) {
      expect(events.show(event(type), call, made)).toBeUndefined();
    }
    expect(shown).toEqual([]);
    const error = event('error', { seq: 1, cursor: '1', sessionId: 'sub', turnId: 'own', streamId: 'y', fatal: true });
    expect(events.show(error, call, made)).toBeUndefined();
    expect(shown).toStrictEqual([{ type: 'error', sessionId: 's', turnId: 't', streamId: 'x', fatal: false }]);
    expect(events.show(event('usage'), call, made)).toBeInstanceOf(Promise);
    expect(shown[1]).not.toHaveProperty('fatal');
  });

  test('is shown once of a question, in each stream, and of calls only where their beginning was', () => {
    const { made, shown } = stream();
    const events = new SubagentEvents();
    const show = (type: AgentEvent['type'], requestId: string) => {
      const before = shown.length;
      void events.show(event(type, { requestId }), call, made);
      return shown.length > before;
    };
    expect([events.hasAsked('q'), show('elicitation_request', 'q'), show('elicitation_request', 'q')]).toEqual([
      ...[false, true, false],
    ]);
    expect([events.hasAsked('q'), show('tool_response', 'c'), show('tool_update', 'c')]).toEqual([true, false, false]);
    expect([show('tool_request', 'c'), show('tool_update', 'c'), show('tool_response', 'c')]).toEqual([
      ...[true, true, true],
    ]);
    events.begin();
    expect([events.hasAsked('q'), show('elicitation_request', 'q'), show('tool_response', 'c')]).toEqual([
      ...[false, true, true],
    ]);
  });

  test('before its caller’s stream has begun is shown then, the newest thousand of it, once; behind its end never', () => {
    const phase: { now: 'early' | 'open' | 'over' } = { now: 'early' };
    const { made, shown } = stream(phase);
    const events = new SubagentEvents();
    for (let n = 0; n < 1_002; n++) void events.show(event('usage', { n }), call, made);
    expect(shown).toEqual([]);
    phase.now = 'open';
    events.release(made);
    expect(shown.map((one) => (one as { n?: number }).n)).toEqual(Array.from({ length: 1_000 }, (_, n) => n + 2));
    events.release(made);
    expect(shown).toHaveLength(1_000);
    phase.now = 'over';
    expect(events.show(event('usage'), call, made)).toBeUndefined();
    phase.now = 'early';
    void events.show(event('usage'), call, made);
    events.begin();
    phase.now = 'open';
    events.release(made);
    expect(shown).toHaveLength(1_000);
  });

  test('of calls that are closed those of the newest turn are known', () => {
    const known = new ClosedCalls(({ name }) => name === 'expert');
    const asks = (requestId: string, turnId: string | undefined, name = 'expert') =>
      known.see(event('tool_request', { requestId, turnId, name, sessionId: 's' }));
    const answers = (requestId: string) => known.see(event('tool_response', { requestId }));
    const ids = () => known.calls.map(({ requestId }) => requestId);
    asks('a', 't1');
    asks('b', 't1');
    asks('x', 't1', 'pay');
    known.see(event('tool_update', { requestId: 'a' }));
    expect(ids()).toEqual([]);
    for (const id of ['a', 'b', 'x', 'none']) answers(id);
    expect(ids()).toEqual(['a', 'b']);
    asks('c', 't2');
    expect(ids()).toEqual(['a', 'b']);
    answers('c');
    expect(ids()).toEqual(['c']);
  });

  test('for a call in a history is as for an open one', () => {
    const asked = event('tool_request', {
      ...{ requestId: 'c', sessionId: 's', turnId: 't', name: 'expert', handledBy: 'host', timestamp: 'now', args: {} },
    }) as Extract<AgentEvent, { type: 'tool_request' }>;
    const request = {
      ...{ requestId: 'c', callId: 'c', sessionId: 's', turnId: 't', name: 'expert', handledBy: 'host' },
      ...{ requestedAt: 'now', kind: 'tool', started: true, path: '', agentPath: [] },
    };
    expect(closedRequest(asked)).toStrictEqual(request);
    expect(closedRequest({ ...asked, threadId: 'w' })).toStrictEqual({ ...request, threadId: 'w' });
    const { turnId: _, ...without } = asked;
    expect(closedRequest(without as typeof asked)).toStrictEqual({ ...request, turnId: '' });
  });
});

describe('MUT-H23 a sub-agent’s turn', () => {
  const turnOf = (...events: AgentEvent[]) => {
    const turn = new SubagentTurn(thread, { tiny: { input: 1_000_000, output: 0 } } as never);
    for (const one of events) turn.see(one);
    return turn;
  };
  test('is open once it was asked on its own thread', () => {
    const user = event('message', { role: 'user', threadId: thread, content: [] });
    expect(turnOf().isOpen).toBe(false);
    expect(turnOf(user).isOpen).toBe(true);
    expect(turnOf({ ...user, threadId: '/c/d' } as AgentEvent).isOpen).toBe(false);
    expect(turnOf(says('hi')).isOpen).toBe(false);
  });

  test('has ended where its stream has, unless that waits for somebody', () => {
    expect(turnOf().ended).toBeUndefined();
    const asked = [{ requestId: 'q' }];
    const waits = turnOf(ends('input_required', { pending: asked }));
    expect([waits.ended, waits.asked]).toEqual([undefined, asked]);
    expect(turnOf(ends('input_required'), ends('failed')).ended).toBe('failed');
  });

  test('has used what each model call did, by its price or else by its own word', () => {
    const turn = turnOf(
      event('usage', { inputTokens: 3, outputTokens: 1 }),
      event('usage', { inputTokens: 2, cost: { usd: 7 } }),
    );
    expect(turn.usage).toStrictEqual({ inputTokens: 5, outputTokens: 1, cost: { usd: 7 } });
    expect(turnOf(event('usage', { inputTokens: 3 })).usage).toStrictEqual({ inputTokens: 3 });
  });

  test('has the agent’s last words for its result, or why there are none', () => {
    const text = (words: string) => ({ type: 'text', text: words });
    const result = (schema: object | undefined, ...events: AgentEvent[]) =>
      turnOf(...events).result('expert', schema as never);
    expect(result(undefined, says('one'), says('two'), ends('completed'))).toStrictEqual({ content: [text('two')] });
    const cut = result(undefined, says('half'), ends('completed', { truncated: true }));
    expect(cut.content).toEqual([text('half'), text(expect.stringContaining('cut') as never)]);
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    expect(result(schema, says('{"n":1}'), ends('completed'))).toStrictEqual({
      ...{ content: [text('{"n":1}')], structuredContent: { n: 1 } },
    });
    const word = (one: ReturnType<typeof result>) => {
      const [part] = one.content;
      return `${one.errorType}: ${part?.type === 'text' ? part.text : ''}`;
    };
    expect(word(result(schema, says('no'), ends('completed')))).toMatch(
      /^failed: .*the answer of agent expert does not fit its output schema: ./,
    );
    expect(word(result(undefined, says('hi'), ends('aborted')))).toContain('interrupted: agent expert was aborted');
    expect(word(result(undefined, ends('failed')))).toMatch(/agent expert ended failed$/);
    expect(word(result(undefined, says('why'), ends('failed')))).toMatch(/agent expert ended failed: why$/);
    const failed = event('error', { message: 'broken', fatal: true });
    expect(word(result(undefined, says('why'), failed, ends('failed')))).toMatch(/agent expert ended failed: broken$/);
  });
});

describe('MUT-H24 a sub-agent is run', () => {
  const ann = { id: 'ann' };
  const signal = new AbortController().signal;
  async function run(
    { isOpen = false, options = {}, failure }: { isOpen?: boolean; options?: object; failure?: Error },
    ...all: AgentEvent[]
  ) {
    const given: [unknown, ExecutionOptions][] = [];
    const child = {
      stream: (input: unknown, own: ExecutionOptions) => {
        given.push([input, own]);
        return (async function* () {
          yield* all;
          if (failure) throw failure;
        })();
      },
    } as unknown as Handle;
    const turn = new SubagentTurn(thread, undefined);
    turn.isOpen = isOpen;
    const { made, shown } = stream(undefined, options);
    const asked = { request: call, args: { request: 'go' }, stream: made, signal };
    await streamSubagent(child, turn, asked, ann, new SubagentEvents());
    return { given, turn, shown };
  }

  test('with its caller’s words, or goes on; with what its caller’s stream has of options', async () => {
    const base = { signal, principal: ann, limits: { tokens: 5, used: {} } };
    expect((await run({})).given).toStrictEqual([[{ kind: 'message', content: 'go' }, base]]);
    const options = { excludeTools: ['x'], streaming: true, deps: { a: 1 }, traceContext: { traceparent: '1' } };
    const all = await run({ isOpen: true, options: { ...options, model: 'other' } });
    expect(all.given).toStrictEqual([[{ kind: 'continue' }, { ...base, ...options }]]);
    const off = await run({ options: { streaming: false } });
    expect(off.given[0]?.[1].streaming).toBe(false);
  });

  test('and what it does is seen and shown; another process that runs it is left to that', async () => {
    const busy = new CoxswainError('ABORTED', 'E_SESSION_BUSY', 'busy');
    const { turn, shown } = await run({ failure: busy }, event('usage', { inputTokens: 1 }), says('hi'));
    expect([turn.usage, shown.map(({ type }) => type)]).toEqual([{ inputTokens: 1 }, ['usage', 'message']]);
    const away = new CoxswainError('UNAVAILABLE', 'E_STORE', 'away');
    expect(await refusal(run({ failure: away }))).toMatchObject({ code: 'E_STORE' });
    expect(await refusal(run({ failure: new Error('odd') }))).toMatchObject({ message: 'odd' });
  });

  test('no faster than its caller’s stream is read', async () => {
    let given = 0;
    const child = {
      async *stream() {
        for (const text of ['a', 'b']) {
          given++;
          yield says(text);
        }
      },
    } as unknown as Handle;
    const room = door();
    const { made } = stream();
    made.show = () => room.opened;
    const turn = new SubagentTurn(thread, undefined);
    const asked = { request: call, args: { request: 'go' }, stream: made, signal };
    const running = streamSubagent(child, turn, asked, ann, new SubagentEvents());
    await settle();
    expect(given).toBe(1);
    room.open();
    await running;
    expect(given).toBe(2);
  });
});
