import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AdkSession } from '../../src/adapters/adk/index.ts';
import { snapshotOf } from '../../src/adapters/adk/index.ts';
import { rewind, turnStarts } from '../../src/adapters/stores/common/maintenance.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentEvent } from '../../src/contracts/index.ts';
import type { SessionKey, SessionService } from '../../src/runtime/index.ts';
import { createEvent, InMemorySessionService } from '../../src/runtime/index.ts';
import { createView } from '../../src/session/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import {
  all,
  bot,
  brief,
  endOf,
  hostOf,
  notingTool,
  openIds,
  ownTool,
  policyOf,
  refusal,
  say,
  tool,
  whole,
} from '../host/kit.ts';

const stores: Record<string, (folder: string) => SessionService> = {
  memory: () => new InMemorySessionService(),
  sqlite: (folder) => openSqlite(join(folder, 'sessions.db')),
};

describe.each(Object.keys(stores))('rewind of a session that agents ran in, on %s', (name) => {
  let folder: string;
  let store: SessionService;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'coxswain-'));
    store = (stores[name] as (typeof stores)[string])(folder);
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  /** A host on the store after a restart: another service on a file, another fold of memory. */
  function restarted(): SessionService {
    if (name !== 'memory') return openSqlite(join(folder, 'sessions.db'));
    const again = Object.create(store) as SessionService;
    for (const method of ['create', 'get', 'list', 'append', 'acquire', 'openCalls', 'holder'] as const) {
      Object.assign(again, { [method]: store[method]?.bind(store) });
    }
    return again;
  }
  const keyOf = (id: string): SessionKey => ({ app: 'shop', userId: 'ann', id });
  const startsOf = async (key: SessionKey) => turnStarts((await store.get(key))?.events ?? []);
  const hosted = (script: readonly Script[], options: Parameters<typeof hostOf>[1] = {}) => {
    const model = new ScriptedModel({ responses: script, strict: true });
    return { model, ...hostOf(bot(model), { store, userId: 'ann', ...options }) };
  };
  const words = (model: ScriptedModel) =>
    model.requests
      .at(-1)
      ?.contents.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : part.type)));

  test('what was said in the turns that are taken back is not in the history, here and after a restart', async () => {
    const { host, model } = hosted(['one', 'two', 'three', 'four']);
    const session = await host.open('bot');
    const key = keyOf(session.id);
    for (const text of ['first', 'second', 'third']) await say(session, text);
    const view = createView();
    for (const event of await all(session.events())) view.apply(event);
    const [, second = 0] = await startsOf(key);
    const after = (await all(session.events())).at(-1)?.cursor;
    await rewind(store, key, second);
    expect(await openIds(session)).toEqual([]);
    const left = ['user: first', 'agent: one', 'end completed'];
    expect(brief(await all(session.events())).filter((line) => line !== 'usage')).toEqual([...left, 'custom rewound']);
    // Whoever has read all of it is told how far it went back.
    const more = await all(session.events(after === undefined ? {} : { after }));
    expect(more).toMatchObject([{ type: 'custom', kind: 'rewound', data: { through: second } }]);
    for (const event of more) view.apply(event);
    expect(view.messages.map(({ content }) => content)).toMatchObject([[{ text: 'first' }], [{ text: 'one' }]]);
    await say(session, 'other');
    expect(words(model)).toEqual(['first', 'one', 'other']);
    await host.close();

    const again = hosted(['five'], { store: restarted() });
    const reopened = await again.host.open('bot', { sessionId: session.id });
    await say(reopened, 'last');
    expect(words(again.model)).toEqual(['first', 'one', 'other', 'four', 'last']);
    // The log itself has everything.
    const texts = JSON.stringify((await store.get(key))?.events);
    for (const text of ['second', 'two', 'third', 'three']) expect(texts).toContain(text);
    const fresh = createView();
    for (const event of await all(reopened.events())) fresh.apply(event);
    expect(fresh.messages).toHaveLength(6);
    await again.host.close();
  });

  test('F19 what waits for a person in a turn that is taken back is settled, and can be approved no more', async () => {
    const pay = notingTool('pay');
    const { host } = hosted(['hello', { calls: [['pay', { eur: 5 }]] }, 'anew'], {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const session = await host.open('bot');
    await say(session, 'hi');
    expect(endOf(await say(session, 'pay')).reason).toBe('input_required');
    const [open] = await host.approvals.list();
    const requestId = open?.request.requestId ?? '';
    const seen: AgentEvent[] = [];
    const [, second = 0] = await startsOf(keyOf(session.id));
    const following = (async () => {
      for await (const event of session.events({ live: true })) {
        seen.push(event);
        if (event.type === 'custom' && event.kind === 'rewound') break;
      }
    })();
    await rewind(store, keyOf(session.id), second);
    await following;
    expect(brief(seen).slice(-3)).toEqual(['pay = cancelled', 'end aborted', 'custom rewound']);
    expect(await host.approvals.list()).toEqual([]);
    expect(await store.openCalls({ app: 'shop' })).toEqual([]);
    expect(await session.pending()).toEqual([]);
    const late = await refusal(session.respond(requestId, { kind: 'approve', by: { id: 'bob' } }));
    expect(late.code).toBe('E_UNKNOWN_REQUEST');
    expect(endOf(await say(session, 'go on')).reason).toBe('completed');
    expect(pay.runs).toEqual([]);
    await host.close();
  });

  test.each(['host', 'agent'])(
    'F20 a call that ran in what is taken back, and is open again, is not run again unasked (tool of the %s)',
    async (owner) => {
      const runs: unknown[] = [];
      const pay = tool('pay', (args) => {
        runs.push(args);
        return 'paid';
      });
      const model = new ScriptedModel([{ calls: [['pay', { eur: 5 }]] }, 'meanwhile', 'paid it', 'done']);
      const { host } = hostOf(bot(model, owner === 'agent' ? { tools: [pay] } : {}), {
        ...{ store, userId: 'ann', policy: policyOf({ pay: 'ask' }) },
        ...(owner === 'host' ? { tools: [pay] } : {}),
      });
      const session = await host.open('bot');
      await say(session, 'pay');
      await say(session, 'something else', { whilePending: 'proceed' });
      const [open] = await host.approvals.list();
      await session.respond(open?.request.requestId ?? '', { kind: 'approve', by: { id: 'bob' } });
      await whole(session).resume();
      expect(runs).toHaveLength(1);
      const key = keyOf(session.id);
      const [, second = 0] = await startsOf(key);
      await rewind(store, key, second);
      // Open again, and its outcome is unknown: asked about, not run.
      await whole(session).resume();
      expect(runs).toHaveLength(1);
      const [again] = await host.approvals.list();
      expect(again?.request).toMatchObject({ kind: 'rerun_unknown', name: 'pay' });
      await whole(session).resume();
      expect(runs).toHaveLength(1);
      const settled = await session.respond(again?.request.requestId ?? '', { kind: 'deny', by: { id: 'bob' } });
      expect(settled.status).toBe('settled');
      await whole(session).resume();
      expect(runs).toHaveLength(1);
      expect(await store.openCalls({ app: 'shop' })).toEqual([]);
      await host.close();
    },
  );

  test.each(['behind the first rewind', 'before it'])(
    'ATK2-12 that a call ran in what is taken back is known after a second rewind to %s, here and after a restart',
    async (where) => {
      const pay = notingTool('pay');
      const { host } = hosted(['hello', { calls: [['pay', { eur: 5 }]] }, 'meanwhile', 'paid it', 'more', 'other'], {
        tools: [pay.tool],
        policy: policyOf({ pay: 'ask' }),
      });
      const session = await host.open('bot');
      const key = keyOf(session.id);
      for (const text of ['hi', 'pay']) await say(session, text);
      if (where === 'before it') await say(session, 'something else', { whilePending: 'proceed' });
      const last = async () => (await startsOf(key)).at(-1) ?? 0;
      const before = await last();
      await say(session, 'yet another', { whilePending: 'proceed' });
      const first = await last();
      const [open] = await host.approvals.list();
      await session.respond(open?.request.requestId ?? '', { kind: 'approve', by: { id: 'bob' } });
      await whole(session).resume();
      expect(pay.runs).toHaveLength(1);
      await rewind(store, key, first);
      if (where === 'before it') {
        // It takes the first rewind back, too.
        await rewind(store, key, before);
      } else {
        await say(session, 'one more', { whilePending: 'proceed' });
        await rewind(store, key, await last());
      }
      await host.close();
      for (const service of [store, restarted()]) {
        const again = hosted([], { store: service, tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
        const reopened = await again.host.open('bot', { sessionId: session.id });
        await whole(reopened).resume();
        expect(await reopened.pending()).toMatchObject([{ kind: 'rerun_unknown', name: 'pay' }]);
        expect(pay.runs).toHaveLength(1);
        await again.host.close();
      }
    },
  );

  test('F25 a rewind takes in what came in between, and is refused while a run holds the session', async () => {
    const { host } = hosted(['one', 'two']);
    const session = await host.open('bot');
    for (const text of ['first', 'second']) await say(session, text);
    const key = keyOf(session.id);
    const [, second = 0] = await startsOf(key);
    const lease = await store.acquire(key);
    expect((await refusal(rewind(store, key, second))).code).toBe('E_SESSION_BUSY');
    await lease.release();
    // Somebody else writes at the last moment.
    const append = store.append.bind(store);
    store.append = async (of, events, options) => {
      store.append = append;
      await append(of, [createEvent({ author: 'user', actions: { stateDelta: { late: 1 } } })]);
      return append(of, events, options);
    };
    await rewind(store, key, second);
    expect((await store.get(key))?.state).toEqual({});
    expect(await startsOf(key)).toEqual([0]);
    await host.close();
  });

  test('a snapshot of a session that was taken back holds what counts', async () => {
    const { host } = hosted(['one', 'two', 'three']);
    const session = await host.open('bot');
    for (const text of ['first', 'second']) await say(session, text);
    const [, second = 0] = await startsOf(keyOf(session.id));
    await rewind(store, keyOf(session.id), second);
    await say(session, 'third');
    const snapshot = await snapshotOf(whole(session).inner as AdkSession);
    const model = new ScriptedModel(['four']);
    const elsewhere = hostOf(bot(model), { userId: 'ann' });
    const copy = await elsewhere.host.open('bot', { snapshot });
    await say(copy, 'fourth');
    expect(words(model)).toEqual(['first', 'one', 'third', 'three', 'fourth']);
    await host.close();
    await elsewhere.host.close();
  });

  test('S0-57 state goes back with the session, settings and what was spent do not', async () => {
    const set = ownTool('set', (_, { state }) => {
      state.set('n', 2);
      state.set('user:n', 2);
      return 'ok';
    });
    const model = new ScriptedModel([{ calls: [['set', {}]] }, 'ok']);
    const { host } = hostOf(bot(model, { tools: [set] }), { store, userId: 'ann', policy: policyOf({}) });
    const session = await host.open('bot', { state: { n: 1 } });
    await session.update({ permissionMode: 'plan', title: 'Boats' });
    await session.update({ permissionMode: 'default' });
    await say(session, 'set it');
    const key = keyOf(session.id);
    expect((await store.get(key))?.state).toMatchObject({ n: 2, 'user:n': 2 });
    await session.update({ permissionMode: 'plan' });
    const [first = 0] = await startsOf(key);
    await rewind(store, key, first);
    expect(await store.get(key)).toMatchObject({ state: { n: 1, 'user:n': 2 }, title: 'Boats' });
    await host.close();
  });
});
