import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Editing } from '../../src/runtime/hooks/editable-request.ts';
import { StoreFollower } from '../../src/runtime/live/store-follower.ts';
import type { CallState } from '../../src/runtime/log/call-state.ts';
import { callTurns, newCall, stillCall } from '../../src/runtime/log/call-state.ts';
import { createEvent } from '../../src/runtime/log/event.ts';
import type { RequestDraft } from '../../src/runtime/model/request-draft.ts';
import { Marks } from '../../src/runtime/run/marks.ts';
import type { SessionService } from '../../src/runtime/store/session-service.ts';

describe('a call', () => {
  const part = (_meta?: Record<string, unknown>) =>
    ({ type: 'function_call', id: 'c', name: 'f', args: { a: 1 }, ...(_meta ? { _meta } : {}) }) as const;
  const event = createEvent({ author: 'bot', id: 'e', path: 'p', turnId: 't', timestamp: 5 });

  test('is what its event says of it, and no more', () => {
    const bare = newCall(event, part(), false, new Set());
    expect(bare).toStrictEqual({
      ...{ id: 'c', name: 'f', args: { a: 1 }, path: 'p', author: 'bot', turnId: 't', requestedAt: 5 },
      ...{ longRunning: false, handledBy: 'agent', hooked: false, version: 0, started: false, attempts: 0 },
      ...{ asks: [], hostAnswers: [], cutIds: new Set() },
    });
    const meta = {
      handledBy: 'host',
      hooked: true,
      ask: 'why',
      signals: { escalate: true },
      asked: { hint: 'h' },
      tool: { kind: 'edit' },
    };
    const placed = { ...event, branch: 'b', iso: 'i', thread: 'h', longRunningToolIds: ['c'] };
    expect(newCall(placed, part(meta), true, new Set())).toMatchObject({
      ...{ longRunning: true, handledBy: 'host', hooked: true, floor: 'why', signals: { escalate: true } },
      ...{ asked: { hint: 'h' }, tool: { kind: 'edit' }, branch: 'b', iso: 'i', thread: 'h' },
    });
    const odd = newCall(event, part({ handledBy: 'other', hooked: 'yes', ask: 5, signals: 'x' }), false, new Set());
    expect(odd).toStrictEqual(bare);
  });

  test('has a turn for each start and each question; a still of it does not change', () => {
    const call = newCall(event, part(), false, new Set());
    call.attempts = 2;
    call.asks.push({ requestId: 'q', callId: 'c', kind: 'tool_confirmation', message: '', requestedAt: 1, attempt: 0 });
    expect(callTurns(call)).toBe(3);
    const still: CallState = stillCall(call);
    Object.assign(call.asks[0] ?? {}, { answer: { action: 'accept' } });
    call.asks.push(...call.asks);
    expect([still.asks.length, still.asks[0]?.answer]).toEqual([1, undefined]);
  });
});

describe('what a run has to tell of its tree', () => {
  const put = (marks: Marks, actions: object = {}, thread?: string) => {
    const event = createEvent({ author: 'bot', actions, ...(thread === undefined ? {} : { thread }) });
    marks.putOn(event);
    const { completed, began, entered, exited } = event.actions;
    return { completed, began, entered, exited };
  };
  const done = (path: string) => ({ path, agent: 'a', outcome: { kind: 'done' as const } });
  const nothing = { completed: undefined, began: undefined, entered: undefined, exited: undefined };

  test('is told once, by the next event, before what that has itself', () => {
    const marks = new Marks();
    marks.began({ path: 'p', agent: 'a' });
    marks.began({ path: 'p', agent: 'a' });
    marks.began({ path: 'p', agent: 'a', iteration: 0 });
    marks.completed(done('p'));
    marks.completed(done('p'));
    marks.ran('p', 'entered');
    marks.ran('q', 'exited');
    expect([
      marks.has('p', 'completed'),
      marks.has('q', 'completed'),
      marks.has('p', 'entered'),
      marks.has('p', 'exited'),
    ]).toEqual([true, false, true, false]);
    expect(marks.hooksAreUntold).toBe(true);
    const told = put(marks, { completed: [done('own')], entered: ['own'], exited: ['own'] });
    expect(told.completed?.map(({ path }) => path)).toEqual(['p', 'own']);
    expect(told.began?.map(({ iteration }) => iteration)).toEqual([undefined, 0]);
    expect([told.entered, told.exited]).toEqual([
      ['own', 'p'],
      ['own', 'q'],
    ]);
    expect([put(marks), marks.hooksAreUntold]).toEqual([nothing, false]);
    marks.completed(done('p'));
    expect(put(marks)).toEqual(nothing);
  });

  test('stands alone where the event has none', () => {
    const marks = new Marks();
    marks.completed(done('p'));
    marks.ran('p', 'entered');
    marks.ran('p', 'exited');
    expect(put(marks)).toEqual({ completed: [done('p')], began: undefined, entered: ['p'], exited: ['p'] });
  });

  test('is not told of a slot that was ended', () => {
    const marks = new Marks();
    for (const path of ['p', 'p/q', 'r']) {
      marks.completed(done(path));
      marks.began({ path, agent: 'a' });
    }
    marks.forgetWithin('p');
    const { completed, began } = put(marks);
    expect([completed?.map(({ path }) => path), began?.map(({ path }) => path)]).toEqual([['r'], ['r']]);
  });
});

describe('a request in the hands of hooks', () => {
  const descriptor = { name: 'f', description: 'd', inputSchema: { type: 'object' } };
  const draft = (more: Partial<RequestDraft> = {}): RequestDraft =>
    ({
      ...{ model: 'm', systemInstruction: 's', config: { a: { b: 1 } }, agent: 'bot' },
      contents: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
      tools: new Map([['f', descriptor]]),
      ...more,
    }) as RequestDraft;

  test('is a copy at every depth, taken over as it was made', () => {
    const given = draft({ outputSchema: { type: 'object', properties: { a: {} } } });
    const before = structuredClone({ ...given, tools: [...given.tools] });
    const { request } = new Editing(given);
    Object.assign(request.config.a as object, { b: 2 });
    Object.assign(request.outputSchema?.properties as object, { b: {} });
    Object.assign(request.contents[0]?.parts[0] ?? {}, { text: 'bye' });
    Object.assign(request.tools.get('f') ?? {}, { description: 'e' });
    expect({ ...given, tools: [...given.tools] }).toEqual(before);
    expect(() => Object.assign(request, { agent: 'other' })).toThrow(TypeError);
    expect(new Editing(draft()).request).not.toHaveProperty('outputSchema');
  });

  test('is asked as the hooks have left it', () => {
    const given = draft({ outputSchema: { type: 'object' } });
    const editing = new Editing(given);
    Object.assign(editing.request, { model: 'n', systemInstruction: 't', config: { c: 1 } });
    editing.request.contents.push({ role: 'model', parts: [] });
    editing.request.tools.clear();
    delete editing.request.outputSchema;
    editing.take();
    expect(given).toMatchObject({ model: 'n', systemInstruction: 't', config: { c: 1 }, agent: 'bot' });
    expect([given.contents.length, given.tools.size, 'outputSchema' in given]).toEqual([2, 0, false]);
    editing.request.outputSchema = { type: 'array' };
    editing.take();
    expect(given.outputSchema).toEqual({ type: 'array' });
  });

  test.each<[string, object, string]>([
    ['a model that is none', { model: 5 }, 'model is no text'],
    ['instructions that are none', { systemInstruction: undefined }, 'systemInstruction is no text'],
    ['settings that are a list', { config: [] }, 'config is no object'],
    ['tools that are a list', { tools: [] }, 'tools are no Map'],
    [
      'a tool that was not offered',
      { tools: new Map([['g', { ...descriptor, name: 'g' }]]) },
      'tool g was not offered',
    ],
    [
      'a tool of another name',
      { tools: new Map([['f', { ...descriptor, name: 'g' }]]) },
      'tool f has another name now',
    ],
    ['no tool', { tools: new Map([['f', undefined]]) }, 'tool f has another name now'],
    ['a schema that is text', { outputSchema: 'x' }, 'outputSchema is no object'],
  ])('cannot be asked with %s', (_, change, message) => {
    const editing = new Editing(draft());
    Object.assign(editing.request, change);
    expect(() => editing.take()).toThrow(
      expect.objectContaining({ code: 'E_HOOK_FAILED', message: expect.stringContaining(message) }),
    );
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['another role', { role: 'system', parts: [] }],
    ['no parts', { role: 'user' }],
    ['parts that are text', { role: 'user', parts: ['x'] }],
  ])('cannot be asked with contents of %s', (_, content) => {
    const editing = new Editing(draft());
    editing.request.contents.push(content as never);
    expect(() => editing.take()).toThrow('contents are no list of {role, parts}');
  });
});

describe('looks into a store for what other processes write', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const key = (id: string) => ({ app: 'a', userId: 'u', id });

  function store(more: Partial<SessionService> = {}) {
    const looks: string[][] = [];
    const service = {
      grown: async (known: readonly { key: { id: string }; seq: number }[]) => {
        looks.push(known.map((one) => one.key.id));
        return known.map((one) => one.key).filter(({ id }) => id !== 'quiet');
      },
      ...more,
    } as unknown as SessionService;
    const caughtUp: string[] = [];
    const session = (id: string) => ({ key: key(id), at: 0, catchUp: async () => void caughtUp.push(id) });
    return { follower: StoreFollower.of(service), service, looks, caughtUp, session };
  }

  test('begin with the first follower and end with the last', async () => {
    const { follower, service, looks, caughtUp, session } = store();
    expect(StoreFollower.of(service)).toBe(follower);
    const [one, two] = [follower.follow(session('s')), follower.follow(session('quiet'), { everyMs: 300 })];
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(300);
    expect([looks, caughtUp]).toEqual([[['s', 'quiet']], ['s']]);
    two();
    await vi.advanceTimersByTimeAsync(300);
    expect(looks).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(999);
    expect(looks).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(looks).toHaveLength(3);
    one();
    expect(vi.getTimerCount()).toBe(0);
    follower.follow(session('s'), { everyMs: 5000 })();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('are not made where nobody else writes', () => {
    const { follower, session } = store({ isPrivate: true } as Partial<SessionService>);
    const stop = follower.follow(session('s'));
    expect(vi.getTimerCount()).toBe(0);
    stop();
  });

  test('that fail are told of, and the next one is as usual', async () => {
    let isAway = true;
    const { follower, caughtUp, session } = store({
      grown: async (known: readonly { key: object }[]) => {
        if (isAway) throw new Error('away');
        return known.map((one) => one.key) as never;
      },
    } as Partial<SessionService>);
    const warn = vi.fn();
    const stops = [follower.follow(session('s'), { warn }), follower.follow(session('t'), { warn })];
    await follower.wake();
    expect(warn.mock.calls).toEqual([[expect.stringContaining('the next look is as usual'), new Error('away')]]);
    isAway = false;
    await vi.advanceTimersByTimeAsync(1000);
    expect(caughtUp).toEqual(['s', 't']);
    for (const stop of stops) stop();
  });

  test('go session by session where a store has no better way', async () => {
    const last: Record<string, number> = { s: 1, t: 0 };
    const get = async ({ id }: { id: string }) => (id in last ? { lastSeq: last[id] } : undefined);
    const { follower, caughtUp, session } = store({ grown: undefined, get } as never);
    const stops = ['s', 't', 'gone'].map((id) => follower.follow(session(id)));
    await follower.wake();
    expect(caughtUp).toEqual(['s']);
    for (const stop of stops) stop();
  });
});
