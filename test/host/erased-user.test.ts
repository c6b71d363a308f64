import { afterEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { HostJournal, Outcomes } from '../../src/contracts/index.ts';
import type { SessionService } from '../../src/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { eraseFromBooks, hostBook, MemoryJournal, OUTCOME_BOOKS } from '../../src/session/index.ts';
import { mariadbServer, openKyselySqlite, postgresServer } from '../adapters/databases.ts';
import { all, bot, hostOf, policyOf, refusal, slowTool } from './kit.ts';

type Store = SessionService & { journal: HostJournal };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Nobody is woken for anything, and nothing is taken. */
const asleep = {
  wake: async () => {},
  schedule: async () => {},
  serve: async () => async () => {},
  close: async () => {},
};
const refusing: Outcomes = {
  names: ['crm'],
  takesAnswer: () => false,
  deliver: () => Promise.reject(new Error('not today')),
};

async function erasing(store: Store) {
  const slow = slowTool('slow');
  const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done', 'Good day.', 'Good day.']), {
    ...{ store, app: 'shop', outcomes: refusing, dispatcher: asleep, tools: [slow.tool], policy: policyOf({}) },
  });
  closers.push(() => host.close());
  for (const userId of ['ann', 'bob']) {
    const schedule = { cron: '0 9 1 1 *', agent: 'bot', input: `Words of ${userId}.`, userId };
    await host.schedules.set({ ...schedule, name: `of-${userId}` });
    await host.schedules.set({ ...schedule, name: `once-${userId}` });
    await host.schedules.remove(`once-${userId}`);
    await host.submit('bot', 'Hello.', { userId, webhook: 'crm' });
  }
  return { host, slow };
}

/** All that stands in the notes of hosts, former states too. */
async function noted({ journal }: Store): Promise<string> {
  const none = { id: '', length: 0 };
  const pages = ['schedules', ...OUTCOME_BOOKS].map((about) => journal.read(hostBook('shop', about), none));
  return JSON.stringify((await Promise.all(pages)).map(({ records }) => records));
}

const owed = async (store: Store) => (await noted(store)).match(/"turnId"/g)?.length ?? 0;

function eraseSuite(name: string, open: () => Promise<Store & { close(): Promise<unknown> }>): void {
  describe(`a user who is erased: ${name}`, { timeout: 30_000 }, () => {
    test('ATK9-02 has no schedule and is owed nothing, in programs that knew of it, too; others keep theirs', async () => {
      const store = await open();
      closers.push(() => store.close());
      const { host } = await erasing(store);
      expect(await noted(store)).toContain('Words of ann.');
      expect(await owed(store)).toBe(2);
      await store.eraseUser?.({ app: 'shop', userId: 'ann' });
      const left = await noted(store);
      expect([left.includes('ann'), left.includes('Words of bob.'), await owed(store)]).toEqual([false, true, 1]);
      expect((await host.schedules.list()).map((one) => one.name)).toEqual(['of-bob']);
      expect((await host.sessions('ann').list()).length).toBe(0);
      // The names are free, and what comes after counts.
      await host.schedules.set({ name: 'of-ann', cron: '0 9 1 1 *', agent: 'bot', input: 'Again.', userId: 'ann' });
      await host.submit('bot', 'Hello.', { userId: 'ann', webhook: 'crm' });
      expect((await host.schedules.list()).map((one) => one.name)).toEqual(['of-ann', 'of-bob']);
      expect(await owed(store)).toBe(2);
    });

    test('ATK9-02 while a turn of theirs runs they are not, and nothing of that turn is lost', async () => {
      const store = await open();
      closers.push(() => store.close());
      const { host, slow } = await erasing(store);
      const [session] = await host.sessions('ann').list();
      const running = await host.open('bot', { userId: 'ann', sessionId: session?.id ?? '' });
      const ended = all(running.stream({ kind: 'continue' }));
      await slow.started;
      expect((await refusal(Promise.resolve(store.eraseUser?.({ app: 'shop', userId: 'ann' })))).code).toBe(
        'E_SESSION_BUSY',
      );
      expect((await host.schedules.list()).map((one) => one.name)).toEqual(['of-ann', 'of-bob']);
      expect(await owed(store)).toBe(2);
      slow.finish('done');
      await ended;
      await running[Symbol.asyncDispose]();
      await store.eraseUser?.({ app: 'shop', userId: 'ann' });
      expect((await noted(store)).includes('ann')).toBe(false);
    });
  });
}

eraseSuite('in memory', async () => new InMemorySessionService());
eraseSuite('sqlite', async () => openSqlite(':memory:'));
eraseSuite('sqlite by Kysely', () => openKyselySqlite(':memory:'));
for (const server of [postgresServer, mariadbServer]) {
  describe.skipIf(server.skip)(server.name, () => {
    eraseSuite(server.name, async () => {
      const database = await server.make();
      closers.push(() => database.drop());
      return database.open();
    });
  });
}

test('ATK9-02 of two who change what is owed while a user is erased neither is lost', async () => {
  const journal = new MemoryJournal();
  const key = hostBook('shop', 'schedules');
  const none = { id: '', length: 0 };
  const state = (userId: string) => ({ set: { userId } });
  let mark = await journal.append(key, [{ name: 'a', state: state('ann') }], none, { waits: true });
  const read = journal.read.bind(journal);
  // Somebody adds between the look and the change.
  journal.read = async (...given) => {
    const page = await read(...given);
    journal.read = read;
    mark = mark && (await journal.append(key, [{ name: 'b', state: state('bob') }], mark, { waits: true }));
    return page;
  };
  await eraseFromBooks(journal, { app: 'shop', userId: 'ann' });
  expect((await read(key, none)).records).toEqual([{ name: 'b', state: state('bob') }]);
});

test('ATK9-03 what a host notes of no session stays, however many sessions it notes something of', async () => {
  const journal = new MemoryJournal();
  const none = { id: '', length: 0 };
  await journal.append(hostBook('shop', 'schedules'), [{ name: 'a', state: {} }], none, { waits: true });
  for (let n = 0; n <= 10_000; n++) {
    const key = { app: 'shop', userId: 'ann', agent: 'bot', sessionId: `s${n}` };
    await journal.append(key, [{ n }], none, { waits: true });
  }
  expect((await journal.read(hostBook('shop', 'schedules'), none)).records).toHaveLength(1);
});

test('ATK9-04 more outcomes than may be owed are refused before anything is stored, until there is room', async () => {
  const store = new InMemorySessionService();
  const place = { agent: 'bot', userId: 'ann', sessionId: 's' };
  const state = { place, turnId: 't', to: 'crm', since: 0, due: 0, tries: 11, givenUp: { at: 0, error: 'no' } };
  for (const about of OUTCOME_BOOKS) {
    const records = Array.from({ length: 12_500 }, (_, n) => ({ name: `msg_${about}_${n}`, state }));
    await store.journal.append(hostBook('shop', about), records, { id: '', length: 0 }, { waits: true });
  }
  const { host } = hostOf(bot(['Good day.', 'Good day.']), {
    ...{ store, app: 'shop', outcomes: refusing, dispatcher: asleep },
  });
  closers.push(() => host.close());
  const submit = (webhook?: string) => host.submit('bot', 'Hello.', { userId: 'bob', ...(webhook ? { webhook } : {}) });
  const thrown = await refusal(submit('crm'));
  expect([thrown.code, thrown.status]).toEqual(['E_FULL', 'UNAVAILABLE']);
  expect(await host.sessions('bob').list()).toEqual([]);
  // Turns of which nobody is sent anything are no concern of it.
  await submit();
  await store.eraseUser({ app: 'shop', userId: 'ann' });
  await submit('crm');
  expect(await owed(store)).toBe(1);
});
