import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { CheckpointStore, StoredCheckpoint } from '../../src/runtime/index.ts';
import { createEvent, InMemorySessionService, LiveSession } from '../../src/runtime/index.ts';
import { key } from './kit.ts';

const TURNS = 4;

/** A store of one session that is opened at its newest checkpoint. */
class Checkpointed extends InMemorySessionService {
  newest: StoredCheckpoint | undefined;
  /** Looks that find the session; those after them find none. */
  looks = Number.POSITIVE_INFINITY;
  override readonly checkpoints: CheckpointStore = {
    every: 1,
    newest: async () => this.newest,
    keep: async (_, checkpoint) => {
      this.newest = checkpoint;
    },
  };

  override async get(...given: Parameters<InMemorySessionService['get']>) {
    return --this.looks < 0 ? undefined : super.get(...given);
  }
}

/** A session of finished turns with a call each, as a process reads it that has not seen it before. */
async function stored() {
  const written = new Checkpointed();
  await written.create(key);
  const live = await LiveSession.open(written, key);
  for (let n = 1; n <= TURNS; n++) {
    const place = { turnId: `t${n}`, streamId: `t${n}` };
    const part = { id: `c${n}`, name: 'pay' };
    await live.append([
      createEvent({ ...place, id: `a${n}`, author: 'user', actions: { turn: { start: 'bot' } } }),
      createEvent({
        ...place,
        id: `b${n}`,
        author: 'bot',
        content: { role: 'model', parts: [{ ...part, type: 'function_call', args: {} }] },
      }),
      createEvent({
        ...place,
        id: `c${n}`,
        author: 'bot',
        content: { role: 'user', parts: [{ ...part, type: 'function_response', response: {} }] },
        actions: { end: { reason: 'completed' } },
      }),
    ]);
    await live.keepCheckpoint((message) => expect.fail(message));
  }
  const store = new Checkpointed();
  await store.restore(key, { initialState: {}, events: structuredClone(live.log) });
  store.newest = written.newest;
  return store;
}

// Sessions of one name that were made at different times are different ones.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
});

const ids = (live: LiveSession) => live.log.map(({ id }) => id);

test('a request from before the checkpoint is looked for in the whole log', async () => {
  const live = await LiveSession.open(await stored(), key);
  const { from } = live;
  expect(from).toBeGreaterThan(0);
  await live.seek('c1');
  expect([live.from, live.fold.closed.has('c1')]).toEqual([0, true]);
});

test('a session that is deleted while its checkpoint is looked up is as it was read before', async () => {
  const store = await stored();
  store.looks = 1;
  const live = await LiveSession.open(store, key);
  expect([live.from, ids(live).length]).toEqual([0, 3 * TURNS]);
});

test('a session is taken back to before its checkpoint, here as for whoever reads it later', async () => {
  const store = await stored();
  const live = await LiveSession.open(store, key);
  expect(live.from).toBeGreaterThan(3);
  await live.append([createEvent({ id: 'back', author: 'user', actions: { rewound: { through: 3 } } })]);
  expect(ids(live)).toEqual(['a1', 'b1', 'c1', 'back']);
});

test('a session is taken back to its beginning', async () => {
  const live = await LiveSession.open(await stored(), key);
  await live.append([createEvent({ id: 'back', author: 'user', actions: { rewound: { through: 0 } } })]);
  expect(ids(live)).toEqual(['back']);
});
