import { expect, test } from 'vitest';
import { run } from '../../../src/index.ts';
import { createEvent } from '../../../src/runtime/index.ts';
import type { Played } from './sessions.ts';
import { at, named, openHost, play, told } from './sessions.ts';
import { compactionFaults, sight } from './squeeze.ts';

const { SEED, PROPERTY_SECONDS } = process.env;
const CASES = 60;
const seconds = Number(PROPERTY_SECONDS ?? 15);
const TURNS = 6;

/** Each seed, until the time or the number of cases is reached; a seed that fails is named. */
async function seeds(body: (seed: number) => Promise<void>): Promise<void> {
  const start = performance.now();
  for (let seed = Number(SEED ?? 1); performance.now() - start < seconds * 1000; seed++) {
    if (SEED === undefined && PROPERTY_SECONDS === undefined && seed > CASES) return;
    try {
      await body(seed);
    } catch (error) {
      throw new Error(`seed ${seed}; again: SEED=${seed} npm test -- test/property/compaction`, { cause: error });
    }
    if (SEED !== undefined) return;
  }
}

const compactions = ({ log }: Pick<Played, 'log'>) => log.filter(({ actions }) => actions.compacted);

test('CMP-9 state, questions and history of audit are the same with compaction and without', {
  timeout: seconds * 2000 + 30_000,
}, async () => {
  let compacted = 0;
  await seeds(async (seed) => {
    const seen = sight();
    const given = { seed, seen, turns: TURNS, asksIn: seed % TURNS };
    const whole = await play({ ...given, isCompacted: false });
    const short = await play({ ...given, isCompacted: true });
    expect(seen.faults).toEqual([]);
    expect(compactions(whole)).toEqual([]);
    expect(compactionFaults(short.log)).toEqual([]);
    compacted += compactions(short).length;
    expect([short.state, short.pending]).toEqual([whole.state, whole.pending]);
    expect(told(short.events)).toEqual(told(whole.events));
    expect(whole.pending).toContain('ask');
  });
  if (SEED === undefined) expect(compacted).toBeGreaterThan(0);
});

test('CMP-9 a fork and a new process are sent what the first would be; a rewind before a compaction undoes it', {
  timeout: seconds * 2000 + 30_000,
}, async () => {
  let rewound = 0;
  await seeds(async (seed) => {
    const seen = sight();
    const given = { seed, seen };
    const short = await play({ ...given, isCompacted: true, turns: TURNS });
    const first = compactions(short)[0];
    const before = short.log.findLast(({ seq, actions }) => actions.end && seq < (first?.seq ?? 0));
    const [copy, early] = [
      { ...at, id: 'copy' },
      { ...at, id: 'early' },
    ];
    await short.store.fork(at, { id: copy.id });
    if (before) await short.store.fork(at, { id: early.id });
    // Without a compaction of its own, each is sent what the log says.
    const next = async (id: string, isCompacted = false) => {
      const { host, requests } = openHost({ ...given, isCompacted, store: short.store });
      await using session = await host.open('bot', { sessionId: id });
      await run(session, 'turn 99');
      return named(requests[0]);
    };
    const sent = await next(at.id);
    expect(await next(copy.id)).toEqual(sent);
    expect(seen.faults).toEqual([]);
    if (!before) return;
    rewound++;
    await short.store.append(early, [createEvent({ author: 'user', actions: { rewound: { through: before.seq } } })]);
    const again = await next(early.id);
    expect(again).not.toContain('[A summary of earlier messages');
    expect(again).not.toContain('left out to save room');
    const whole = await play({ ...given, isCompacted: false, turns: TURNS });
    const turns = short.log.filter(({ seq, actions }) => actions.turn && seq < before.seq).length;
    // A compaction by hand behind the last turn: no other request was made there.
    if (turns < TURNS) expect(again).toEqual(named(wholeOf(whole, turns)));
  });
  if (SEED === undefined) expect(rewound).toBeGreaterThan(0);
});

/** What the first request behind so many turns was made of, with other words at its end. */
function wholeOf({ requests }: Played, turns: number): unknown {
  const words = new RegExp(`^turn ${turns} `);
  const request = requests.find((contents) => {
    const [part] = contents.at(-1)?.parts ?? [];
    return part?.type === 'text' && words.test(part.text);
  });
  return [...(request ?? []).slice(0, -1), { role: 'user', parts: [{ type: 'text', text: 'turn 99' }] }];
}
