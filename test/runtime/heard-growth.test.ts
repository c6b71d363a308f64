import { describe, expect, onTestFinished, test } from 'vitest';
import type { Bus } from '../../src/contracts/index.ts';
import { joinBus } from '../../src/runtime/index.ts';
import { SharedAppends } from '../../src/runtime/live/shared-appends.ts';
import { StoreFollower } from '../../src/runtime/live/store-follower.ts';
import { settled } from './flow.ts';
import { gate, key } from './kit.ts';
import { note, Shared } from './shared-store.ts';

function hearing() {
  const service = new Shared();
  const ears = new Set<{ heard: (message: string) => void; missed: () => void }>();
  const bus: Bus = {
    publish: () => {},
    subscribe: (topic, heard, missed) => {
      expect(topic).toBe('session/shop/ann/s1');
      const ear = { heard, missed };
      ears.add(ear);
      return () => void ears.delete(ear);
    },
    close: async () => {},
  };
  joinBus(service, bus);
  const session = { key, at: 5, reads: 0, catchUp: async () => void session.reads++ };
  const warnings: string[] = [];
  const leave = StoreFollower.of(service).follow(session, { everyMs: 1e9, warn: (message) => warnings.push(message) });
  onTestFinished(leave);
  const hears = async (told: unknown) => {
    for (const { heard } of ears) heard(JSON.stringify(told));
    await settled();
    return session.reads;
  };
  return { service, session, ears, hears, leave, warnings };
}

describe('MUT-R29 a session that is followed', () => {
  test('is read where another program says that it goes further, and by nothing else that is said', async () => {
    const { hears } = hearing();
    for (const told of [{ seq: 5 }, { seq: 4 }, { seq: '9' }, { seq: null }, { ask: true }, 9, null, [9]]) {
      expect(await hears(told)).toBe(0);
    }
    expect(await hears({ seq: 6 })).toBe(1);
    expect(await hears({ seq: 6 })).toBe(2);
  });

  test('is read once more where it is said again while it is read, however often', async () => {
    const { hears, session } = hearing();
    const first = gate();
    session.catchUp = async () => {
      if (session.reads++ === 0) await first.opened;
    };
    for (const seq of [6, 7, 8]) expect(await hears({ seq })).toBe(1);
    first.open();
    await settled();
    expect(session.reads).toBe(2);
    expect(await hears({ seq: 9 })).toBe(3);
  });

  test('is looked for where the bus may have lost something', async () => {
    const { session, ears, service } = hearing();
    const looks: unknown[] = [];
    const grown = async (known: readonly { seq: number }[]) => {
      looks.push(known);
      return [key];
    };
    Object.assign(service, { grown });
    for (const { missed } of ears) missed();
    await settled();
    expect([looks, session.reads]).toEqual([[[{ key, seq: 5 }]], 1]);
  });

  test('that cannot be read warns once until it can; of one that was replaced nothing is said', async () => {
    const { hears, session, warnings } = hearing();
    let fault: unknown = new Error('away');
    session.catchUp = async () => {
      if (fault) throw fault;
    };
    await hears({ seq: 6 });
    await hears({ seq: 7 });
    expect(warnings).toEqual([expect.stringContaining('written to session s1 could not be read')]);
    fault = undefined;
    await hears({ seq: 8 });
    fault = Object.assign(new Error('away'), {});
    await hears({ seq: 9 });
    expect(warnings).toHaveLength(2);
  });

  test('is not listened for any more once nobody follows it', async () => {
    const { ears, leave } = hearing();
    expect(ears.size).toBe(1);
    leave();
    expect(ears.size).toBe(0);
  });
});

test('MUT-R29 a session is being written to until its append is taken in, or has failed', async () => {
  const stored = gate();
  const appends = new SharedAppends({
    write: async (events) => {
      await stored.opened;
      if (events[0]?.id === 'bad') throw new Error('away');
      return events;
    },
    absorb: () => undefined,
  });
  expect(appends.isWriting).toBe(false);
  const first = appends.commit([note('good')], 1);
  expect(appends.isWriting).toBe(true);
  stored.open();
  await first;
  expect(appends.isWriting).toBe(false);
  await expect(appends.commit([note('bad')], 1)).rejects.toThrow('away');
  expect(appends.isWriting).toBe(false);
});
