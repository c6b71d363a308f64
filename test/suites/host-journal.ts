import { afterEach, describe, expect, test } from 'vitest';
import type { HostJournal, JournalKey, JournalMark, JournalRecord } from '../../src/contracts/index.ts';

const key: JournalKey = { app: 'shop', userId: 'ann', agent: 'bot', sessionId: 's1' };
const none: JournalMark = { id: '', length: 0 };
const numbers = (from: number, to: number): JournalRecord[] =>
  Array.from({ length: to - from + 1 }, (_, n) => ({ n: from + n }));

/** What is noted, from the beginning. */
const whole = async (journal: HostJournal, of = key) => (await journal.read(of, none)).records;

export interface MadeJournal {
  journal: HostJournal;
  /** Of another host over the same store. Default: the same object. */
  other?: HostJournal;
  /** After a restart; absent where nothing is kept. */
  reopen?: () => Promise<HostJournal>;
  close: () => Promise<void>;
}

/** What every journal keeps. */
export function hostJournalSuite(name: string, make: () => Promise<MadeJournal>): void {
  describe(`journal: ${name}`, () => {
    const closers: (() => Promise<void>)[] = [];
    const fresh = async () => {
      const made = await make();
      closers.push(made.close);
      return { ...made, other: made.other ?? made.journal };
    };
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });

    async function append(
      journal: HostJournal,
      records: readonly JournalRecord[],
      mark: JournalMark,
      of = key,
    ): Promise<JournalMark> {
      const next = await journal.append(of, records, mark);
      if (!next) throw new Error('nothing was added');
      return next;
    }

    test('ATT-B1 keeps records in their order, and gives those behind a mark', async () => {
      const { journal } = await fresh();
      expect(await journal.read(key, none)).toEqual({ id: '', records: [] });
      const two = await append(journal, numbers(1, 2), none);
      expect(two.length).toBe(2);
      const many = await append(journal, numbers(3, 300), two);
      expect(many).toEqual({ id: two.id, length: 300 });
      expect(await journal.read(key, none)).toEqual({ id: two.id, records: numbers(1, 300) });
      expect(await journal.read(key, two)).toEqual({ id: two.id, records: numbers(3, 300) });
      expect(await journal.read(key, many)).toEqual({ id: two.id, records: [] });
    });

    test('ATT-B1 whoever does not know the newest record adds nothing', async () => {
      const { journal, other } = await fresh();
      const one = await append(journal, numbers(1, 1), none);
      const two = await append(other, numbers(2, 2), one);
      for (const stale of [none, one, { id: two.id, length: 3 }, { id: 'x', length: 2 }]) {
        expect(await journal.append(key, numbers(9, 9), stale)).toBeUndefined();
      }
      expect(await whole(journal)).toEqual(numbers(1, 2));
      expect(await whole(other)).toEqual(numbers(1, 2));
    });

    test('ATT-B1 of many who add at once one is first, also to an empty journal', async () => {
      const { journal, other } = await fresh();
      let mark = none;
      for (let round = 1; round <= 5; round++) {
        const tries = Array.from({ length: 8 }, (_, n) =>
          (n % 2 === 0 ? journal : other).append(
            key,
            [
              { round, n },
              { round, n },
            ],
            mark,
          ),
        );
        const marks = (await Promise.all(tries)).filter((made) => made !== undefined);
        expect(marks).toHaveLength(1);
        mark = marks[0] ?? none;
        expect(mark.length).toBe(2 * round);
      }
      const records = await whole(other);
      expect(records.map(({ round }) => round)).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
      for (let at = 0; at < records.length; at += 2) expect(records[at]).toEqual(records[at + 1]);
    });

    test('ATT-B1 a record is what it was when it was added, whatever JSON it is', async () => {
      const { journal } = await fresh();
      const texts = ['', ' ', 'ü\u0000\ud800', '"', '\\', '\u{1f600}', '__proto__', "'; DROP TABLE x; --"];
      const record = { texts, nested: { list: [1.5, null, true, {}] }, '\ud800\u0000': 1 };
      const made = structuredClone(record);
      const mark = await append(journal, [made], none);
      made.texts.length = 0;
      made.nested.list.length = 0;
      const [read] = await whole(journal);
      expect(read).toEqual(record);
      (read as typeof record).texts.length = 0;
      expect(await whole(journal)).toEqual([record]);
      await append(journal, [{ big: 'x'.repeat(700_000) }, { big: 'y'.repeat(700_000) }, { n: 1 }], mark);
      expect((await whole(journal)).map(({ big }) => String(big ?? '').length)).toEqual([0, 700_000, 700_000, 0]);
    });

    test('ATT-B1 each session of each agent, user and app has notes of its own, whatever it is called', async () => {
      const { journal } = await fresh();
      const odd = [
        's2',
        'S2',
        'ü',
        'u\u0308',
        'a/b',
        `${'x'.repeat(300)}1`,
        `${'x'.repeat(300)}2`,
        '\u0000',
        ' s2',
        '',
      ];
      const keys: JournalKey[] = [
        key,
        ...odd.map((sessionId) => ({ ...key, sessionId })),
        ...odd.map((agent) => ({ ...key, agent })),
        { ...key, userId: 'bob' },
        { ...key, app: 'other' },
      ];
      const marks: JournalMark[] = [];
      for (const [n, of] of keys.entries()) marks.push(await append(journal, [{ n }], none, of));
      for (const [n, of] of keys.entries()) expect(await whole(journal, of)).toEqual([{ n }]);
      expect(new Set(marks.map(({ id }) => id)).size).toBe(keys.length);
    });

    test('ATT-B1 a session that is made again under its id has other notes: a mark of the old ones leads to none', async () => {
      const { journal, other } = await fresh();
      const old = await append(journal, numbers(1, 3), none);
      await other.forget({ app: 'shop', userId: 'ann', sessionId: 's1' });
      expect(await journal.read(key, old)).toEqual({ id: '', records: [] });
      expect(await journal.append(key, numbers(4, 4), old)).toBeUndefined();
      const fresh1 = await append(other, numbers(11, 15), none);
      expect(fresh1.id).not.toBe(old.id);
      expect(await journal.read(key, old)).toEqual({ id: fresh1.id, records: numbers(11, 15) });
      expect(await journal.append(key, numbers(4, 4), { id: old.id, length: 5 })).toBeUndefined();
    });

    test('ATT-B1 what takes the place of all records is there instead of them, for whoever knew the old ones too', async () => {
      const { journal, other } = await fresh();
      const one = await append(journal, numbers(1, 1), none);
      const old = await append(journal, numbers(2, 9), one);
      const stale = await other.append(key, [{ state: 0 }], one, { instead: { after: 0 } });
      expect(stale).toBeUndefined();
      const mark = await other.append(key, [{ state: 9 }], old, { instead: { after: 0 } });
      expect(mark).toMatchObject({ length: 1 });
      for (const known of [none, one, old]) {
        expect(await journal.read(key, known)).toEqual({ id: mark?.id, records: [{ state: 9 }] });
      }
      expect(await journal.append(key, numbers(10, 10), old)).toBeUndefined();
      await append(journal, numbers(10, 10), mark ?? none);
      expect(await whole(other)).toEqual([{ state: 9 }, { n: 10 }]);
    });

    test('ATT-B1 what takes the place of the records behind some leaves those as they are', async () => {
      const { journal, other } = await fresh();
      const old = await append(journal, numbers(1, 9), none);
      const mark = await other.append(key, [{ state: 7 }, { state: 8 }], old, { instead: { after: 6 } });
      expect(mark).toMatchObject({ length: 8 });
      const now = [...numbers(1, 6), { state: 7 }, { state: 8 }];
      for (const known of [none, old]) expect(await journal.read(key, known)).toEqual({ id: mark?.id, records: now });
      expect(await journal.append(key, numbers(10, 10), old)).toBeUndefined();
      await append(journal, numbers(10, 10), mark ?? none);
      expect(await whole(other)).toEqual([...now, { n: 10 }]);
    });

    test('ATT-B1 a session is forgotten with those below it, and a user with all of theirs, and nobody else’s', async () => {
      const { journal } = await fresh();
      const below = { ...key, sessionId: 's1.call', agent: 'sub', root: 's1' };
      const alike = { ...key, sessionId: 's1.other' };
      const sibling = { ...key, sessionId: 's2' };
      const bobs = { ...key, userId: 'bob' };
      for (const place of [key, below, alike, sibling, bobs]) await append(journal, numbers(1, 2), none, place);
      const left = async () =>
        (await Promise.all([key, below, alike, sibling, bobs].map((of) => whole(journal, of)))).map(
          (records) => records.length,
        );
      await journal.forget({ app: 'shop', userId: 'ann', sessionId: 's1' });
      expect(await left()).toEqual([0, 0, 2, 2, 2]);
      await journal.forget({ app: 'shop', userId: 'ann' });
      expect(await left()).toEqual([0, 0, 0, 0, 2]);
      await journal.forget({ app: 'shop', userId: 'nobody' });
    });

    test('ATT-B1 what was added is there after a restart', async ({ skip }) => {
      const { journal, reopen } = await fresh();
      if (!reopen) return skip('it is kept in memory');
      const mark = await append(journal, numbers(1, 2), none);
      const next = await reopen();
      expect(await next.read(key, none)).toEqual({ id: mark.id, records: numbers(1, 2) });
      await append(next, numbers(3, 3), mark);
      expect(await whole(next)).toEqual(numbers(1, 3));
    });
  });
}
