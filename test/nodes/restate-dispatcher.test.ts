import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { restateDispatcher } from '../../src/adapters/nodes/index.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { newId } from '../../src/base/index.ts';
import { freePort } from '../adapters/servers.ts';
import { door, refusal } from '../host/kit.ts';
import { dispatcherSuite } from '../suites/dispatcher.ts';
import { outcomeSuite } from '../suites/outcomes.ts';
import { scheduleSuite } from '../suites/schedules.ts';
import { callsBalancer } from './calls-balancer.ts';
import { restateProgram, restateServer } from './restate-server.ts';

describe.skipIf(restateProgram === undefined)('Restate', () => {
  let server: Awaited<ReturnType<typeof restateServer>>;
  beforeAll(async () => {
    server = await restateServer();
  }, 90_000);
  afterAll(() => server.close());

  dispatcherSuite('restate', async () => {
    const app = `shop-${newId()}`;
    const open = () => restateDispatcher(server.url, { app, admin: server.admin, warn: () => {} });
    const dispatcher = await open();
    return { dispatcher, other: open, close: () => dispatcher.close() };
  });

  const world = async () => {
    const app = `shop-${newId()}`;
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-schedules-'));
    return {
      store: async () => openSqlite(join(folder, 'store.db')),
      dispatcher: () => restateDispatcher(server.url, { app, admin: server.admin, warn: () => {} }),
      close: async () => rmSync(folder, { recursive: true, force: true }),
    };
  };
  scheduleSuite('restate', world);
  outcomeSuite('restate', world);

  test('RS-01 what waits outlives a Restate server that is killed', async () => {
    const dispatcher = await restateDispatcher(server.url, {
      app: `shop-${newId()}`,
      admin: server.admin,
      warn: () => {},
    });
    const { opened, open } = door<string>();
    await dispatcher.wake({ agent: 'bot', userId: 'ann', sessionId: 'kept' });
    await server.kill();
    const away = await refusal(dispatcher.wake({ agent: 'bot', userId: 'ann', sessionId: 'lost' }));
    expect(away).toMatchObject({ status: 'UNAVAILABLE', code: 'E_DISPATCHER' });
    await server.start();
    const stop = await dispatcher.serve(async ({ sessionId }) => open(sessionId), { concurrency: 1 });
    expect(await opened).toBe('kept');
    await stop();
    await dispatcher.close();
  });

  test('RS-04 a look that fails is tried for as long as a database takes to come back', async () => {
    const dispatcher = await restateDispatcher(server.url, {
      app: `shop-${newId()}`,
      admin: server.admin,
      warn: () => {},
    });
    const { opened, open } = door();
    let tries = 0;
    const stop = await dispatcher.serve(
      async () => {
        if (++tries < 7) throw new Error('the database is full');
        open();
      },
      { concurrency: 1 },
    );
    await dispatcher.wake({ agent: 'bot', userId: 'ann', sessionId: 's' });
    await opened;
    await stop();
    expect(tries).toBe(7);
    await dispatcher.close();
  }, 60_000);

  test('RS-03 a look whose program cannot be reached any more begins in another one, which hears that it is so', async () => {
    const app = `shop-${newId()}`;
    const behind = await callsBalancer();
    const program = async () => {
      const port = await freePort();
      behind.add(port);
      const { address } = behind;
      const dispatcher = await restateDispatcher(server.url, {
        app,
        admin: server.admin,
        address,
        port,
        warn: () => {},
      });
      return { dispatcher, port };
    };
    const first = await program();
    const begun = door<boolean>();
    const left = door();
    await first.dispatcher.serve(
      async (_, { again = false } = {}) => {
        begun.open(again);
        await left.opened;
      },
      { concurrency: 1 },
    );
    await first.dispatcher.wake({ agent: 'bot', userId: 'ann', sessionId: 's1' });
    expect(await begun.opened).toBe(false);
    const second = await program();
    const taken = door<boolean>();
    await second.dispatcher.serve(async (_, { again = false } = {}) => taken.open(again), { concurrency: 1 });
    behind.drop(first.port);
    expect(await taken.opened).toBe(true);
    left.open();
    await Promise.all([first.dispatcher.close(), second.dispatcher.close()]);
    await behind.close();
  });
});

test('RS-02 a URL of something else is refused before anything is opened', async () => {
  expect(await refusal(restateDispatcher('postgres://127.0.0.1/x', { app: 'shop' }))).toMatchObject({
    code: 'E_STORE_URL',
  });
});
