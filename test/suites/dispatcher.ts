import { afterEach, describe, expect, test } from 'vitest';
import type { Dispatcher, SessionPlace } from '../../src/contracts/index.ts';
import { door } from '../host/kit.ts';

export interface MadeDispatcher {
  dispatcher: Dispatcher;
  /** Another program's, over the same wakes; absent where there is no other program. */
  other?: () => Promise<Dispatcher>;
  close(): Promise<void>;
}

const at = (sessionId: string): SessionPlace => ({ agent: 'bot', userId: 'ann', sessionId });

/** Looks that are noted; each goes on when it is let go, or at once. */
function looks({ held = false } = {}) {
  const seen: SessionPlace[] = [];
  const doors: { place: SessionPlace; open: () => void }[] = [];
  let most = 0;
  let now = 0;
  const waiting: { count: number; tell: () => void }[] = [];
  return {
    seen,
    doors,
    get most() {
      return most;
    },
    get now() {
      return now;
    },
    async look(place: SessionPlace) {
      seen.push(place);
      most = Math.max(most, ++now);
      for (const one of waiting) if (seen.length >= one.count) one.tell();
      if (held) {
        const { opened, open } = door();
        doors.push({ place, open });
        await opened;
      }
      now--;
    },
    /** Resolves with the look of this number. */
    async reached(count: number) {
      if (seen.length >= count) return;
      const { opened, open } = door();
      waiting.push({ count, tell: open });
      await opened;
    },
  };
}

/** What every dispatcher keeps. */
export function dispatcherSuite(name: string, make: () => Promise<MadeDispatcher>, timeout = 20_000): void {
  describe(`dispatcher: ${name}`, { timeout }, () => {
    const closers: (() => Promise<void>)[] = [];
    const fresh = async () => {
      const made = await make();
      closers.push(made.close);
      return made;
    };
    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    test('DI-01 a wake brings one look at that place', async () => {
      const { dispatcher } = await fresh();
      const noted = looks();
      const stop = await dispatcher.serve(noted.look, { concurrency: 2 });
      const place = { agent: 'bot', userId: 'ann-é', sessionId: 's.1' };
      await dispatcher.wake(place);
      await noted.reached(1);
      await stop();
      expect(noted.seen).toEqual([place]);
    });

    test('DI-02 of several wakes that wait for one session one remains, and none of another session', async () => {
      const { dispatcher } = await fresh();
      for (const id of ['a', 'b', 'a', 'a', 'b']) await dispatcher.wake(at(id));
      const noted = looks();
      const stop = await dispatcher.serve(noted.look, { concurrency: 4 });
      await noted.reached(2);
      await dispatcher.wake(at('c'));
      await noted.reached(3);
      await stop();
      expect(noted.seen.map(({ sessionId }) => sessionId).sort()).toEqual(['a', 'b', 'c']);
    });

    test('DI-03 a wake while a session is looked at brings another look, after that one', async () => {
      const { dispatcher } = await fresh();
      const noted = looks({ held: true });
      const stop = await dispatcher.serve(noted.look, { concurrency: 4 });
      await dispatcher.wake(at('a'));
      await noted.reached(1);
      await dispatcher.wake(at('a'));
      await dispatcher.wake(at('b'));
      await noted.reached(2);
      expect(noted.seen.map(({ sessionId }) => sessionId)).toEqual(['a', 'b']);
      noted.doors[0]?.open();
      await noted.reached(3);
      expect(noted.seen[2]).toEqual(at('a'));
      for (const { open } of noted.doors) open();
      await stop();
      expect(noted.seen).toHaveLength(3);
    });

    test('DI-04 so many at a time as it is told, and what waits has its turn', async () => {
      const { dispatcher } = await fresh();
      const noted = looks({ held: true });
      const stop = await dispatcher.serve(noted.look, { concurrency: 2 });
      for (const id of ['a', 'b', 'c', 'd', 'e']) await dispatcher.wake(at(id));
      for (let done = 0; done < 5; done++) {
        await noted.reached(done + 1);
        noted.doors[done]?.open();
      }
      await stop();
      expect(noted.most).toBeLessThanOrEqual(2);
      expect(new Set(noted.seen.map(({ sessionId }) => sessionId)).size).toBe(5);
    });

    test('DI-05 a look that rejects is repeated', async () => {
      const { dispatcher } = await fresh();
      const { opened, open } = door();
      let tries = 0;
      const stop = await dispatcher.serve(
        async () => {
          if (++tries < 3) throw new Error('the store is away');
          open();
        },
        { concurrency: 1 },
      );
      await dispatcher.wake(at('a'));
      await opened;
      await stop();
      expect(tries).toBe(3);
    });

    test('DI-06 a scheduled look comes at its time, not before; a wake does not wait for it', async () => {
      const { dispatcher } = await fresh();
      const noted = looks();
      const due = new Date(Date.now() + 1500);
      await dispatcher.schedule(at('later'), due);
      const times: number[] = [];
      const stop = await dispatcher.serve(
        async (place) => {
          times.push(Date.now());
          await noted.look(place);
        },
        { concurrency: 2 },
      );
      await dispatcher.wake(at('later'));
      await noted.reached(2);
      await stop();
      expect(noted.seen).toEqual([at('later'), at('later')]);
      // The database's clock may differ from this one by a little.
      expect(times[1]).toBeGreaterThanOrEqual(due.getTime() - 50);
    });

    test('DI-07 an end waits for what is looked at, takes nothing new, and leaves what waits', async () => {
      const { dispatcher } = await fresh();
      const noted = looks({ held: true });
      const stop = await dispatcher.serve(noted.look, { concurrency: 1 });
      await dispatcher.wake(at('a'));
      await noted.reached(1);
      await dispatcher.wake(at('b'));
      let isOver = false;
      const over = stop().then(() => {
        isOver = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(isOver).toBe(false);
      noted.doors[0]?.open();
      await over;
      expect(noted.seen).toEqual([at('a')]);
      const later = looks();
      const again = await dispatcher.serve(later.look, { concurrency: 1 });
      await later.reached(1);
      await again();
      expect(later.seen).toEqual([at('b')]);
    });

    test('NODE9-08 an end leaves no look that begins after it: what came for a session that was looked at is looked at before, or left', async () => {
      const { dispatcher } = await fresh();
      const noted = looks({ held: true });
      const stop = await dispatcher.serve(noted.look, { concurrency: 4 });
      await dispatcher.wake(at('a'));
      await noted.reached(1);
      await dispatcher.wake(at('a'));
      await dispatcher.wake(at('b'));
      await noted.reached(2);
      const over = stop().then(() => noted.now);
      for (const { open } of noted.doors) open();
      await Promise.race([over, noted.reached(3)]);
      // Who serves no more could say by now that it is over.
      for (const id of ['c', 'd', 'e', 'f']) await dispatcher.wake(at(id));
      for (const { open } of noted.doors) open();
      expect(await over).toBe(0);
    });

    test('DI-09 what waits with a higher priority is looked at first', async ({ skip }) => {
      if (name === 'restate') return skip('it knows no priorities');
      const { dispatcher } = await fresh();
      for (const [id, priority] of [
        ['low', -1],
        ['usual', 0],
        ['high', 5],
      ] as const) {
        await dispatcher.wake(at(id), { priority });
      }
      const noted = looks();
      const stop = await dispatcher.serve(noted.look, { concurrency: 1 });
      await noted.reached(3);
      await stop();
      expect(noted.seen.map(({ sessionId }) => sessionId)).toEqual(['high', 'usual', 'low']);
    });

    test('DI-08 what one program wakes another looks at', async ({ skip }) => {
      const { dispatcher, other } = await fresh();
      if (!other) return skip('its wakes are of one process');
      const second = await other();
      closers.push(() => second.close());
      const noted = looks();
      const stop = await second.serve(noted.look, { concurrency: 1 });
      await dispatcher.wake(at('a'));
      await noted.reached(1);
      await stop();
      expect(noted.seen).toEqual([at('a')]);
    });
  });
}
