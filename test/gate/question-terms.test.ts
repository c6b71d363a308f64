import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HostAnswer, ReportedRequest } from '../../src/contracts/index.ts';
import {
  approversOf,
  changesAt,
  expiryFromNow,
  expiryOf,
  hasAnswer,
  hasExpired,
  hasVoted,
  isForNamed,
  isVote,
  orApprovers,
  shownTerms,
  untilFirstChange,
  wordsOfApprovers,
  yesesNeeded,
} from '../../src/gate/questions/index.ts';

const approvers = { roles: ['boss'], quorum: 2 };
const request = (more: Partial<ReportedRequest> = {}) => ({ requestId: 'q', ...more }) as ReportedRequest;

describe('who answers, and how many', () => {
  test('is told from the terms whole', () => {
    expect([isForNamed({ approvers: {} }), isForNamed({})]).toEqual([true, false]);
    expect([yesesNeeded({ approvers }), yesesNeeded({ approvers: {} }), yesesNeeded({})]).toEqual([2, 1, 1]);
    expect([approversOf({ approvers }), approversOf({}), approversOf({ approvers: undefined })]).toStrictEqual([
      ...[{ approvers }, {}, {}],
    ]);
  });

  test('is told in words', () => {
    expect(wordsOfApprovers({ approvers: { roles: ['a', 'b'], notRequester: true, quorum: 3 } })).toEqual([
      ...['roles a, b', 'not by the requester', '3 must approve'],
    ]);
    expect(wordsOfApprovers({ approvers: { roles: [] } })).toEqual([]);
    expect(wordsOfApprovers({})).toEqual([]);
  });

  test('is a rule of the host’s where policy names nobody', () => {
    const question = { args: {} };
    expect(orApprovers(question, approvers)).toEqual({ args: {}, approvers });
    expect(orApprovers(question, undefined)).toBe(question);
    const named = { args: {}, approvers: {} };
    expect(orApprovers(named, approvers)).toBe(named);
  });

  test('is shown with what is hidden, and not how long', () => {
    expect(shownTerms({ approvers, redact: ['/a'], expiresIn: 5 })).toStrictEqual({ approvers, redact: ['/a'] });
    expect(shownTerms({ expiresIn: 5 })).toStrictEqual({});
  });
});

describe('an answer', () => {
  test('that does not decide by itself is a vote', () => {
    const votes: [HostAnswer, boolean][] = [
      [{ kind: 'approve', quorum: 2 }, true],
      [{ kind: 'approve' }, false],
      [{ kind: 'deny', quorum: 2 } as HostAnswer, false],
    ];
    for (const [answer, is] of votes) expect(isVote(answer)).toBe(is);
  });

  test('is there, to this question or to any, where it is no vote', () => {
    const answered = request({
      answers: [
        { requestId: 'q', action: 'accept', quorum: 2 },
        { requestId: 'p', action: 'decline' },
      ],
    });
    expect([hasAnswer(answered), hasAnswer(answered, 'q'), hasAnswer(answered, 'p')]).toEqual([true, false, true]);
    expect([hasAnswer(request()), hasAnswer(request({ answers: [] }), 'q')]).toEqual([false, false]);
  });

  test.each<[string, object, boolean]>([
    ['to this question, by them, of what is shown', {}, true],
    ['to another question', { requestId: 'p' }, false],
    ['that is a no', { action: 'decline' }, false],
    ['that decided', { quorum: undefined }, false],
    ['by somebody else', { by: { id: 'bob' } }, false],
    ['by nobody', { by: undefined }, false],
    ['of what was shown before', { digest: 'old' }, false],
  ])('is one’s own vote: %s', (_, more, voted) => {
    const vote = { requestId: 'q', action: 'accept', quorum: 2, by: { id: 'ann' }, digest: 'd', ...more };
    const approval = { previewDigest: 'd' } as ReportedRequest['approval'] & object;
    expect(hasVoted(request({ approval, answers: [vote as never] }), { id: 'ann' })).toBe(voted);
    expect(hasVoted(request({ approval }), { id: 'ann' })).toBe(false);
  });
});

describe('when a question runs out', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 10_000 }));
  afterEach(() => void vi.useRealTimers());

  test('is counted from now where it is asked now, else from when its call was made', () => {
    expect([expiryFromNow({ expiresIn: 5 }), expiryFromNow({}), expiryFromNow({ expiresIn: undefined })]).toEqual([
      ...[15_000, undefined, undefined],
    ]);
    const asked = request({ requestedAt: new Date(2000).toISOString() });
    const of = (terms: object) => expiryOf(asked, { args: {}, ...terms });
    expect([of({}), of({ expiresIn: 3 }), of({ expiresAt: 4000 })]).toEqual([undefined, 5000, 4000]);
    expect([of({ expiresIn: 3, expiresAt: 4000 }), of({ expiresIn: 3, expiresAt: 6000 })]).toEqual([4000, 5000]);
  });

  test('is over in that very millisecond', () => {
    expect([hasExpired(undefined), hasExpired(10_001), hasExpired(10_000), hasExpired(9_999)]).toEqual([
      ...[false, false, true, true],
    ]);
    expect([hasExpired(5, 4), hasExpired(5, 5)]).toEqual([false, true]);
  });

  test('is when it is looked at again, and of many the first', () => {
    const at = (ms: number) => request({ expiresAt: new Date(ms).toISOString() });
    expect([changesAt(at(12_000)), changesAt(request())]).toEqual([12_000, undefined]);
    expect([untilFirstChange([]), untilFirstChange([request()])]).toEqual([undefined, undefined]);
    expect(untilFirstChange([at(13_000), request(), at(12_000)])).toBe(2001);
    expect(untilFirstChange([at(9000)])).toBe(1);
  });
});
