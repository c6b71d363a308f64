import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '../../src/runtime/index.ts';
import {
  Chain,
  createEvent,
  decodeEvent,
  digestOf,
  encodeEvent,
  isAudited,
  verifyLog,
} from '../../src/runtime/index.ts';

/** One append: by whom, how much of the log that writer had not seen, and what it wrote. */
const append = fc.record({
  writer: fc.nat(2),
  behind: fc.nat(3),
  batch: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
});

function event(id: string, audited: boolean): StoredEvent {
  if (!audited)
    return createEvent({ id, author: 'bot', content: { role: 'model', parts: [{ type: 'text', text: id }] } });
  const decisions = { [`call-${id}`]: { outcome: 'approved' as const, by: 'user:bob' } };
  return createEvent({ id, author: 'user', actions: { decisions, stateDelta: { 'temp:x': id, kept: id } } });
}

/** A log that several processes wrote at once, through rows of a database. */
function written(appends: readonly { writer: number; behind: number; batch: readonly boolean[] }[]): StoredEvent[] {
  const log: StoredEvent[] = [];
  const writers = [0, 1, 2].map(() => ({ chain: new Chain(), seen: 0 }));
  for (const { writer, behind, batch } of appends) {
    const who = writers[writer]!;
    const until = Math.max(who.seen, log.length - behind);
    for (const one of log.slice(who.seen, until)) who.chain.see(one);
    who.seen = until;
    const events = who.chain.link(batch.map((audited, n) => event(`e${log.length + n}`, audited)));
    for (const one of events) log.push(decodeEvent({ ...encodeEvent(one), seq: log.length + 1 }));
  }
  return log;
}

const logs = fc.array(append, { minLength: 1, maxLength: 25 }).map(written);
const renumbered = (log: readonly StoredEvent[]) => log.map((one, index) => ({ ...one, seq: index + 1 }));

describe('the chain of a log that several wrote at once', () => {
  test('holds', () => {
    fc.assert(
      fc.property(logs, (log) => {
        const report = verifyLog(log, { lastSeq: log.length });
        expect(report.faults).toEqual([]);
        expect(report.linked).toBe(log.filter(isAudited).length);
      }),
    );
  });

  test('holds no more when the newest evidence is made to say nothing, or any event is called a piece', () => {
    const log = written([{ writer: 0, behind: 0, batch: [true, true] }]);
    const [first, last] = log as [StoredEvent, StoredEvent];
    const silenced: StoredEvent = { ...last, actions: { ...last.actions, decisions: undefined as never } };
    expect(isAudited(silenced)).toBe(false);
    expect(verifyLog([first, silenced]).faults).toMatchObject([{ seq: 2, fault: 'changed' }]);
    expect(verifyLog([first, { ...last, partial: true }]).faults).toMatchObject([{ seq: 2, fault: 'changed' }]);
    expect(verifyLog(log).ok).toBe(true);
  });

  test('holds no more when any event of it is changed, and names no later place than the next link', () => {
    fc.assert(
      fc.property(logs, fc.nat(), (log, pick) => {
        const audited = log.filter(isAudited);
        fc.pre(audited.length > 0);
        const victim = audited[pick % audited.length]!;
        const changed = log.map((one) => (one === victim ? { ...one, timestamp: one.timestamp + 1 } : one));
        const { faults } = verifyLog(changed, { lastSeq: log.length });
        expect(faults[0]).toMatchObject({ seq: victim.seq, fault: 'changed' });
      }),
    );
  });

  test('holds no more when one is removed, whether the numbers are closed up or not', () => {
    fc.assert(
      fc.property(logs, fc.nat(), (log, pick) => {
        const audited = log.filter(isAudited);
        fc.pre(audited.length > 0);
        const victim = audited[pick % audited.length]!;
        const rest = log.filter((one) => one !== victim);
        const { faults } = verifyLog(rest, { lastSeq: log.length });
        expect(faults[0]).toMatchObject({ seq: victim.seq, fault: 'missing' });
        const { head } = verifyLog(log);
        const anchored = verifyLog(renumbered(rest), head ? { anchor: head } : {});
        expect(anchored.ok).toBe(false);
      }),
    );
  });

  test('holds no more when two are swapped', () => {
    fc.assert(
      fc.property(logs, fc.nat(), fc.nat(), (log, first, second) => {
        const audited = log.filter(isAudited);
        fc.pre(audited.length > 1);
        const [a, b] = [audited[first % audited.length]!, audited[second % audited.length]!];
        fc.pre(a !== b);
        const swapped = renumbered(log.map((one) => (one === a ? b : one === b ? a : one)));
        const { head } = verifyLog(log);
        expect(verifyLog(swapped, { lastSeq: log.length, ...(head ? { anchor: head } : {}) }).ok).toBe(false);
      }),
    );
  });
});

test('the digest of an event does not hang on the order of its members, and on nothing that is not stored', () => {
  const { seq, ...rest } = event('e', true);
  const turned = Object.fromEntries(Object.entries({ ...rest, seq }).reverse()) as unknown as StoredEvent;
  const { 'temp:x': _, ...stateDelta } = rest.actions.stateDelta;
  const stored = { ...turned, seq: 7, actions: { ...rest.actions, stateDelta } };
  const digest = digestOf({ ...rest, seq });
  expect(digestOf(stored)).toBe(digest);
  const others: StoredEvent[] = [
    { ...stored, author: 'bot' },
    { ...stored, turnComplete: false },
    { ...stored, longRunningToolIds: ['x'] },
    { ...stored, path: 'user', author: '' },
    { ...stored, newer: 1 } as StoredEvent,
    { ...stored, actions: { ...stored.actions, escalate: true } },
    { ...stored, actions: { ...stored.actions, stateDelta: { kept: '\ud800' } } },
    { ...stored, actions: { ...stored.actions, stateDelta: { kept: '\ud801' } } },
    { ...stored, actions: { ...stored.actions, stateDelta: { kept: ['1', 2] } } },
    { ...stored, actions: { ...stored.actions, stateDelta: { kept: [1, '2'] } } },
    { ...stored, actions: { ...stored.actions, stateDelta: { kept: { a: 'b,1:c1:d' } } } },
    { ...stored, actions: { ...stored.actions, stateDelta: { kept: { a: 'b', c: 'd' } } } },
  ];
  expect(new Set([digest, ...others.map(digestOf)]).size).toBe(others.length + 1);
});
