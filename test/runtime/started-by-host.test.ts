import { expect, test } from 'vitest';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { StoredEvent } from '../../src/runtime/index.ts';
import { storeStarts } from '../../src/runtime/session/start-calls.ts';
import { codeOf, conflict, note, once, opened } from './shared-store.ts';

/** A call that a host is about to run, under its lease. */
async function open() {
  const { sessions, live, log } = await opened((f) => void f.call(['c1'], {}, { handledBy: 'host' }));
  const { epoch } = await live.lease();
  const start = () => storeStarts(live, epoch, [{ kind: 'tool_approval', requestId: 'c1' }], 'st');
  const starts = async () => (await log()).filter(({ actions }) => actions.started !== undefined).length;
  return { sessions, live, start, starts };
}

const away = () => new CoxswainError('UNAVAILABLE', 'E_STORE', 'away');
const isStart = (events: readonly StoredEvent[]) => events.some(({ actions }) => actions.started !== undefined);

test('the start of a call that a host runs is stored, and is alone where nobody else has written', async () => {
  const { live, start, starts } = await open();
  expect(await start()).toBe(true);
  expect([await starts(), live.fold.calls.get('c1')?.started]).toEqual([1, true]);
});

test('a start is stored once where somebody else was faster, and whoever started the call is told of that', async () => {
  const { sessions, live, start, starts } = await open();
  once(sessions, () => sessions.theirs(note('between')));
  expect(await start()).toBe(false);
  expect([await starts(), live.log.at(-2)?.id]).toEqual([1, 'between']);
});

test('a start is not stored again by a store that stores it and says no', async () => {
  const { sessions, start, starts } = await open();
  const append = sessions.append.bind(sessions);
  let tries = 0;
  sessions.append = async (...given) => {
    const stored = await append(...given);
    if (!isStart(given[1])) return stored;
    tries++;
    throw conflict();
  };
  expect(await start()).toBe(false);
  expect([tries, await starts()]).toEqual([1, 1]);
});

test('what the store says of a start is told where it is another fault, or nothing has changed', async () => {
  for (const fault of [away(), new TypeError('broken')]) {
    const { sessions, start, starts } = await open();
    once(sessions, async () => {
      await sessions.theirs(note('between'));
      throw fault;
    });
    await expect(start()).rejects.toBe(fault);
    expect(await starts()).toBe(0);
  }
  const { sessions, start, starts } = await open();
  sessions.before = () => {
    throw conflict();
  };
  expect([await codeOf(start()), await starts()]).toEqual(['E_SESSION_CONFLICT', 0]);
});
