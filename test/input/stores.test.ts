import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { exportAudit, verifyExport, verifySession } from '../../src/adapters/audit/index.ts';
import {
  exportSession,
  hasMaintenance,
  importSession,
  rewind,
  turnStarts,
} from '../../src/adapters/stores/common/maintenance.ts';
import { FileArtifactService } from '../../src/adapters/stores/file-artifacts.ts';
import { openStore } from '../../src/adapters/stores/open-store.ts';
import { migrateSql, nodeSqlite, openSql } from '../../src/adapters/stores/sql/index.ts';
import { migrateDown, migrateFile, migrateUp, openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import {
  createEvent,
  InMemoryArtifactService,
  InMemoryCredentialService,
  InMemoryMemoryService,
  InMemorySessionService,
} from '../../src/runtime/index.ts';
import { outcomeOf, RUBBISH, taken } from './rubbish.ts';

type Door = [string, (value: unknown) => unknown];

const folder = mkdtempSync(join(tmpdir(), 'coxswain-input-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = { app: 'shop', userId: 'ann', id: 's' };
const event = () => createEvent({ author: 'user', content: { role: 'user', parts: [{ type: 'text', text: 'hi' }] } });
const drained = async (lines: AsyncIterable<unknown>) => {
  for await (const _ of lines);
};
/** A file that is new each time: what a door has opened must not be in the way of the next. */
let files = 0;
const file = () => join(folder, `${files++}.db`);

const sqlite = openSqlite(join(folder, 'store.db'));
afterAll(() => sqlite.close());

const parts = [
  'id',
  'turnId',
  'invocationId',
  'streamId',
  'path',
  'author',
  'timestamp',
  'content',
  'actions',
  'branch',
];
const stores: [string, SessionService][] = [
  ['in memory', new InMemorySessionService()],
  ['SQLite', sqlite],
];

describe.each(stores)('a session store, %s', (_, store) => {
  const doors: Door[] = [
    ['get', (value) => store.get(value as never)],
    ['get id', (value) => store.get({ ...key, id: value as string })],
    ['get options', (value) => store.get(key, value as never)],
    ['get limit', (value) => store.get(key, { limit: value as number })],
    ['create', (value) => store.create(value as never)],
    ['create options', (value) => store.create({ app: 'shop', userId: 'ann' }, value as never)],
    ['create state', (value) => store.create({ app: 'shop', userId: 'ann' }, { state: value as never })],
    ['create title', (value) => store.create({ app: 'shop', userId: 'ann' }, { title: value as never })],
    ['list', (value) => store.list(value as never)],
    ['list options', (value) => store.list({ app: 'shop' }, value as never)],
    ['list after', (value) => store.list({ app: 'shop' }, { after: value as string })],
    ['delete', (value) => store.delete(value as never)],
    ['append', (value) => store.append(value as never, [event()])],
    ['append events', (value) => store.append(key, value as never)],
    ['append event', (value) => store.append(key, [event(), value as never])],
    ...parts.map(
      (part): Door => [`append event.${part}`, (value) => store.append(key, [event(), { ...event(), [part]: value }])],
    ),
    [
      'append delta',
      (value) => store.append(key, [createEvent({ author: 'a', actions: { stateDelta: value as never } })]),
    ],
    ['append part', (value) => store.append(key, [{ ...event(), content: { role: 'user', parts: [value as never] } }])],
    ['append options', (value) => store.append(key, [event()], value as never)],
    ['append epoch', (value) => store.append(key, [event()], { epoch: value as number })],
    ['acquire', async (value) => (await store.acquire(value as never)).release()],
    ['holder', (value) => store.holder(value as never)],
    ['fork', (value) => store.fork(value as never)],
    ['fork options', (value) => store.fork(key, value as never)],
    ['fork through', (value) => store.fork(key, { through: value as number })],
    ['fork settle', (value) => store.fork(key, { settle: (() => value) as never })],
    ['openCalls', (value) => store.openCalls(value as never)],
    ['exportSession', (value) => drained(exportSession(store, value as never))],
    ['exportSession service', (value) => drained(exportSession(value as never, key))],
    ['importSession service', (value) => importSession(value as never, { app: 'shop', userId: 'ann' }, [])],
    ['importSession scope', (value) => importSession(store, value as never, [])],
    ['importSession lines', (value) => importSession(store, { app: 'shop', userId: 'ann' }, value as never)],
    ['importSession options', (value) => importSession(store, { app: 'shop', userId: 'ann' }, [], value as never)],
    ['rewind', (value) => rewind(value as never, key, 0)],
    ['rewind key', (value) => rewind(store, value as never, 0)],
    ['rewind through', (value) => rewind(store, key, value as never)],
    ['exportAudit', (value) => drained(exportAudit(value as never, key))],
    ['exportAudit key', (value) => drained(exportAudit(store, value as never))],
    ['exportAudit options', (value) => drained(exportAudit(store, key, value as never))],
    ['verifySession', (value) => verifySession(value as never, key)],
    ['verifySession options', (value) => verifySession(store, key, value as never)],
    ['verifySession anchor', (value) => verifySession(store, key, { anchor: value as never })],
  ];

  test.each(doors)('%s', async (name, door) => {
    await store.create(key).catch(() => undefined);
    for (const [label, make] of Object.entries(RUBBISH)) {
      const before = await store.list({ app: 'shop' });
      const lastSeq = (await store.get(key, { limit: 0 }))?.lastSeq;
      const outcome = await outcomeOf(`${name} of ${label}`, () => door(make()));
      if (outcome === 'taken') continue;
      expect((await store.get(key, { limit: 0 }))?.lastSeq, `${name} of ${label}`).toBe(lastSeq);
      expect(await store.list({ app: 'shop' }), `${name} of ${label}`).toHaveLength(before.length);
    }
    await store.get(key);
  });
});

const memory = new InMemoryMemoryService();
const artifacts = new InMemoryArtifactService();
const credentials = new InMemoryCredentialService();
const onDisk = new FileArtifactService(join(folder, 'artifacts'));
const scope = { app: 'shop', userId: 'ann' };

const others: Door[] = [
  ['openStore', (value) => openStore(value as never)],
  ['openSqlite', (value) => value !== 'rubbish' && openSqlite(value as never)],
  ['openSqlite options', (value) => openSqlite(file(), value as never).close()],
  ['openSqlite readOnly', (value) => openSqlite(file(), { readOnly: value as never }).close()],
  ['openSqlite busyTimeout', (value) => openSqlite(file(), { busyTimeout: value as never }).close()],
  ['migrateFile', (value) => value !== 'rubbish' && migrateFile(value as never)],
  ['migrateFile target', (value) => migrateFile(file(), value as never)],
  ['migrateUp', (value) => migrateUp(value as never)],
  ['migrateDown', (value) => migrateDown(value as never)],
  ['nodeSqlite', (value) => value !== 'rubbish' && nodeSqlite(value as never)],
  ['openSql', (value) => openSql(value as never)],
  ['openSql options', async (value) => (await openSql(`sqlite:${file()}`, value as never)).close()],
  ['openSql postgres options', (value) => openSql('postgres://u@127.0.0.1:1/x', { locks: value as never })],
  ['migrateSql', (value) => migrateSql(value as never)],
  ['migrateSql options', (value) => migrateSql(`sqlite:${file()}`, value as never)],
  ['hasMaintenance', (value) => hasMaintenance(value as never)],
  ['restore', (value) => sqlite.restore({ ...key, id: 'restored' }, value as never)],
  ['restore events', (value) => sqlite.restore({ ...key, id: 'r' }, { initialState: {}, events: value as never })],
  ['rebuildOpenCalls', (value) => sqlite.rebuildOpenCalls(value as never)],
  ['deleteOlderThan', (value) => sqlite.deleteOlderThan(value as never, 0)],
  ['deleteOlderThan time', (value) => sqlite.deleteOlderThan({ app: 'none' }, value as never)],
  ['deleteOlderThan options', (value) => sqlite.deleteOlderThan({ app: 'none' }, 0, value as never)],
  ['turnStarts', (value) => turnStarts(value as never)],
  ['verifyExport', (value) => verifyExport(value as never)],
  ['FileArtifactService', (value) => new FileArtifactService(value as never)],
  ...[artifacts, onDisk, sqlite.artifacts].flatMap((service): Door[] => [
    ['save', (value) => service.save(value as never, 'a', { mimeType: 'text/plain', data: '' })],
    ['save name', (value) => service.save(key, value as never, { mimeType: 'text/plain', data: '' })],
    ['save content', (value) => service.save(key, 'a', value as never)],
    ['save data', (value) => service.save(key, 'a', { mimeType: 'text/plain', data: value as never })],
    ['save mimeType', (value) => service.save(key, 'a', { mimeType: value as never, data: '' })],
    ['load', (value) => service.load(key, value as never)],
    ['load version', (value) => service.load(key, 'a', value as never)],
    ['list', (value) => service.list(value as never)],
    ['versions', (value) => service.versions(key, value as never)],
  ]),
  ...[memory, sqlite.memory].flatMap((service): Door[] => [
    ['addSession', (value) => service.addSession(value as never, [])],
    ['addSession events', (value) => service.addSession(key, value as never)],
    ['search', (value) => service.search(value as never, 'x')],
    ['search query', (value) => service.search(scope, value as never)],
    ['search options', (value) => service.search(scope, 'x', value as never)],
  ]),
  ['credentials', (value) => credentials.save(value as never, 'k', 1)],
  ['credentials key', (value) => credentials.save(scope, value as never, 1)],
];

test.each(others)('%s', async (name, door) => {
  await taken(name, door);
});

test('a scope that is misspelt deletes nothing', async () => {
  await sqlite.create({ app: 'kept', userId: 'ann' });
  const misspelt = { appp: 'none' } as { app?: string };
  await expect(sqlite.deleteOlderThan(misspelt, Date.now() + 1000)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
  await expect(sqlite.deleteOlderThan({ tenant: 'x' } as never, Date.now())).rejects.toThrow(
    /give nothing but app, userId/,
  );
  expect(await sqlite.list({ app: 'kept' })).toHaveLength(1);
});
