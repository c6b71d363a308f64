import { expect } from 'vitest';
import type { SqlSessionService } from '../../src/adapters/stores/sql/session-service.ts';
import type { SessionKey } from '../../src/runtime/index.ts';
import { foldState, openCallChanges } from '../../src/runtime/index.ts';
import type { TestDatabase } from './databases.ts';
import { startChild, together } from './processes.ts';

const key: SessionKey = { app: 'shop', userId: 'ann', id: 'killed' };

/** Random numbers that a seed brings back. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Takes a session over as soon as its dead holder lets go of it. */
export async function acquireSoon(service: SqlSessionService, of: SessionKey, withinMs = 5000) {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await service.acquire(of);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'E_SESSION_BUSY' || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

/**
 * A process appends under a lease and is killed, over and over: after each time the store must hold every
 * acknowledged event, once, and whatever is derived from the events must fit them.
 */
export async function killWriters(database: TestDatabase, rounds: number, random: (below: number) => number) {
  const first = await database.open();
  await first.create(key);
  await first.close();
  let acknowledged = 0;
  let epoch = 0;
  for (let round = 1; round <= rounds; round++) {
    const writer = startChild('store-child.ts', 'append', database.url as string, key.id);
    await together([writer]);
    // Some words, then some microseconds: anywhere within an append.
    let words = random(12);
    for (let word = await writer.next(); word !== undefined; word = await writer.next()) {
      expect(Number(word)).toBeGreaterThan(acknowledged);
      acknowledged = Number(word);
      if (words-- > 0) continue;
      const until = performance.now() + random(2000) / 1000;
      while (performance.now() < until);
      await writer.kill();
    }
    await writer.kill();
    const service = await database.open();
    const lease = await acquireSoon(service, key);
    epoch += 2;
    expect(lease.epoch).toBe(epoch);
    const record = (await service.get(key))!;
    // The one append that was under way may be in or not.
    expect(record.lastSeq - acknowledged).toBeOneOf([0, 1]);
    acknowledged = record.lastSeq;
    expect(record.events.map(({ id, seq }) => `${id} ${seq}`)).toEqual(
      Array.from({ length: acknowledged }, (_, n) => `e${n + 1} ${n + 1}`),
    );
    const own = { ...record.initialState };
    foldState(own, record.events);
    expect(record.state).toMatchObject(own);
    expect(record.state).toMatchObject({ n: acknowledged, 'app:n': acknowledged });
    const { opened } = openCallChanges(record.events);
    expect(await service.openCalls(key)).toEqual(opened.map((open) => ({ key, ...open })));
    // The dead process's ghost cannot write.
    await expect(service.append(key, [], { epoch: epoch - 1 })).rejects.toMatchObject({ code: 'E_FENCED' });
    await lease.release();
    await service.close();
  }
  return acknowledged;
}
