import { afterEach, describe, expect, test } from 'vitest';
import { refusal } from '../host/kit.ts';
import { shared } from './databases.ts';

const key = { app: 'shop', userId: 'ann', id: 's1' };

/** As on a disk that is full: nobody's lease can be given back. */
const full: Record<string, string[]> = {
  sqlite: [
    `CREATE TRIGGER full_disk BEFORE UPDATE ON adk_sessions WHEN NEW.owner IS NULL AND OLD.owner IS NOT NULL
      BEGIN SELECT RAISE(ABORT, 'no room'); END`,
  ],
  postgres: [
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$`,
    `CREATE TRIGGER full_disk BEFORE UPDATE ON adk_sessions FOR EACH ROW
      WHEN (NEW.owner IS NULL AND OLD.owner IS NOT NULL) EXECUTE FUNCTION refuse()`,
  ],
};
const room: Record<string, string> = {
  sqlite: 'DROP TRIGGER full_disk',
  postgres: 'DROP TRIGGER full_disk ON adk_sessions',
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe.each(shared.filter(({ name }) => name in full))('$name', (server) => {
  test.skipIf(server.skip !== undefined)(
    'NODE9-07 a lease that could not be given back is given back once it can be, though its program takes no other',
    async () => {
      const database = await server.make();
      closers.push(() => database.drop());
      const [store, other] = [await database.open(), await database.open()];
      closers.push(async () => {
        await other.close();
        await store.close();
      });
      await store.create(key);
      const lease = await store.acquire(key);
      for (const sql of full[server.name] ?? []) await database.query(sql);
      await refusal(lease.release());
      expect(await refusal(other.acquire(key))).toMatchObject({ code: 'E_SESSION_BUSY' });
      await database.query(room[server.name] ?? '');
      await expect.poll(() => other.holder(key), { timeout: 20_000 }).toBe(undefined);
      await (await other.acquire(key)).release();
    },
  );
});
