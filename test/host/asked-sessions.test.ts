import { afterEach, describe, expect, test, vi } from 'vitest';
import { CoxswainError } from '../../src/contracts/index.ts';
import { AskedSessions, Stands } from '../../src/host/approvals/asked-sessions.ts';
import {
  byAgentName,
  callersOf,
  isAt,
  prefixesOf,
  withoutCalled,
  withoutSubagents,
} from '../../src/host/approvals/open-places.ts';
import type { ApprovalHost, OpenApproval, WaitingSession } from '../../src/host/approvals/open-sessions.ts';
import { door, refusal } from './kit.ts';

afterEach(() => void vi.useRealTimers());

/** A row of the index, some of it not known. */
type Row = { [K in keyof WaitingSession]?: WaitingSession[K] | undefined };

const ann = { id: 'ann' };
const ben = { id: 'ben' };
const place = (sessionId = 's', more: Row = {}) =>
  ({
    ...{ agent: 'bot', userId: 'ann', sessionId, since: 1, calls: ['c'], lastSeq: 4, tools: ['pay'] },
    ...more,
  }) as WaitingSession;
const stands = (...open: WaitingSession[]) => new Stands(open, new Set(['expert']));
const asks = (requestId: string, approvers?: object) =>
  ({
    ...{ agent: 'bot', userId: 'ann' },
    request: { requestId, sessionId: 's', ...(approvers ? { approval: { approvers } } : {}) },
  }) as unknown as OpenApproval;

describe('MUT-H29 where the index stands', () => {
  const standOf = (open: WaitingSession[], at = place()) => stands(...open).of(at);
  test('is another place once something in a session, or below it, may be otherwise', () => {
    const before = standOf([place()]);
    const others: Row[] = [{ agent: 'else' }, { since: 2 }, { lastSeq: 5 }];
    for (const more of others) expect(standOf([place('s', more)])).not.toBe(before);
    expect(standOf([place(), place('s.x')])).not.toBe(before);
    expect(standOf([place(), place('s', { userId: 'ben' }), place('t'), place('sx')])).toBe(before);
    // Where a log stands says all that its open calls do; where that is not known they say it.
    expect(standOf([place('s', { calls: ['d'] })])).toBe(before);
    const bare = (calls: string[]) => standOf([place('s', { calls, lastSeq: undefined })]);
    expect(bare(['c'])).not.toBe(bare(['d']));
    expect(standOf([])).toBe('[]');
    expect(standOf([place('s.x')])).not.toBe('[]');
  });

  test('says all of it where each log’s place is known and nothing may have been called elsewhere', () => {
    const all = (...open: WaitingSession[]) => stands(...open).tellAll(place());
    expect([all(place()), all(place('s', { lastSeq: undefined })), all(place(), place('s.x'))]).toEqual([
      ...[true, false, true],
    ]);
    expect([all(place(), place('s.x', { lastSeq: undefined })), all()]).toEqual([false, true]);
    expect([all(place('s', { tools: ['pay', 'expert'] })), all(place('s', { tools: undefined }))]).toEqual([
      ...[false, false],
    ]);
    expect(new Stands([place('s', { tools: undefined })], new Set()).tellAll(place())).toBe(true);
  });
});

describe('MUT-H30 what waiting sessions are known to ask', () => {
  const at = (sessionId = 's', more: Row = {}) => {
    const one = place(sessionId, more);
    return { one, stand: stands(one) };
  };
  test('is not known before it was read, nor of another stand or another user', async () => {
    const asked = new AskedSessions(1_000);
    const { one, stand } = at();
    const known = (where = stand, of = one) => [asked.mayConcern(of, where, ben), asked.mayAsk(of, where, 'q')];
    expect([known(), asked.isUnread(one, stand)]).toEqual([[true, true], false]);
    await asked.read(one, stand, 0, async () => [asks('p')]);
    expect([known(), asked.isUnread(one, stand)]).toEqual([[false, false], false]);
    expect([asked.mayConcern(one, stand, ann), asked.mayAsk(one, stand, 'p')]).toEqual([true, true]);
    const later = at('s', { lastSeq: 5 });
    expect([known(later.stand), known(stand, { ...one, userId: 'ben' })]).toEqual([
      [true, true],
      [true, true],
    ]);
    asked.forget('ben');
    expect(known()).toEqual([false, false]);
    asked.forget('ann');
    expect(known()).toEqual([true, true]);
  });

  test('is read again for thirty seconds no more, or for as long as the poll where the index says not all', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const asked = new AskedSessions(1_000);
    const whole = at();
    const partly = at('t', { lastSeq: undefined });
    const broken = at('u');
    for (const { one, stand } of [whole, partly]) await asked.read(one, stand, 0, async () => []);
    await refusal(asked.read(broken.one, broken.stand, 0, () => Promise.reject(new Error('broken'))));
    const all = [whole, partly, broken];
    const known = () => all.map(({ one, stand }) => !asked.mayConcern(one, stand, ann));
    expect([known(), all.map(({ one, stand }) => asked.isUnread(one, stand))]).toEqual([
      [true, true, true],
      [false, false, true],
    ]);
    // One that cannot be read may ask anything, for who looks for a question.
    expect(all.map(({ one, stand }) => asked.mayAsk(one, stand, 'q'))).toEqual([false, false, true]);
    vi.advanceTimersByTime(999);
    expect(known()).toEqual([true, true, true]);
    vi.advanceTimersByTime(1);
    expect([known(), asked.isUnread(broken.one, broken.stand)]).toEqual([[true, false, false], false]);
    vi.advanceTimersByTime(28_999);
    expect(known()).toEqual([true, false, false]);
    vi.advanceTimersByTime(1);
    expect(known()).toEqual([false, false, false]);
  });

  test('is read once for all who want it at the same time, and anew where something has moved', async () => {
    const asked = new AskedSessions(1_000);
    const { one, stand } = at();
    const first = door<OpenApproval[]>();
    let reads = 0;
    const read = (found: Promise<OpenApproval[]>, where = stand, since = Number.POSITIVE_INFINITY) =>
      asked.read(one, where, since, () => {
        reads++;
        return found;
      });
    const reading = read(first.opened);
    expect([read(first.opened) === reading, reads]).toEqual([true, 1]);
    const moved = at('s', { lastSeq: 5 });
    await read(Promise.resolve([asks('new')]), moved.stand);
    expect(reads).toBe(2);
    first.open([asks('old')]);
    await reading;
    // What was read before it moved is not what is known.
    expect([asked.mayAsk(one, moved.stand, 'new'), asked.mayAsk(one, moved.stand, 'old')]).toEqual([true, false]);
    expect(asked.mayAsk(one, stand, 'any')).toBe(true);
    await read(Promise.resolve([]));
    await read(Promise.resolve([]));
    expect(reads).toBe(4);
  });

  test('is at hand for whoever lists, as it was read since their list began', async () => {
    const asked = new AskedSessions(1_000);
    const { one, stand } = at();
    let reads = 0;
    const read = (since: number) =>
      asked.read(one, stand, since, async () => {
        reads++;
        return [];
      });
    const [a, b] = [asked.begin(), asked.begin()];
    await read(a.since);
    await read(b.since);
    expect(reads).toBe(1);
    const c = asked.begin();
    await read(c.since);
    expect(reads).toBe(2);
    c.end();
    b.end();
    await read(a.since);
    expect(reads).toBe(2);
    a.end();
    await read(a.since);
    expect(reads).toBe(3);
    // It was asked or answered meanwhile: what is being read is not what holds.
    const slow = door<OpenApproval[]>();
    const old = asked.read(one, stand, 0, () => slow.opened);
    asked.forget('ann');
    await read(0);
    expect(reads).toBe(4);
    slow.open([asks('old')]);
    await old;
    expect(asked.mayAsk(one, stand, 'old')).toBe(false);
  });

  test('goes with the ids of the sessions below it, which are looked up once in a while', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const asked = new AskedSessions(1_000);
    const { one, stand } = at();
    let looks = 0;
    const below = (found: string[] | undefined) =>
      asked.below(one, stand, async () => {
        looks++;
        return found;
      });
    expect([await below(undefined), await below(['x']), looks]).toEqual([undefined, undefined, 1]);
    vi.advanceTimersByTime(1_000);
    expect([await below(['x']), await below(undefined), looks]).toEqual([['x'], ['x'], 2]);
    vi.advanceTimersByTime(30_000);
    expect([await below([]), await below(['x']), looks]).toEqual([[], [], 3]);
  });
});

describe('MUT-H31 a session that another one has called', () => {
  test('has an id that begins with that of its caller, and a dot', () => {
    expect([prefixesOf('a'), prefixesOf('a.b'), prefixesOf('a.b.c'), prefixesOf('.a')]).toEqual([
      ...[[], ['a'], ['a', 'a.b'], ['']],
    ]);
    const all = [place('a'), place('a', { agent: 'else' }), place('a.b'), place('a', { userId: 'ben' })];
    const byName = byAgentName(all);
    expect(callersOf(place('a.b.c'), byName)).toEqual([all[0], all[1], all[2]]);
    expect([callersOf(place('b'), byName), callersOf(place('a'), byName)]).toEqual([[], []]);
  });

  test('is at a place as far as that is named', () => {
    const here = place('a');
    const somewhere = [{}, { agent: 'bot' }, { userId: 'ann' }, { sessionId: 'a' }];
    expect(somewhere.map((one) => isAt(here, one))).toEqual([true, true, true, true]);
    const elsewhere = [{ agent: 'else' }, { userId: 'ben' }, { sessionId: 'b' }, { agent: 'bot', sessionId: 'b' }];
    expect(elsewhere.map((one) => isAt(here, one))).toEqual([false, false, false, false]);
  });

  test('is left out where its caller says so, or cannot be read; each caller is asked once', async () => {
    const all = [place('a'), place('a.x'), place('a.y'), place('b.z'), place('b'), place('c.w')];
    const looked: string[] = [];
    const below = async ({ sessionId }: WaitingSession) => {
      looked.push(sessionId);
      return sessionId === 'b' ? undefined : ['a.x'];
    };
    const left = await withoutCalled(all, all, below);
    expect(left.map(({ sessionId }) => sessionId)).toEqual(['a', 'a.y', 'b', 'c.w']);
    expect(looked).toEqual(['a', 'b']);
    // Of another user nothing is called.
    const others = [place('a', { userId: 'ben' }), place('a.x')];
    expect(await withoutCalled(others, others, below)).toEqual(others);
    const some = await withoutCalled([place('a.x')], all, below);
    expect(some).toEqual([]);
  });

  test('is looked up in its caller; one that was deleted has called nothing', async () => {
    const warnings: string[] = [];
    const host = (found: object | Error) =>
      ({
        warn: (message: string) => void warnings.push(message),
        borrow: async () => {
          if (found instanceof Error) throw found;
          return { session: found, [Symbol.asyncDispose]: async () => {} };
        },
      }) as unknown as ApprovalHost;
    const sessions = async function* () {
      yield { id: 'a.x' };
    };
    const ids = async (found: object | Error) =>
      (await withoutSubagents(host(found), [place('a'), place('a.x')])).map(({ sessionId }) => sessionId);
    expect(await ids({ subagents: { sessions } })).toEqual(['a']);
    expect(await ids({ subagents: undefined })).toEqual(['a', 'a.x']);
    expect(await ids(new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', 'gone'))).toEqual(['a', 'a.x']);
    expect(warnings).toEqual([]);
    expect(await ids(new CoxswainError('UNAVAILABLE', 'E_STORE', 'away'))).toEqual(['a']);
    expect(warnings).toHaveLength(1);
  });
});
