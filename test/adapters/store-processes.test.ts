import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import type { SessionKey } from '../../src/runtime/index.ts';
import { call, event } from '../suites/session-service.ts';
import type { TestDatabase } from './databases.ts';
import { shared } from './databases.ts';
import { acquireSoon, killWriters, randomFrom } from './kill.ts';
import type { Child } from './processes.ts';
import { startChild } from './processes.ts';
import { payingHost } from './store-host.ts';

const PROCESSES = 8;
let started = 0;
/** They stay for all tests and go from database to database: what costs time is their start. */
const eight: Child[] = [];
afterAll(() => Promise.all(eight.map((each) => each.kill())));

const of = (id: string): SessionKey => ({ app: 'shop', userId: 'ann', id });

for (const server of shared) {
  describe.skipIf(server.skip)(`processes on ${server.name}`, () => {
    let database: TestDatabase;
    let service: SqlSessionService;
    const others: Child[] = [];

    beforeAll(async () => {
      database = await server.make();
      service = await database.open();
      const fresh = Array.from({ length: PROCESSES - eight.length }, (_, n) => child(`w${started + n}`, 'memory:'));
      started += fresh.length;
      eight.push(...fresh);
      for (const each of fresh) expect(await each.next()).toBe('ready');
      expect(await all(`open ${database.url}`)).toEqual(eight.map(() => 'open'));
    });
    afterAll(async () => {
      await all('open memory:');
      await service?.close();
      await database?.drop();
    });
    afterEach(async () => {
      await Promise.all(others.splice(0).map((each) => each.kill()));
      await database.empty();
    });

    function child(name: string, url = database.url as string): Child {
      return startChild('store-child.ts', url, name);
    }

    /** One task for all of them at once; what each comes to. */
    async function all(task: string): Promise<(string | undefined)[]> {
      for (const each of eight) each.tell(task);
      return Promise.all(eight.map((each) => each.next()));
    }
    const done = Array.from({ length: PROCESSES }, () => 'done');

    test('S2-32 F25 eight processes append to one session: no delta is lost, no seq is taken twice', async () => {
      const times = 20;
      await service.create(of('s0'));
      expect(await all(`contend ${times}`)).toEqual(done);
      const record = (await service.get(of('s0')))!;
      const seqs = Array.from({ length: PROCESSES * times }, (_, n) => n + 1);
      expect(record.events.map(({ seq }) => seq)).toEqual(seqs);
      expect(new Set(record.events.map(({ id }) => id)).size).toBe(seqs.length);
      const expected: Record<string, number> = {};
      for (const name of new Set(record.events.map(({ author }) => author))) {
        for (let k = 0; k < times; k++) {
          for (const scope of k % 10 === 0 ? ['', 'app:', 'user:'] : ['']) expected[`${scope}${name}-${k}`] = k;
        }
      }
      expect(Object.keys(expected)).toHaveLength(PROCESSES * times * 1.2);
      expect(record.state).toEqual(expected);
    });

    test('S2-32 S2-29 eight processes append to 200 sessions: shared state has every delta', async () => {
      const sessions = 200;
      await Promise.all(Array.from({ length: sessions }, (_, n) => service.create(of(`s${n}`))));
      expect(await all(`contend ${sessions} ${sessions}`)).toEqual(done);
      const record = (await service.get(of('s0')))!;
      const shared = (prefix: string) => Object.keys(record.state).filter((name) => name.startsWith(prefix));
      for (const prefix of ['app:', 'user:']) expect(shared(prefix)).toHaveLength((PROCESSES * sessions) / 10);
      for (const { length } of await service.list({ app: 'shop' })) expect(length).toBe(PROCESSES);
    });

    test('S2-28 strict writers lose nothing to each other: whoever is stale is told so', async () => {
      const times = 5;
      await service.create(of('s0'));
      const conflicts = (await all(`strict ${times}`)).map(Number);
      expect(conflicts.reduce((sum, one) => sum + one)).toBeGreaterThan(0);
      expect((await service.get(of('s0')))?.state.sum).toBe(PROCESSES * times);
    });

    test('S0-72 eight processes save versions of one file: each number is given once', async () => {
      const versions = (await all('save 10')).flatMap((said) => said?.split(' ').map(Number) ?? []);
      const expected = Array.from({ length: PROCESSES * 10 }, (_, n) => n + 1);
      expect(versions.toSorted((a, b) => a - b)).toEqual(expected);
      expect(await service.artifacts.versions(of('s0'), 'report')).toEqual(expected.toReversed());
    });

    test('F25 of eight processes one gets the run, the others are refused; all may append without it', async () => {
      const { epoch } = await service.create(of('run'));
      const held = `held ${epoch + 1}`;
      const words = await all('hold run');
      expect(words.toSorted()).toEqual([...Array.from({ length: PROCESSES - 1 }, () => 'E_SESSION_BUSY'), held]);
      expect(await service.holder(of('run'))).toBe(epoch + 1);
      await service.append(of('run'), [event('steer')]);
      const winner = eight[words.indexOf(held)] as Child;
      winner.tell('write run');
      expect(await winner.next()).toBe('wrote');
      await winner.kill();
      eight.splice(eight.indexOf(winner), 1);
      // As soon as the database knows that its connection is gone.
      while ((await service.holder(of('run'))) !== undefined);
      expect(await acquireSoon(service, of('run'))).toMatchObject({ epoch: epoch + 2, lastSeq: 2 });
    });

    test('ATK-23 neither delete nor retention takes a session whose sub-agent another process runs; both do when it has died', async () => {
      const below = of('s1.c1');
      const time = Date.now() + 60_000;
      for (const removes of [() => service.delete(of('s1')), () => service.deleteOlderThan({ app: 'shop' }, time)]) {
        await service.create(of('s1'));
        await service.append(of('s1'), [call('e1', 'c1')]);
        await service.create(below);
        const runs = child('runs');
        others.push(runs);
        expect(await runs.next()).toBe('ready');
        runs.tell('hold s1.c1');
        expect(await runs.next()).toMatch(/^held/);
        const word = await Promise.resolve(removes()).catch((error: { code?: string }) => error.code);
        expect([0, 'E_SESSION_BUSY']).toContain(word);
        expect(await service.list({ app: 'shop' })).toHaveLength(2);
        runs.tell('write s1.c1');
        expect(await runs.next()).toBe('wrote');
        await runs.kill();
        // Where a lock of the database says who runs it, that is free once the server has seen the end of the process.
        await vi.waitFor(async () => expect(await service.holder(below)).toBeUndefined());
        await removes();
        expect(await service.list({ app: 'shop' })).toEqual([]);
        expect(await database.query('SELECT id FROM adk_events')).toEqual([]);
      }
    });

    test('F25 a writer that was taken over from is fenced for good', async () => {
      const { epoch } = await service.create(of('run'));
      const cut = await cutter(database);
      const ghost = child('ghost', cut.url);
      others.push(ghost);
      expect(await ghost.next()).toBe('ready');
      ghost.tell('hold run');
      expect(await ghost.next()).toBe(`held ${epoch + 1}`);
      await cut.now();
      const lease = await acquireSoon(service, of('run'));
      expect(lease.epoch).toBe(epoch + 2);
      ghost.tell('write run');
      expect(await ghost.next()).toBe('E_FENCED');
      await service.append(of('run'), [event('mine')], { epoch: lease.epoch });
      expect((await service.get(of('run')))?.events.map(({ id }) => id)).toEqual(['mine']);
    });

    test('F19 S0-57 a process pauses at an approval and dies; another lists it, approves, and the run ends', async () => {
      const asking = startChild('store-host.ts', database.url as string);
      others.push(asking);
      const [id = '', end] = (await asking.next())?.split(' ') ?? [];
      expect(end).toBe('input_required');
      await asking.kill();
      const key = of(id);
      const ghost = (await service.get(key))!.epoch;
      const paid: unknown[] = [];
      const host = payingHost(service, ['Done.'], (eur) => paid.push(eur));
      const [open, ...more] = await host.approvals.list();
      expect(more).toEqual([]);
      expect(open).toMatchObject({ agent: 'clerk', userId: 'ann', request: { name: 'pay', args: { eur: 5 } } });
      const requestId = open?.request.requestId as string;
      const settled = await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'ann' } });
      expect(settled.status).toBe('settled');
      const ended = async () => (await service.get(key))?.events.at(-1)?.actions.end?.reason;
      await vi.waitFor(async () => expect(await ended()).toBe('completed'), { timeout: 10_000 });
      expect(paid).toEqual([5]);
      expect(await host.approvals.list()).toEqual([]);
      const { epoch, lastSeq } = (await service.get(key))!;
      expect(epoch).toBeGreaterThan(ghost);
      const late = service.append(key, [event('ghost')], { epoch: ghost });
      await expect(late).rejects.toMatchObject({ code: 'E_FENCED' });
      expect((await service.get(key))?.lastSeq).toBe(lastSeq);
      await host.close();
    });

    const seed = 20_260_101;
    test(`S0-57 S2-31 killed in an append, a process leaves every acknowledged event, once (seed ${seed})`, {
      timeout: 120_000,
    }, async () => {
      expect(await killWriters(database, 5, randomFrom(seed))).toBeGreaterThan(0);
    });
  });
}

/** Cuts a process off from its database, which it does not survive as the holder of a lease. */
async function cutter(database: TestDatabase): Promise<{ url: string; now: () => Promise<unknown> }> {
  const url = new URL(database.url as string);
  switch (database.name) {
    case 'postgres': {
      const name = `ghost_${process.pid}`;
      url.searchParams.set('application_name', name);
      const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}'`;
      return { url: url.href, now: () => database.query(sql) };
    }
    case 'mariadb': {
      const list = 'SELECT id FROM information_schema.processlist WHERE db = database()';
      const before = (await database.query(list)).map(({ id }) => Number(id));
      const now = async () => {
        for (const { id } of await database.query(`${list} AND id NOT IN (${before})`)) {
          await database.query(`KILL ${id}`);
        }
      };
      return { url: url.href, now };
    }
    default: {
      // What a process of an earlier boot of this machine would have left.
      const sql = `UPDATE adk_sessions SET owner = replace(owner, '"boot":"', '"boot":"earlier ') RETURNING id`;
      return { url: url.href, now: () => database.query(sql) };
    }
  }
}
