import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../../src/adapters/stores/sql/open-sqlite.ts';
import { allowAll, createHost, fromAgent, LlmAgent } from '../../../src/index.ts';
import type { Lease, SessionService, StoredEvent } from '../../../src/runtime/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';

let folder: string;
let store: SessionService & { close(): Promise<void> };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-commits-'));
  store = openSqlite(join(folder, 'sessions.db'));
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const wordOf = ({ actions, content }: StoredEvent) =>
  actions.turn ? 'input' : actions.end ? 'end' : actions.started ? 'start' : (content?.parts[0]?.type ?? 'other');
const words = (events: readonly StoredEvent[]) => events.map(wordOf).join('+');

/** The store, and a line for each transaction that changes it. */
function noting(): { noted: SessionService; lines: string[] } {
  const lines: string[] = [];
  const acquire: SessionService['acquire'] = async (key, first) => {
    const lease = await store.acquire(key, first);
    lines.push(`lease${lease.stored ? `+${words(lease.stored)}` : ''}`);
    const noted: Lease = {
      ...lease,
      release: async () => {
        const isHeld = (await store.holder(key)) === lease.epoch;
        await lease.release();
        if (isHeld) lines.push('release');
      },
    };
    const { releaseWith } = lease;
    if (!releaseWith) return noted;
    return {
      ...noted,
      releaseWith: async (events) => {
        const stored = await releaseWith(events);
        lines.push(`${words(stored)}+release`);
        return stored;
      },
    };
  };
  const append: SessionService['append'] = async (...given) => {
    const stored = await store.append(...given);
    lines.push(words(stored));
    return stored;
  };
  const noted = new Proxy(store, {
    get(target, name) {
      if (name === 'acquire') return acquire;
      if (name === 'append') return append;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { noted, lines };
}

const agent = () => new LlmAgent({ name: 'bot', model: new ScriptedModel(['hello', 'again']) });

test('a turn is two transactions: the lease with the input, and the answer with the end and the release', async () => {
  const { noted, lines } = noting();
  const session = await fromAgent(agent(), { store: noted }).open({}, { app: 'shop' });
  for await (const _ of session.stream('hi'));
  for await (const _ of session.stream('hi'));
  expect(lines).toEqual(['lease+input', 'text+end+release', 'lease+input', 'text+end+release']);
});

test('a hosted turn is two transactions, too; each step of a tool loop adds its call, its start and its result', async () => {
  const { noted, lines } = noting();
  const model = new ScriptedModel([{ calls: [['look', {}]] }, 'done', 'again']);
  let seen: string[] = [];
  const look = {
    name: 'look',
    description: 'looks',
    inputSchema: { type: 'object' as const },
    execute: () => {
      seen = [...lines];
      return 'seen';
    },
  };
  const host = createHost({
    app: 'shop',
    agents: [new LlmAgent({ name: 'bot', model })],
    store: noted,
    policy: allowAll(),
    tools: [look],
  });
  const session = await host.open('bot');
  for await (const _ of session.stream('hi'));
  const started = ['lease+input', 'function_call', 'start'];
  expect(seen).toEqual(started);
  expect(lines).toEqual([...started, 'function_response', 'text+end+release']);
  lines.length = 0;
  for await (const _ of session.stream('hi'));
  expect(lines).toEqual(['lease+input', 'text+end+release']);
  await host.close();
});

test('who is busy elsewhere refuses the input with the lease: nothing of it is stored', async () => {
  const { noted } = noting();
  const session = await fromAgent(agent(), { store: noted }).open({}, { app: 'shop' });
  const key = { app: 'shop', userId: 'local', id: session.id };
  const held = await store.acquire(key);
  await expect(session.stream('hi').next()).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
  expect((await store.get(key))?.lastSeq).toBe(0);
  await held.release();
});

test('where others have written meanwhile the lease is taken alone, and the input is made again', async () => {
  const { noted, lines } = noting();
  const session = await fromAgent(agent(), { store: noted }).open({}, { app: 'shop' });
  const other = await fromAgent(agent(), { store: store }).open({ sessionId: session.id }, { app: 'shop' });
  await other.update({ title: 'seen' });
  const types: string[] = [];
  for await (const { type } of session.stream('hi')) types.push(type);
  expect(lines).toEqual(['lease', 'input', 'text+end+release']);
  expect(types.at(-1)).toBe('stream_end');
  expect((await store.get({ app: 'shop', userId: 'local', id: session.id }))?.lastSeq).toBe(4);
});
