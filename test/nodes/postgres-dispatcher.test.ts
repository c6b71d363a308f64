import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresDispatcher } from '../../src/adapters/nodes/index.ts';
import { newId } from '../../src/base/index.ts';
import { postgresServer, postgresUrl } from '../adapters/databases.ts';
import { refusal } from '../host/kit.ts';
import { dispatcherSuite } from '../suites/dispatcher.ts';

const schema = `queue_${newId().replaceAll('-', '').slice(0, 12)}`;

describe.skipIf(postgresServer.skip !== undefined)('PostgreSQL', () => {
  afterAll(async () => {
    const client = new pg.Client({ connectionString: postgresUrl });
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.end();
  });

  dispatcherSuite('postgres', async () => {
    const app = `shop-${newId()}`;
    const open = () => postgresDispatcher(postgresUrl, { app, schema });
    const dispatcher = await open();
    return { dispatcher, other: open, close: () => dispatcher.close() };
  });

  test('PD-01 what waits outlives the program that was woken, and hosts of another app do not get it', async () => {
    const app = `shop-${newId()}`;
    const place = { agent: 'bot', userId: 'ann', sessionId: 's1' };
    const first = await postgresDispatcher(postgresUrl, { app, schema });
    await first.wake(place);
    await first.close();
    const seen: string[] = [];
    const { promise: looked, resolve } = Promise.withResolvers<void>();
    const others = await postgresDispatcher(postgresUrl, { app: `${app}-2`, schema });
    await others.serve(async () => void seen.push('another app'), { concurrency: 1 });
    const second = await postgresDispatcher(postgresUrl, { app, schema });
    await second.serve(
      async (given) => {
        seen.push(given.sessionId);
        resolve();
      },
      { concurrency: 1 },
    );
    await looked;
    await Promise.all([others.close(), second.close()]);
    expect(seen).toEqual(['s1']);
  });
});

test('PD-02 a URL of something else is refused before anything is opened', async () => {
  expect(await refusal(postgresDispatcher('mysql://127.0.0.1/x', { app: 'shop' }))).toMatchObject({
    code: 'E_STORE_URL',
  });
  expect(await refusal(postgresDispatcher(postgresUrl, {} as { app: string }))).toMatchObject({ code: 'E_BAD_INPUT' });
});
