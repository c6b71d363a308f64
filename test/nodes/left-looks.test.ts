import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { Dispatcher, SessionPlace } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { AgentHost, HostOptions } from '../../src/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { createEvent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { startChild } from '../adapters/processes.ts';
import { door, refusal } from '../host/kit.ts';
import { until } from './cluster.ts';

// What a look at a session leaves behind where it cannot go on: other programs have to know.

let folder: string;
let path: string;
const closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-looks-'));
  path = join(folder, 's.db');
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

type Look = Parameters<Dispatcher['serve']>[0];

/** Brings a place when the test says so, and notes what it is asked for. */
function byHand() {
  let look: Look | undefined;
  const looking = new Set<Promise<void>>();
  const stopped = door();
  const woken: SessionPlace[] = [];
  const scheduled: SessionPlace[] = [];
  const dispatcher: Dispatcher = {
    wake: async (place) => void woken.push(place),
    schedule: async (place) => void scheduled.push(place),
    async serve(given) {
      look = given;
      return async () => {
        stopped.open();
        await Promise.allSettled(looking);
      };
    },
    async close() {},
  };
  const bring = async (place: SessionPlace) => {
    const one = look?.(place) ?? Promise.resolve();
    looking.add(one);
    await one;
  };
  return { dispatcher, bring, woken, scheduled, stopped: stopped.opened };
}

const note = {
  name: 'note',
  description: 'notes',
  inputSchema: { type: 'object' },
  annotations: { idempotent: true },
  execute: () => 'noted',
} as const;

function program(dispatcher: Dispatcher, options: Partial<HostOptions> = {}) {
  const store = openSqlite(path);
  let calls = 0;
  const model = new ScriptedModel([
    () => {
      calls++;
      return { calls: [['note']] };
    },
    () => {
      calls++;
      return 'done';
    },
  ]);
  const warnings: string[] = [];
  const host: AgentHost = createHost({
    app: 'shop',
    userId: 'ann',
    agents: [new LlmAgent({ name: 'bot', model })],
    tools: [note],
    policy: { evaluate: () => ({ outcome: 'allow' }) },
    store,
    dispatcher,
    warn: (message) => warnings.push(message),
    ...options,
  });
  closers.push(async () => {
    await host.close();
    await store.close();
  });
  return { host, store, warnings, calls: () => calls };
}

const place = { agent: 'bot', userId: 'ann', sessionId: 's1' };
const of = { app: 'shop', userId: 'ann', id: 's1' };

/** A turn whose program is killed as it runs it. */
async function orphan(store: ReturnType<typeof openSqlite>, version?: string): Promise<void> {
  await store.create(of);
  const content = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'go' }] };
  const terms = version === undefined ? {} : { terms: { version } };
  await store.append(of, [createEvent({ author: 'user', content, actions: { turn: { start: 'bot' }, ...terms } })]);
  const child = startChild('store-child.ts', `sqlite:${path}`, 'holder');
  expect(await child.next()).toBe('ready');
  child.tell('hold s1');
  expect(await child.next()).toMatch(/^held /);
  await child.kill();
  await until(async () => (await store.holder(of)) === undefined);
}

/** Resolves when turns of the dead were looked for so many times. */
function looked(store: ReturnType<typeof openSqlite>, times: number): Promise<void> {
  const { opened, open } = door();
  const real = store.unattended.bind(store);
  let looks = 0;
  store.unattended = async (...given) => {
    if (++looks === times) open();
    return real(...given);
  };
  return opened;
}

test('NODE9-03 a turn that a look begins after its program was stopped leaves at its next stored answer, too', async () => {
  const { dispatcher, bring, woken, stopped } = byHand();
  const { host, store, calls } = program(dispatcher);
  const work = await host.work();
  await host.submit('bot', 'go', { sessionId: 's1', create: true });
  const taking = door();
  const gate = door();
  const real = store.acquire.bind(store);
  store.acquire = async (...given) => {
    taking.open();
    await gate.opened;
    return real(...given);
  };
  const looking = bring(place);
  await taking.opened;
  const stopping = work.stop();
  await stopped;
  gate.open();
  expect(await stopping).toBe(0);
  await looking;
  expect(calls()).toBe(1);
  expect(await host.unfinished()).toEqual([place]);
  // Of the submit, and for whoever continues it; a look that comes later still is for another program as well.
  expect(woken.map(({ sessionId }) => sessionId)).toEqual(['s1', 's1']);
  await bring(place);
  expect([woken.length, calls()]).toEqual([3, 1]);
});

test('NODE9-04 a turn of a dead program that is held for another version is put off, and not looked at with each look for the dead', async () => {
  const { dispatcher, scheduled } = byHand();
  const { host, store } = program(dispatcher, { onAgentChanged: 'hold', agentOptions: { version: '2' } });
  await orphan(store, '1');
  const often = looked(store, 40);
  await host.work({ lookMs: 5 });
  await often;
  expect(scheduled.map(({ sessionId }) => sessionId)).toEqual(['s1']);
});

test('NODE9-05 a turn of a dead program that cannot be continued here is tried less often, and not with each look for the dead', async () => {
  const { dispatcher } = byHand();
  const { host, store, warnings } = program(dispatcher);
  await orphan(store);
  store.acquire = async () => {
    throw new CoxswainError('DATA_LOSS', 'E_STORE', 'the log is damaged');
  };
  const often = looked(store, 60);
  await host.work({ lookMs: 5 });
  await often;
  const failures = warnings.filter((warning) => warning.includes('could not be taken over'));
  expect(failures.length).toBeGreaterThan(3);
  expect(failures.length).toBeLessThan(15);
});

test('NODE9-06 a look whose turn the store has not taken is brought again: it has failed', async () => {
  const { dispatcher, bring } = byHand();
  const { host, store, calls } = program(dispatcher);
  await host.work({ lookMs: 3_600_000 });
  await host.submit('bot', 'go', { sessionId: 's1', create: true });
  const real = store.append.bind(store);
  let isFull = true;
  store.append = async (...given) => {
    if (isFull) throw new CoxswainError('RESOURCE_EXHAUSTED', 'E_STORE_FULL', 'no room');
    return real(...given);
  };
  expect(await refusal(bring(place))).toMatchObject({ code: 'E_STORE_FULL' });
  isFull = false;
  await bring(place);
  expect(calls()).toBe(2);
  expect(await host.unfinished()).toEqual([]);
});

test('NODE9-09 an outcome that is brought to a program without receivers is left to another one, and that is reported once', async () => {
  const { dispatcher, bring, scheduled } = byHand();
  const { host, warnings } = program(dispatcher);
  await host.work({ lookMs: 3_600_000 });
  const owed = { agent: '@outcome', userId: 'ann', sessionId: 'msg_1/s1' };
  // After some times it is left to who has the receiver, and looks for it.
  for (let n = 0; n < 12; n++) await bring(owed);
  expect(scheduled).toEqual(Array(5).fill(owed));
  expect(warnings).toEqual([
    'outcomes are owed to webhooks, and this program names none: they are left to one that does',
  ]);
});

test('NODE9-10 a time of a schedule whose webhook a program does not name is left to one that does', async () => {
  const outcomes = { names: ['crm'], takesAnswer: () => false, deliver: async () => 'done' as const };
  const [first, second] = [byHand(), byHand()];
  const names = program(first.dispatcher, { outcomes });
  const other = program(second.dispatcher);
  let now = Date.UTC(2026, 10, 30, 9, 0, 30);
  for (const { store } of [names, other]) Object.assign(store.journal, { now: async () => now });
  for (const { host } of [names, other]) await host.work({ lookMs: 3_600_000 });
  await names.host.schedules.set({ name: 'report', cron: '* * * * *', agent: 'bot', input: 'go', webhook: 'crm' });
  now += 35_000;
  const due = { agent: '@schedule', userId: 'ann', sessionId: 'report' };
  expect(await refusal(second.bring(due))).toMatchObject({ code: 'E_BAD_INPUT' });
  await first.bring(due);
  const at = '2026-11-30T09:01:00.000Z';
  expect((await names.host.schedules.list())[0]?.last).toMatchObject({ at, outcome: 'begun' });
});
