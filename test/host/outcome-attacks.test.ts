import { afterEach, describe, expect, test } from 'vitest';
import { webhooks } from '../../src/adapters/nodes/index.ts';
import { rewind } from '../../src/adapters/stores/common/index.ts';
import type { Outcomes } from '../../src/contracts/index.ts';
import { readCron } from '../../src/host/background/cron.ts';
import { ProcessDispatcher } from '../../src/host/background/process-dispatcher.ts';
import type { AgentHost, SessionService } from '../../src/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { receiver, secret } from '../suites/outcomes.ts';
import { bot, door, hostOf } from './kit.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function program(outcomes: Outcomes, store = new InMemorySessionService()) {
  const { host, warnings } = hostOf(bot(Array.from({ length: 200 }, () => 'Good day.')), { store, outcomes });
  closers.push(() => host.close());
  return { host, warnings, store };
}

/** Receivers of which one takes a message only once it is let go. */
function held(names: readonly string[]) {
  const free = door<'done'>();
  const counts = new Map<string, number>();
  const waiting: { name: string; count: number; open: () => void }[] = [];
  const outcomes: Outcomes = {
    names,
    takesAnswer: () => false,
    deliver: async (name) => {
      const now = (counts.get(name) ?? 0) + 1;
      counts.set(name, now);
      for (const one of waiting) if (one.name === name && now >= one.count) one.open();
      return name === 'silent' ? free.opened : 'done';
    },
  };
  return {
    outcomes,
    free,
    of: (name: string) => counts.get(name) ?? 0,
    async reached(name: string, count: number) {
      if ((counts.get(name) ?? 0) >= count) return;
      const { opened, open } = door();
      waiting.push({ name, count, open });
      await opened;
    },
  };
}

describe('outcomes and those who would stop them', () => {
  test('ATK7-01 a receiver that does not answer holds up no turn, and no other receiver', async () => {
    const hooks = held(['silent', 'crm']);
    const { host } = program(hooks.outcomes);
    // More than the looks that one program does at a time.
    for (let n = 0; n < 80; n++) await host.submit('bot', 'Hello.', { webhook: 'silent' });
    await hooks.reached('silent', 16);
    const { sessionId } = await host.submit('bot', 'And I?', { webhook: 'crm' });
    await hooks.reached('crm', 1);
    await using session = await host.open('bot', { sessionId });
    expect((await session.standing()).isOver).toBe(true);
    expect(hooks.of('silent')).toBe(16);
    // Those that waited for it have their turn once there is room.
    hooks.free.open('done');
    await hooks.reached('silent', 80);
  });

  test('ATK7-01 what waits for one receiver is not sent twice, though it is looked at again and again', async () => {
    const hooks = held(['silent']);
    const { host } = program(hooks.outcomes);
    for (let n = 0; n < 20; n++) await host.submit('bot', 'Hello.', { webhook: 'silent' });
    await hooks.reached('silent', 16);
    await host.recover();
    await host.recover();
    hooks.free.open('done');
    await hooks.reached('silent', 20);
    await host.idle();
    expect(hooks.of('silent')).toBe(20);
  });

  test('ATK7-02 an outcome whose receiver one program does not name is left to one that does', async () => {
    const hook = await receiver(204);
    closers.push(hook.close);
    const crm = { crm: { url: hook.url, secret, private: true } };
    const store = new InMemorySessionService();
    const { host: first } = hostOf(bot(['Good day.']), {
      store,
      outcomes: { ...webhooks(crm), deliver: () => new Promise(() => {}) },
      dispatcher: {
        wake: async () => {},
        schedule: async () => {},
        serve: async () => async () => {},
        close: async () => {},
      },
    });
    closers.push(() => first.close());
    await first.submit('bot', 'Hello.', { webhook: 'crm' });
    const older = program(webhooks({ other: { url: hook.url, secret, private: true } }), store);
    const warned = 'an outcome is owed to webhook crm, which this program does not name: it is left to one that does';
    await older.host.recover();
    await expect.poll(() => older.warnings).toEqual([warned]);
    expect(hook.got).toEqual([]);
    const newer = program(webhooks(crm), store);
    await newer.host.recover();
    await hook.reached(1);
    expect(older.warnings).toEqual([warned]);
  });

  test('ATK7-03 an outcome that a receiver has not taken, and whose turn was rewound since, is owed no longer', async () => {
    const store = new InMemorySessionService();
    const { host, warnings } = program(
      { names: ['crm'], takesAnswer: () => false, deliver: async () => Promise.reject(new Error('not today')) },
      store,
    );
    const { sessionId, turnId } = await host.submit('bot', 'Hello.', { webhook: 'crm' });
    await expect.poll(() => warnings).toHaveLength(1);
    await host.sessions().delete(sessionId);
    {
      await using session = await host.open('bot', { sessionId, create: true });
      for await (const _ of session.stream('Something else.'));
    }
    await expect
      .poll(() => warnings.at(-1), { timeout: 20_000 })
      .toBe(`the outcome of turn ${turnId} is sent to nobody: it is not in the log of its session any more`);
  });

  test.each([
    [
      'deleted and made again with fewer events',
      async (host: AgentHost, _: SessionService, sessionId: string) => {
        await host.sessions().delete(sessionId);
        await using session = await host.open('bot', { sessionId, create: true });
        for await (const _ of session.stream('Something else.'));
      },
    ],
    [
      'rewound to its beginning',
      async (_: AgentHost, store: SessionService, id: string) => {
        await rewind(store, { app: 'shop', userId: 'local', id }, 0);
      },
    ],
  ])('ATK7-03 an outcome of a later turn is owed no longer where its session was %s', async (_, change) => {
    const store = new InMemorySessionService();
    let at = Date.UTC(2026, 10, 30);
    Object.assign(store.journal, { now: async () => at });
    const away = async () => Promise.reject(new Error('not today'));
    const { host, warnings } = program({ names: ['crm'], takesAnswer: () => false, deliver: away }, store);
    const { sessionId } = await host.submit('bot', 'One.');
    for (const word of ['Two.', 'Three.', 'Four.']) {
      await host.idle();
      await host.submit('bot', word, { sessionId });
    }
    await host.idle();
    const { turnId } = await host.submit('bot', 'Hello.', { sessionId, webhook: 'crm' });
    await expect.poll(() => warnings).toHaveLength(1);
    await host.idle();
    await change(host, store, sessionId);
    at += 60_000;
    await host.recover();
    await expect
      .poll(() => warnings.slice(1))
      .toEqual([`the outcome of turn ${turnId} is sent to nobody: it is not in the log of its session any more`]);
  });
});

describe('what waits in one process', () => {
  const place = (n: number) => ({ agent: 'bot', userId: 'ann', sessionId: `s${n}` });

  test.each([
    ['of one priority', () => 0],
    ['each of a priority of its own', (n: number) => n],
    ['each of a lower one than those before', (n: number) => -n],
  ])(
    'ATK7-04 many places that wait are looked at with a work that grows with their number: %s',
    async (_, priority) => {
      const dispatcher = new ProcessDispatcher(() => {});
      const count = 20_000;
      const seen: string[] = [];
      const all = door();
      const gate = door();
      await dispatcher.serve(
        async ({ sessionId }) => {
          await gate.opened;
          seen.push(sessionId);
          if (seen.length === count) all.open();
        },
        { concurrency: 4 },
      );
      for (let n = 0; n < count; n++) await dispatcher.wake(place(n), { priority: priority(n) });
      gate.open();
      await all.opened;
      await dispatcher.close();
      expect(new Set(seen).size).toBe(count);
      const order = seen.slice(4).map((id) => priority(Number(id.slice(1))));
      expect(order).toEqual(order.toSorted((a, b) => b - a));
    },
    15_000,
  );

  test('ATK7-04 a wake that is more urgent than the one that waits moves its place forward; what is woken while it is looked at is looked at once more', async () => {
    const dispatcher = new ProcessDispatcher(() => {});
    const gate = door();
    const seen: string[] = [];
    const all = door();
    await dispatcher.serve(
      async ({ sessionId }) => {
        await gate.opened;
        if (seen.push(sessionId) === 5) all.open();
      },
      { concurrency: 1 },
    );
    for (const n of [0, 1, 2, 3]) await dispatcher.wake(place(n));
    await dispatcher.wake(place(3), { priority: 5 });
    await dispatcher.wake(place(3), { priority: 1 });
    await dispatcher.wake(place(0));
    gate.open();
    await all.opened;
    await dispatcher.close();
    expect(seen).toEqual(['s0', 's3', 's1', 's2', 's0']);
  });
});

describe('times of schedules', () => {
  test.each([
    ['* * * * *', 'UTC', '2026-11-30T11:36:30Z'],
    ['*/2 * * * *', 'Europe/Berlin', '2026-10-25T01:01:30Z'],
  ])('ATK7-05 the last time of %s is found without counting a day of times', async (cron, zone, now) => {
    const read = await readCron(cron, zone, 'test');
    const { CronExpression } = await import('cron-parser');
    const { next } = CronExpression.prototype;
    let counted = 0;
    CronExpression.prototype.next = function (this: InstanceType<typeof CronExpression>) {
      counted++;
      return next.call(this);
    };
    try {
      const until = Date.parse(now);
      const last = read.last(until, until - 120_000);
      expect([last, counted < 10]).toEqual([
        Math.floor(until / 60_000 - (cron.startsWith('*/2') ? 1 : 0)) * 60_000,
        true,
      ]);
      // Also after a day at which nobody looked.
      expect([read.last(until, until - 86_400_000) === last, counted < 500]).toEqual([true, true]);
    } finally {
      CronExpression.prototype.next = next;
    }
  });

  test.each([
    ['0 9 * * *', 'Australia/Lord_Howe', '2026-04-03T22:00:00Z', ['2026-04-04T22:30', '2026-04-05T22:30']],
    ['0 * * * *', 'Australia/Lord_Howe', '2026-04-04T14:00:00Z', ['2026-04-04T15:30', '2026-04-04T16:30']],
    ['30 1 * * *', 'Antarctica/Troll', '2026-10-24T12:00:00Z', ['2026-10-24T23:30', '2026-10-26T01:30']],
  ])(
    'ATK7-13 a schedule (%s) of a zone whose clocks are set by another time than an hour (%s) goes past that day',
    async (cron, zone, from, times) => {
      const read = await readCron(cron, zone, 'test');
      const found: number[] = [];
      for (let at = Date.parse(from); found.length < times.length; ) {
        at = read.next(at) ?? Number.NaN;
        found.push(at);
      }
      expect(found.map((time) => new Date(time).toISOString().slice(0, 16))).toEqual(times);
      const until = (found.at(-1) ?? 0) + 1000;
      expect(read.last(until, Date.parse(from))).toBe(found.at(-1));
    },
  );

  test('ATK7-05 counted from the last one or from nothing, the last time is the same on the day on which clocks are set back', async () => {
    const read = await readCron('30 2 * * *', 'Europe/Berlin', 'test');
    const first = Date.parse('2026-10-25T00:30:00Z');
    for (let minutes = 0; minutes <= 180; minutes += 30) {
      const until = first + minutes * 60_000 + 7000;
      expect([read.last(until), read.last(until, first - 86_400_000)]).toEqual([first, first]);
    }
  });
});
