import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import { answer, call, change, event, key, other, refusalOf } from '../suites/session-service.ts';
import type { TestDatabase } from './databases.ts';
import { kyselySqlite, shared } from './databases.ts';

/** A statement that makes a table refuse a row, and one that takes that back. */
function breaking(database: TestDatabase, when: string, table: string, condition: string): [string[], string[]] {
  const full = 'the disk hiccups';
  if (database.name === 'postgres') {
    return [
      [
        `CREATE FUNCTION hiccup() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           IF ${condition} THEN RAISE EXCEPTION '${full}'; END IF; RETURN NEW; END $$`,
        `CREATE TRIGGER t ${when} ON ${table} FOR EACH ROW EXECUTE FUNCTION hiccup()`,
      ],
      [`DROP TRIGGER t ON ${table}`, 'DROP FUNCTION hiccup'],
    ];
  }
  const raise =
    database.name === 'mariadb'
      ? `FOR EACH ROW BEGIN IF ${condition} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '${full}'; END IF; END`
      : `WHEN ${condition} BEGIN SELECT RAISE(ABORT, '${full}'); END`;
  return [[`CREATE TRIGGER t ${when} ON ${table} ${raise}`], ['DROP TRIGGER t']];
}

for (const server of [...shared, kyselySqlite]) {
  describe.skipIf(server.skip)(`tables of ${server.name}`, () => {
    let database: TestDatabase;
    let service: SqlSessionService;

    beforeAll(async () => {
      database = await server.make();
    });
    afterAll(() => database?.drop());
    beforeEach(async () => {
      service = await database.open();
    });
    afterEach(async () => {
      await service.close();
      await database.empty();
    });

    test('S2-03 S2-04 S2-05 S2-06 S2-07 S2-08 tables, columns and keys', async () => {
      const sqlite = server.name.includes('sqlite');
      const current = server.name === 'postgres' ? 'current_schema()' : 'database()';
      const names = async (sql: string) => (await database.query(sql)).map(({ name }) => name);
      const columns = (table: string) =>
        names(
          sqlite
            ? `SELECT name FROM pragma_table_info('${table}')`
            : `SELECT column_name AS name FROM information_schema.columns
               WHERE table_name = '${table}' AND table_schema = ${current} ORDER BY ordinal_position`,
        );
      const primaryKey = (table: string) =>
        names(
          sqlite
            ? `SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`
            : `SELECT k.column_name AS name FROM information_schema.key_column_usage k
               JOIN information_schema.table_constraints c ON c.constraint_name = k.constraint_name
                 AND c.table_name = k.table_name AND c.table_schema = k.table_schema
               WHERE c.constraint_type = 'PRIMARY KEY' AND k.table_name = '${table}' AND k.table_schema = ${current}
               ORDER BY k.ordinal_position`,
        );
      expect(await columns('adk_sessions')).toEqual([
        ...['app_name', 'user_id', 'id', 'state', 'inserted_at', 'updated_at'],
        ...['last_seq', 'epoch', 'owner', 'title', 'initial_state', 'asked'],
      ]);
      expect(await columns('adk_events')).toEqual([
        ...['id', 'app_name', 'user_id', 'session_id', 'invocation_id', 'author', 'content', 'actions', 'branch'],
        ...['partial', 'turn_complete', 'error_code', 'error_message', 'interrupted', 'custom_metadata'],
        ...['usage_metadata', 'citation_metadata', 'grounding_metadata', 'long_running_tool_ids', 'timestamp', 'seq'],
      ]);
      expect(await columns('adk_app_states')).toEqual(['app_name', 'state', 'updated_at', 'version']);
      expect(await columns('adk_user_states')).toEqual(['app_name', 'user_id', 'state', 'updated_at', 'version']);
      expect(await primaryKey('adk_sessions')).toEqual(['app_name', 'user_id', 'id']);
      expect(await primaryKey('adk_events')).toEqual(['id', 'app_name', 'user_id', 'session_id']);
      expect(await primaryKey('adk_app_states')).toEqual(['app_name']);
      expect(await primaryKey('adk_user_states')).toEqual(['app_name', 'user_id']);
      expect(await primaryKey('adk_open_calls')).toEqual(['app_name', 'user_id', 'session_id', 'call_id']);
    });

    test('S2-10 S2-18 S2-19 S2-21 S2-23 S2-30 F28 rows by scope, without prefixes, empty maps as {}', async () => {
      const one = async (sql: string) => {
        const [row] = await database.query(sql);
        return row && { ...row, ...(row.version !== undefined && { version: Number(row.version) }) };
      };
      await service.create(key, { state: { 'app:model': 'm', 'user:pref': 1, counter: 0, 'temp:scratch': 1 } });
      await service.create(other);
      await service.append(key, [change('e1', { 'app:model': 'n', counter: 1, 'temp:scratch': 2 })]);
      await service.append(key, [event('e2'), event('p', { partial: true })]);
      expect(await one('SELECT state, version FROM adk_app_states')).toEqual({ state: '{"model":"n"}', version: 2 });
      expect(await one('SELECT state, version FROM adk_user_states')).toEqual({ state: '{"pref":1}', version: 1 });
      expect(await one("SELECT state FROM adk_sessions WHERE id = 's1'")).toEqual({ state: '{"counter":1}' });
      expect(await one("SELECT state FROM adk_sessions WHERE id = 's2'")).toEqual({ state: '{}' });
      const rows = await database.query('SELECT id, actions, seq FROM adk_events ORDER BY seq');
      expect(rows.map(({ id, seq }) => [id, seq])).toEqual([
        ['e1', 1],
        ['e2', 2],
      ]);
      expect(JSON.parse(String(rows[0]?.actions)).state_delta).toEqual({ 'app:model': 'n', counter: 1 });
      expect(JSON.parse(String(rows[1]?.actions)).state_delta).toEqual({});
    });

    test('IOP-D1 a reader in SQL finds texts as the documentation says, NUL and all', async () => {
      await service.create(key);
      const parts = [{ type: 'text' as const, text: 'a\u0000b "c"' }];
      await service.append(key, [event('e1', { content: { role: 'model', parts } })]);
      const documentation = await readFile(new URL('../../docs/storage.md', import.meta.url), 'utf8');
      const row = { postgres: 'PostgreSQL', mariadb: 'MariaDB, MySQL' }[server.name] ?? 'SQLite';
      const [, query = ''] = new RegExp(`^\\| ${row} \\| \`(.*)\` \\|$`, 'm').exec(documentation) ?? [];
      const [found] = await database.query(`SELECT ${query} AS found FROM adk_events`);
      expect(String(found?.found).replaceAll('\0', '')).toBe('ab "c"');
    });

    test('S2-22 a step that fails undoes all of it, and is what is told', async () => {
      await service.create(key);
      const seen = async () => [
        await service.get(key),
        await service.openCalls({ app: 'shop' }),
        await database.query('SELECT state FROM adk_app_states'),
      ];
      const before = await seen();
      const batch = () => [change('e1', { x: 1, 'app:x': 1, 'user:x': 1 }), call('e2', 'c1'), event('e3')];
      const tries: [string, string, string, () => Promise<unknown>][] = [
        ['BEFORE INSERT', 'adk_events', "NEW.id = 'e3'", () => service.append(key, batch())],
        ['AFTER INSERT', 'adk_open_calls', "NEW.call_id = 'c1'", () => service.append(key, batch())],
        ['AFTER UPDATE', 'adk_user_states', 'NEW.version > 0', () => service.append(key, batch())],
        [
          'AFTER INSERT',
          'adk_user_states',
          'NEW.version > 0',
          () => service.create(other, { state: { 'app:x': 1, 'user:x': 1 } }),
        ],
      ];
      for (const [when, table, condition, work] of tries) {
        const [make, drop] = breaking(database, when, table, condition);
        for (const sql of make) await database.query(sql);
        const failed = await refusalOf(work());
        for (const sql of drop) await database.query(sql);
        expect(failed).toMatchObject({ status: 'INTERNAL', code: 'E_STORE' });
        expect(failed.message).toContain('the disk hiccups');
        expect(await seen()).toEqual(before);
      }
      await service.append(key, batch());
      expect(await service.openCalls({ app: 'shop' })).toHaveLength(1);
      await service.append(key, [answer('e4', 'c1')]);
    });

    test.skipIf(server.name === 'kysely sqlite')('S2-02 two services on one database are one store', async () => {
      const two = await database.open();
      try {
        await service.create(key, { state: { 'app:x': 1 } });
        const lease = await service.acquire(key);
        expect(await refusalOf(two.acquire(key))).toMatchObject({ status: 'ABORTED', code: 'E_SESSION_BUSY' });
        await two.append(key, [change('answer', { 'app:x': 2 })]);
        const stale = service.append(key, [event('e1')], { epoch: lease.epoch, expectedSeq: 0 });
        expect(await refusalOf(stale)).toMatchObject({ code: 'E_SESSION_CONFLICT' });
        await service.append(key, [event('e1')], { epoch: lease.epoch });
        await service.close();
        const next = await two.acquire(key);
        expect(next).toMatchObject({ epoch: lease.epoch + 1, lastSeq: 2, shared: { 'app:x': 2 } });
      } finally {
        await two.close();
      }
    });
  });
}
