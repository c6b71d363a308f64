import { beforeEach, describe, expect, test } from 'vitest';
import type { ContentPart, DecidedQuery, DecisionRecord, StoredDecision } from '../../src/contracts/index.ts';
import type { EventInit, SessionKey, SessionService, StoredAnswer, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent } from '../../src/runtime/index.ts';

const annas: SessionKey = { app: 'shop', userId: 'anna', id: 's1' };
const bens: SessionKey = { app: 'shop', userId: 'ben', id: 's1' };
const START = Date.UTC(2026, 10, 30, 12);

let made = 0;
/** An event of this second. */
function at(second: number, init: Partial<EventInit>): StoredEvent {
  return createEvent({ author: 'user', id: `d${++made}`, turnId: 't1', timestamp: START + second * 1000, ...init });
}

/** What a model asks for. */
export const called = (second: number, ...calls: readonly [id: string, name: string][]): StoredEvent =>
  at(second, {
    author: 'clerk',
    content: {
      role: 'model',
      parts: calls.map(([id, name]): ContentPart => ({ type: 'function_call', id, name, args: { secret: 'x' } })),
    },
  });

export const turned = (second: number): StoredEvent => at(second, { actions: { turn: { start: 'clerk' } } });

export const put = (second: number, requestId: string, terms: object = {}): StoredEvent =>
  at(second, { actions: { questions: [{ requestId, ...terms }] } });

export const answered = (second: number, requestId: string, answer: Partial<StoredAnswer> = {}): StoredEvent =>
  at(second, { actions: { answers: { [requestId]: { action: 'accept', by: 'bert', ...answer } } } });

export const decided = (second: number, callId: string, decision: Partial<DecisionRecord> = {}): StoredEvent =>
  at(second, { actions: { decisions: { [callId]: { outcome: 'approved', by: 'user:bert', ...decision } } } });

export const ended = (second: number, id: string, end: { isError?: boolean; errorType?: string } = {}): StoredEvent =>
  at(second, {
    author: 'clerk',
    content: { role: 'user', parts: [{ type: 'function_response', id, name: 'pay', response: {}, ...end }] },
  });

const time = (second: number) => new Date(START + second * 1000).toISOString();

export async function listed(service: SessionService, query: Partial<DecidedQuery> = {}): Promise<StoredDecision[]> {
  const page = await service.decided?.({ app: 'shop' }, { limit: 100, ...query });
  return page?.decided ?? [];
}

const idsOf = (found: readonly StoredDecision[]) => found.map(({ userId, requestId }) => `${userId} ${requestId}`);

/** The index of decided questions. A service that keeps none passes it by. */
export function decidedQuestions(given: () => SessionService): void {
  describe('decided questions', () => {
    let service: SessionService;
    const ids = async (query: Partial<DecidedQuery> = {}) => idsOf(await listed(service, query));
    const only = async () => {
      const found = await listed(service);
      expect(found).toHaveLength(1);
      return found[0] as StoredDecision;
    };

    beforeEach(async (context) => {
      service = given();
      if (!service.decided) context.skip('it keeps no index of decided questions');
      await service.create(annas);
    });

    test('INS-15 one is listed from its answer on, with what is known of it and of its call by then', async () => {
      await service.append(annas, [turned(0), called(1, ['c1', 'pay'])]);
      await service.append(annas, [put(2, 'c1#policy', { ruleId: 'asks-first', approvers: { roles: ['boss'] } })]);
      expect(await ids()).toEqual([]);
      await service.append(annas, [answered(3, 'c1#policy', { roles: ['boss'] })]);
      const known = {
        ...{ agent: 'clerk', userId: 'anna', sessionId: 's1', requestId: 'c1#policy', callId: 'c1', tool: 'pay' },
        ...{ kind: 'policy', askedAt: time(2), action: 'accept', by: 'bert', at: time(3), ruleId: 'asks-first' },
        ...{ people: ['bert'], answerers: ['bert'] },
      };
      expect(await only()).toEqual(known);
      await service.append(annas, [decided(4, 'c1', { ruleId: 'pays' })]);
      expect(await only()).toEqual({ ...known, outcome: 'approved', ruleId: 'pays' });
      // Another call is none of it.
      await service.append(annas, [called(5, ['c2', 'look']), ended(6, 'c2', { isError: true })]);
      expect(await only()).toEqual({ ...known, outcome: 'approved', ruleId: 'pays' });
      await service.append(annas, [ended(7, 'c1')]);
      const over = { ...known, outcome: 'approved', ruleId: 'pays', result: 'succeeded', endedAt: time(7) };
      expect(await only()).toEqual(over);
      // Nothing of what it was about is there.
      expect(JSON.stringify(await listed(service))).not.toContain('secret');
    });

    test('INS-15 what each answer, and each end of a call, comes to', async () => {
      const cases: [word: string, events: StoredEvent[], expected: object | undefined][] = [
        ['declined', [answered(2, 'c#policy', { action: 'decline' })], { action: 'decline' }],
        ['cancelled', [answered(2, 'c#policy', { action: 'cancel' })], { action: 'cancel' }],
        ['edited', [answered(2, 'c#policy', { args: { eur: 5 } })], { action: 'accept', edited: true }],
        ['of a handler', [answered(2, 'c#asked')], { kind: 'asked' }],
        [
          'denied',
          [answered(2, 'c#policy'), ended(3, 'c', { isError: true, errorType: 'denied' })],
          { result: 'not_run' },
        ],
        [
          'failed',
          [answered(2, 'c#policy'), ended(3, 'c', { isError: true, errorType: 'failed' })],
          { result: 'failed' },
        ],
        [
          'own word',
          [answered(2, 'c#policy'), ended(3, 'c', { isError: true, errorType: 'odd' })],
          { result: 'failed' },
        ],
        [
          'cut off',
          [answered(2, 'c#policy'), ended(3, 'c', { isError: true, errorType: 'interrupted' })],
          { result: 'unknown' },
        ],
        [
          'expired for its host',
          [put(2, 'c#policy'), decided(3, 'c', { outcome: 'denied', by: 'expiry' })],
          { action: 'expire', at: time(3), outcome: 'denied' },
        ],
        [
          'expired in the runtime',
          [
            at(2, {
              actions: {
                asks: [
                  { requestId: 'c#0', callId: 'c', kind: 'confirmation', message: 'sure?', expiresAt: START + 2500 },
                ],
              },
            }),
            ended(3, 'c', { isError: true, errorType: 'denied' }),
          ],
          { action: 'expire', kind: 'confirmation', result: 'not_run', at: time(3) },
        ],
        [
          'ended before anybody answered',
          [put(2, 'c#policy'), ended(3, 'c', { isError: true, errorType: 'cancelled' })],
          undefined,
        ],
        [
          'voted, and not decided',
          [put(2, 'c#policy', { approvers: { quorum: 2 } }), answered(3, 'c#policy', { quorum: 2 })],
          undefined,
        ],
        [
          'decided by the last answer of several',
          [
            put(2, 'c#policy', { approvers: { quorum: 2 } }),
            answered(3, 'c#policy', { quorum: 2, by: 'carl' }),
            answered(4, 'c#policy'),
          ],
          { quorum: 2, by: 'bert', at: time(4), people: ['carl', 'bert'], answerers: ['carl', 'bert'] },
        ],
        [
          'decided by votes that did not know of each other',
          [answered(3, 'c#policy', { quorum: 2, by: 'carl' }), answered(4, 'c#policy', { quorum: 2 }), decided(5, 'c')],
          {
            quorum: 2,
            action: 'accept',
            by: 'bert',
            at: time(5),
            people: ['carl', 'bert'],
            answerers: ['carl', 'bert'],
            outcome: 'approved',
          },
        ],
      ];
      for (const [word, events, expected] of cases) {
        const key = { ...annas, id: word.replaceAll(' ', '-') };
        await service.create(key);
        await service.append(key, [turned(0), called(1, ['c', 'pay'])]);
        for (const one of events) await service.append(key, [one]);
        const [found] = (await listed(service)).filter(({ sessionId }) => sessionId === key.id);
        if (expected) expect(found, word).toMatchObject({ tool: 'pay', ...expected });
        else expect(found, word).toBeUndefined();
        // All at once it comes to the same.
        const whole = await service.get(key);
        const events2 = whole?.events.map((one) => createEvent({ ...one }));
        const again = { ...key, userId: 'again' };
        await service.create(again);
        await service.append(again, events2 ?? []);
        const [other] = (await listed(service)).filter((one) => one.sessionId === key.id && one.userId === 'again');
        expect(other && { ...other, userId: 'anna' }, word).toEqual(found);
      }
    });

    test('INS-15 one that acts for somebody is named so, and found by their id', async () => {
      await service.append(annas, [turned(0), called(1, ['c1', 'pay'])]);
      await service.append(annas, [answered(2, 'c1#policy', { by: 'gateway', onBehalfOf: 'ben' })]);
      expect(await only()).toMatchObject({ by: 'gateway', people: ['gateway'], answerers: ['gateway~1ben'] });
      expect(await ids({ answeredBy: 'gateway' })).toHaveLength(1);
      expect(await ids({ answeredBy: 'gateway~1ben' })).toHaveLength(1);
      expect(await ids({ users: [], orBy: 'gateway~1ben' })).toHaveLength(1);
      expect(await ids({ users: [], orBy: 'gateway' })).toEqual([]);
      expect(await ids({ users: [], orBy: 'ben' })).toEqual([]);
    });

    /** Six decided questions, two of each second. */
    async function six() {
      await service.create(bens);
      for (const [key, approver] of [
        [annas, 'bert'],
        [bens, 'carl'],
      ] as const) {
        const calls = [1, 2, 3].map((n): [string, string] => [`c${n}`, n === 2 ? 'ship' : 'pay']);
        await service.append(key, [turned(0), called(1, ...calls)]);
        for (const n of [1, 2, 3]) {
          const action = n === 3 ? 'decline' : 'accept';
          await service.append(key, [put(2, `c${n}#policy`, { ruleId: `rule-${n}` })]);
          await service.append(key, [answered(10 + n, `c${n}#policy`, { action, by: n === 1 ? 'dora' : approver })]);
        }
      }
    }

    test('INS-16 they are found by whose they are, user, agent, tool, answer, person, time and words, newest first', async () => {
      await six();
      const [a1, a2, a3] = [1, 2, 3].map((n) => `anna c${n}#policy`);
      const [b1, b2, b3] = [1, 2, 3].map((n) => `ben c${n}#policy`);
      expect(await ids()).toEqual([b3, a3, b2, a2, b1, a1]);
      expect(await ids({ users: ['anna'] })).toEqual([a3, a2, a1]);
      expect(await ids({ users: ['anna'], orBy: 'dora' })).toEqual([a3, a2, b1, a1]);
      expect(await ids({ users: ['dora'], orBy: 'dora' })).toEqual([b1, a1]);
      expect(await ids({ users: ['eve'], orBy: 'eve' })).toEqual([]);
      expect(await ids({ users: [] })).toEqual([]);
      expect(await ids({ userId: 'ben' })).toEqual([b3, b2, b1]);
      expect(await ids({ users: ['anna'], orBy: 'dora', userId: 'ben' })).toEqual([b1]);
      expect(await ids({ users: ['anna'], userId: 'ben' })).toEqual([]);
      expect(await ids({ agent: 'clerk' })).toHaveLength(6);
      expect(await ids({ agent: 'cler' })).toEqual([]);
      expect(await ids({ tool: 'ship' })).toEqual([b2, a2]);
      expect(await ids({ action: 'decline' })).toEqual([b3, a3]);
      expect(await ids({ action: 'edit' })).toEqual([]);
      expect(await ids({ answeredBy: 'dora' })).toEqual([b1, a1]);
      expect(await ids({ answeredBy: 'carl', users: ['ben'] })).toEqual([b3, b2]);
      expect(await ids({ answeredBy: 'car' })).toEqual([]);
      expect(await ids({ since: START + 12_000 })).toEqual([b3, a3, b2, a2]);
      expect(await ids({ before: START + 12_000 })).toEqual([b1, a1]);
      expect(await ids({ since: START + 12_000, before: START + 12_001 })).toEqual([b2, a2]);
      expect(await ids({ search: 'RULE-3' })).toEqual([b3, a3]);
      expect(await ids({ search: 'Carl', tool: 'ship' })).toEqual([b2]);
      expect((await service.decided?.({ app: 'other' }, { limit: 9 }))?.decided).toEqual([]);
    });

    test('INS-16 page by page each comes once, whatever is looked for, though others are decided meanwhile', async () => {
      await six();
      const queries: Partial<DecidedQuery>[] = [
        {},
        { users: ['anna'], orBy: 'dora' },
        { answeredBy: 'dora' },
        { tool: 'pay' },
        { users: ['ben', 'anna'], search: 'rule-2' },
      ];
      for (const query of queries) {
        const all = await ids(query);
        for (const limit of [1, 2, 4]) {
          const found: string[] = [];
          for (let after: string | undefined, pages = 0; ; pages++) {
            expect(pages).toBeLessThan(12);
            const page = await service.decided?.(
              { app: 'shop' },
              { limit, ...query, ...(after === undefined ? {} : { after }) },
            );
            expect(page?.decided.length).toBeLessThanOrEqual(limit);
            found.push(...idsOf(page?.decided ?? []));
            after = page?.after;
            if (after === undefined) break;
          }
          expect(found, JSON.stringify({ query, limit })).toEqual(all);
        }
      }
      const first = await service.decided?.({ app: 'shop' }, { limit: 2 });
      await service.append(annas, [called(20, ['c9', 'pay'])]);
      await service.append(annas, [answered(21, 'c9#policy')]);
      const next = await service.decided?.({ app: 'shop' }, { limit: 2, after: first?.after ?? '' });
      expect(idsOf(next?.decided ?? [])).toEqual(['ben c2#policy', 'anna c2#policy']);
      for (const after of ['', 'nothing', '[1,"a","b"]', '["x","a","b","c"]', '[1,"a/b","b","c"]'])
        await expect(listed(service, { after })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
      await expect(listed(service, { usres: ['anna'] } as object)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    });

    test('INS-17 what a rewind cuts does not count, and what it brings back does', async () => {
      await service.append(annas, [turned(0), called(1, ['c1', 'pay'], ['c2', 'pay'])]);
      await service.append(annas, [answered(2, 'c1#policy'), decided(3, 'c1')]);
      await service.append(annas, [ended(4, 'c1'), answered(5, 'c2#policy')]);
      expect(await ids()).toEqual(['anna c2#policy', 'anna c1#policy']);
      const rewound = at(6, { actions: { rewound: { through: 4 } } });
      await service.append(annas, [rewound]);
      const { result, ...one } = await only();
      expect([one.requestId, one.outcome, result]).toEqual(['c1#policy', 'approved', undefined]);
      // It goes on from there.
      await service.append(annas, [ended(7, 'c1', { isError: true, errorType: 'failed' })]);
      expect(await only()).toMatchObject({ result: 'failed', endedAt: time(7) });
      await service.append(annas, [answered(8, 'c2#policy', { action: 'decline' })]);
      expect(await ids()).toEqual(['anna c2#policy', 'anna c1#policy']);
    });

    test('INS-17 they go with their session and with their user; a copy has those of its events', async () => {
      await six();
      await service.fork(annas, { id: 'part', through: 6, settle: () => [] });
      const part = await listed(service, { search: 'part' });
      expect(part.map(({ requestId, ruleId }) => `${requestId} ${ruleId}`)).toEqual([
        'c2#policy rule-2',
        'c1#policy rule-1',
      ]);
      // The copy is a session of its own.
      await service.append({ ...annas, id: 'part' }, [ended(30, 'c1')]);
      const ofC1 = (await listed(service)).filter(({ requestId }) => requestId === 'c1#policy');
      expect(ofC1.map(({ sessionId, userId, result }) => [sessionId, userId, result])).toEqual([
        ['s1', 'ben', undefined],
        ['s1', 'anna', undefined],
        ['part', 'anna', 'succeeded'],
      ]);
      const whole = await service.get({ ...annas, id: 'part' });
      if (service.restore && whole) {
        await service.restore({ ...annas, id: 'restored' }, { initialState: {}, events: whole.events });
        const restored = await listed(service, { search: 'restored' });
        expect(restored.map((one) => ({ ...one, sessionId: 'part' }))).toEqual(
          await listed(service, { search: 'part' }),
        );
        await service.append({ ...annas, id: 'restored' }, [ended(31, 'c2')]);
        expect((await listed(service, { search: 'restored' })).map(({ result }) => result)).toEqual([
          'succeeded',
          'succeeded',
        ]);
        await service.delete({ ...annas, id: 'restored' });
      }
      await service.delete({ ...annas, id: 'part' });
      await service.delete(annas);
      expect(await ids()).toEqual([3, 2, 1].map((n) => `ben c${n}#policy`));
      await service.create(annas);
      expect(await ids({ users: ['anna'] })).toEqual([]);
      expect(await ids({ answeredBy: 'bert' })).toEqual([]);
      if (!service.eraseUser) return;
      await service.eraseUser({ app: 'shop', userId: 'ben' });
      expect(await ids()).toEqual([]);
      expect(await ids({ answeredBy: 'dora' })).toEqual([]);
    });

    test('INS-21 a session whose call runs is listed as one that runs, and one that asks somebody as one that waits', async () => {
      const running = async () => (await service.list({ app: 'shop' })).map((one) => [one.pending, one.running]);
      await service.append(annas, [turned(0), called(1, ['c1', 'pay'])]);
      expect(await running()).toEqual([[1, false]]);
      const lease = await service.acquire(annas);
      const { epoch } = lease;
      expect(await running()).toEqual([[1, true]]);
      await service.append(annas, [put(2, 'c1#asked')], { epoch });
      expect(await running()).toEqual([[1, false]]);
      await service.append(annas, [answered(3, 'c1#asked')]);
      expect(await running()).toEqual([[1, true]]);
      await service.append(annas, [ended(4, 'c1')], { epoch });
      expect(await running()).toEqual([[0, true]]);
      await lease.release();
      expect(await running()).toEqual([[0, false]]);
    });

    test('INS-18 odd names and ids are kept as they are, and what no question has makes none', async () => {
      const odd = ['a"b', '"quoted"', 'ends ', 'emoji 🚣🏽', "o'x", '%_\\', 'x'.repeat(150)];
      await service.append(annas, [turned(0), called(1, ...odd.map((id): [string, string] => [id, `tool ${id}`]))]);
      for (const [n, id] of odd.entries())
        await service.append(annas, [answered(10 + n, `${id}#policy`, { by: `by ${id}` })]);
      await service.append(
        annas,
        odd.map((id, n) => ended(30 + n, id)),
      );
      const found = await listed(service);
      expect(found.map(({ callId, tool, by, result }) => [callId, tool, by, result])).toEqual(
        odd.toReversed().map((id) => [id, `tool ${id}`, `by ${id}`, 'succeeded']),
      );
      for (const id of odd) {
        expect((await listed(service, { users: [], orBy: `by ${id}` })).map(({ callId }) => callId)).toEqual([id]);
        expect((await listed(service, { tool: `tool ${id}` })).map(({ callId }) => callId)).toEqual([id]);
      }
      // One that no index has room for is not listed.
      await service.append(annas, [answered(50, `${'long'.repeat(100)}#policy`), answered(51, 'unknown#policy')]);
      const [last, ...rest] = await listed(service, { since: START + 50_000 });
      expect([last?.callId, last?.tool, rest]).toEqual(['unknown', undefined, []]);
    });
  });
}
