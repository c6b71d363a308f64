import { afterAll, beforeAll, describe } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import { artifactServiceSuite } from '../suites/artifact-service.ts';
import { embeddedMemorySuite } from '../suites/embedded-memory.ts';
import { memoryServiceSuite } from '../suites/memory-service.ts';
import type { TestDatabase } from './databases.ts';
import { mariadbServer, openKyselySqlite, postgresServer, sqliteFile } from './databases.ts';

interface Place {
  open(): Promise<SqlSessionService>;
  /** After a restart; absent if nothing is kept. */
  isKept: boolean;
  empty(): Promise<void>;
}

/** Both services of one database, each by the suite that all of their kind pass. */
function suites(name: string, place: () => Place): void {
  async function make<T>(serviceOf: (store: SqlSessionService) => T) {
    const { open, isKept, empty } = place();
    let store = await open();
    const reopen = async () => {
      await store.close();
      store = await open();
      return serviceOf(store);
    };
    const close = async () => {
      await store.close();
      await empty();
    };
    return { service: serviceOf(store), ...(isKept && { reopen }), close };
  }
  memoryServiceSuite(name, () => make(({ memory }) => memory));
  embeddedMemorySuite(name, () => make(({ memory }) => memory));
  artifactServiceSuite(name, () => make(({ artifacts }) => artifacts));
}

const nothing = async () => {};
suites('sqlite :memory:', () => ({ open: async () => openSqlite(':memory:'), isKept: false, empty: nothing }));
suites('kysely sqlite :memory:', () => ({ open: () => openKyselySqlite(':memory:'), isKept: false, empty: nothing }));

for (const server of [sqliteFile, postgresServer, mariadbServer]) {
  describe.skipIf(server.skip)(server.name, () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await server.make();
    });
    afterAll(() => database?.drop());
    suites(server.name, () => ({ open: database.open, isKept: true, empty: database.empty }));
  });
}
