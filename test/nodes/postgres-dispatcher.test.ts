import pg from 'pg';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { postgresDispatcher } from '../../src/adapters/nodes/index.ts';
import { newId } from '../../src/base/index.ts';
import { postgresServer, postgresUrl } from '../adapters/databases.ts';
import { door, refusal } from '../host/kit.ts';
import { dispatcherSuite } from '../suites/dispatcher.ts';
import { outcomeSuite } from '../suites/outcomes.ts';
import { scheduleSuite } from '../suites/schedules.ts';

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

  const world = async () => {
    const app = `shop-${newId()}`;
    const database = await postgresServer.make();
    return {
      store: () => database.open(),
      dispatcher: () => postgresDispatcher(postgresUrl, { app, schema }),
      close: () => database.drop(),
    };
  };
  scheduleSuite('postgres', world);
  outcomeSuite('postgres', world);

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

  test('PD-03 one user has so many looks at a time over all programs, and others are not kept waiting', async () => {
    const app = `shop-${newId()}`;
    const open = () => postgresDispatcher(postgresUrl, { app, schema, perUser: 1 });
    const [first, second] = await Promise.all([open(), open()]);
    const gates: { user: string; open: () => void }[] = [];
    const begun = door();
    const done = door();
    let now = 0;
    let most = 0;
    let looks = 0;
    const look = async ({ userId }: { userId: string }) => {
      if (userId === 'ann') most = Math.max(most, ++now);
      const { opened, open: let_ } = door();
      gates.push({ user: userId, open: let_ });
      if (userId === 'ben') begun.open();
      else await opened;
      if (userId === 'ann') now--;
      if (++looks === 4) done.open();
    };
    for (const n of [1, 2]) await first.wake({ agent: 'bot', userId: 'ann', sessionId: `a${n}` });
    await first.schedule({ agent: 'bot', userId: 'ann', sessionId: 'a3' }, new Date());
    const stops = await Promise.all([first, second].map((one) => one.serve(look, { concurrency: 4 })));
    await first.wake({ agent: 'bot', userId: 'ben', sessionId: 'b' });
    // Ann's first look holds; Ben's comes all the same.
    await begun.opened;
    const timer = setInterval(() => {
      for (const { user, open: let_ } of gates) if (user === 'ann') let_();
    }, 20);
    await done.opened;
    clearInterval(timer);
    await Promise.all(stops.map((stop) => stop()));
    await Promise.all([first.close(), second.close()]);
    expect([most, looks]).toEqual([1, 4]);
  });

  test('ATK8-04 who stands behind many sessions of users that have all they may have is looked at without waiting for the next poll', async () => {
    const app = `shop-${newId()}`;
    const dispatcher = await postgresDispatcher(postgresUrl, { app, schema, perUser: 2 });
    for (const userId of ['ann', 'ben']) {
      for (let n = 0; n < 8; n++) await dispatcher.wake({ agent: 'bot', userId, sessionId: `${userId}${n}` });
    }
    await dispatcher.wake({ agent: 'bot', userId: 'cat', sessionId: 'c' });
    // The time from one poll to the next is not over in this test.
    const real = globalThis.setTimeout;
    const polls = vi
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation(((work: () => void, ms: number, ...given: []) =>
        real(ms === 1000 ? () => {} : work, ms, ...given)) as never);
    const held = door();
    const found = door();
    const users: string[] = [];
    const stop = await dispatcher.serve(
      async ({ userId }) => {
        users.push(userId);
        if (userId === 'cat') found.open();
        else await held.opened;
      },
      { concurrency: 8 },
    );
    await found.opened;
    expect(users.toSorted()).toEqual(['ann', 'ann', 'ben', 'ben', 'cat']);
    polls.mockRestore();
    held.open();
    await stop();
    await dispatcher.close();
  });

  test('ATK8-05 what a host looks at for itself does not wait for the turns that the user has', async () => {
    const app = `shop-${newId()}`;
    const dispatcher = await postgresDispatcher(postgresUrl, { app, schema, perUser: 1 });
    const held = door();
    const running = door();
    const looked = door();
    const stop = await dispatcher.serve(
      async ({ agent }) => {
        if (agent === '@outcome') return looked.open();
        running.open();
        await held.opened;
      },
      { concurrency: 4 },
    );
    await dispatcher.wake({ agent: 'bot', userId: 'ann', sessionId: 'long' });
    await running.opened;
    await dispatcher.schedule({ agent: '@outcome', userId: 'ann', sessionId: 'msg_1/short' }, new Date());
    await looked.opened;
    held.open();
    await stop();
    await dispatcher.close();
  });
});

test.each([0, 1.5, -1, Number.NaN])(
  'ATK8-04 perUser %d is refused: with it nothing would be looked at',
  async (perUser) => {
    const opened = postgresDispatcher(postgresUrl, { app: 'shop', perUser });
    expect(await refusal(opened)).toMatchObject({ code: 'E_BAD_INPUT' });
  },
);

test('PD-02 a URL of something else is refused before anything is opened', async () => {
  expect(await refusal(postgresDispatcher('mysql://127.0.0.1/x', { app: 'shop' }))).toMatchObject({
    code: 'E_STORE_URL',
  });
  expect(await refusal(postgresDispatcher(postgresUrl, {} as { app: string }))).toMatchObject({ code: 'E_BAD_INPUT' });
});
