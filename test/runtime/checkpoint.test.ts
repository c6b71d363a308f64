import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ContentPart } from '../../src/contracts/index.ts';
import { canonicalJson } from '../../src/contracts/index.ts';
import type {
  CheckpointStore,
  EventActions,
  EventInit,
  StoredCheckpoint,
  StoredEvent,
} from '../../src/runtime/index.ts';
import { createEvent, InMemorySessionService, LiveSession } from '../../src/runtime/index.ts';
import { readCheckpoint, storedForm } from '../../src/runtime/live/checkpoint.ts';
import { key } from './kit.ts';

/** A store of one session in which each turn leaves a checkpoint, and that gives the one it is told to. */
class Checkpointed extends InMemorySessionService {
  readonly kept: StoredCheckpoint[] = [];
  given: StoredCheckpoint | undefined;
  reads: number[] = [];
  override readonly checkpoints: CheckpointStore = {
    every: 1,
    newest: async () => this.given,
    keep: async (_, checkpoint) => void this.kept.push(checkpoint),
  };

  constructor() {
    super({ chained: true });
  }

  override async get(...[of, options]: Parameters<InMemorySessionService['get']>) {
    const record = await super.get(of, options);
    this.reads.push(...(record?.events.map(({ seq }) => seq) ?? []));
    return record;
  }

  /** The same log in a store of a new process. */
  async again(given?: StoredCheckpoint): Promise<Checkpointed> {
    const record = await super.get(key);
    const store = new Checkpointed();
    await store.restore(key, {
      initialState: record?.initialState ?? {},
      events: structuredClone(record?.events ?? []),
    });
    store.given = given;
    return store;
  }
}

type Step = (n: number, turn: string) => EventInit | undefined;

const says = (role: 'user' | 'model', ...parts: ContentPart[]) => ({ content: { role, parts } });
const text = (words: string): ContentPart => ({ type: 'text', text: words });
const call = (id: string): ContentPart => ({ type: 'function_call', id, name: 'pay', args: { id } });
const response = (id: string): ContentPart => ({
  type: 'function_response',
  id,
  name: 'pay',
  response: { done: id },
});
const acts = (actions: Partial<EventActions>) => ({ actions });

/** What may come next in a log; calls and steers are named by the number of the event that makes them. */
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constant<Step>((n) => ({
      author: 'user',
      turnId: `t${n}`,
      ...says('user', text(`hello ${n}`)),
      ...acts({ turn: { start: 'bot' }, terms: { model: `m${n}` } }),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.constant<Step>((n) => ({
      author: 'bot',
      model: 'm',
      usage: { inputTokens: n },
      ...says('model', text(`words ${n}`)),
    })),
  },
  {
    weight: 3,
    arbitrary: fc.boolean().map<Step>((long) => (n) => ({
      author: 'bot',
      ...says('model', call(`c${n}`), call(`d${n}`)),
      longRunningToolIds: long ? [`c${n}`] : [],
    })),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.nat(8), fc.constantFrom('c', 'd')).map<Step>(([back, name]) => (n) => ({
      author: 'bot',
      ...says('user', response(`${name}${n - back}`)),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.nat(6).map<Step>((back) => (n) => ({
      author: 'user',
      ...acts({
        asks: [{ requestId: `c${n - back}#1`, callId: `c${n - back}`, kind: 'tool_confirmation', message: 'sure?' }],
      }),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.nat(8).map<Step>((back) => (n) => ({
      author: 'user',
      ...acts({ answers: { [`c${n - back}#1`]: { action: 'accept', by: 'ann' } } }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.nat(8).map<Step>((back) => (n) => ({
      author: 'user',
      ...acts({
        started: [`d${n - back}`],
        startedIn: 7,
        decisions: { [`d${n - back}`]: { outcome: 'approved', by: 'host' } },
      }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat(8)
      .map<Step>((back) => (n) => ({ author: 'bot', ...acts({ interim: { [`c${n - back}`]: { waits: n } } }) })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('a', 'b', 'app:a', 'user:b'), fc.option(fc.nat(3)))
      .map<Step>(([name, value]) => () => ({ author: 'bot', ...acts({ stateDelta: { [name]: value } }) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .option(fc.constantFrom('plan', 'auto'))
      .map<Step>((mode) => () => ({ author: 'user', ...acts({ config: { permissionMode: mode } }) })),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Step>((n) => ({
      author: 'user',
      ...says('user', text(`also ${n}`)),
      ...acts({ steer: true }),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.nat(4).map<Step>((back) => (n) => ({
      author: 'user',
      ...acts({ delivered: Array.from({ length: back + 1 }, (_, k) => `e${n - k}`) }),
    })),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('completed', 'input_required', 'aborted')
      .map<Step>((reason) => () => ({ author: 'bot', ...acts({ end: { reason } }) })),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Step>((n) => ({
      author: 'helper',
      path: `/c${n - 1}`,
      iso: `/c${n - 1}`,
      ...says('model', text('within')),
      ...acts({ stateDelta: { inner: n } }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.nat(5).map<Step>((back) => (n) => ({
      author: 'user',
      path: `/c${n - back}`,
      iso: `/c${n - back}`,
      ...says('user', text('asked')),
    })),
  },
  {
    weight: 1,
    arbitrary: fc
      .double({ min: 0, max: 0.99, noNaN: true })
      .map<Step>((part) => (n) => ({ author: 'user', ...acts({ rewound: { through: Math.floor(part * (n - 1)) } }) })),
  },
);

/** All that a fold says, in an order that does not depend on how it was come by. */
function picture({ fold }: LiveSession, isWhole: boolean) {
  // Answers are counted so that more of them are noticed; those that are folded again count again.
  const { ends, closed, answers: _, ...rest } = fold as unknown as Record<string, Map<string, unknown>>;
  const plain = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, listed(value)]));
  return isWhole ? { ...plain, ends: listed(ends), closed: listed(closed) } : plain;
}

function listed(value: unknown): unknown {
  if (!(value && typeof value === 'object' && Symbol.iterator in value)) return value;
  return [...(value as Iterable<[string, unknown]>)].map((entry) => canonicalJson(plain(entry))).sort();
}

const viewers = [
  { agent: 'bot', branch: undefined, iso: '' },
  { agent: 'other', branch: undefined, iso: '' },
  { agent: 'helper', branch: undefined, iso: '/c3' },
];

async function write(store: Checkpointed, steps: readonly Step[]): Promise<LiveSession> {
  await store.create(key, { state: { a: 'first' } });
  const live = await LiveSession.open(store, key);
  let turn = '';
  for (const [index, make] of steps.entries()) {
    const n = index + 1;
    const init = make(n, turn);
    if (!init) continue;
    turn = init.turnId ?? turn;
    const event = createEvent({
      streamId: turn,
      turnId: turn,
      timestamp: 1_700_000_000_000 + n * 10,
      ...init,
      id: `e${n}`,
    });
    await live.append([event]);
    await live.keepCheckpoint((message) => expect.fail(message));
  }
  return live;
}

const probe = (): StoredEvent =>
  createEvent({ id: 'probe', timestamp: 1, author: 'bot', ...says('model', call('next')) });
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe('a session that is opened at a checkpoint', () => {
  test('is the one that is read from its beginning, whatever its log holds', async () => {
    // Sessions of one name that were made at different times are different ones.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    let opened = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 40 }), async (steps) => {
        const store = new Checkpointed();
        await write(store, steps);
        for (const checkpoint of store.kept) {
          const plainStore = await store.again();
          const read = await LiveSession.open(plainStore, key);
          const again = await store.again(checkpoint);
          const live = await LiveSession.open(again, key);
          // A rewind behind the checkpoint reads all.
          if (live.from > 0) opened++;
          expect([0, checkpoint.seq]).toContain(live.from);
          const isWhole = live.from === 0;
          expect(picture(live, isWhole)).toEqual(picture(read, isWhole));
          expect(live.link([probe()])).toEqual(read.link([probe()]));
          const { seq = 0 } = read.fold.turn ?? {};
          const ofTurn = { agent: 'bot', branch: undefined, iso: '', from: seq };
          if (seq > 0) expect(await live.contents(ofTurn)).toEqual(await read.contents(ofTurn));
          expect(live.since(live.from)).toEqual(read.since(live.from));
          for (const viewer of viewers) expect(await live.contents(viewer)).toEqual(await read.contents(viewer));
          expect(live.from).toBe(0);
          expect(plain(picture(live, true))).toEqual(plain(picture(read, true)));
          expect(live.log).toEqual(read.log);
        }
      }),
      { numRuns: 200 },
    );
    expect(opened).toBeGreaterThan(50);
  });
});

describe('ATK-04 what is open', () => {
  const turn =
    (n: number): Step =>
    () => ({
      author: 'user',
      turnId: `t${n}`,
      ...says('user', text('hello')),
      ...acts({ turn: { start: 'bot' } }),
    });
  const makes: Step = (n) => ({ author: 'bot', ...says('model', call(`c${n}`)) });
  const ends: Step = () => ({ author: 'bot', ...says('user', response('c2')) });

  test('has no checkpoint: an approval that is written into one lets nothing run', async () => {
    const store = new Checkpointed();
    await write(store, [turn(1), makes, turn(3), ends, turn(5), turn(6)]);
    // None behind the first two turns, while the call was open.
    expect(store.kept.map(({ seq }) => seq)).toEqual([4, 5]);
    const [kept] = store.kept;
    const record = await store.get(key);
    const read = readCheckpoint(key, record?.createdAt ?? 0, kept as StoredCheckpoint);
    const planted = {
      id: 'never-asked',
      name: 'pay',
      args: { eur: 1_000_000 },
      turnId: 't5',
      decision: { outcome: 'approved', by: 'user:boss' },
      questions: [],
      hostAnswers: [],
      asks: [],
    };
    const forged = { ...read, fold: { ...read?.fold, open: [planted], terms: [] } } as never;
    const again = await store.again();
    const of = await again.get(key);
    again.given = storedForm(key, of?.createdAt ?? 0, forged);
    const live = await LiveSession.open(again, key);
    expect(live.from).toBe(4);
    expect([live.fold.open.size, live.fold.calls.size]).toEqual([0, 0]);
  });
});
