import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ApprovalQuestion, ReportedRequest, StreamEndEvent } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { ApprovalLookout } from '../../src/host/approvals/approval-lookout.ts';
import { HostApprovals, onlyOne } from '../../src/host/approvals/host-approvals.ts';
import type { ApprovalHost, OpenApproval, WaitingSession } from '../../src/host/approvals/open-sessions.ts';
import { findUnfinished, recoverSessions } from '../../src/host/approvals/unfinished.ts';
import { abortPart } from '../../src/host/hosted/abort-part.ts';
import { deniedQuestion } from '../../src/host/hosted/denied-question.ts';
import { settleExpired } from '../../src/host/hosted/expiry.ts';
import { goOn, isUnfinished, resume } from '../../src/host/hosted/going-on.ts';
import type { HostedSession } from '../../src/host/hosted/hosted-session.ts';
import { hostedCallsToJoin } from '../../src/host/hosted/joining.ts';
import { findOpen, questionOf } from '../../src/host/hosted/open-request.ts';
import type { Step } from '../../src/host/questions/step.ts';
import { runOutlived, runOutliving } from '../../src/host/run/outlived-calls.ts';
import { hold, pipe } from '../../src/session/index.ts';
import { call, hosted } from './judge-kit.ts';
import { door, tool } from './kit.ts';
import { fakeRun, settle } from './run-kit.ts';

afterEach(() => void vi.useRealTimers());

const fault = (code: 'E_SESSION_BUSY' | 'E_SESSION_NOT_FOUND' | 'E_TURN_COMPLETED' | 'E_SESSION_CLOSED' | 'E_STORE') =>
  new CoxswainError('ABORTED', code, code);
const question = (more: object = {}) =>
  call({ requestId: 'c#policy', kind: 'elicitation', approval: { title: 't' }, ...more } as never) as ApprovalQuestion;
const place = (sessionId: string, more: object = {}): WaitingSession => ({
  agent: 'bot',
  userId: 'ann',
  sessionId,
  ...more,
});

/** A host over sessions that are open, by id; what is borrowed is counted. */
function hostOf(sessions: WaitingSession[], looks: Record<string, object> = {}, more: Partial<ApprovalHost> = {}) {
  const borrowed: string[] = [];
  const warnings: unknown[][] = [];
  const works: Promise<void>[] = [];
  const count = { open: 0 };
  const host: ApprovalHost = {
    storedDecisions: async () => undefined,
    openSessions: async (scope = {}) =>
      sessions.filter(
        ({ userId, sessionId }) => (scope.userId ?? userId) === userId && (scope.sessionId ?? sessionId) === sessionId,
      ),
    openTurns: async () => [],
    allSessions: async () => [],
    agentTools: new Set(),
    storeAgent: 'bot',
    borrow: async (agent, userId, sessionId) => {
      borrowed.push([agent, userId, sessionId].join('/'));
      const found = looks[sessionId];
      if (found instanceof Error) throw found;
      count.open++;
      const session = {
        ...{ id: sessionId, pending: async () => [], inner: { pending: async () => [] } },
        frame: { userId },
        ...found,
      } as unknown as HostedSession;
      return { session, [Symbol.asyncDispose]: async () => void count.open-- };
    },
    warn: (...said) => void warnings.push(said),
    during: (work) => void works.push(work),
    ...more,
  };
  return { host, borrowed, warnings, works, count };
}

const asksIn = (sessionId: string, ...requests: object[]) => ({
  pending: async () => requests.map((more) => question({ sessionId, ...more })),
});

/** Sub-agents' sessions below one. */
const below = (...ids: string[]) => ({
  find: async () => undefined,
  async *sessions() {
    for (const id of ids) yield { id };
  },
});

describe('what is open across sessions', () => {
  test('is listed oldest first, a page at a time, looking into no more sessions than it shows', async () => {
    const sessions = ['a', 'b', 'c', 'd'].map((id, index) => place(id, { since: 10 - index }));
    const looks = Object.fromEntries(
      sessions.map(({ sessionId, since }) => [
        sessionId,
        asksIn(sessionId, { requestedAt: `2026-01-01T00:00:${10 + (since ?? 0)}Z` }),
      ]),
    );
    const { host, borrowed, count } = hostOf(sessions, looks);
    const approvals = new HostApprovals(host);
    const ids = (list: OpenApproval[]) => list.map(({ request }) => request.sessionId);
    const page = await approvals.list({ limit: 1 });
    expect([ids(page), borrowed]).toEqual([['d'], ['bot/ann/d']]);
    expect(page[0]).toMatchObject({ agent: 'bot', userId: 'ann', request: { requestId: 'c#policy' } });
    const next = await approvals.list({ limit: 2, after: page[0]?.cursor ?? '' });
    expect(ids(next)).toEqual(['c', 'b']);
    expect(ids(await approvals.list({ limit: 9, after: next[1]?.cursor ?? '' }))).toEqual(['a']);
    expect(ids(await approvals.list())).toEqual(['d', 'c', 'b', 'a']);
    expect(ids(await approvals.list({ sessionId: 'b' }))).toEqual(['b']);
    expect([ids(await approvals.list({ limit: 0 })), count.open]).toEqual([[], 0]);
  });

  test('MUT-HOST-1 goes on behind a question of the same session, also of a store that keeps no times', async () => {
    const at = (second: number, requestId: string) => ({ requestId, requestedAt: `2026-01-01T00:00:0${second}Z` });
    const { host } = hostOf([place('a')], { a: asksIn('a', at(2, 'z'), at(1, 'y'), at(2, 'b')) });
    const approvals = new HostApprovals(host);
    const all = await approvals.list({ limit: 2 });
    expect(all.map(({ request }) => request.requestId)).toEqual(['y', 'b']);
    const rest = await approvals.list({ limit: 5, after: all[1]?.cursor ?? '' });
    expect(rest.map(({ request }) => request.requestId)).toEqual(['z']);
  });

  test('is what somebody is asked about, by the agent of the session', async () => {
    const { host } = hostOf([place('a')], {
      a: {
        pending: async () => [
          question(),
          question({ requestId: 'other', agentPath: ['else'] }),
          { ...call({ requestId: 'mine' }), approval: {} },
        ],
      },
    });
    expect((await new HostApprovals(host).list()).map(({ request }) => request.requestId)).toEqual(['c#policy']);
  });

  test('is not that of a session that was deleted meanwhile; another fault is told, and hides no other session', async () => {
    const gone = hostOf([place('a'), place('b')], { a: fault('E_SESSION_NOT_FOUND'), b: asksIn('b', {}) });
    expect(await new HostApprovals(gone.host).list()).toHaveLength(1);
    expect(gone.warnings).toEqual([]);
    const lost = hostOf([place('a'), place('b')], { a: fault('E_STORE'), b: asksIn('b', {}) });
    const approvals = new HostApprovals(lost.host);
    expect((await approvals.list()).map(({ request }) => request.sessionId)).toEqual(['b']);
    expect(lost.warnings).toMatchObject([[expect.stringContaining('session a of'), { code: 'E_STORE' }]]);
    await expect(approvals.list({ sessionId: 'a' })).rejects.toThrow('E_STORE');
  });

  test('inside of a sub-agent is that of its caller', async () => {
    const looks = {
      s: { ...asksIn('s', {}), subagents: below('s.c') },
      's.c': asksIn('s.c', {}),
      's.x': asksIn('s.x', {}),
    };
    const { host, borrowed } = hostOf([place('s.c'), place('s'), place('s.x'), place('t')], looks);
    const list = await new HostApprovals(host).list();
    expect(list.map(({ request }) => request.sessionId).sort()).toEqual(['s', 's.x']);
    // Its sub-agents are asked for once.
    expect(borrowed.filter((name) => name === 'bot/ann/s')).toHaveLength(2);
  });

  test('is found by its id, in the session that is named or in all', async () => {
    const sessions = [
      place('a', { calls: ['c'] }),
      place('b', { calls: ['other'] }),
      place('d', { userId: 'bob', calls: ['c'] }),
      place('e'),
    ];
    const looks = Object.fromEntries(
      sessions.map(({ sessionId }) => [sessionId, asksIn(sessionId, {}, { requestId: 'x' })]),
    );
    const { host, borrowed } = hostOf(sessions, looks);
    const approvals = new HostApprovals(host);
    expect((await approvals.find('c#policy')).map(({ request }) => request.sessionId)).toEqual(['a', 'd', 'e']);
    expect(borrowed).toEqual(['bot/ann/a', 'bot/bob/d', 'bot/ann/e']);
    expect((await approvals.find('c#policy', { userId: 'bob' })).map(({ userId }) => userId)).toEqual(['bob']);
    expect(await approvals.find('c#policy', { agent: 'else' })).toEqual([]);
    expect(await approvals.find('c#policy', { sessionId: 'b' })).toHaveLength(1);
    expect(await approvals.get('c#policy', { sessionId: 'a' })).toMatchObject({ userId: 'ann' });
    expect(await approvals.get('c#policy', { sessionId: 'zzz' })).toBeUndefined();
    await expect(approvals.get('c#policy')).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
      details: { requestId: 'c#policy' },
      message: expect.stringContaining('3 sessions ask a question "c#policy"'),
    });
    expect([onlyOne([], 'q'), onlyOne(['a'], 'q')]).toEqual([undefined, 'a']);
  });

  test('ATK-L6 of sessions whose calls are not known, no more are looked into than a bound', async () => {
    const many = (n: number) => Array.from({ length: n }, (_, at) => place(`e${at}`));
    const { host, borrowed } = hostOf(many(64));
    expect(await new HostApprovals(host).get('c#policy')).toBeUndefined();
    expect(borrowed).toHaveLength(64);
    const more = hostOf(many(65));
    await expect(new HostApprovals(more.host).get('c#policy')).rejects.toMatchObject({
      code: 'E_UNKNOWN_REQUEST',
      message: expect.stringMatching(/65 sessions are open of which no call is known.*name sessionId and userId/),
    });
    expect(more.borrowed).toEqual([]);
  });

  test('is looked for by the id of a session of a sub-agent in its caller', async () => {
    const looks = {
      s: { ...asksIn('s', {}), subagents: below('s.c') },
      's.c': asksIn('s.c', {}),
    };
    const { host } = hostOf([place('s', { calls: ['x'] }), place('s.c', { calls: ['c'] })], looks);
    expect((await new HostApprovals(host).find('c#policy')).map(({ request }) => request.sessionId)).toEqual(['s']);
    // The named session is none of its own.
    expect(await new HostApprovals(host).find('c#policy', { sessionId: 's.c' })).toEqual([]);
  });

  test('is watched by those whom it concerns, until they leave', async () => {
    const { host } = hostOf([]);
    const approvals = new HostApprovals(host);
    const all = approvals.watch();
    const one = approvals.watch({ sessionId: 'b' });
    const bobs = approvals.watch({ approver: { id: 'bob' } });
    const next = [all.next(), one.next(), bobs.next()];
    await settle();
    approvals.announce('bot', 'ann', question({ sessionId: 'a' }));
    approvals.announce('bot', 'bob', question({ sessionId: 'b', approval: { requestedBy: { id: 'joe' } } }));
    const seen = await Promise.all(next);
    expect(seen.map(({ value }) => value?.request.sessionId)).toEqual(['a', 'b', 'b']);
    for (const watch of [all, one, bobs]) await watch.return?.();
    const held = Object.getOwnPropertySymbols(HostApprovals.prototype).find(({ description }) =>
      description?.includes('held'),
    );
    expect((approvals as never as Record<symbol, () => object>)[held as symbol]?.()).toEqual({ watchers: 0 });
  });
});

describe('a decision across sessions', () => {
  const approve = { kind: 'approve' } as const;
  const bob = { id: 'bob' };
  function asking(more: object = {}, status = 'settled') {
    const given: unknown[][] = [];
    const goesOn = vi.fn(async () => {});
    const request = question({ approval: { requestedBy: bob } });
    const session = {
      pending: async () => [request],
      inner: { pending: async () => [call()] },
      respond: async (...said: unknown[]) => {
        given.push(said);
        return { status };
      },
      resume: goesOn,
      liveRun: { ended: Promise.resolve('completed') },
      ...more,
    };
    return { session, given };
  }

  test('is given to the session that asks, as whoever decides; the run goes on', async () => {
    const { session, given } = asking();
    const { host, works, count } = hostOf([place('a', { calls: ['c'] })], { a: session });
    const by = { id: 'bob' };
    const said = await new HostApprovals(host).decide('c#policy', { ...approve, by: { id: 'forged' } }, { by });
    expect([said, given, works.length]).toEqual([{ status: 'settled' }, [['c#policy', { ...approve, by }]], 1]);
    await Promise.all(works);
    expect(count.open).toBe(0);
  });

  test('that settles nothing goes on with nothing', async () => {
    const { session } = asking({}, 'waiting_quorum');
    const { host, works, count } = hostOf([place('a', { calls: ['c'] })], { a: session });
    expect(await new HostApprovals(host).decide('c#policy', approve, { by: bob })).toEqual({
      status: 'waiting_quorum',
    });
    expect([works.length, count.open]).toEqual([0, 0]);
  });

  test('is refused where nothing asks, or not them, and every session is given back', async () => {
    const { session } = asking({ pending: async () => [question({ approval: { requestedBy: { id: 'joe' } } })] });
    const gone = { a: fault('E_SESSION_NOT_FOUND') };
    const cases: [Record<string, object>, string][] = [
      [{ a: session }, 'E_NOT_APPROVER'],
      [{ a: { inner: { pending: async () => [call({ callId: 'd' })] } } }, 'E_UNKNOWN_REQUEST'],
      [{ a: { inner: { pending: async () => [call({ agentPath: ['else'] })] } } }, 'E_UNKNOWN_REQUEST'],
      [gone, 'E_UNKNOWN_REQUEST'],
      [{ a: fault('E_STORE') }, 'E_STORE'],
    ];
    for (const [looks, code] of cases) {
      const { host, count } = hostOf([place('a', { calls: ['c'] })], looks);
      await expect(new HostApprovals(host).decide('c#policy', approve, { by: bob })).rejects.toMatchObject({ code });
      expect(count.open).toBe(0);
    }
  });

  test('is asked for where several sessions ask the same, of those that are theirs', async () => {
    const both = [place('a', { calls: ['c'] }), place('b', { calls: ['c'] })];
    const others = asking({ pending: async () => [question({ approval: { requestedBy: { id: 'joe' } } })] });
    const mine = asking();
    const one = hostOf(both, { a: others.session, b: mine.session });
    await new HostApprovals(one.host).decide('c#policy', approve, { by: bob });
    expect([others.given.length, mine.given.length]).toEqual([0, 1]);
    const two = hostOf(both, { a: asking().session, b: asking().session });
    await expect(new HostApprovals(two.host).decide('c#policy', approve, { by: bob })).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
    });
    expect(two.count.open).toBe(0);
  });

  test('reaches a question of a sub-agent through its caller', async () => {
    const { session, given } = asking({
      inner: { pending: async () => [call({ callId: 'outer' })] },
      subagents: {
        ...below(),
        find: async ({ requestId }: { requestId: string }) => (requestId === 'c#policy' ? {} : undefined),
      },
    });
    const { host } = hostOf([place('a')], { a: session });
    await new HostApprovals(host).decide('c#policy', approve, { by: bob });
    expect(given).toHaveLength(1);
    await expect(new HostApprovals(host).decide('x#policy', approve, { by: bob })).rejects.toMatchObject({
      code: 'E_UNKNOWN_REQUEST',
    });
  });

  test('whose run cannot go on is told of', async () => {
    const liveRun = {
      get ended() {
        return Promise.reject(fault('E_STORE'));
      },
    };
    const { session } = asking({ liveRun });
    const { host, works, warnings, count } = hostOf([place('a', { calls: ['c'] })], { a: session });
    await new HostApprovals(host).decide('c#policy', approve, { by: bob });
    await Promise.all(works);
    expect([warnings[0]?.[0], count.open]).toEqual(['session a could not continue after an approval', 0]);
  });
});

describe('questions that other processes ask', () => {
  function lookout(looks: Record<string, object>, everyMs = 100) {
    vi.useFakeTimers();
    let open: WaitingSession[] = [];
    let isAway = false;
    const told: string[] = [];
    const made = hostOf([], looks, {
      openSessions: async () => {
        if (isAway) throw new Error('away');
        return open;
      },
    });
    const over: string[] = [];
    const out = new ApprovalLookout(made.host, everyMs, {
      asked: ({ agent, userId, request }) => told.push([agent, userId, request.sessionId, request.requestId].join(' ')),
      over: (userId, callId) => over.push(`${userId} ${callId}`),
    });
    return {
      ...made,
      out,
      told,
      over,
      see: async (now: WaitingSession[] | 'away') => {
        isAway = now === 'away';
        if (now !== 'away') open = now;
        await vi.advanceTimersByTimeAsync(everyMs);
      },
      start: (now: WaitingSession[]) => {
        open = now;
        return out.begin();
      },
    };
  }
  const a = place('a', { calls: ['c'] });
  const b = place('b', { calls: ['d'] });

  test('are told from the first look on, each once', async () => {
    const { start, see, told, borrowed } = lookout({ a: asksIn('a', {}), b: asksIn('b', { requestId: 'd#policy' }) });
    const leave = await start([a]);
    expect(borrowed).toEqual([]);
    await see([a, b]);
    await see([a, b]);
    expect([told, borrowed]).toEqual([['bot ann b d#policy'], ['bot/ann/b']]);
    await see([a]);
    await see([a, b]);
    expect(told).toHaveLength(2);
    leave();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('are looked for while somebody watches', async () => {
    const { start, out, see, told } = lookout({ b: asksIn('b', { requestId: 'd#policy' }) });
    const first = await start([]);
    const second = await out.begin();
    first();
    await see([b]);
    expect(told).toHaveLength(1);
    second();
    await see([a, b]);
    expect([told.length, vi.getTimerCount()]).toEqual([1, 0]);
    // Whoever watches next begins anew.
    const third = await out.begin();
    await see([a, b]);
    expect(told).toHaveLength(1);
    third();
  });

  test('are not told again where this process asks them', async () => {
    const { start, out, see, told } = lookout({ b: asksIn('b', { requestId: 'd#policy' }, { requestId: 'e#policy' }) });
    out.knows('ann', { sessionId: 'b', requestId: 'e#policy' });
    const leave = await start([]);
    out.knows('ann', { sessionId: 'b', requestId: 'd#policy' });
    await see([place('b', { calls: ['d', 'e'] })]);
    expect(told).toEqual(['bot ann b e#policy']);
    leave();
  });

  test('are of people, and of the agent whose session it is', async () => {
    const looks = { b: { pending: async () => [call({ requestId: 'd' }), question({ agentPath: ['else'] })] } };
    const { start, see, told, borrowed, count } = lookout(looks);
    const leave = await start([]);
    await see([b]);
    expect([told, borrowed, count.open]).toEqual([[], ['bot/ann/b'], 0]);
    leave();
  });

  test('of a sub-agent are its caller’s', async () => {
    const { start, see, borrowed } = lookout({});
    const leave = await start([place('s')]);
    await see([place('s'), place('s.x', { calls: ['d'] }), place('z.y', { calls: ['e'] })]);
    expect(borrowed).toEqual(['bot/ann/s', 'bot/ann/z.y']);
    leave();
    const other = lookout({});
    const end = await other.start([]);
    await other.see([place('s', { agent: 'else' }), place('s.x', { calls: ['d'] })]);
    expect(other.borrowed).toEqual(['bot/ann/s.x']);
    end();
  });

  test('that cannot be looked for, or read, are told of, and looked for again', async () => {
    const looks: Record<string, object> = { a: fault('E_SESSION_NOT_FOUND'), b: fault('E_STORE') };
    const { start, see, told, warnings } = lookout(looks);
    const leave = await start([]);
    await see('away');
    expect(warnings.splice(0)).toEqual([
      ['questions of other processes could not be looked for; the next look is as usual', new Error('away')],
    ]);
    await see([a, b]);
    expect(warnings).toEqual([['what session b asks could not be read; approvals.list() shows why', fault('E_STORE')]]);
    looks.b = asksIn('b', { requestId: 'e#policy' });
    await see([a, place('b', { calls: ['d', 'e'] })]);
    expect(told).toEqual(['bot ann b e#policy']);
    leave();
  });
});

/** A session whose calls are judged as is said. */
function session(
  open: ReportedRequest[],
  step: (request: ReportedRequest) => Step,
  more: Record<string, unknown> = {},
) {
  const stored: unknown[][] = [];
  const judged: unknown[][] = [];
  const judge = {
    step: async (request: ReportedRequest, given: unknown, signal: unknown, peek: unknown) => {
      judged.push([request.requestId, given, signal, peek]);
      return step(request);
    },
    retain: vi.fn(),
  };
  const { inner, frame, subagents, ...rest } = more as Record<string, object>;
  const made = {
    ...{ id: 's', descriptor: { name: 'bot' }, judge, isBusy: () => false, isClosed: false },
    inner: {
      pending: async () => open,
      respond: async (...said: unknown[]) => {
        stored.push(said);
        return { status: 'settled' };
      },
      abort: async () => {},
      ...inner,
    },
    pending: async () => open,
    standing: async () => ({ isOver: false }),
    frame: {
      ...{
        judge,
        toolOf: () => 'tool',
        grounds: () => ({ principal: { id: 'ann' } }),
        shared: {},
        options: {},
        running: () => undefined,
      },
      wakeAll: vi.fn(),
      rested: vi.fn(),
      hasSubagents: false,
      ...frame,
    },
    subagents: {
      ...{
        of: () => undefined,
        find: async () => undefined,
        end: vi.fn(async () => {}),
      },
      ...subagents,
    },
    ...rest,
  } as unknown as HostedSession;
  return { made, stored, judged, judge };
}

const settles =
  (by: string, more: object = {}) =>
  (): Step => ({ kind: 'settle', result: { content: [] }, decision: { outcome: 'denied', by, ...more } });

describe('a question that nobody has answered in time', () => {
  test('is settled by whoever looks first, unless a run does it', async () => {
    const { made, stored, judged } = session(
      [call(), call({ kind: 'elicitation' }), call({ callId: undefined } as never)],
      settles('expiry'),
    );
    await settleExpired(made);
    expect(stored).toEqual([
      ['c', { kind: 'result', result: { content: [] }, decision: { outcome: 'denied', by: 'expiry' } }],
    ]);
    expect(judged).toEqual([['c', 'tool', undefined, true]]);
    for (const other of [
      session([call()], settles('policy')),
      session([call()], () => ({ kind: 'leave', decision: { outcome: 'approved', by: 'expiry' } })),
      session([call()], () => ({ kind: 'settle', result: { content: [] } })),
      session([call()], settles('expiry'), { liveRun: {} }),
    ]) {
      await settleExpired(other.made);
      expect(other.stored).toEqual([]);
    }
  });
});

describe('a question about a call that policy denies since', () => {
  const put = (more: object = {}) =>
    call({ questions: [{ requestId: 'c#policy' }], decision: { outcome: 'approved' }, ...more } as never);
  const denied = (request: ReportedRequest, step = settles('policy', { reason: 'shut', ruleId: 'r' })) =>
    deniedQuestion(session([], step).made, request);

  test('is listed with policy’s word, for those who were asked', async () => {
    const shown = await denied(
      put({ questions: [{ requestId: 'c#policy', approvers: { roles: ['boss'] }, redact: ['/eur'] }] }),
    );
    expect(shown).toMatchObject({
      request: {
        ...{ requestId: 'c#policy', callId: 'c', kind: 'elicitation', elicitation: 'tool_confirmation' },
        message: 'Run pay? Policy denies it now: shut',
        approval: {
          ...{ title: 'Run pay?', preview: [], previewDigest: '', requestedBy: { id: 'ann' }, remember: [] },
          ...{ approvers: { roles: ['boss'] }, redact: ['/eur'] },
        },
      },
      denied: { by: 'policy', reason: 'shut', ruleId: 'r' },
    });
    for (const inside of ['decision', 'questions']) expect(Object.keys(shown?.request ?? {})).not.toContain(inside);
    const bare = await denied(put(), settles('policy'));
    expect(bare?.denied).toStrictEqual({ by: 'policy' });
    expect(bare?.request.message).toBe('Run pay? Policy denies it now');
    expect(Object.keys(bare?.request.approval ?? {})).not.toContain('approvers');
    expect(Object.keys(bare?.request.approval ?? {})).not.toContain('redact');
  });

  test('is none where it was answered, never put, or is denied by somebody else', async () => {
    const answered = (more: object) => put({ answers: [{ requestId: 'c#policy', action: 'accept', ...more }] });
    expect(await denied(answered({}))).toBeUndefined();
    expect(await denied(answered({ quorum: 2 }))).toBeDefined();
    expect(await denied(answered({ requestId: 'c#rerun' }))).toBeDefined();
    expect(await denied(call())).toBeUndefined();
    expect(await denied(put({ kind: 'elicitation' }))).toBeUndefined();
    expect(await denied(put(), settles('gate'))).toBeUndefined();
    expect(await denied(put(), () => ({ kind: 'leave' }))).toBeUndefined();
  });
});

describe('what is open under an id', () => {
  const asks = (): Step => ({ kind: 'ask', question: question() });
  test('is a call with the newest question about it', async () => {
    const { made } = session([call()], asks);
    expect(await findOpen(made, 'c')).toMatchObject({
      request: { requestId: 'c' },
      question: { requestId: 'c#policy' },
    });
    expect(await findOpen(made, 'c#policy')).toMatchObject({ question: { requestId: 'c#policy' } });
    expect(await findOpen(made, 'c#policy.1')).toEqual({ request: expect.anything(), question: undefined });
    expect(await findOpen(made, 'x')).toBeUndefined();
    const own = session([call({ kind: 'elicitation', requestId: 'q' })], () => ({ kind: 'leave' })).made;
    expect(await findOpen(own, 'q')).toMatchObject({ request: { requestId: 'q' }, question: undefined });
    expect(await findOpen(own, 'c')).toBeUndefined();
  });

  test('is no question while the call is on its way', async () => {
    expect(await questionOf(session([], asks).made, call())).toMatchObject({ requestId: 'c#policy' });
    expect(await questionOf(session([], asks, { isBusy: () => true }).made, call())).toBeUndefined();
    expect(await questionOf(session([], () => ({ kind: 'leave' })).made, call())).toBeUndefined();
  });
});

describe('a turn that a message joins', () => {
  const run = (): Step => ({ kind: 'run' }) as never;
  const hi = { kind: 'message', content: 'hi' } as const;
  const yes = (requestId: string) => ({ kind: 'tool_approval', requestId }) as const;
  const answered = (more: object = {}) =>
    call({ answers: [{ requestId: 'c#policy', action: 'accept' }], ...more } as never);

  test('is looked for where somebody has answered, or may have', async () => {
    const { made } = session([answered()], run);
    expect(hostedCallsToJoin(made, [yes('c')])).toBeUndefined();
    expect(hostedCallsToJoin(made, [hi])).toBeUndefined();
    expect(await hostedCallsToJoin(made, [hi, yes('c#policy')])).toEqual(['c']);
    const kept = (hasOpen: boolean) => session([answered()], run, { inner: { [pipe]: () => {}, hasOpen } }).made;
    expect(hostedCallsToJoin(kept(false), [hi])).toBeUndefined();
    expect(await hostedCallsToJoin(kept(true), [hi])).toEqual(['c']);
  });

  test('is that of the calls that are answered, and hold', async () => {
    const joined = (open: ReportedRequest[], step: (request: ReportedRequest) => Step, ...inputs: object[]) =>
      hostedCallsToJoin(session(open, step).made, [hi, ...(inputs as never[]), { kind: 'continue' }]);
    expect(await joined([answered()], run)).toEqual(['c']);
    expect(await joined([answered()], settles('user:bob'))).toEqual(['c']);
    expect(await joined([answered()], () => ({ kind: 'leave' }))).toEqual([]);
    expect(await joined([call({ answers: [{ requestId: 'c#policy', quorum: 2 }] } as never)], run)).toEqual([]);
    expect(await joined([call()], run)).toEqual([]);
    expect(await joined([answered({ detached: true })], run)).toEqual([]);
    expect(await joined([answered({ callId: undefined })], run)).toEqual([]);
    expect(await joined([call()], run, yes('c'))).toEqual(['c']);
    expect(await joined([call()], run, yes('d#policy'))).toEqual([]);
    const elicited = { kind: 'elicitation_response', requestId: 'c', response: { action: 'accept' } };
    expect(await joined([call()], run, elicited)).toEqual(['c']);
    expect(await joined([call({ requestId: 'q', callId: 'k' })], run, yes('q'))).toEqual(['k']);
    expect(await joined([call()], run, { kind: 'tool_result', requestId: 'c', result: {} })).toEqual([]);
  });

  test('is that of a sub-agent’s call whose question is answered', async () => {
    const agent = { session: async () => undefined, open: async () => [question({ requestId: 'd#policy' })] };
    const calling = (more: object) => session([call()], run, { subagents: { of: () => ({ ...agent, ...more }) } }).made;
    const of = (id: string) => hostedCallsToJoin(calling({}), [hi, yes(id)]);
    expect([await of('d#policy'), await of('e#policy')]).toEqual([['c'], []]);
    // What was answered within it before, by whoever looks at all sessions, counts as well.
    const joinedAfter = (calls: string[]) => {
      const child = { answeredCalls: async () => calls };
      return hostedCallsToJoin(calling({ session: async () => child }), [hi, yes('e#policy')]);
    };
    expect([await joinedAfter(['d']), await joinedAfter([])]).toEqual([['c'], []]);
  });
});

describe('a session that goes on by itself', () => {
  const live = (reason: string) => ({ ended: Promise.resolve(reason) });
  const late = () => call({ detached: true, answers: [{ requestId: 'c#policy', action: 'accept' }] } as never);
  function resuming(given: Record<string, unknown> = {}, open: ReportedRequest[] = []) {
    const streams: unknown[][] = [];
    const { made } = session(open, () => ({ kind: 'leave' }), {
      stream: (...said: unknown[]) => {
        streams.push(said);
        const failure = (given.failures as Error[] | undefined)?.shift();
        return (async function* () {
          if (failure) throw failure;
          yield 'one';
        })();
      },
      ...given,
    });
    return { made, streams };
  }

  test('where nothing runs, or what ran has paused', async () => {
    for (const [given, open, streams] of [
      [{}, [], 1],
      [{ liveRun: live('input_required') }, [], 1],
      [{ liveRun: live('completed') }, [], 0],
      [{ liveRun: live('completed') }, [late()], 1],
      [{ liveRun: live('completed') }, [call()], 0],
    ] as const) {
      const made = resuming(given, [...open]);
      await resume(made.made);
      expect(made.streams).toEqual(Array(streams).fill([{ kind: 'continue' }, { streaming: false }]));
    }
  });

  test('where watchers see it, if there are any', async () => {
    const shown: unknown[] = [];
    const made = resuming({ frame: { shared: { show: async (input: unknown) => void shown.push(input) } } });
    await resume(made.made);
    expect([shown, made.streams]).toEqual([[{ kind: 'continue' }], []]);
  });

  test('unless another process runs it; calls that have outlived their turn are waited for', async () => {
    const busy = resuming({ failures: [fault('E_SESSION_BUSY')] });
    await expect(resume(busy.made)).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    const here = resuming({ failures: [fault('E_SESSION_BUSY')], frame: { running: () => ({}) } }, [late()]);
    await expect(resume(here.made)).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    const lost = resuming({ failures: [fault('E_STORE')] }, [late()]);
    await expect(resume(lost.made)).rejects.toMatchObject({ code: 'E_STORE' });
    const waits = resuming({ failures: [fault('E_SESSION_BUSY')] }, [late()]);
    await resume(waits.made);
    expect(waits.streams).toHaveLength(2);
  });

  test('looks again once whoever ran it has let go', async () => {
    const again = resuming({ failures: [fault('E_SESSION_BUSY')], standing: async () => ({ isOver: false }) });
    await goOn(again.made);
    expect(again.streams).toHaveLength(2);
    const over = resuming({ failures: [fault('E_SESSION_BUSY')], standing: async () => ({ isOver: true }) });
    await goOn(over.made);
    const closed = resuming({ failures: [fault('E_SESSION_BUSY')], isClosed: true });
    await goOn(closed.made);
    const turned = resuming({ failures: [fault('E_TURN_COMPLETED')] });
    await goOn(turned.made);
    expect([over.streams.length, closed.streams.length, turned.streams.length]).toEqual([1, 1, 1]);
    await expect(goOn(resuming({ failures: [fault('E_STORE')] }).made)).rejects.toMatchObject({ code: 'E_STORE' });
    await expect(goOn(resuming({ failures: [new Error('odd')] }).made)).rejects.toThrow('odd');
  });

  test.each<[string, ReportedRequest[], () => Step, object, boolean]>([
    ['nothing is open, and it is not over', [], settles('x'), {}, true],
    ['nothing is open, and it is over', [], settles('x'), { standing: async () => ({ isOver: true }) }, false],
    ['it runs here', [call()], settles('x'), { liveRun: {} }, false],
    ['a call may run', [call()], () => ({ kind: 'run' }) as never, {}, true],
    ['a call is settled', [call()], settles('x'), {}, true],
    ['a call waits for a person', [call()], () => ({ kind: 'leave' }), {}, false],
    ['a question waits', [question()], settles('x'), {}, false],
    ['an answered question is a call', [call({ approval: {} } as never)], settles('x'), {}, false],
    ['one of two may run', [question(), call()], settles('x'), {}, true],
    ['it is another agent’s', [call({ agentPath: ['else'] })], settles('x'), {}, false],
  ])('is unfinished or not: %s', async (_, open, step, more, expected) => {
    expect(await isUnfinished(session(open, step, more as never).made)).toBe(expected);
  });
});

describe('sessions that a crash has cut off', () => {
  const unfinished = (more: object = {}) => ({
    ...{ descriptor: { name: 'bot' }, pending: async () => [], standing: async () => ({ isOver: false }) },
    ...more,
  });

  test('are those that nobody runs and that can go on, each once', async () => {
    const turns = [
      { ...place('a'), running: false },
      { ...place('a'), running: false },
      { ...place('b'), running: true },
      { ...place('c'), running: false },
      { ...place('f'), agent: 'else', running: false },
    ];
    const open = [place('d'), place('a'), place('f'), place('e')];
    const looks = {
      ...{ a: unfinished(), b: unfinished(), c: unfinished({ liveRun: {} }), d: unfinished(), f: unfinished() },
      e: fault('E_SESSION_NOT_FOUND'),
    };
    const { host, borrowed } = hostOf(open, looks, { openTurns: async () => turns });
    expect((await findUnfinished(host)).map(({ agent, sessionId }) => `${agent}/${sessionId}`)).toEqual([
      ...['bot/a', 'else/f', 'bot/d'],
    ]);
    expect(borrowed).not.toContain('bot/ann/b');
    expect(borrowed.filter((name) => name === 'bot/ann/a')).toHaveLength(1);
  });

  test('go on some at a time; one that cannot is told of', async () => {
    let now = 0;
    let most = 0;
    const gates: (() => void)[] = [];
    const stream = () =>
      (async function* () {
        most = Math.max(most, ++now);
        await new Promise<void>((resolve) => gates.push(resolve));
        now--;
        yield 1;
      })();
    const frame = { shared: {}, options: {}, running: () => undefined };
    const looks: Record<string, object> = {
      bad: {
        stream: () => {
          throw fault('E_STORE');
        },
        frame,
      },
    };
    const places = Array.from({ length: 10 }, (_, n) => place(`s${n}`));
    for (const { sessionId } of places) looks[sessionId] = { stream, frame };
    const { host, warnings, count } = hostOf([], looks);
    const { sessions, done } = recoverSessions(host, [place('bad'), ...places]);
    expect(sessions).toHaveLength(11);
    let isDone = false;
    void done.then(() => {
      isDone = true;
    });
    while (!isDone) {
      await settle();
      gates.shift()?.();
    }
    expect([most, count.open, warnings]).toEqual([8, 0, [['session bad could not be resumed', fault('E_STORE')]]]);
    await recoverSessions(host, []).done;
  });
});

describe('an end of a part of a session', () => {
  const leave = (): Step => ({ kind: 'leave' });
  function running() {
    const told: unknown[] = [];
    const calls = {
      withhold: (id: string) => told.push(`withhold ${id}`),
      giveBack: (id: string) => told.push(`back ${id}`),
    };
    return { told, run: { calls, dropCall: (...said: unknown[]) => told.push(['drop', ...said]) } as never };
  }

  test('is a sub-agent’s where the part is below one', async () => {
    const abort = vi.fn(async () => {});
    const find = async ({ requestId, threadId }: { requestId?: string; threadId?: string }) =>
      (requestId ?? threadId) === undefined ? undefined : { abort };
    const inner = { abort: vi.fn(async () => {}) };
    const { made } = session([], leave, { subagents: { find }, inner });
    await abortPart(made, undefined, { requestId: 'c' });
    await abortPart(made, undefined, { threadId: 't' });
    expect([abort.mock.calls.length, inner.abort.mock.calls.length]).toEqual([2, 0]);
    expect(made.frame.wakeAll).toHaveBeenCalledTimes(2);
    await abortPart(made, undefined, { reason: 'r' });
    expect([abort.mock.calls.length, inner.abort.mock.calls.length]).toEqual([2, 1]);
  });

  test('of one call keeps it from being started meanwhile, and ends who thinks about it', async () => {
    const { told, run } = running();
    const open = [[call(), call({ callId: 'd', requestId: 'd' })], [call({ callId: 'd', requestId: 'd' })]];
    const { made } = session([], leave, { inner: { pending: async () => open.shift() ?? [] } });
    await abortPart(made, run, { requestId: 'c#policy', reason: 'why' });
    expect(told).toEqual(['withhold c', ['drop', 'c', 'why'], ['drop', 'c', 'why']]);
    expect(made.subagents?.end).not.toHaveBeenCalled();
    expect(made.frame.wakeAll).toHaveBeenCalledTimes(1);
  });

  test('that is refused gives back what it kept', async () => {
    const { told, run } = running();
    const abort = () => Promise.reject(new Error('lost'));
    const within = call({ callId: 'd', requestId: 'd', path: 'bot~c/x' });
    const { made } = session([call(), within], leave, { inner: { abort } });
    await expect(abortPart(made, run, { requestId: 'c' })).rejects.toThrow('lost');
    expect(told).toEqual(['withhold c', 'withhold d', 'back c', 'back d']);
    await expect(abortPart(made, undefined, { requestId: 'c' })).rejects.toThrow('lost');
  });

  test('of a thread keeps its calls, and gives back those that are open still', async () => {
    const { told, run } = running();
    const of = (id: string) => call({ callId: id, requestId: id, path: `bot/${id}`, threadId: 't' });
    const open = [[of('a'), of('b')], [of('b')]];
    const { made } = session([], leave, { inner: { pending: async () => open.shift() ?? [] } });
    await abortPart(made, run, { threadId: 't' });
    expect(told).toEqual(['withhold a', 'withhold b', ['drop', 'a', undefined], 'back b']);
  });

  test('where nothing runs ends what was called, and forgets what is closed', async () => {
    const open = [[call()], [call({ callId: 'd' })]];
    const { made, judge } = session([], leave, { inner: { pending: async () => open.shift() ?? [] } });
    await abortPart(made, undefined, { requestId: 'c', reason: 'why' });
    expect(made.subagents?.end).toHaveBeenCalledWith('why', [expect.objectContaining({ callId: 'c' })]);
    expect(judge.retain).toHaveBeenCalledWith([expect.objectContaining({ callId: 'd' })]);
    expect(made.frame.rested).toHaveBeenCalledTimes(1);
    const bare = session([call()], leave);
    await abortPart(bare.made, undefined, { threadId: 't' });
    expect(bare.made.subagents?.end).toHaveBeenCalledWith('aborted', expect.anything());
  });

  test('of all where nothing runs ends sub-agents first, while nobody else runs it', async () => {
    const all = async (take: (() => Promise<unknown>) | undefined, reason?: string) => {
      const told: unknown[] = [];
      const inner = {
        abort: async (target: unknown) => void told.push(['abort', target]),
        ...(take ? { [hold]: take } : {}),
      };
      const subagents = {
        find: async () => undefined,
        end: async (why: string, before?: object[]) => void (before ? undefined : told.push(['all', why])),
      };
      const { made } = session([], leave, {
        inner,
        subagents,
        frame: { hasSubagents: true, wakeAll: () => {}, rested: () => {} },
      });
      await abortPart(made, undefined, reason === undefined ? {} : { reason }).catch((error: Error) =>
        told.push(error.message),
      );
      return told;
    };
    expect(await all(undefined)).toEqual([
      ['all', 'aborted'],
      ['abort', {}],
    ]);
    const back = vi.fn(async () => {});
    expect(await all(async () => back, 'why')).toEqual([
      ['all', 'why'],
      ['abort', { reason: 'why' }],
    ]);
    expect(back).toHaveBeenCalledTimes(1);
    expect(await all(async () => undefined)).toHaveLength(2);
    expect(await all(() => Promise.reject(fault('E_SESSION_BUSY')))).toEqual([['abort', {}]]);
    expect(await all(() => Promise.reject(fault('E_STORE')))).toEqual(['E_STORE']);
    expect(await all(() => Promise.reject(new Error('odd')))).toEqual(['odd']);
  });
});

describe('calls that outlive a turn', () => {
  const end = (pending?: ReportedRequest[]) => ({ data: pending ? { pending } : {} }) as StreamEndEvent;
  const result = (requestId: string, more: object = {}) => ({
    kind: 'tool_result',
    requestId,
    result: { content: [] },
    ...more,
  });
  function outliving(results: object[], given: object = {}, interrupted: object[] = []) {
    const told: unknown[] = [];
    const stored: unknown[][] = [];
    const calls = {
      running: 0,
      recordAlone: () => told.push('alone'),
      begin: (_: unknown, __: unknown, runs: (id: string) => boolean) => told.push(['c', 'd'].map(runs)),
      beginNone: async () => void told.push('none'),
      abortClosed: () => told.push('closed'),
      takeResults: () => results,
      interrupted: () => interrupted,
      hasResults: false,
    };
    const long = hosted(tool('ship', () => 1, { annotations: { longRunning: true } }));
    const made = fakeRun({
      inner: { respond: async (...said: unknown[]) => void stored.push(said), ...given },
      frame: { toolOf: ({ name }: ReportedRequest) => (name === 'ship' ? long : undefined) },
      run: { calls },
    });
    return { ...made, told, stored };
  }

  test('end, and what they came to is stored, for those that are wanted', async () => {
    const decision = { outcome: 'approved', by: 'policy' };
    const { run, told, stored } = outliving(
      [result('c', { decision }), result('gone'), result('d', { interim: true })],
      {},
      [result('d')],
    );
    await runOutliving(run, end([call(), call({ callId: 'd', name: 'ship' })]), []);
    expect(told).toEqual(['alone', [true, false], 'none', 'closed']);
    expect(stored).toStrictEqual([
      ['c', { kind: 'result', result: { content: [] }, decision }],
      ['d', { kind: 'result', result: { content: [] } }],
    ]);
    const none = outliving([result('c')]);
    await runOutliving(none.run, end(), []);
    expect(none.stored).toEqual([]);
  });

  test('may have been closed by others; another fault is one', async () => {
    const closed = new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', 'x');
    await runOutliving(outliving([result('c')], { respond: () => Promise.reject(closed) }).run, end([call()]), []);
    for (const error of [fault('E_STORE'), new Error('E_STORE')]) {
      const { run } = outliving([result('c')], { respond: () => Promise.reject(error) });
      await expect(runOutliving(run, end([call()]), [])).rejects.toThrow('E_STORE');
    }
  });

  test('run first, or are settled, in the next turn', async () => {
    const wait = door();
    const steps: Record<string, Step> = {
      a: { kind: 'settle', result: { content: [] }, decision: { outcome: 'denied', by: 'policy' } },
      b: { kind: 'leave' },
    };
    const open = ['a', 'b'].map((id) => call({ callId: id, requestId: id, detached: true } as never));
    const judged: string[] = [];
    const make = (pending: ReportedRequest[]) =>
      fakeRun({
        inner: { pending: async () => pending },
        frame: {
          toolOf: () => undefined,
          bounded: async (_: string, given: object) => ({ ...given, isBounded: true }),
          judge: {
            step: async (request: ReportedRequest) => {
              judged.push(request.requestId);
              return steps[request.requestId];
            },
          },
        },
        run: {
          calls: {
            running: 0,
            hasResults: false,
            takeResults: () => [],
            interrupted: () => [result('i')],
            endings: async () => {},
          },
        },
      });
    const made = make([...open, call(), call({ kind: 'elicitation', detached: true } as never)]);
    expect(await runOutlived(made.run)).toEqual([
      ...[
        { ...result('a', { decision: { outcome: 'denied', by: 'policy' } }), result: { content: [], isBounded: true } },
      ],
    ]);
    expect(judged).toEqual(['a', 'b']);
    expect(await runOutlived(make([]).run)).toBeUndefined();
    const aborted = make([]);
    aborted.abort();
    expect(await runOutlived(aborted.run)).toEqual([result('i')]);
    wait.open();
  });
});
