import { describe, expect, test } from 'vitest';
import type { DecidedPage, DecidedQuery, ReportedRequest, StoredDecision } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { approvalCursor, byAge, isBefore, order, startOf, wasShown } from '../../src/host/approvals/approval-pages.ts';
import { AskedPlaces } from '../../src/host/approvals/asked-places.ts';
import type { KnownQuestion } from '../../src/host/approvals/known-questions.ts';
import { KnownQuestions, knownOf, mayKnow } from '../../src/host/approvals/known-questions.ts';
import type { OpenApproval, WaitingSession } from '../../src/host/approvals/open-sessions.ts';
import { decidedQuery, storedDecisions } from '../../src/host/approvals/stored-decisions.ts';
import { hasCaller, toldToOwner } from '../../src/host/approvals/unread-sessions.ts';
import type { HostedSession } from '../../src/host/hosted/index.ts';

const ann = { id: 'ann' };
const boss = { id: 'bea', roles: ['boss'] };
const open = (requestId: string, more: object = {}, at: object = {}) =>
  ({ agent: 'bot', userId: 'ann', request: { requestId, sessionId: 's', ...more }, ...at }) as unknown as OpenApproval;

describe('MUT-H13 what is remembered of a question', () => {
  const put = (requestId: string, role: string) => ({ requestId, approvers: { roles: [role] } });
  test.each<[string, object, KnownQuestion['request']]>([
    ['nothing more where nothing is said', {}, { requestId: 'q' }],
    [
      'who may approve it',
      { approval: { approvers: { roles: ['a'] }, requestedBy: boss } },
      { requestId: 'q', approvers: { roles: ['a'] }, requestedBy: boss },
    ],
    [
      'that before what it was put with',
      { approval: { approvers: { roles: ['a'] } }, questions: [put('q', 'b')] },
      { requestId: 'q', approvers: { roles: ['a'] } },
    ],
    [
      'what it was put with last, of several',
      { questions: [put('q', 'a'), put('q', 'b'), put('other', 'c')] },
      { requestId: 'q', approvers: { roles: ['b'] } },
    ],
    ['nothing of another question', { questions: [put('other', 'c')] }, { requestId: 'q' }],
    ['who has asked for the call', { requestedBy: boss }, { requestId: 'q', requestedBy: boss }],
    [
      'whom its approval names for that, first of all',
      { approval: { requestedBy: ann }, requestedBy: boss },
      { requestId: 'q', requestedBy: ann },
    ],
  ])('is %s', (_, more, request) => {
    expect(knownOf(open('q', more))).toStrictEqual({
      ...{ agent: 'bot', userId: 'ann', sessionId: 's', requestId: 'q' },
      request,
    });
  });

  test('is known to who may answer it, or has asked for it', () => {
    const of = (request: object, who: object) =>
      mayKnow({ userId: 'ann', request: { requestId: 'q', ...request } }, who as never);
    const forBosses = { approvers: { roles: ['boss'] } };
    expect([of({}, ann), of({}, boss), of(forBosses, boss), of(forBosses, ann)]).toEqual([true, false, true, false]);
    expect([of({ ...forBosses, requestedBy: ann }, ann), of({ ...forBosses, requestedBy: boss }, ann)]).toEqual([
      ...[true, false],
    ]);
  });

  test('is found in its session alone, or of its call in all of a user', () => {
    const known = new KnownQuestions();
    known.note(open('c#policy'));
    known.note(open('c#policy.1'));
    known.note(open('c#policy', { sessionId: 't' }));
    known.note(open('c#policy', { sessionId: 't' }, { userId: 'ben' }));
    const place = { agent: 'bot', userId: 'ann', sessionId: 's' };
    expect(known.find(place, 'c#policy')).toMatchObject({ sessionId: 's', requestId: 'c#policy' });
    expect(known.find(place, 'c#policy.1')).toMatchObject({ requestId: 'c#policy.1' });
    expect(known.find(place, 'c#policy.2')).toBeUndefined();
    expect(known.find({ ...place, agent: 'else' }, 'c#policy')).toBeUndefined();
    const found = known.ofCall('ann', 'c').map(({ sessionId, requestId }) => `${sessionId} ${requestId}`);
    expect(found).toEqual(['s c#policy', 's c#policy.1', 't c#policy']);
    expect([known.ofCall('ben', 'c').length, known.ofCall('ann', 'd')]).toEqual([1, []]);
  });

  test('is given up with the oldest call once there are more than ten thousand', () => {
    const known = new KnownQuestions();
    const place = { agent: 'bot', userId: 'ann', sessionId: 's' };
    known.note(open('one#policy'));
    known.note(open('one#policy', { sessionId: 't' }));
    for (let n = 0; n < 9_998; n++) known.note(open(`c${n}#policy`));
    const isKnown = (id: string) => known.find(place, `${id}#policy`) !== undefined;
    expect([isKnown('one'), isKnown('c0')]).toEqual([true, true]);
    // It is shown once more: another one is the oldest now.
    known.note(open('one#policy'));
    known.note(open('new#policy'));
    expect([isKnown('one'), isKnown('c0'), isKnown('new')]).toEqual([true, true, true]);
    expect(known.ofCall('ann', 'one').map(({ sessionId }) => sessionId)).toEqual(['s']);
    known.note(open('newer#policy'));
    expect([isKnown('c0'), isKnown('c1'), known.ofCall('ann', 'c0')]).toEqual([false, true, []]);
  });
});

describe('MUT-H14 a place in a list of questions', () => {
  const session = (more: Partial<WaitingSession> = {}): WaitingSession => ({
    ...{ agent: 'bot', userId: 'b', sessionId: 'm', since: 5 },
    ...more,
  });
  const request = (requestId: string, second = 1) =>
    ({ requestId, requestedAt: `2026-01-01T00:00:0${second}Z` }) as ReportedRequest;

  test('is read back as it was made', () => {
    const place = { since: 5, userId: 'b', sessionId: 'm', requestedAt: '2026-01-01T00:00:01Z', requestId: 'q' };
    expect(startOf(approvalCursor(session(), request('q')))).toStrictEqual(place);
    const { since: _, ...without } = session();
    expect(startOf(approvalCursor(without, request('q')))).toStrictEqual({ ...place, since: 0 });
    expect(startOf(undefined)).toBeUndefined();
  });

  test.each(['', '{', '{}', 'null', '[]', '["0","b","m","t","q"]', '[0,"b","m","t"]', '[0,"b","m","t","q","r"]'])(
    'is not %j',
    (cursor) => {
      expect(() => startOf(cursor)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    },
  );
  test.each([0, 1, 2, 3])('is none whose text %d is a number', (at) => {
    const texts: unknown[] = ['b', 'm', 't', 'q'];
    texts[at] = 1;
    expect(() => startOf(JSON.stringify([0, ...texts]))).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  });

  test('stands by age, then by user, then by session', () => {
    const sorted = [
      session({ since: 6, userId: 'a' }),
      session({ sessionId: 'n' }),
      session(),
      session({ userId: 'a', sessionId: 'z' }),
      { agent: 'bot', userId: 'z', sessionId: 'z' },
    ].sort(byAge);
    expect(sorted.map(({ userId, sessionId }) => userId + sessionId)).toEqual(['zz', 'az', 'bm', 'bn', 'am']);
    expect([order('a', 'b'), order('b', 'a'), order('a', 'a')]).toEqual([-1, 1, 0]);
  });

  test('is behind sessions before it, and behind its own questions up to it', () => {
    const place = startOf(approvalCursor(session(), request('q', 2))) as NonNullable<ReturnType<typeof startOf>>;
    const precedes = (more: object) => isBefore(session(more), place);
    expect([precedes({}), precedes({ since: 4 }), precedes({ since: 6 })]).toEqual([false, true, false]);
    expect([precedes({ userId: 'a' }), precedes({ userId: 'c' }), precedes({ sessionId: 'l' })]).toEqual([
      true,
      false,
      true,
    ]);
    expect([precedes({ sessionId: 'n' }), precedes({ since: undefined })]).toEqual([false, true]);
    const shown = (one: ReportedRequest, more: object = {}) =>
      wasShown({ agent: 'bot', userId: 'b', request: one } as OpenApproval, session(more), place);
    expect([shown(request('q', 2)), shown(request('p', 2)), shown(request('r', 2))]).toEqual([true, true, false]);
    expect([shown(request('z', 1)), shown(request('a', 3))]).toEqual([true, false]);
    const elsewhere = [{ userId: 'c' }, { sessionId: 'n' }, { since: 6 }, { since: undefined }];
    expect(elsewhere.map((more) => shown(request('p', 1), more))).toEqual([false, false, false, false]);
  });
});

describe('MUT-H15 what a store’s index says was decided', () => {
  const one = (requestId: string, more: object = {}) =>
    ({
      ...{ requestId, callId: requestId, action: 'accept', at: '2026-01-01T00:00:00Z', agent: 'bot', userId: 'ann' },
      ...{ sessionId: 's', people: ['bea'], answerers: ['bea'], ...more },
    }) as StoredDecision;
  /** A store that gives these pages, one after the other. */
  const asked = async (filter: object, ...pages: (DecidedPage<StoredDecision> | undefined)[]) => {
    const queries: DecidedQuery[] = [];
    const look = async (query: DecidedQuery) => {
      queries.push(query);
      return pages[queries.length - 1];
    };
    const places = { add: async (some: readonly object[]) => some.map((each) => ({ ...each, isPlaced: true })) };
    const page = await storedDecisions(look, { by: ann, ...filter }, places as never);
    return { page, ids: page?.decided.map(({ requestId }) => requestId), queries };
  };

  test('is asked for whom it concerns', () => {
    expect(decidedQuery({ by: ann })).toStrictEqual({ limit: 50, users: ['ann'], orBy: 'ann' });
    expect(decidedQuery({ by: ann, everybodys: true, tool: 'pay' })).toStrictEqual({ limit: 50, tool: 'pay' });
    expect(decidedQuery({ by: ann, everybodys: ['ben', 'ann'], limit: 3 })).toStrictEqual({
      ...{ limit: 3, users: ['ann', 'ben'], orBy: 'ann' },
    });
  });

  test('is shown without who else has answered, with its places, and with what the store says of the page', async () => {
    const { page, queries } = await asked({ limit: 2 }, { decided: [one('a')], unread: 1, newest: 7 } as never);
    const { people: _, answerers: __, ...rest } = one('a');
    expect(page).toStrictEqual({ decided: [{ ...rest, isPlaced: true }], unread: 1, newest: 7 });
    expect(queries).toStrictEqual([{ limit: 2, users: ['ann'], orBy: 'ann' }]);
    expect((await asked({}, { decided: [] })).page).toStrictEqual({ decided: [] });
    expect((await asked({}, undefined)).page).toBeUndefined();
  });

  test('is looked for behind what is not to be shown, until the page is full or the store has looked enough', async () => {
    const hidden = (id: string) => one(id, { userId: 'ben' });
    const more = await asked(
      { limit: 2, after: 'p0' },
      { decided: [one('a'), hidden('x')], after: 'p1' },
      { decided: [one('y', { agent: '' })], after: 'p2' },
      { decided: [one('b')], after: 'p3' },
      { decided: [one('c')], after: 'p4' },
    );
    expect([more.ids, more.page?.after]).toEqual([['a', 'b'], 'p3']);
    expect(more.queries.map(({ after, limit }) => [after, limit])).toEqual([
      ...[
        ['p0', 2],
        ['p1', 1],
        ['p2', 1],
      ],
    ]);
    // A page that is not full says that the store stops here.
    const short = await asked({ limit: 3 }, { decided: [one('a')], after: 'p1' }, { decided: [one('b')] });
    expect([short.ids, short.page?.after, short.queries.length]).toEqual([['a'], 'p1', 1]);
    const end = await asked({ limit: 2 }, { decided: [one('a'), hidden('x')] }, { decided: [one('b')] });
    expect([end.ids, end.page, end.queries.length]).toEqual([['a'], { decided: expect.anything() }, 1]);
    // A provider may give more than it was asked for.
    expect((await asked({ limit: 1 }, { decided: [one('a'), one('b')] })).ids).toEqual(['a']);
    const nothing = Array.from({ length: 10 }, (_, n) => ({ decided: [hidden(`x${n}`)], after: `p${n}` }));
    const many = await asked({ limit: 1 }, ...nothing);
    expect([many.ids, many.page?.after, many.queries.length]).toEqual([[], 'p7', 8]);
  });
});

describe('MUT-H16 where what was decided was asked', () => {
  const sub = 's.1';
  const root = { agent: 'bot', sessionId: 's' };
  const decided = (sessionId: string, userId = 'ann') => ({ userId, sessionId });
  /** Sessions by id: of whose call each is, or an error. */
  function places(roots: Record<string, object | Error>, agent: string | null = 'bot') {
    const borrowed: string[] = [];
    const warnings: string[] = [];
    const made = new AskedPlaces({
      storeAgent: agent ?? undefined,
      warn: (message) => void warnings.push(message),
      borrow: async (agent, userId, sessionId) => {
        borrowed.push(`${agent}/${userId}/${sessionId}`);
        const found = roots[sessionId];
        if (found instanceof Error) throw found;
        const [caller] = sessionId.split('.');
        const calledBy = found && { sessionId: caller, callId: sessionId.split('.')[1], ...found };
        const session = { id: sessionId, standing: async () => ({ isOver: true, terms: { calledBy } }) };
        return { session: session as unknown as HostedSession, [Symbol.asyncDispose]: async () => {} };
      },
    });
    return { made, borrowed, warnings, roots };
  }

  test('is the root of a sub-agent’s session, which is read once; other ids are not looked into', async () => {
    const { made, borrowed } = places({ [sub]: { root } });
    const listed = [decided('plain'), decided(sub), decided(sub)];
    const found = [decided('plain'), { ...decided(sub), askedIn: root }, { ...decided(sub), askedIn: root }];
    expect(await made.add(listed)).toStrictEqual(found);
    expect(await made.add(listed)).toStrictEqual(found);
    expect(borrowed).toEqual(['bot/ann/s.1']);
    await made.add([decided(sub, 'ben')]);
    expect(borrowed).toEqual(['bot/ann/s.1', 'bot/ben/s.1']);
  });

  test.each([
    ['whose root has no agent', { sessionId: 's' }],
    ['whose root has no session', { agent: 'bot' }],
    ['whose root is something else', { agent: 1, sessionId: 2 }],
    ['without a root', undefined],
  ])('is not said of one %s', async (_, wrong) => {
    const { made, borrowed } = places({ [sub]: { root: wrong } });
    for (let time = 0; time < 2; time++) expect(await made.add([decided(sub)])).toStrictEqual([decided(sub)]);
    expect(borrowed).toHaveLength(1);
  });

  test('is looked for again where it could not be read, and not at all where there is no agent', async () => {
    const { made, warnings, roots } = places({ [sub]: new Error('broken') });
    expect(await made.add([decided(sub)])).toStrictEqual([decided(sub)]);
    expect(warnings).toHaveLength(1);
    roots[sub] = { root };
    expect(await made.add([decided(sub)])).toStrictEqual([{ ...decided(sub), askedIn: root }]);
    const none = places({ [sub]: { root } }, null);
    expect(await none.made.add([decided(sub)])).toStrictEqual([decided(sub)]);
    expect([none.borrowed, none.warnings]).toEqual([[], []]);
  });

  test('is forgotten of those that were read first, beyond five thousand', async () => {
    const ids = Array.from({ length: 5_001 }, (_, n) => `s.${n}`);
    const { made, borrowed } = places(Object.fromEntries(ids.map((id) => [id, { root }])));
    const found = await made.add(ids.map((id) => decided(id)));
    expect(found.every(({ askedIn }) => askedIn?.sessionId === 's')).toBe(true);
    await made.add([decided('s.1')]);
    expect(borrowed).toHaveLength(5_001);
    await made.add([decided('s.0')]);
    expect(borrowed).toHaveLength(5_002);
  });
});

describe('MUT-H17 a session that cannot be read', () => {
  const lost = (key?: object) =>
    new CoxswainError('DATA_LOSS', 'E_STORE', 'lost', key === undefined ? {} : { details: { key } });
  const told = async (error: Error, owner?: string) => {
    const warnings: unknown[] = [];
    const work = () => Promise.reject(error);
    const came = await toldToOwner(work, ann, (...said) => void warnings.push(said), owner).catch(() => 'thrown');
    return [came, warnings.length];
  };

  test('is an error for whose it is, and is not there for others', async () => {
    expect(
      await toldToOwner(
        async () => 1,
        ann,
        () => {},
      ),
    ).toBe(1);
    expect(await told(lost({ userId: 'ann' }))).toEqual(['thrown', 0]);
    expect(await told(lost({ userId: 'ben' }))).toEqual([undefined, 1]);
    expect(await told(lost({}))).toEqual([undefined, 1]);
    expect(await told(lost())).toEqual([undefined, 1]);
    expect(await told(lost({ userId: 'ben' }), 'ann')).toEqual(['thrown', 0]);
    expect(await told(lost({ userId: 'ann' }), 'ben')).toEqual([undefined, 1]);
    expect(await told(new Error('odd'))).toEqual(['thrown', 0]);
    expect(await told(new CoxswainError('UNAVAILABLE', 'E_STORE', 'away'))).toEqual(['thrown', 0]);
  });

  test('may be the caller of a sub-agent’s, by its id', async () => {
    const opened: string[] = [];
    let closed = 0;
    const none = new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', 'none');
    const has = (id: string, sessions: Record<string, Error | 'there'>) =>
      hasCaller(id, async (sessionId) => {
        opened.push(sessionId);
        const found = sessions[sessionId] ?? none;
        if (found !== 'there') throw found;
        return { [Symbol.asyncDispose]: async () => void closed++ };
      });
    expect([await has('s', { s: 'there' }), opened]).toEqual([false, []]);
    expect([await has('a.b.c', {}), opened.splice(0)]).toEqual([false, ['a', 'a.b']]);
    expect([await has('a.b.c', { a: 'there' }), opened.splice(0), closed]).toEqual([true, ['a'], 1]);
    expect([await has('a.b', { a: lost() }), await has('a.b', { a: new Error('odd') })]).toEqual([true, true]);
  });
});
