import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SessionService } from '../../src/runtime/index.ts';
import {
  agentTool,
  InMemorySessionService,
  LiveSession,
  ParallelAgent,
  SequentialAgent,
  StateView,
  scopeOf,
  splitDelta,
  storedDelta,
} from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, key, llm, mortal, ownTool, responses, tool } from './kit.ts';

const writes = (delta: Record<string, unknown>) =>
  ownTool('write', (_, { state }) => {
    for (const [name, value] of Object.entries(delta)) state.set(name, value);
  });

const writeThenSay = () => new ScriptedModel([{ calls: [['write']] }, 'done']);

describe('scopes', () => {
  test('S0-55 a prefix names the scope: none is the session', () => {
    expect(['k', 'app:k', 'user:k', 'temp:k', 'apple', 'temp', ':k'].map(scopeOf)).toEqual([
      'session',
      'app',
      'user',
      'temp',
      'session',
      'session',
      'session',
    ]);
    const delta = { k: 1, 'app:k': 2, 'user:k': 3, 'temp:k': 4 };
    expect(splitDelta(delta)).toEqual({ session: { k: 1 }, app: { k: 2 }, user: { k: 3 } });
    expect(storedDelta(delta)).toEqual({ k: 1, 'app:k': 2, 'user:k': 3 });
  });

  test('a session that is made without shared state leaves that of others as it is', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key, { state: { 'app:k': 1 } });
    const before = (await sessions.get(key))?.state;
    await sessions.create({ ...key, id: 'own' }, { state: { k: 2 } });
    expect((await sessions.get(key))?.state).toBe(before);
    await sessions.create({ ...key, id: 'shared' }, { state: { 'app:k': 3 } });
    expect((await sessions.get(key))?.state).toEqual({ 'app:k': 3 });
    expect(before).toEqual({ 'app:k': 1 });
  });

  test('S0-55 session keys stay in the session, user: and app: are shared, temp: is gone', async () => {
    const sessions = new InMemorySessionService();
    const delta = { k: 1, 'app:k': 2, 'user:k': 3, 'temp:k': 4 };
    const { say } = bench(llm('bot', writeThenSay(), { tools: [writes(delta)] }), { store: sessions });
    await say('hi');
    const seen = async (userId: string, id: string) => {
      const model = new ScriptedModel(['ok']);
      const instruction = '{k?}|{app:k?}|{user:k?}|{temp:k?}';
      await bench(llm('bot', model, { instruction }), { store: sessions }).say('hi', { userId, sessionId: id });
      return model.requests[0]?.systemInstruction;
    };
    expect(await seen('ann', 's1')).toBe('1|2|3|');
    expect(await seen('ann', 's2')).toBe('|2|3|');
    expect(await seen('bob', 's1')).toBe('|2||');
    expect((await sessions.get(key))?.state).toEqual({ k: 1, 'app:k': 2, 'user:k': 3 });
  });

  test('S0-55 what other sessions wrote to shared state is seen by the next run of an open one', async () => {
    const sessions = new InMemorySessionService();
    const model = new ScriptedModel(['one', 'two']);
    const { say } = bench(llm('bot', model, { instruction: '{app:k?}' }), { store: sessions });
    await say('hi');
    const other = bench(llm('bot', writeThenSay(), { tools: [writes({ 'app:k': 'new' })] }), { store: sessions });
    await other.say('hi', { sessionId: 's2' });
    await say('again');
    expect(model.requests.map(({ systemInstruction }) => systemInstruction)).toEqual(['', 'new']);
  });
});

describe('F28 temp: lives for one invocation', () => {
  test('F28 R22 visible to sub-agents, later tools and after-callbacks; not stored; not there in the next turn', async () => {
    const seen: unknown[] = [];
    const look = ownTool('look', (_, { state }) => void seen.push(['tool', state.get('temp:x')]));
    const model = new ScriptedModel({
      byAgent: {
        first: [{ calls: [['write']] }, 'a', 'again'],
        second: [{ calls: [['look']] }, 'b', 'again'],
        side: ['c', 'again'],
      },
    });
    const instruction = 'x={temp:x?}';
    const agent = new SequentialAgent({
      name: 'all',
      subAgents: [
        llm('first', model, {
          tools: [writes({ 'temp:x': { deep: 1 }, k: 1 })],
          afterAgent: ({ state }) => void seen.push(['after_agent', state.get('temp:x')]),
        }),
        llm('second', model, { tools: [look], instruction }),
        new ParallelAgent({ name: 'par', subAgents: [llm('side', model, { instruction })] }),
      ],
      afterAgent: ({ state, invocation }) =>
        void seen.push(['outer', state.get('temp:x'), invocation.state()['temp:x']]),
    });
    const { say, log, state } = bench(agent);
    expect(endOf(await say('hi'))).toBe('completed');
    const x = { deep: 1 };
    expect(seen.splice(0)).toEqual([
      ['after_agent', x],
      ['tool', x],
      ['outer', x, x],
    ]);
    const asked = (name: string) =>
      model.requests.filter(({ agent: who }) => who === name).map(({ systemInstruction }) => systemInstruction);
    expect([asked('second'), asked('side')]).toEqual([['x={"deep":1}', 'x={"deep":1}'], ['x={"deep":1}']]);

    expect(await state()).toEqual({ k: 1 });
    expect(JSON.stringify(await log())).not.toContain('"temp:');
    await say('next');
    expect(seen).toEqual([
      ['after_agent', undefined],
      ['outer', undefined, undefined],
    ]);
    expect(asked('second').at(-1)).toBe('x=');
  });

  test('R22 a new invocation of the same turn does not have it either', async () => {
    const model = new ScriptedModel([{ calls: [['write']] }, { calls: [['pay']] }, 'done']);
    const agent = llm('bot', model, {
      tools: [writes({ 'temp:x': 1 }), tool('pay', undefined)],
      instruction: 'x={temp:x?}',
    });
    const { say } = bench(agent);
    const call = (await say('hi')).at(-1)?.content?.parts[0];
    const result = { content: [] };
    await say({ kind: 'tool_result', requestId: (call as { id: string }).id, result });
    expect(model.requests.map(({ systemInstruction }) => systemInstruction)).toEqual(['x=', 'x=1', 'x=']);
  });

  test('a deleted temp: key is gone for hooks too', async () => {
    const seen: unknown[] = [];
    const { say } = bench(
      llm('bot', writeThenSay(), {
        tools: [writes({ 'temp:x': null })],
        beforeAgent: ({ state }) => state.set('temp:x', 1) as undefined,
        afterAgent: ({ state, invocation }) =>
          void seen.push(state.has('temp:x'), 'temp:x' in state.toObject(), 'temp:x' in invocation.state()),
      }),
    );
    await say('hi');
    expect(seen).toEqual([false, false, false]);
  });

  test('an agent run as a tool keeps its temp: keys to itself', async () => {
    const model = new ScriptedModel({
      byAgent: { bot: [{ calls: [['expert', { request: 'go' }]] }, 'done'], expert: [{ calls: [['write']] }, 'ok'] },
    });
    const expert = llm('expert', undefined, { tools: [writes({ 'temp:x': 1, k: 2 })], instruction: 'x={temp:x?}' });
    const { say, state } = bench(llm('bot', model, { tools: [agentTool(expert)], instruction: '{temp:x?}{k?}' }));
    await say('hi');
    expect(model.requests.map(({ agent, systemInstruction }) => [agent, systemInstruction])).toEqual([
      ['bot', ''],
      ['expert', 'x='],
      ['expert', 'x=1'],
      ['bot', '2'],
    ]);
    expect(await state()).toEqual({ k: 2 });
  });
});

describe('F26 deleting', () => {
  test.each(['k', 'user:k', 'app:k'])('F26 null deletes %s, now and after the log is read again', async (name) => {
    const sessions = new InMemorySessionService();
    const deltas = [{ [name]: 1 }, { [name]: { in: null } }, { [name]: null }];
    const write = ownTool('write', (_, { state }) => {
      for (const [at, value] of Object.entries(deltas.shift() ?? {})) state.set(at, value);
    });
    const model = new ScriptedModel(Array.from({ length: 3 }, () => [{ calls: [['write'] as const] }, 'ok']).flat());
    const seen: unknown[] = [];
    const agent = llm('bot', model, {
      tools: [write],
      afterAgent: ({ state }) => void seen.push(state.get(name), state.has(name)),
    });
    const { say, state } = bench(agent, { store: sessions });
    await say('one');
    expect(await state()).toEqual({ [name]: 1 });
    await say('two');
    expect(await state()).toEqual({ [name]: { in: null } });
    await say('three');
    expect(await state()).toEqual({});
    expect(seen).toEqual([1, true, { in: null }, true, undefined, false]);
    const { fold } = await LiveSession.open(restarted(sessions), key);
    expect({ ...fold.state, ...fold.shared }).toEqual({});
  });

  test('state.delete and undefined are null', () => {
    const view = new StateView({}, () => [{ a: 1, b: 2 }]);
    view.delete('a');
    view.set('b', undefined);
    expect([view.delta, view.get('a'), view.has('b'), view.toObject()]).toEqual([
      { a: null, b: null },
      undefined,
      false,
      {},
    ]);
  });
});

/** The same store as another process sees it. */
const restarted = (store: SessionService) => mortal(store, () => false);

describe('S0-56 reading through the chain', () => {
  test('a tool sees its own writes, then what callbacks wrote, then the session', async () => {
    const seen: unknown[] = [];
    const look = ownTool('look', (_, { state }) => {
      seen.push(['a', 'b', 'c'].map((name) => state.get(name)));
      state.set('a', 'tool');
      seen.push(['a', 'b', 'c'].map((name) => state.get(name)));
    });
    const sessions = new InMemorySessionService();
    await sessions.create(key, { state: { a: 'session', b: 'session', c: 'session' } });
    const agent = llm('bot', new ScriptedModel([{ calls: [['look']] }, 'ok']), {
      tools: [look],
      beforeTool: ({ state }) => {
        state.set('a', 'callback');
        state.set('b', 'callback');
        return undefined;
      },
    });
    const { say, state } = bench(agent, { store: sessions });
    await say('hi');
    expect(seen).toEqual([
      ['callback', 'callback', 'session'],
      ['tool', 'callback', 'session'],
    ]);
    expect(await state()).toEqual({ a: 'tool', b: 'callback', c: 'session' });
  });

  const value = fc.oneof(fc.constant(null), fc.integer(), fc.string(), fc.record({ deep: fc.array(fc.integer()) }));
  const name = fc.constantFrom('a', 'b', 'app:a', 'temp:a', '__proto__', 'constructor');
  const layer = fc.array(fc.tuple(name, value), { maxLength: 5 }).map((entries) => {
    const made = Object.create(null) as Record<string, unknown>;
    for (const [at, what] of entries) made[at] = what;
    return made;
  });

  test('the newest layer that has a key decides; null hides what is below; nothing below is changed', () => {
    fc.assert(
      fc.property(fc.array(layer, { maxLength: 4 }), layer, (below, own) => {
        const before = JSON.stringify(below);
        const view = new StateView({}, () => below);
        for (const at of Object.keys(own)) view.set(at, own[at]);
        const layers = [own, ...below];
        const merged = view.toObject();
        for (const at of ['a', 'b', 'app:a', 'temp:a', '__proto__', 'constructor', 'toString']) {
          const holder = layers.find((candidate) => Object.hasOwn(candidate, at));
          const expected = holder?.[at] ?? undefined;
          expect(view.get(at)).toEqual(expected);
          expect(view.has(at)).toBe(expected !== undefined);
          expect(Object.hasOwn(merged, at)).toBe(expected !== undefined);
          if (expected !== undefined) expect(Object.getOwnPropertyDescriptor(merged, at)?.value).toEqual(expected);
        }
        expect(JSON.stringify(below)).toBe(before);
        expect(Object.keys(view.delta).sort()).toEqual(Object.keys(own).sort());
      }),
    );
  });

  test('what is read is a copy: changing it changes nothing', () => {
    const stored = { list: [1] };
    const view = new StateView({}, () => [{ stored }]);
    (view.get('stored') as typeof stored).list.push(2);
    (view.toObject().stored as typeof stored).list.push(3);
    const given = { list: [1] };
    view.set('given', given);
    given.list.push(2);
    expect([stored, view.get('given')]).toEqual([{ list: [1] }, { list: [1] }]);
  });

  test.each([
    ['a function', () => 1],
    ['a date', new Date(0)],
    ['bytes', new Uint8Array([1])],
    ['a big integer', 1n],
    ['not a number', Number.NaN],
    ['a map', new Map()],
  ])('%s is refused at the write, the key named', async (_, bad) => {
    const view = new StateView({}, () => []);
    expect(() => view.set('k', bad)).toThrow(expect.objectContaining({ code: 'E_NOT_JSON' }));
    expect(() => view.set('k', { in: bad })).toThrow(/state "k"/);
    expect(() => view.set('', 1)).toThrow(expect.objectContaining({ code: 'E_STATE_KEY' }));
    expect(view.delta).toEqual({});
    const { say, state } = bench(llm('bot', writeThenSay(), { tools: [writes({ k: bad })] }));
    expect(String(responses(await say('hi')).write?.error)).toContain('state "k"');
    expect(await state()).toEqual({});
  });
});

describe('S0-57 state changes through events alone', () => {
  test('the state is the fold of the deltas in the log', async () => {
    const write = writes({ a: 1, 'app:b': 2 });
    const { say, log, state } = bench(llm('bot', writeThenSay(), { tools: [write], outputKey: 'answer' }));
    await say('hi');
    const folded = Object.assign({}, ...(await log()).map(({ actions }) => actions.stateDelta));
    expect(await state()).toEqual(folded);
    expect(folded).toEqual({ a: 1, 'app:b': 2, answer: 'done' });
  });

  test('an event that is not stored changes no state, shared state included', async () => {
    const sessions = new InMemorySessionService();
    const dying = mortal(sessions, (events) => events.some(({ actions }) => 'a' in actions.stateDelta));
    const tools = [writes({ a: 1, 'app:b': 2, 'user:c': 3 })];
    const { say } = bench(llm('bot', writeThenSay(), { tools }), { store: dying });
    await expect(say('hi')).rejects.toThrow('the process is gone');
    expect((await sessions.get(key))?.state).toEqual({});
    const again = bench(llm('bot', new ScriptedModel(), { instruction: '{a?}{app:b?}{user:c?}' }), { store: sessions });
    await again.say('hi', { sessionId: 's2' });
    expect((await sessions.get({ ...key, id: 's2' }))?.state).toEqual({});
  });

  test('a hook’s own copy of the state is no way in', async () => {
    const { say, state } = bench(
      llm('bot', new ScriptedModel(), {
        beforeAgent: ({ invocation }) => {
          Object.assign(invocation.state(), { sneaked: 1 });
          return undefined;
        },
        instruction: '{sneaked}',
      }),
    );
    expect(errorOf(await say('hi'))?.code).toBe('E_INSTRUCTION');
    expect(await state()).toEqual({});
  });
});
