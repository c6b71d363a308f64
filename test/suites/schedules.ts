import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Dispatcher, HostJournal, SessionPlace } from '../../src/contracts/index.ts';
import { isCoxswainError } from '../../src/contracts/index.ts';
import type { AgentHost, SessionService } from '../../src/index.ts';
import type { Script } from '../../src/testing/scripted-model.ts';
import { bot, door, hostOf, refusal } from '../host/kit.ts';

/** Where several programs keep what they have, and who wakes them. */
export interface MadePlace {
  /** One more program's view of the store. */
  store(): Promise<SessionService & { journal: HostJournal; close?(): Promise<void> }>;
  /** Absent: each program is its own. */
  dispatcher?(): Promise<Dispatcher>;
  close(): Promise<void>;
}

const MINUTE = 60_000;

/** A clock of the store that no clock of a program has to do with; it stands still a moment before a full minute, until it is started. */
function storeClock(before = 500) {
  let begun: number | undefined;
  let at = Date.UTC(2026, 10, 30, 9, 0) - before;
  return {
    now: () => at + (begun === undefined ? 0 : performance.now() - begun),
    start: () => {
      begun ??= performance.now();
    },
    advance: (ms: number) => {
      at += ms;
    },
  };
}

/** What every dispatcher makes of schedules. */
export function scheduleSuite(name: string, make: () => Promise<MadePlace>): void {
  describe(`schedules: ${name}`, { timeout: 60_000 }, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      vi.restoreAllMocks();
      for (const close of closers.splice(0).reverse()) await close();
    });

    async function world() {
      const made = await make();
      closers.push(made.close);
      const clock = storeClock();
      const begun: string[] = [];
      const waiting: { count: number; open: () => void }[] = [];
      const program = async ({ works = true, agent = 'bot' } = {}) => {
        const store = await made.store();
        Object.assign(store.journal, { now: async () => clock.now() });
        const dispatcher = await made.dispatcher?.();
        const tool = {
          name: 'note',
          description: 'notes',
          inputSchema: { type: 'object' },
          annotations: { readOnly: true },
          execute: (_: unknown, { sessionId }: { sessionId: string }) => {
            begun.push(sessionId);
            for (const one of waiting) if (begun.length >= one.count) one.open();
            return 'noted';
          },
        } as const;
        // By what is in the log: a turn may move from one program to another, and its call is made once all the same.
        const step: Script = ({ contents }) => {
          const isNoted = contents.at(-1)?.parts.some(({ type }) => type === 'function_response');
          return isNoted ? 'done' : { calls: [['note']] };
        };
        const { host, warnings } = hostOf(bot(Array(40).fill(step), { name: agent }), {
          store,
          tools: [tool],
          ...(dispatcher ? { dispatcher } : {}),
        });
        closers.push(async () => {
          await host.close();
          await dispatcher?.close();
          await store.close?.();
        });
        if (works) await host.work({ lookMs: 100 });
        return { host, warnings, store };
      };
      const reached = async (count: number) => {
        if (begun.length >= count) return;
        const { opened, open } = door();
        waiting.push({ count, open });
        await opened;
      };
      return { clock, begun, program, reached };
    }
    const minutely = { name: 'report', cron: '* * * * *', agent: 'bot', input: 'Report.', userId: 'ann' };
    const outcome = async (host: AgentHost, name = 'report') =>
      (await host.schedules.list()).find((one) => one.name === name)?.last;

    test('SC-01 a time begins one turn, in a session of its own, however many programs set it and work', async () => {
      const { begun, program, reached, clock } = await world();
      const one = await program();
      const two = await program();
      await Promise.all([one.host.schedules.set(minutely), two.host.schedules.set(minutely)]);
      expect(await one.host.schedules.list()).toEqual([{ ...minutely, next: '2026-11-30T09:00:00.000Z' }]);
      clock.start();
      await reached(1);
      expect(clock.now()).toBeGreaterThanOrEqual(Date.UTC(2026, 10, 30, 9, 0));
      await expect
        .poll(() => outcome(two.host))
        .toEqual({
          at: '2026-11-30T09:00:00.000Z',
          outcome: 'begun',
          sessionId: 'report-20261130T0900Z',
        });
      expect((await two.host.schedules.list())[0]?.next).toBe('2026-11-30T09:01:00.000Z');
      // The next time, sooner than it would come: all that was woken for is looked at.
      clock.advance(MINUTE);
      const place: SessionPlace = { agent: '@schedule', userId: 'ann', sessionId: 'report' };
      await Promise.all([one.host, two.host].map((host) => lookOf(host)(place)));
      await reached(2);
      await expect.poll(() => one.host.unfinished()).toEqual([]);
      expect(begun).toEqual(['report-20261130T0900Z', 'report-20261130T0901Z']);
      expect([...one.warnings, ...two.warnings]).toEqual([]);
    });

    test('SC-02 of times at which nobody worked one turn is begun, or none', async () => {
      const { begun, program, reached, clock } = await world();
      const before = await program({ works: false });
      await before.host.schedules.set(minutely);
      await before.host.schedules.set({ ...minutely, name: 'skipped', cron: '*/2 * * * *', missed: 'skip' });
      await before.host.close();
      // 09:03 and half a minute: 09:02 is more than a minute ago.
      clock.advance(3.5 * MINUTE);
      const { host } = await program();
      await reached(1);
      await expect.poll(() => outcome(host, 'skipped')).toEqual({ at: '2026-11-30T09:02:00.000Z', outcome: 'missed' });
      await expect.poll(() => outcome(host)).toMatchObject({ outcome: 'begun' });
      expect(begun.filter((id) => id.startsWith('report-'))).toEqual(['report-20261130T0903Z']);
    });

    test('SC-03 a program whose clock is ten minutes wrong begins nothing early, late or twice', async () => {
      const { begun, program, reached, clock } = await world();
      const right = Date.now.bind(Date);
      vi.spyOn(Date, 'now').mockImplementation(() => right() + 10 * MINUTE);
      const { host } = await program();
      await host.schedules.set(minutely);
      clock.start();
      await lookOf(host)({ agent: '@schedule', userId: 'ann', sessionId: 'report' });
      await reached(1);
      expect(clock.now()).toBeGreaterThanOrEqual(Date.UTC(2026, 10, 30, 9, 0));
      await expect.poll(() => outcome(host)).toMatchObject({ at: '2026-11-30T09:00:00.000Z' });
      expect(begun).toEqual(['report-20261130T0900Z']);
    });

    test('SC-04 whoever dies between the turn and the note that it is begun leaves it to another one, which begins none', async () => {
      const { begun, program, reached, clock } = await world();
      const { host, store } = await program();
      const { append } = store.journal;
      let kept = 0;
      store.journal.append = async (...given) => {
        // The first is the schedule itself.
        if (++kept === 2) throw new Error('it died here');
        return append.apply(store.journal, given);
      };
      await host.schedules.set(minutely);
      clock.start();
      await reached(1);
      await expect.poll(() => outcome(host)).toMatchObject({ outcome: 'begun', sessionId: begun[0] });
      await host.idle();
      expect(kept).toBeGreaterThanOrEqual(3);
      expect(begun).toEqual(['report-20261130T0900Z']);
    });

    test('SC-05 a schedule is changed, and removed for all; what cannot be one is refused', async () => {
      const { begun, program } = await world();
      const one = await program();
      const two = await program();
      await one.host.schedules.set({ ...minutely, cron: '0 8 * * 1-5', timeZone: 'Europe/Berlin' });
      await two.host.schedules.set({ ...minutely, cron: '30 8 * * 1-5', timeZone: 'Europe/Berlin', input: 'Again.' });
      expect(await one.host.schedules.list()).toMatchObject([{ input: 'Again.', next: '2026-12-01T07:30:00.000Z' }]);
      expect(await two.host.schedules.remove('report')).toBe(true);
      expect([await one.host.schedules.remove('report'), await one.host.schedules.list()]).toEqual([false, []]);
      await lookOf(one.host)({ agent: '@schedule', userId: 'ann', sessionId: 'report' });
      const bad = [
        { cron: '* * * * * *' },
        { cron: 'H 1 * * *' },
        { cron: '0 25 * * *' },
        { timeZone: 'Mars/Olympus' },
        { input: '' },
        { input: 'x'.repeat(65_537) },
        { priority: 0.5 },
        { missed: 'never' },
        { agents: 'bot' },
      ];
      for (const wrong of bad) {
        const thrown = await refusal(one.host.schedules.set({ ...minutely, ...wrong } as typeof minutely));
        expect([wrong, thrown.code]).toEqual([wrong, 'E_BAD_INPUT']);
      }
      expect((await refusal(one.host.schedules.set({ ...minutely, name: 'a/b' }))).code).toBe('E_ID');
      expect((await refusal(one.host.schedules.set({ ...minutely, agent: 'nobody' }))).code).toBe('E_AGENT_UNKNOWN');
      expect([await one.host.schedules.list(), begun]).toEqual([[], []]);
    });
  });
}

/** What a dispatcher would bring, without one. */
function lookOf(host: AgentHost): (place: SessionPlace) => Promise<void> {
  const { schedules } = host as AgentHost & { schedules: { look(place: SessionPlace): Promise<void> } };
  return async (place) => {
    for (;;) {
      try {
        return await schedules.look(place);
      } catch (error) {
        // Another program begins the turn now.
        if (!isCoxswainError(error) || error.code !== 'E_SESSION_BUSY') throw error;
      }
    }
  };
}
