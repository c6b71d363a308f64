import { expect, test } from 'vitest';
import { KnownCalls } from '../../../src/host/witness/known-calls.ts';
import type { WitnessRecord } from '../../../src/host/witness/records.ts';
import type { Random } from '../../property/replay/random.ts';
import { below, randomOf } from '../../property/replay/random.ts';

const SEEDS = 60;
const digest = 'd'.repeat(64);

/** Records as a host may note them, in any order. */
function* records(random: Random): Generator<WitnessRecord> {
  for (let n = 0; ; n++) {
    const callId = `c${below(random, 8)}`;
    const call = { callId, digest, at: n };
    const back = `r${below(random, n + 1)}`;
    const by = { id: `p${below(random, 3)}` };
    const made: WitnessRecord[] = [
      { kind: 'terms', terms: { principal: { id: `turn-${n}` } }, begins: random() < 0.6, calls: [call] },
      { kind: 'mode', mode: random() < 0.5 ? null : 'plan' },
      { kind: 'question', ...call, question: { requestId: `${callId}#policy.${n}` } as never },
      { kind: 'answer', ...call, id: `r${n}`, answer: { requestId: `${callId}#policy.${n}`, action: 'accept', by } },
      {
        kind: 'go',
        ...call,
        id: `r${n}`,
        decision: { outcome: 'approved', by: `user:${n}` } as never,
        starts: n % 2 === 0,
      },
      { kind: 'back', callId, digest, id: back },
      { kind: 'unsaid', callId, digest, id: back },
      { kind: 'void', callId, digest },
      { kind: 'settled', callId, digest },
    ];
    yield made[below(random, made.length)] as WitnessRecord;
  }
}

/** What counts: the number of a turn is each fold's own. */
function standing(known: KnownCalls) {
  return {
    calls: [...known.calls.values()]
      .map(({ turn, ...call }) => ({ ...call, turn: known.terms[turn] ?? null }))
      .sort((a, b) => a.id.localeCompare(b.id)),
    newest: known.terms[known.turn] ?? null,
    mode: known.mode ?? null,
    settled: ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'].filter((id) => known.isSettled(id)),
    waits: known.waitsAfter([]),
  };
}

function asStored(given: readonly WitnessRecord[]): WitnessRecord[] {
  return JSON.parse(JSON.stringify(given)) as WitnessRecord[];
}

function folded(journal: readonly WitnessRecord[]): KnownCalls {
  const known = new KnownCalls();
  for (const record of journal) known.apply(record);
  return known;
}

/** As a journal does it. Returns how many calls were written. */
function shorten(known: KnownCalls, journal: WitnessRecord[]): number {
  const { after, records: written } = known.summary();
  journal.splice(after, journal.length, ...asStored(written));
  known.shortened();
  return written.reduce((sum, record) => sum + (record.kind === 'past' ? record.calls.length : 1), 0);
}

test('ATT-B1 the state of a session says the same as the records that it takes the place of', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomOf(seed);
    const whole = new KnownCalls();
    let short = new KnownCalls();
    const journal: WitnessRecord[] = [];
    for (const record of records(random)) {
      const stored = asStored([record]);
      whole.apply(record);
      for (const one of stored) short.apply(one);
      journal.push(...stored);
      if (random() < 0.2) {
        shorten(short, journal);
        if (random() < 0.5) short = folded(journal);
      }
      expect(standing(short), `seed ${seed}`).toEqual(standing(whole));
      if (random() < 0.01) break;
    }
  }
});

test('ATT-B1 the state holds no more than what is open, the turns of that, and the names of what is settled', () => {
  const known = new KnownCalls();
  for (let turn = 0; turn < 100; turn++) {
    known.apply({ kind: 'terms', terms: { principal: { id: `p${turn}` } }, begins: true });
    for (let n = 0; n < 50; n++) {
      const call = { callId: `c${turn}-${n}`, digest };
      known.apply({
        kind: 'go',
        ...call,
        id: 'r',
        decision: { outcome: 'approved', by: 'policy' } as never,
        starts: true,
        at: 0,
      });
      if (turn !== 3 || n !== 7) known.apply({ kind: 'settled', ...call });
    }
  }
  const { after, records: state } = known.summary();
  expect(after).toBe(0);
  expect(state.map(({ kind }) => kind)).toEqual(['past', 'past', 'past', 'past', 'past', 'turns', 'call']);
  expect(state.at(-2)).toMatchObject({ terms: [{ principal: { id: 'p3' } }, { principal: { id: 'p99' } }] });
});

test('ATT-B1 shortening writes what goes, however many calls were settled before; nothing else is said by it', () => {
  const known = new KnownCalls();
  const journal: WitnessRecord[] = [];
  const note = (record: WitnessRecord) => {
    known.apply(record);
    journal.push(record);
  };
  const written: number[] = [];
  note({ kind: 'terms', terms: { principal: { id: 'ann' } }, begins: true });
  for (let n = 0; n < 9000; n++) {
    const call = { callId: `c${n}`, digest };
    note({
      kind: 'go',
      ...call,
      id: `r${n}`,
      decision: { outcome: 'approved', by: 'p' } as never,
      starts: true,
      at: n,
    });
    if (n !== 4321) note({ kind: 'settled', ...call });
    if (n % 700 === 699) written.push(shorten(known, journal));
  }
  // 700 new ones, and those that do not fill a record; with the turn and the call that is open.
  expect(Math.max(...written)).toBeLessThanOrEqual(700 + 999 + 2);
  const fresh = folded(journal);
  expect(standing(fresh)).toEqual(standing(known));
  expect([fresh.settled, known.settled, fresh.isSettled('c0'), fresh.isSettled('c4321')]).toEqual([
    8999,
    8999,
    true,
    false,
  ]);
  // Whoever reads it goes on in the same way.
  expect(shorten(fresh, journal)).toBeLessThanOrEqual(700 + 999 + 2);
  expect(folded(journal).settled).toBe(8999);
});

test('ATT-B1 of calls that are settled without an end the newest are known by name', () => {
  const known = new KnownCalls();
  const journal: WitnessRecord[] = [];
  for (let n = 0; n < 200_100; n++) known.apply({ kind: 'settled', callId: `c${n}`, digest });
  shorten(known, journal);
  expect([known.settled, known.isSettled('c100099'), known.isSettled('c100100')]).toEqual([100_000, false, true]);
  expect(folded(journal).settled).toBe(100_000);
  known.apply({ kind: 'settled', callId: 'next', digest });
  expect(shorten(known, journal)).toBeLessThan(1000);
  expect(folded(journal).settled).toBe(100_001);
});

test('ATT-6 of calls that are named without an end, those that are listed and the newest others are known', () => {
  const known = new KnownCalls();
  const names = Array.from({ length: 10_003 }, (_, n) => `c${n}`);
  for (const name of names) known.meet(name, digest);
  known.apply({ kind: 'question', callId: 'c1', digest, question: { requestId: 'c1#policy' } as never, at: 1 });
  known.forgetHeard(new Set(['c0']));
  const gone = names.filter((name) => !known.calls.has(name));
  expect(gone).toEqual(['c2']);
  known.meet('new', digest);
  known.forgetHeard(new Set());
  expect(known.calls.has('c1')).toBe(true);
  expect(known.calls.size).toBe(10_001);
});

test('ATK5-05 of calls that are heard of without an end the newest are known, with those that are listed or were asked about', () => {
  const known = new KnownCalls();
  const said = { callId: 'asked', digest, at: 1 };
  known.apply({ kind: 'question', ...said, question: { requestId: 'asked#policy' } as never });
  // That it was announced is noted: nothing was said of it.
  known.apply({ kind: 'terms', terms: {}, begins: true, calls: [{ callId: 'noted', digest, at: 1 }] });
  known.meet('listed', digest);
  known.forgetHeard(new Set(['listed']));
  let most = 0;
  for (let n = 0; n < 45_000; n++) {
    known.hear(`c${n}`, digest);
    most = Math.max(most, known.calls.size);
  }
  expect(most).toBeLessThanOrEqual(11_010);
  expect(['asked', 'listed', 'noted', 'c0', 'c44999'].map((id) => known.calls.has(id))).toEqual([
    true,
    true,
    false,
    false,
    true,
  ]);
});

test('ATT-B1 where the notes are others, a call that only this process has heard of keeps its first words', () => {
  const known = new KnownCalls();
  known.apply({ kind: 'terms', terms: { principal: { id: 'ann' } }, begins: true });
  known.meet('heard', digest);
  known.apply({ kind: 'go', callId: 'noted', digest, id: 'r', decision: {} as never, starts: true, at: 0 });
  known.reset();
  expect(known.meet('heard', 'other')).toBeUndefined();
  expect(known.terms[known.meet('heard', digest)?.turn ?? 0]).toBeUndefined();
  expect(known.meet('noted', 'other')).toMatchObject({ started: false });
});

test('ATT-B1 of two hosts that were told other words under one id, what the first has noted binds the second', () => {
  const known = new KnownCalls();
  known.meet('c1', 'other');
  known.apply({ kind: 'go', callId: 'c1', digest, id: 'r', decision: {} as never, starts: true, at: 0 });
  expect(known.meet('c1', 'other')).toBeUndefined();
  expect(known.meet('c1', digest)).toMatchObject({ started: true });
});

test.each([true, false])(
  'ATT-B1 a start that is taken back brings no yes back that is void: it starts here %s',
  (starts) => {
    const known = new KnownCalls();
    const call = { callId: 'c', digest, at: 1 };
    const go = (id: string, by: string, begins: boolean): WitnessRecord => ({
      kind: 'go',
      ...call,
      id,
      decision: { outcome: 'approved', by } as never,
      starts: begins,
    });
    for (const record of [go('r1', 'user:ann', false), go('r2', 'user:bo', starts)]) known.apply(record);
    known.apply({ kind: 'void', callId: 'c', digest });
    known.apply({ kind: 'back', callId: 'c', digest, id: 'r2' });
    expect(known.calls.get('c')).toMatchObject({ decision: undefined, started: false, attempts: 0, voids: 1 });
    // One that nothing made void meanwhile stands as before.
    for (const record of [go('r3', 'user:ann', false), go('r4', 'user:bo', starts)]) known.apply(record);
    known.apply({ kind: 'back', callId: 'c', digest, id: 'r4' });
    expect(known.calls.get('c')?.decision).toEqual({ outcome: 'approved', by: 'user:ann' });
  },
);
