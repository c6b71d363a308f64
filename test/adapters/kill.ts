import assert from 'node:assert/strict';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import type { SessionKey } from '../../src/runtime/index.ts';
import { createEvent, foldState, openCallChanges } from '../../src/runtime/index.ts';
import type { TestDatabase } from './databases.ts';
import { startChild } from './processes.ts';

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
  let { epoch } = await first.create(key);
  await first.close();
  let acknowledged = 0;
  const start = () => startChild('store-child.ts', database.url as string, 'writer');
  // The next one starts while what this one has left is looked at.
  let spare = start();
  for (let round = 1; round <= rounds; round++) {
    const writer = spare;
    assert.equal(await writer.next(), 'ready');
    if (round < rounds) spare = start();
    writer.tell(`append ${key.id}`);
    // Some words, then some microseconds: anywhere within an append.
    let words = random(12);
    for (let word = await writer.next(); word !== undefined; word = await writer.next()) {
      assert(Number(word) > acknowledged);
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
    assert.equal(lease.epoch, epoch);
    const record = (await service.get(key))!;
    // The one append that was under way may be in or not.
    assert([0, 1].includes(record.lastSeq - acknowledged), `${record.lastSeq} events, ${acknowledged} acknowledged`);
    acknowledged = record.lastSeq;
    assert.deepEqual(
      record.events.map(({ id, seq }) => `${id} ${seq}`),
      Array.from({ length: acknowledged }, (_, n) => `e${n + 1} ${n + 1}`),
    );
    const own = { ...record.initialState };
    foldState(own, record.events);
    const shared = Object.entries(record.state).filter(([name]) => /^(app|user):/.test(name));
    assert.deepEqual(record.state, { ...own, ...Object.fromEntries(shared) });
    assert.deepEqual([record.state.n ?? 0, record.state['app:n'] ?? 0], [acknowledged, acknowledged]);
    const { opened } = openCallChanges(record.events);
    const listed = await service.openCalls(key);
    // When a call came into the index is the store's own clock.
    assert.ok(listed.every(({ openedAt }) => Number.isFinite(openedAt)));
    assert.deepEqual(
      listed.map(({ openedAt: _, ...open }) => open),
      opened.map((open) => ({ key, ...open, lastSeq: record.events.at(-1)?.seq })),
    );
    // The dead process's ghost cannot write.
    await assert.rejects(service.append(key, [], { epoch: epoch - 1 }), { code: 'E_FENCED' });
    await lease.release();
    await service.close();
    if (database.name === 'sqlite') {
      assert.deepEqual({ ...(await database.query('PRAGMA integrity_check'))[0] }, { integrity_check: 'ok' });
    }
  }
  return acknowledged;
}

/**
 * A process copies a session and is killed, over and over: after each time every copy that is seen is whole, and the
 * one that was being made can be made anew.
 */
export async function killForks(database: TestDatabase, rounds: number, random: (below: number) => number) {
  const source: SessionKey = { ...key, id: 'copied' };
  const first = await database.open();
  await first.create(source);
  const events = Array.from({ length: 400 }, (_, n) => createEvent({ id: `e${n}`, author: 'bot' }));
  await first.append(source, events);
  await first.close();
  const start = () => startChild('store-child.ts', database.url as string, 'copier');
  let spare = start();
  for (let round = 1; round <= rounds; round++) {
    const copier = spare;
    assert.equal(await copier.next(), 'ready');
    if (round < rounds) spare = start();
    const name = `r${round}.`;
    copier.tell(`fork ${source.id} ${name}`);
    const copies = Number(await copier.next()) + random(3);
    let made = 1;
    while (made < copies) made = Number(await copier.next());
    // Some microseconds: anywhere within the next copy.
    const until = performance.now() + random(12_000) / 1000;
    while (performance.now() < until);
    await copier.kill();
    for (let word = await copier.next(); word !== undefined; word = await copier.next()) made = Number(word);
    const service = await database.open();
    const ids = (await service.list(source)).map(({ id }) => id).filter((id) => id.startsWith(name));
    // The last one may have been made, and not said.
    assert([0, 1].includes(ids.length - made), `${ids.length} copies, ${made} said`);
    const next = { ...source, id: `${name}${ids.length + 1}` };
    await service.fork(source, { id: next.id });
    for (const each of [...ids, next.id]) {
      const record = await service.get({ ...source, id: each });
      assert.deepEqual([record?.lastSeq, record?.events.length], [400, 400]);
      await service.delete({ ...source, id: each });
    }
    const table = `adk_events WHERE session_id LIKE '${name}%'`;
    assert.equal(Number((await database.query(`SELECT count(*) AS n FROM ${table}`))[0]?.n), 0);
    await service.close();
  }
}
