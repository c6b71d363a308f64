import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { shownUrl } from '../../src/cli/workspace/store.ts';
import { mariadbServer, postgresServer } from '../adapters/databases.ts';
import { answer, call, change, event, fullEvent } from '../suites/session-service.ts';
import { Place } from './coxswain.ts';
import { command } from './in-process.ts';

const turn = (id: string) =>
  event(id, {
    author: 'user',
    content: { role: 'user', parts: [{ type: 'text', text: id }] },
    actions: { turn: { start: 'bot' } },
  });
const key = { app: 'cli', userId: 'ann', id: 's1' };

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

const file = () => join(place.path, 'team.db');
const own = () => ['--store', `sqlite:${file()}`, '--user', 'ann'];
const sessions = (...args: string[]) => command(['sessions', ...args, ...own()]);

/** What a store holds, past the command. */
async function inStore<T>(work: (store: ReturnType<typeof openSqlite>) => Promise<T>): Promise<T> {
  const store = openSqlite(file());
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function twoTurns(): Promise<void> {
  await inStore(async (store) => {
    await store.create(key, { state: { n: 0 }, title: 'T' });
    await store.append(key, [
      turn('first'),
      change('e2', { n: 1 }),
      turn('second'),
      change('e4', { n: 2 }),
      call('e5', 'c1'),
    ]);
  });
}

test('CMP-19 fork copies the artifacts that the copied part of the log names, and no others', async () => {
  const kept = (id: string, delta: Record<string, number>) => event(id, { actions: { artifactDelta: delta } });
  await inStore(async (store) => {
    await store.create(key);
    await store.append(key, [
      turn('first'),
      kept('e2', { a: 1, 'user:me': 1 }),
      turn('second'),
      kept('e4', { a: 2, b: 1 }),
    ]);
    for (const name of ['a', 'a', 'b', 'user:me', 'unnamed'])
      await store.artifacts.save(key, name, { mimeType: 'text/plain', data: Buffer.from(name) });
  });
  for (const args of [
    ['--id', 'whole'],
    ['--id', 'part', '--through', '2'],
  ])
    expect((await sessions('fork', 's1', ...args)).code).toBe(0);
  await inStore(async ({ artifacts }) => {
    const of = async (id: string) => {
      const copy = { ...key, id };
      const names = await artifacts.list(copy);
      return Promise.all(names.map(async (name) => [name, ...(await artifacts.versions(copy, name))]));
    };
    expect(await of('whole')).toEqual([
      ['a', 2, 1],
      ['b', 1],
      ['user:me', 1],
    ]);
    expect(await of('part')).toEqual([
      ['a', 1],
      ['user:me', 1],
    ]);
  });
});

test('S0-58 S0-57 fork and rewind: the copy has no open calls, what is taken back is out of sight and in the log', async () => {
  await twoTurns();
  const forked = await sessions('fork', 's1', '--id', 'copy');
  expect(forked).toMatchObject({ code: 0, stdout: 'copy\n', stderr: 'forked s1 through event 5\n' });
  const part = await sessions('fork', 's1', '--through', '2');
  const partId = part.stdout.trim();
  await inStore(async (store) => {
    expect((await store.get({ ...key, id: partId }))?.state).toEqual({ n: 1 });
    const open = await store.openCalls({ app: 'cli' });
    expect(open.map((one) => `${one.key.id} ${one.callId}`)).toEqual(['s1 c1']);
  });
  const back = await sessions('rewind', 's1');
  expect(back).toMatchObject({ code: 0, stderr: 'undid 1 turn of s1; it continues after event 2\n' });
  await inStore(async (store) => {
    expect(await store.get(key)).toMatchObject({ state: { n: 1 }, lastSeq: 8 });
    expect(await store.openCalls({ app: 'cli' })).toEqual([]);
  });
  expect((await sessions('show', 's1')).stdout).toBe('> first\n');
  const much = await sessions('rewind', 's1', '--turns', '9');
  expect(much.code).toBe(1);
  expect(much.stderr).toContain('E_BAD_INPUT session s1 has 1 turns');
  expect((await sessions('rewind', 'gone')).stderr).toContain('E_SESSION_NOT_FOUND');
});

test('CASE-F1 what U+2028 and U+2029 stand in is exported and imported', async () => {
  const words = 'a\u2028b\u2029c';
  await inStore(async (store) => {
    await store.create(key);
    await store.append(key, [fullEvent('e1'), change('e2', { words })]);
  });
  const lines = (await sessions('export', 's1')).stdout;
  const other = ['--store', 'sqlite:other.db', '--user', 'ann'];
  const copied = await place.run(['sessions', 'import', ...other], { input: lines });
  expect(copied).toMatchObject({ code: 0, stderr: 'imported 2 events\n' });
  const eventsOf = (text: string) => text.split('\n').slice(1);
  const again = await place.run(['sessions', 'export', 's1', ...other]);
  expect(eventsOf(again.stdout)).toEqual(eventsOf(lines));
});

test('S2-26 export and import: to the byte, checked whole, refused where it would replace something', async () => {
  await inStore(async (store) => {
    await store.create(key, { state: { n: 0 } });
    await store.append(key, [fullEvent('e1'), change('e2', { n: 7 }), call('e3', 'c7')]);
  });
  const out = join(place.path, 'out.jsonl');
  expect(await sessions('export', 's1', '--out', out)).toMatchObject({ code: 0, stdout: '' });
  const lines = readFileSync(out, 'utf8');
  expect((await place.run(['sessions', 'export', 's1', ...own()])).stdout).toBe(lines);
  const again = await sessions('export', 's1', '--out', out);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('is there already');
  expect((await sessions('import', out)).stderr).toContain('E_SESSION_EXISTS');
  const copied = await sessions('import', out, '--id', 'copy');
  expect(copied.stdout).toBe('copy\n');
  expect(copied.stderr).toContain('they stay with the original');
  const moved = await place.run(['sessions', 'import', '--store', 'sqlite:other.db', '--user', 'ann'], {
    input: lines,
  });
  expect(moved).toMatchObject({ code: 0, stdout: 's1\n', stderr: 'imported 3 events\n' });
  const other = join(place.path, 'back.jsonl');
  await command([
    'sessions',
    'export',
    's1',
    '--store',
    `sqlite:${place.path}/other.db`,
    '--user',
    'ann',
    '--out',
    other,
  ]);
  expect(readFileSync(other, 'utf8').split('\n').slice(1)).toEqual(lines.split('\n').slice(1));
  writeFileSync(out, lines.slice(0, -40));
  const cut = await sessions('import', out, '--id', 'cut');
  expect(cut.code).toBe(1);
  expect(cut.stderr).toContain('E_BAD_INPUT the session cannot be imported: line 3');
  expect((await sessions('import', join(place.path, 'none'))).code).toBe(2);
});

test('S2-25 list by pages, prune what is old, rebuild the index, step the tables down and up', async () => {
  await inStore(async (store) => {
    for (const id of ['a', 'b', 'c', 'd']) await store.create({ ...key, id });
    await store.append({ ...key, id: 'b' }, [call('e1', 'c1', 'c2'), answer('e2', 'c2')]);
  });
  const first = await sessions('list', '--limit', '3');
  expect(first.stdout.split('\n').map((line) => line.slice(0, 1))).toEqual(['d', 'c', 'b', '']);
  expect(first.stderr).toContain('--after ann/b');
  expect((await sessions('list', '--after', 'ann/b')).stdout).toMatch(/^a {2}.*\n$/);
  const database = new DatabaseSync(file());
  database.exec(`UPDATE adk_sessions SET updated_at = '2020-01-01T00:00:00.000000' WHERE id <> 'd';
    DELETE FROM adk_open_calls;`);
  database.close();
  expect((await sessions('rebuild')).stderr).toBe('rebuilt the index of 4 sessions\n');
  const trial = await sessions('prune', '--older-than', '30d', '--dry-run');
  expect(trial.stdout.split('\n').map((line) => line.slice(0, 1))).toEqual(['c', 'a', '']);
  expect((await sessions('prune', '--older-than', '30d')).stderr).toBe('deleted 2 sessions\n');
  expect((await sessions('prune', '--older-than', '30d', '--with-pending')).stderr).toBe('deleted 1 session\n');
  expect((await sessions('prune', '--older-than', 'soon')).code).toBe(2);

  const migrate = (...args: string[]) => command(['store', 'migrate', '--store', `sqlite:${file()}`, ...args]);
  expect((await migrate('--to', '1')).stderr).toContain('add --yes');
  expect((await migrate('--to', '1', '--yes')).stderr).toContain('version 10 → 1');
  expect((await migrate()).stderr).toContain('version 1 → 10');
  expect((await sessions('list')).stdout).toMatch(/^d /);
});

test("APP-B9 list shows everybody's sessions, and with --user those of that user only", async () => {
  await inStore(async (store) => {
    for (const [userId, id] of [
      ['ann', 'a1'],
      ['bob', 'b1'],
      ['ann', 'a2'],
    ] as const)
      await store.create({ app: key.app, userId, id });
  });
  const list = async (...args: string[]) => {
    const { stdout } = await command(['sessions', 'list', '--store', `sqlite:${file()}`, '--app', key.app, ...args]);
    return stdout.split('\n').map((line) => line.slice(0, 2));
  };
  expect(await list()).toEqual(['a2', 'b1', 'a1', '']);
  expect(await list('--user', 'ann')).toEqual(['a2', 'a1', '']);
  expect(await list('--user', 'ann', '--limit', '1')).toEqual(['a2', '']);
  expect(await list('--user', 'eve')).toEqual(['']);
});

describe.each([postgresServer, mariadbServer])('--store $name', (server) => {
  test.skipIf(server.skip)('S2-01 the scheme chooses the store', async () => {
    await twoTurns();
    const out = join(place.path, 'out.jsonl');
    await sessions('export', 's1', '--out', out);
    const database = await server.make();
    try {
      const env = { COXSWAIN_STORE: database.url as string };
      const user = ['--user', 'ann'];
      const there = ['--store', database.url as string, ...user];
      expect(await command(['sessions', 'import', out, ...there])).toMatchObject({ code: 0, stdout: 's1\n' });
      expect((await command(['sessions', 'list', ...there])).stdout).toMatch(/^s1 .* 5 events, 1 open {2}T\n$/);
      expect((await place.run(['approvals', 'list'], { env })).stdout).toContain('c1  pay  session s1');
      expect(existsSync(join(place.path, '.coxswain'))).toBe(false);
    } finally {
      await database.drop();
    }
  });
});

test('a store that is not known is refused, and no message holds a password', async () => {
  const refused = await command(['sessions', 'list', '--store', 'redis://me:secret@host/0']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('E_STORE_URL --store: a store of kind redis: is not known');
  const away = await command(['sessions', 'list', '--store', 'postgres://me:secret@127.0.0.1:1/app?password=secret']);
  expect(away.stderr).toContain('E_STORE');
  for (const { stderr } of [refused, away]) expect(stderr).not.toContain('secret');
  expect(shownUrl('postgres://me:secret@h/app?sslmode=on&password=x')).toBe('postgres://me@h/app?sslmode=on');
  expect((await command(['sessions', 'prune', '--older-than', '1d', '--store', 'memory:'])).stderr).toContain(
    'keeps nothing',
  );
});

test('SOAK-10 erase removes all of one user, who has to be named, and nobody else', async () => {
  await twoTurns();
  await inStore(async (store) => {
    await store.create({ ...key, userId: 'bob' });
    await store.memory.addSession(key, [turn('words of ann')]);
    await store.artifacts.save(key, 'user:photo', { mimeType: 'image/png', data: 'AAAA' });
  });
  expect((await sessions('erase')).stderr).toContain('--yes');
  const unnamed = await command(['sessions', 'erase', '--yes', '--store', `sqlite:${file()}`]);
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('name the user')]);
  const erased = await sessions('erase', '--yes');
  expect([erased.code, erased.stderr]).toEqual([0, expect.stringContaining('of ann in cli: 1 session')]);
  await inStore(async (store) => {
    expect((await store.list({ app: 'cli' })).map(({ userId }) => userId)).toEqual(['bob']);
    expect(await store.memory.search(key, 'words')).toEqual([]);
    expect(await store.artifacts.list(key)).toEqual([]);
  });
});
