import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SqliteOptions, SqliteSessionService } from '../../src/adapters/stores/sql/open-sqlite.ts';
import {
  migrateDown,
  migrateFile,
  migrateUp,
  openSqlite,
  SCHEMA_VERSION,
} from '../../src/adapters/stores/sql/open-sqlite.ts';
import { openConnection } from '../../src/adapters/stores/sql/sqlite-file/connection.ts';
import { createEvent } from '../../src/runtime/index.ts';
import { answered, called, listed as decisionsOf, ended, turned } from '../suites/decided-questions.ts';
import { factsOf, listed, step, turn } from '../suites/session-facts.ts';
import {
  answer,
  call,
  change,
  event,
  fullEvent,
  key,
  other,
  refusalOf,
  sessionServiceSuite,
} from '../suites/session-service.ts';

sessionServiceSuite('sqlite :memory:', async () => {
  const service = openSqlite(':memory:');
  return { service, close: () => service.close() };
});

sessionServiceSuite('sqlite file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-'));
  const path = join(folder, 'sessions.db');
  let service = openSqlite(path);
  return {
    service,
    reopen: async () => {
      await service.close();
      service = openSqlite(path);
      return service;
    },
    close: async () => {
      await service.close();
      rmSync(folder, { recursive: true });
    },
  };
});

let folder: string;
let file: string;
const closing: (() => unknown)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-'));
  file = join(folder, 'sessions.db');
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true });
});

function open(options?: SqliteOptions, path = file): SqliteSessionService {
  const service = openSqlite(path, options);
  closing.push(() => service.close());
  return service;
}

/** The file as any other program sees it. */
function raw(): DatabaseSync {
  const database = new DatabaseSync(file);
  closing.push(() => database.close());
  return database;
}

/** The service's own connection, for settings that belong to one. */
function inside(): DatabaseSync {
  const connection = openConnection(file);
  closing.push(() => connection.close());
  return connection.database;
}

/** Another process; it ends with the test at the latest. */
function child(task: string, ...args: string[]) {
  const script = join(import.meta.dirname, 'sqlite-child.ts');
  const started = spawn(process.execPath, ['--no-warnings', script, task, file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(started, 'exit');
  closing.push(async () => {
    started.kill('SIGKILL');
    await ended;
  });
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  return {
    pid: started.pid as number,
    /** Undefined at the end of what it says. */
    next: async () => (await lines.next()).value as string | undefined,
    tell: () => void started.stdin.write('go\n'),
    kill: async () => {
      started.kill('SIGKILL');
      await ended;
    },
    ended,
  };
}

describe('schema', () => {
  const columnsOf = (table: string) => raw().prepare('SELECT * FROM pragma_table_info(?)').all(table);
  const primaryKeyOf = (table: string) =>
    columnsOf(table)
      .filter(({ pk }) => Number(pk) > 0)
      .sort((a, b) => Number(a.pk) - Number(b.pk))
      .map(({ name }) => name);
  const indexesOf = (table: string) =>
    raw()
      .prepare(
        `SELECT i."unique" AS only, (SELECT group_concat(name) FROM pragma_index_info(i.name)) AS columns
         FROM pragma_index_list(?) i WHERE i.origin = 'c'`,
      )
      .all(table)
      .map(({ only, columns }) => `${only ? 'unique ' : ''}${columns}`);

  test('S2-03 S2-04 S2-05 S2-06 S2-07 S2-08 tables, columns, keys and indexes', () => {
    open();
    const names = (table: string) => columnsOf(table).map(({ name }) => name);
    expect(names('adk_sessions')).toEqual([
      ...['app_name', 'user_id', 'id', 'state', 'inserted_at', 'updated_at'],
      ...['last_seq', 'epoch', 'owner', 'title', 'initial_state', 'asked'],
    ]);
    expect(primaryKeyOf('adk_sessions')).toEqual(['app_name', 'user_id', 'id']);
    expect(names('adk_events')).toEqual([
      ...['id', 'app_name', 'user_id', 'session_id', 'invocation_id', 'author', 'content', 'actions', 'branch'],
      ...['partial', 'turn_complete', 'error_code', 'error_message', 'interrupted', 'custom_metadata'],
      ...['usage_metadata', 'citation_metadata', 'grounding_metadata', 'long_running_tool_ids', 'timestamp', 'seq'],
    ]);
    expect(primaryKeyOf('adk_events')).toEqual(['id', 'app_name', 'user_id', 'session_id']);
    expect(indexesOf('adk_events').sort()).toEqual([
      'app_name,user_id,session_id',
      'invocation_id',
      'unique app_name,user_id,session_id,seq',
    ]);
    expect(names('adk_app_states')).toEqual(['app_name', 'state', 'updated_at', 'version']);
    expect(primaryKeyOf('adk_app_states')).toEqual(['app_name']);
    expect(names('adk_user_states')).toEqual(['app_name', 'user_id', 'state', 'updated_at', 'version']);
    expect(primaryKeyOf('adk_user_states')).toEqual(['app_name', 'user_id']);
    expect(primaryKeyOf('adk_open_calls')).toEqual(['app_name', 'user_id', 'session_id', 'call_id']);
    for (const table of ['adk_sessions', 'adk_app_states', 'adk_user_states']) {
      expect(columnsOf(table).find(({ name }) => name === 'state')).toMatchObject({ notnull: 1, dflt_value: "'{}'" });
    }
  });

  test('S2-09 migration up makes the tables, down drops them, each as often as one likes', () => {
    const database = raw();
    const tables = () =>
      database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .all()
        .map(({ name }) => name);
    migrateUp(database);
    migrateUp(database);
    expect(tables()).toEqual([
      ...[
        'adk_app_states',
        'adk_artifact_versions',
        'adk_artifacts',
        'adk_checkpoints',
        'adk_dead_holders',
        'adk_events',
        'adk_journal_records',
      ],
      ...['adk_journals', 'adk_memories', 'adk_memory_vectors', 'adk_open_calls', 'adk_open_turns'],
      ...['adk_question_people', 'adk_questions', 'adk_session_facts', 'adk_sessions', 'adk_user_states'],
    ]);
    migrateDown(database);
    migrateDown(database);
    expect(tables()).toEqual([]);
    migrateUp(database);
    expect(tables()).toHaveLength(17);
  });

  test('open calls of a file of an older version are open still, in their order, and back again', async () => {
    const before = open();
    for (const one of [key, other]) await before.create(one);
    await before.append(key, [call('e1', 'c2', 'c1', 'c3'), answer('e2', 'c3')]);
    await before.append(other, [call('e1', 'c1')]);
    const rows = await before.openCalls({ app: 'shop' });
    expect(rows.map(({ key: { id }, callId }) => `${id} ${callId}`)).toEqual(['s1 c2', 's1 c1', 's2 c1']);
    await before.close();
    const kind = () => raw().prepare("SELECT wr FROM pragma_table_list WHERE name = 'adk_open_calls'").get()?.wr;
    expect(kind()).toBe(1);
    expect(migrateFile(file, 5)).toEqual({ from: SCHEMA_VERSION, to: 5 });
    expect(kind()).toBe(0);
    expect(raw().prepare('SELECT call_id FROM adk_open_calls ORDER BY rowid').all()).toHaveLength(3);
    const after = open();
    expect(kind()).toBe(1);
    expect(primaryKeyOf('adk_open_calls')).toEqual(['app_name', 'user_id', 'session_id', 'call_id']);
    expect(await after.openCalls({ app: 'shop' })).toEqual(rows);
    await after.append(key, [answer('e3', 'c2')]);
    expect((await after.openCalls(key)).map(({ callId }) => callId)).toEqual(['c1']);
  });

  test('INS-11 logs of a file of an older version are counted when they are listed', async () => {
    const before = open();
    await before.create(listed);
    await before.append(listed, [turn('t1'), step('e1', ['pay', 'post'], { inputTokens: 7, cost: { usd: 0.5 } })]);
    const facts = await factsOf(before, 's1');
    await before.close();
    migrateFile(file, SCHEMA_VERSION - 2);
    const after = open();
    // What is added before anybody lists it is counted with it, once.
    await after.append(listed, [step('e2', ['pay', 'ship'], { inputTokens: 3 })]);
    const now = { ...facts, steps: 2, inputTokens: 10 };
    const { tools = [], ...rest } = (await factsOf(after, 's1')) ?? {};
    expect({ ...rest, tools: tools.toSorted() }).toEqual({ ...now, tools: ['pay', 'post', 'ship'] });
    expect(raw().prepare('SELECT uncounted FROM adk_session_facts').all()).toEqual([{ uncounted: 0 }]);
    await after.rebuildOpenCalls();
    expect(await factsOf(after, 's1')).toEqual({ ...now, tools: ['pay', 'post', 'ship'] });
  });

  test('INS-19 what was asked in logs of a file of an older version is found, and nothing of it is lost on the way back', async () => {
    const before = open();
    await before.create(listed);
    await before.append(listed, [turned(0), called(1, ['c1', 'pay']), answered(2, 'c1#policy'), ended(3, 'c1')]);
    const found = await decisionsOf(before);
    expect(found).toHaveLength(1);
    await before.close();
    expect(migrateFile(file, SCHEMA_VERSION - 1)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION - 1 });
    const after = open();
    expect(raw().prepare('SELECT asked FROM adk_sessions').all()).toEqual([{ asked: -1 }]);
    expect(await decisionsOf(after)).toEqual(found);
    expect(raw().prepare('SELECT asked FROM adk_sessions').all()).toEqual([{ asked: 0 }]);
  });

  test('S2-09 several processes may open a new file at once', async () => {
    const children = Array.from({ length: 4 }, (_, n) => child('open', `s${n}`));
    for (const each of children) expect(await each.next()).toBe('ready');
    for (const each of children) each.tell();
    for (const each of children) expect(await each.next()).toBe('open');
    expect(await open().list({ app: 'shop' })).toHaveLength(4);
  });

  test('the log is written ahead, and synced at every append', async () => {
    const service = open();
    await service.create(key);
    const settings = () => [
      inside().prepare('PRAGMA journal_mode').get()?.journal_mode,
      inside().prepare('PRAGMA synchronous').get()?.synchronous,
    ];
    expect(settings()).toEqual(['wal', 2]);
    const lease = await service.acquire(key);
    expect(settings()).toEqual(['wal', 1]);
    await service.append(key, [event('e1')], { epoch: lease.epoch });
    expect(settings()).toEqual(['wal', 2]);
  });
});

describe('rows', () => {
  const rowOf = (id: string) =>
    raw().prepare('SELECT * FROM adk_events WHERE id = ?').get(id) as Record<string, string>;

  test('S2-23 S2-30 F28 state is kept by scope, without prefixes, empty maps as {}', async () => {
    const service = open();
    await service.create(key, { state: { 'app:model': 'm', 'user:pref': 1, counter: 0, 'temp:scratch': 1 } });
    await service.create(other);
    await service.append(key, [change('e1', { 'app:model': 'n', counter: 1, 'temp:scratch': 2 })]);
    await service.append(key, [event('e2')]);
    const database = raw();
    const one = (sql: string) => database.prepare(sql).get();
    expect(one('SELECT state, version FROM adk_app_states')).toEqual({ state: '{"model":"n"}', version: 2 });
    expect(one('SELECT state, version FROM adk_user_states')).toEqual({ state: '{"pref":1}', version: 1 });
    expect(one("SELECT state FROM adk_sessions WHERE id = 's1'")).toEqual({ state: '{"counter":1}' });
    expect(one("SELECT state FROM adk_sessions WHERE id = 's2'")).toEqual({ state: '{}' });
    expect(JSON.parse(rowOf('e1').actions!).state_delta).toEqual({ 'app:model': 'n', counter: 1 });
    expect(JSON.parse(rowOf('e2').actions!).state_delta).toEqual({});
    const text = database.prepare('SELECT group_concat(actions) AS all_text FROM adk_events').get()?.all_text;
    expect(text).not.toContain('temp:');
  });

  test('S2-26 S2-27 content and actions are in the form that other readers know', async () => {
    const service = open();
    await service.create(key);
    await service.append(key, [fullEvent('e1'), event('e2', { content: { role: 'user', parts: [] } })]);
    const row = rowOf('e1');
    const { role, parts } = JSON.parse(row.content!);
    expect(role).toBe('model');
    expect(parts.slice(0, 6).map(({ coxswain: _, ...known }: { coxswain?: unknown }) => known)).toEqual([
      { text: 'emoji 🚣🏽 nul \u0000 lone \ud800 kanji 太郎' },
      { text: '' },
      { text: 'hm', thought: true },
      { function_call: { name: 'pay', id: 'c1', args: expect.anything() } },
      { function_response: { name: 'look', id: 'c0', response: expect.anything() } },
      { inline_data: { data: 'AAECAw==', mime_type: 'image/png' } },
    ]);
    expect(Object.keys(JSON.parse(row.actions!))).toEqual([
      ...['state_delta', 'artifact_delta', 'transfer_to_agent', 'escalate', 'skip_summarization'],
      ...['requested_tool_confirmations', 'requested_auth_configs'],
    ]);
    expect(JSON.parse(rowOf('e2').actions!)).toEqual({
      state_delta: {},
      artifact_delta: {},
      transfer_to_agent: null,
      escalate: false,
      skip_summarization: false,
    });
    expect(JSON.parse(row.custom_metadata!).coxswain).toMatchObject({ path: '/0/1~c9', actions: { started: ['c1'] } });
    expect(rowOf('e2').custom_metadata).toBeNull();
    expect(row).toMatchObject({
      partial: 0,
      turn_complete: 0,
      interrupted: 0,
      invocation_id: 'i1',
      branch: 'root.clerk',
    });
    expect(rowOf('e2')).toMatchObject({ interrupted: null, long_running_tool_ids: '[]', turn_complete: 1 });
    expect(rowOf('e2').timestamp).toBe('2023-11-14T22:13:20.000000');
  });

  test('a small event is a small row', async () => {
    const service = open();
    await service.create(key);
    const uuid = () => crypto.randomUUID();
    const [turnId, invocationId, streamId] = [uuid(), uuid(), uuid()];
    const content = { role: 'model' as const, parts: [{ type: 'text' as const, text: 'Hello there.' }] };
    const usage = { inputTokens: 812, outputTokens: 5 };
    const small = createEvent({ turnId, invocationId, streamId, author: 'root', content, usage, model: 'gpt-5' });
    await service.append(key, [small]);
    const size = Object.values(rowOf(small.id)).reduce((sum, value) => sum + String(value ?? '').length, 0);
    expect(size).toBeLessThan(700);
  });

  test('S2-18 S2-25 partial events have no row, deleted sessions have none left', async () => {
    const service = open();
    await service.create(key);
    await service.append(key, [event('p', { partial: true })]);
    const rows = (table: string) => raw().prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n;
    expect(rows('adk_events')).toBe(0);
    await service.append(key, [call('e1', 'c1')]);
    expect([rows('adk_events'), rows('adk_open_calls')]).toEqual([1, 1]);
    await service.delete(key);
    expect([rows('adk_sessions'), rows('adk_events'), rows('adk_open_calls')]).toEqual([0, 0, 0]);
  });
});

describe('a large event', () => {
  test('is made ready before the transaction: others of the process are let in', async () => {
    const service = open();
    await service.create(key);
    const callIds = Array.from({ length: 300 }, (_, n) => `c${n}`);
    const indexed = () => raw().prepare('SELECT count(*) AS n FROM adk_open_calls').get()?.n;
    const letIn = new Promise((resolve) => setImmediate(() => resolve(indexed())));
    const appended = service.append(key, [call('e1', ...callIds)]);
    expect(await letIn).toBe(0);
    await appended;
    expect(indexed()).toBe(300);
  });
});

describe('failures', () => {
  test.each(['ABORT', 'ROLLBACK', 'FAIL'])(
    'S2-22 a step that fails undoes all of it, and is what is told: %s',
    async (how) => {
      const service = open();
      await service.create(key);
      const seen = async () => [
        await service.get(key),
        await service.openCalls({ app: 'shop' }),
        raw().prepare('SELECT * FROM adk_app_states').all(),
      ];
      const before = await seen();
      const raise = `BEGIN SELECT RAISE(${how}, 'the disk hiccups'); END`;
      const breaking = async (trigger: string, work: () => Promise<unknown>) => {
        raw().exec(`CREATE TRIGGER t ${trigger} ${raise}`);
        const failed = await refusalOf(work());
        raw().exec('DROP TRIGGER t');
        expect(failed).toMatchObject({ status: 'INTERNAL', code: 'E_STORE' });
        expect(failed.message).toContain('the disk hiccups');
        expect(await seen()).toEqual(before);
      };
      const batch = () => [change('e1', { x: 1, 'app:x': 1, 'user:x': 1 }), call('e2', 'c1'), event('e3')];
      await breaking("BEFORE INSERT ON adk_events WHEN NEW.id = 'e3'", () => service.append(key, batch()));
      await breaking('AFTER INSERT ON adk_open_calls', () => service.append(key, batch()));
      await breaking('AFTER UPDATE OF state ON adk_user_states', () => service.append(key, batch()));
      await breaking('AFTER INSERT ON adk_user_states', () =>
        service.create(other, { state: { 'app:x': 1, 'user:x': 1 } }),
      );
      await breaking("BEFORE INSERT ON adk_events WHEN NEW.session_id = 'f'", async () => {
        await service.append(key, [event('e0')]);
        before[0] = await service.get(key);
        await service.fork(key, { id: 'f' });
      });
      await service.append(key, batch());
      expect(await service.openCalls({ app: 'shop' })).toHaveLength(1);
    },
  );

  test('a full disk is told as such; nothing is stored, and work goes on once there is room', async () => {
    const service = open();
    await service.create(key);
    const lease = await service.acquire(key);
    const database = inside();
    const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count);
    database.exec(`PRAGMA max_page_count = ${pages + 4}`);
    const text = 'x'.repeat(100_000);
    const big = () =>
      service.append(key, [event('big', { content: { role: 'user', parts: [{ type: 'text', text }] } })]);
    const full = { status: 'RESOURCE_EXHAUSTED', code: 'E_STORE_FULL' };
    expect(await refusalOf(big())).toMatchObject(full);
    expect(await refusalOf(big())).toMatchObject(full);
    expect(await service.get(key)).toMatchObject({ lastSeq: 0, events: [] });
    database.exec('PRAGMA max_page_count = 100000');
    await service.append(key, [event('e1')], { epoch: lease.epoch });
    await big();
    expect((await service.get(key))?.events.map(({ id }) => id)).toEqual(['e1', 'big']);
  });

  test('a read-only store can be read, and says so when written', async () => {
    const writer = open();
    await writer.create(key);
    await writer.append(key, [event('e1')]);
    const reader = open({ readOnly: true });
    expect((await reader.get(key))?.events).toHaveLength(1);
    expect(await reader.list({ app: 'shop' })).toHaveLength(1);
    const attempts = [
      reader.append(key, [event('e2')]),
      reader.create(other),
      reader.acquire(key),
      reader.fork(key),
      reader.delete(key),
    ];
    for (const attempt of attempts) {
      expect(await refusalOf(attempt)).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE_READ_ONLY' });
    }
    await writer.append(key, [event('e2')]);
    expect((await reader.get(key))?.events).toHaveLength(2);
  });

  test('a store that another process keeps locked is worth another try', async () => {
    const service = open({ busyTimeout: 1 });
    await service.create(key);
    const database = raw();
    database.exec('BEGIN IMMEDIATE');
    await expect(service.append(key, [event('e1')])).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      code: 'E_STORE',
      retryable: true,
    });
    database.exec('ROLLBACK');
    await service.append(key, [event('e1')]);
  });

  test('S2-32 while another process keeps the store locked, this one does other things and then goes on', async () => {
    const service = open();
    await service.create(key);
    const database = raw();
    database.exec('BEGIN IMMEDIATE');
    const stored = service.append(key, [event('e1')]);
    // The lock is let go by this very thread.
    setTimeout(() => database.exec('ROLLBACK'), 60);
    expect((await stored).map(({ id }) => id)).toEqual(['e1']);
  });

  test.each<[string, (file: string) => void, string]>([
    ['no database', (path) => writeFileSync(path, 'just some text '.repeat(100)), 'is not a SQLite database'],
    ['a folder', (path) => mkdirSync(path), 'check that it is a file'],
    [
      'a newer release wrote it',
      (path) => {
        const database = new DatabaseSync(path);
        database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
        database.close();
      },
      'upgrade the package',
    ],
    [
      "another program's tables",
      (path) => {
        const database = new DatabaseSync(path);
        database.exec('CREATE TABLE adk_sessions (id TEXT)');
        database.close();
      },
      'give another file',
    ],
  ])('what cannot be opened says what to do: %s', async (_, make, advice) => {
    make(file);
    const refused = await refusalOf((async () => open())());
    expect(refused).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE' });
    expect(refused.message).toContain(advice);
  });

  test('what cannot be opened says what to do: no such folder, no path, nothing to read', async () => {
    const tries = [join(folder, 'missing', 's.db'), ''].map((path) => refusalOf((async () => open({}, path))()));
    const [noFolder, noPath] = await Promise.all(tries);
    expect(noFolder).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE' });
    expect(noFolder?.message).toContain('make it');
    expect(noPath?.message).toContain(':memory:');
    writeFileSync(file, '');
    const unread = await refusalOf((async () => open({ readOnly: true }))());
    expect(unread.message).toContain('open it once for writing');
    open();
  });
});

describe('a long copy', () => {
  test('is brought to the file on another thread: its log stays short, and is as it was afterwards', async () => {
    const service = open();
    await service.create(key);
    const text = 'x'.repeat(2000);
    const parts = [{ type: 'text' as const, text }];
    const events = Array.from({ length: 2600 }, (_, n) => event(`e${n}`, { content: { role: 'user', parts } }));
    await service.append(key, events);
    const database = inside();
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const pages: number[] = [];
    const inUse = () => Number(database.prepare('PRAGMA wal_autocheckpoint').get()?.wal_autocheckpoint);
    const see = () => void pages.push(inUse());
    const settle = Object.assign(() => [], { inPages: () => ({ see, end: () => [] }) });
    // Two at once share what they need; the first to end leaves it to the other.
    await Promise.all(['f', 'g'].map((id) => service.fork(key, { id, settle })));
    expect(new Set(pages)).toEqual(new Set([0]));
    expect(inUse()).toBe(1000);
    // All of both copies would be more than 10 MB.
    expect(statSync(`${file}-wal`).size).toBeLessThan(6_000_000);
    expect((await service.get({ ...key, id: 'g' }, { after: 2599 }))?.events.map(({ id }) => id)).toEqual(['e2599']);
    expect(raw().prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  test.runIf(existsSync('/proc/self/fd'))('ATK8-10 a store that is closed has its file open on no thread', async () => {
    const service = open();
    await service.create(key);
    await service.append(
      key,
      Array.from({ length: 700 }, (_, n) => event(`e${n}`)),
    );
    const { postMessage } = Worker.prototype;
    const late = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, last: unknown) {
      setTimeout(() => postMessage.call(this, last), last === true ? 200 : 0);
    });
    await service.fork(key, { id: 'f' });
    late.mockRestore();
    const holds = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
        } catch {
          // Closed since the folder was read.
          return false;
        }
      });
    expect(holds()).not.toEqual([]);
    await service.close();
    expect(holds()).toEqual([]);
  });

  test('is made in the usual way where the other thread ends', async () => {
    const service = open();
    await service.create(key);
    const events = Array.from({ length: 700 }, (_, n) => event(`e${n}`));
    await service.append(key, events);
    const away = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker) {
      void this.terminate();
    });
    try {
      expect(await service.fork(key, { id: 'f' })).toMatchObject({ lastSeq: 700 });
    } finally {
      away.mockRestore();
    }
    expect(inside().prepare('PRAGMA wal_autocheckpoint').get()).toMatchObject({ wal_autocheckpoint: 1000 });
  });

  test('is made in the usual way where there are no threads', async () => {
    const service = open();
    await service.create(key);
    const events = Array.from({ length: 700 }, (_, n) => event(`e${n}`));
    await service.append(key, events);
    await service.close();
    const lone = spawn(process.execPath, [
      ...['--no-warnings', '--permission', '--allow-fs-read=*', '--allow-fs-write=*'],
      ...[join(import.meta.dirname, 'sqlite-child.ts'), 'fork', file, key.id],
    ]);
    const [said] = await Promise.all([text(lone.stdout), once(lone, 'exit')]);
    expect(said.trim()).toBe('700');
  });
});

describe('several services and processes', () => {
  const linux = process.platform === 'linux';

  test('S2-02 F25 services on one file share a connection; leases hold between them', async () => {
    const one = open();
    symlinkSync(file, join(folder, 'alias.db'));
    const two = open({}, join(folder, 'alias.db'));
    await one.create(key);
    const lease = await one.acquire(key);
    const busy = await refusalOf(two.acquire(key));
    expect(busy).toMatchObject({ status: 'ABORTED', code: 'E_SESSION_BUSY' });
    expect(busy.message).toContain('this process');
    await two.append(key, [event('answer')]);
    expect(await refusalOf(one.append(key, [event('e1')], { epoch: lease.epoch, expectedSeq: 0 }))).toMatchObject({
      code: 'E_SESSION_CONFLICT',
    });
    await one.append(key, [event('e1')], { epoch: lease.epoch });
    await one.close();
    // Closing gave the lease back and left the file to the other.
    const next = await two.acquire(key);
    expect(next).toMatchObject({ epoch: lease.epoch + 1, lastSeq: 2 });
    await lease.release();
    await two.append(key, [event('e2')], { epoch: next.epoch });
  });

  test('S2-33 two stores in memory are two stores', async () => {
    const [one, two] = [open({}, ':memory:'), open({}, ':memory:')];
    await one.create(key);
    expect(await two.get(key)).toBeUndefined();
  });

  test('F25 the lease of a living process holds, that of a killed one is free', async () => {
    const service = open();
    const { epoch } = await service.create(key);
    const holder = child('hold', key.id);
    expect(await holder.next()).toBe(`held ${epoch + 1}`);
    const busy = await refusalOf(service.acquire(key));
    expect(busy).toMatchObject({ status: 'ABORTED', code: 'E_SESSION_BUSY' });
    expect(busy.message).toContain(`process ${holder.pid}`);
    await service.append(key, [answer('e1', 'c1')]);
    await holder.kill();
    expect(await service.acquire(key)).toMatchObject({ epoch: epoch + 2, lastSeq: 1 });
    const second = child('hold', key.id);
    expect(await second.next()).toBe('E_SESSION_BUSY');
  });

  test.runIf(linux)('F25 a killed process that nobody has collected yet is dead', async () => {
    const service = open();
    const { epoch } = await service.create(key);
    // The shell starts the holder and becomes a program that never asks for its children.
    const script = 'exec 3<&0; "$@" <&3 & exec sleep 600 > /dev/null';
    const command = [process.execPath, '--no-warnings', join(import.meta.dirname, 'sqlite-child.ts')];
    const shell = spawn('sh', ['-c', script, 'sh', ...command, 'hold', file, key.id], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    closing.push(async () => {
      shell.kill('SIGKILL');
      await once(shell, 'exit');
    });
    const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe(`held ${epoch + 1}`);
    const busy = await service.acquire(key).catch((error) => error.details);
    process.kill(busy.pid, 'SIGKILL');
    expect((await lines.next()).done).toBe(true);
    // Its files are closed a moment before it counts as ended.
    let taken: number | undefined;
    while (taken === undefined) {
      taken = await service.acquire(key).then(
        (lease) => lease.epoch,
        () => new Promise((resolve) => setImmediate(resolve, undefined)),
      );
    }
    expect(taken).toBe(epoch + 2);
  });

  test('F25 a process that ends without giving its lease back leaves it free', async () => {
    const service = open();
    const { epoch } = await service.create(key);
    const holder = child('hold', key.id);
    expect(await holder.next()).toBe(`held ${epoch + 1}`);
    holder.tell();
    await holder.ended;
    expect((await service.acquire(key)).epoch).toBe(epoch + 2);
  });

  test.runIf(linux)('F25 what proves that a holder is dead', async () => {
    const service = open();
    await service.create(key);
    const lease = await service.acquire(key);
    const database = raw();
    const owner = JSON.parse(database.prepare('SELECT owner FROM adk_sessions').get()?.owner as string);
    expect(owner).toMatchObject({ host: hostname(), pid: process.pid });
    const held = async (by: Record<string, unknown> | string) => {
      const text = typeof by === 'string' ? by : JSON.stringify({ ...owner, ...by });
      database.prepare('UPDATE adk_sessions SET owner = ?').run(text);
      return service.acquire(key).then(
        () => 'taken over',
        ({ code }) => code,
      );
    };
    expect(await held({ lease: 'another of this process' })).toBe('E_SESSION_BUSY');
    expect(await held({ pid: process.ppid, start: '' })).toBe('E_SESSION_BUSY');
    expect(await held({ boot: 'an earlier one' })).toBe('taken over');
    expect(await held({ start: '1' })).toBe('taken over');
    expect(await held({ pid: process.ppid, start: '1' })).toBe('taken over');
    expect(await held({ pid: 2 ** 22 + 1 })).toBe('taken over');
    expect(await held({ host: 'elsewhere', pid: 2 ** 22 + 1 })).toBe('E_SESSION_BUSY');
    expect((await refusalOf(service.acquire(key))).message).toContain("host: 'elsewhere'");
    expect((await open({ host: 'elsewhere' }).acquire(key)).epoch).toBe(lease.epoch + 5);
    expect(await held('who knows')).toBe('E_SESSION_BUSY');
  });
});
