import { expect, test } from 'vitest';
import { mariadbServer, postgresServer } from './databases.ts';

for (const server of [postgresServer, mariadbServer]) {
  test.skipIf(server.skip)(
    `SOAK-9 ${server.name}: one question at a time on the connection that holds the locks`,
    async () => {
      const warnings: Error[] = [];
      const listen = (warning: Error) => void warnings.push(warning);
      process.on('warning', listen);
      const database = await server.make();
      try {
        const service = await database.open();
        const keys = await Promise.all(
          Array.from({ length: 5 }, async () => (await service.create({ app: 'shop', userId: 'ann' })).key),
        );
        const leases = await Promise.all(keys.map((key) => service.acquire(key)));
        expect(await Promise.all(keys.map((key) => service.holder(key)))).toEqual(leases.map(({ epoch }) => epoch));
        await Promise.all(leases.map((lease) => lease.release()));
        await service.close();
        // Warnings are told in the next turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
        expect(warnings).toEqual([]);
      } finally {
        process.off('warning', listen);
        await database.drop();
      }
    },
  );
}
