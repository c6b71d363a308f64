import { afterAll, beforeAll, describe } from 'vitest';
import { sessionServiceSuite } from '../suites/session-service.ts';
import type { TestDatabase } from './databases.ts';
import { kyselySqlite, mariadbServer, openKyselySqlite, postgresServer } from './databases.ts';

sessionServiceSuite('kysely sqlite :memory:', async () => {
  const service = await openKyselySqlite(':memory:');
  return { service, close: () => service.close() };
});

for (const server of [kyselySqlite, postgresServer, mariadbServer]) {
  describe.skipIf(server.skip)(server.name, () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await server.make();
    });
    afterAll(() => database?.drop());

    sessionServiceSuite(server.name, async () => {
      let service = await database.open();
      return {
        service,
        reopen: async () => {
          await service.close();
          service = await database.open();
          return service;
        },
        close: async () => {
          await service.close();
          await database.empty();
        },
      };
    });
  });
}
