import { expect, test } from 'vitest';
import { createEvent, InMemorySessionService, LiveSession } from '../../src/runtime/index.ts';
import { gate, key } from './kit.ts';

const event = (id: string) => createEvent({ id, author: 'user' });

/** A store that gives back a lease with the last events, and takes one with the first. */
class Leasing extends InMemorySessionService {
  readonly leasesWithEvents = true;
  taking: Promise<void> | undefined;
  givenBack = 0;

  override async acquire(...given: Parameters<InMemorySessionService['acquire']>) {
    await this.taking;
    const lease = await super.acquire(...given);
    const release = async () => {
      this.givenBack++;
      await lease.release();
    };
    const releaseWith = async (events: Parameters<InMemorySessionService['append']>[1]) => {
      const stored = await this.append(given[0], events, { epoch: lease.epoch });
      await release();
      return stored;
    };
    return { ...lease, release, releaseWith };
  }
}

async function opened() {
  const sessions = new Leasing();
  await sessions.create(key);
  return { sessions, live: await LiveSession.open(sessions, key) };
}

test('a turn of several runs keeps the session with the last events of one of them', async () => {
  const { sessions, live } = await opened();
  const release = await live.hold({});
  const lease = await live.lease();
  await live.commitLast([event('last')], lease);
  expect([live.log.map(({ id }) => id), sessions.givenBack]).toEqual([['last'], 0]);
  expect(await live.holder()).toBe(lease.epoch);
  await release();
  expect([sessions.givenBack, await live.holder()]).toEqual([1, undefined]);
});

test('a lease that is taken after the session was given back is given back at once, and its run does not begin', async () => {
  const { sessions, live } = await opened();
  const taking = gate();
  sessions.taking = taking.opened;
  const release = await live.hold({}, { withEvents: true });
  const leased = expect(live.leaseWith([event('first')], live.at)).rejects.toMatchObject({ code: 'E_ABORTED' });
  await release();
  taking.open();
  await leased;
  expect([sessions.givenBack, await live.holder()]).toEqual([1, undefined]);
});

test('ATK9-06 a turn keeps the session from its beginning, unless it says that its first events bring the lease and nothing is open', async () => {
  const { sessions, live } = await opened();
  const heldBy = async (options?: { withEvents?: boolean }) => {
    const release = await live.hold({}, options);
    const isHeld = (await sessions.holder(key)) !== undefined;
    await release();
    return isHeld;
  };
  expect([await heldBy(), await heldBy({ withEvents: false })]).toEqual([true, true]);
  expect(await heldBy({ withEvents: true })).toBe(false);
  await live.append([
    createEvent({
      author: 'bot',
      content: { role: 'model', parts: [{ type: 'function_call', id: 'c1', name: 'pay', args: {} }] },
    }),
  ]);
  expect(live.fold.open.size).toBe(1);
  expect(await heldBy({ withEvents: true })).toBe(true);
});
