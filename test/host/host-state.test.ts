import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ApprovalQuestion, PutQuestion, ReportedRequest, SessionInput } from '../../src/contracts/index.ts';
import { changedSinceShown, heldTo, hidden, putAs, putByPolicy, toPut } from '../../src/gate/questions/index.ts';
import { Confirmations } from '../../src/host/questions/confirmation.ts';
import { Repeats } from '../../src/host/run/repeats.ts';
import { BusyClock, startClock } from '../../src/host/terms/busy-clock.ts';
import { jsonDigest, previewDigest } from '../../src/host/tools/digest.ts';

describe('time that a stream is busy', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('does not go on while it is paused', () => {
    const fired = vi.fn();
    const clock = new BusyClock(1000, fired);
    vi.advanceTimersByTime(600);
    clock.pause();
    clock.pause();
    vi.advanceTimersByTime(10_000);
    expect([fired.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
    clock.resume();
    clock.resume();
    vi.advanceTimersByTime(399);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test('may be longer than a timer reaches', () => {
    const fired = vi.fn();
    const days = 24 * 60 * 60_000;
    new BusyClock(30 * days, fired);
    vi.advanceTimersByTime(25 * days);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(5 * days);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test('is told in minutes', () => {
    const fired = vi.fn();
    expect(startClock(undefined, fired)).toBeUndefined();
    startClock(2, fired);
    vi.advanceTimersByTime(119_999);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledWith(
      expect.objectContaining({ code: 'E_MAX_TIME', message: expect.stringContaining('its 2 minutes') }),
    );
  });
});

describe('questions of handlers', () => {
  const confirmation = { asked: {}, args: {}, first: 0, attempts: 0 };
  test('are kept by session and call, and counted', () => {
    const kept = new Confirmations();
    kept.set('s', 'c1', confirmation);
    kept.set('s', 'c2', confirmation);
    kept.set('t', 'c1', confirmation);
    expect([kept.size, kept.has('s'), kept.has('u'), kept.get('s', 'c1'), kept.get('t', 'c2')]).toEqual([
      3,
      true,
      false,
      confirmation,
      undefined,
    ]);
    kept.delete('s', 'c1');
    kept.delete('s', 'c1');
    kept.delete('u', 'c1');
    expect([kept.size, kept.has('s')]).toEqual([2, true]);
    kept.delete('s', 'c2');
    expect([kept.size, kept.has('s')]).toEqual([1, false]);
  });

  test('of calls that are closed go; those of a session that is closed stay, of the newest sessions', () => {
    const kept = new Confirmations();
    for (const callId of ['c1', 'c2', 'c3']) kept.set('s', callId, confirmation);
    kept.retain('s', new Set(['c2', undefined]));
    expect([kept.get('s', 'c1'), kept.get('s', 'c2'), kept.size]).toEqual([undefined, confirmation, 1]);
    kept.close('s');
    kept.close('unknown');
    expect([kept.get('s', 'c2'), kept.size]).toEqual([confirmation, 1]);
    for (let n = 0; n < 1000; n++) {
      kept.set(`n${n}`, 'c', confirmation);
      kept.close(`n${n}`);
    }
    expect([kept.has('s'), kept.has('n0'), kept.size]).toEqual([false, true, 1000]);
    kept.set('n0', 'c', confirmation);
    kept.forget('n0');
    kept.forget('n1');
    expect([kept.has('n0'), kept.has('n1'), kept.size]).toEqual([false, false, 998]);
  });
});

describe('what a question was put with', () => {
  const put = (more: Partial<PutQuestion> = {}): PutQuestion => ({ requestId: 'c#policy', ...more });
  test('holds it to whichever is stricter', () => {
    const question = { args: {}, reason: 'now', approvers: { roles: ['a'] }, redact: ['/a'], expiresAt: 2000 };
    expect(heldTo(question, undefined)).toBe(question);
    const before = put({
      reason: 'then',
      ruleId: 'r',
      approvers: { quorum: 2 },
      redact: ['/b'],
      expiresAt: '1970-01-01T00:00:01Z',
    });
    expect(heldTo(question, before)).toEqual({
      args: {},
      reason: 'now',
      ruleId: 'r',
      approvers: { roles: ['a'], quorum: 2 },
      redact: ['/b', '/a'],
      expiresAt: 1000,
    });
    expect(heldTo(question, before, false).expiresAt).toBe(2000);
    expect(heldTo({ args: {} }, put())).toEqual({ args: {} });
    expect(heldTo({ args: {} }, put({ reason: 'then' }))).toEqual({ args: {}, reason: 'then' });
  });

  test('is the newest of its id, or of policy', () => {
    const questions = [put({ reason: '1' }), put({ reason: '2' }), put({ requestId: 'c#rerun', reason: '3' })];
    const request = { questions } as ReportedRequest;
    expect([putAs(request, 'c#policy')?.reason, putAs(request, 'c#rerun')?.reason, putAs(request, 'x')]).toEqual([
      '2',
      '3',
      undefined,
    ]);
    expect([putByPolicy(request)?.reason, putByPolicy({} as ReportedRequest)]).toEqual(['2', undefined]);
  });

  test('is kept once', () => {
    const asked = {
      requestId: 'c#policy',
      approval: { reason: 'why', ruleId: 'r', approvers: { quorum: 2 }, redact: ['/a'] },
      expiresAt: '2026-01-01T00:00:00Z',
    } as unknown as ApprovalQuestion;
    const kept = toPut(asked, {} as ReportedRequest);
    expect(kept).toEqual({ requestId: 'c#policy', ...asked.approval, expiresAt: asked.expiresAt });
    expect(toPut(asked, { questions: [kept] } as ReportedRequest)).toBeUndefined();
    expect(
      toPut({ ...asked, expiresAt: undefined } as never, { questions: [kept] } as ReportedRequest),
    ).not.toHaveProperty('expiresAt');
    expect(toPut({ requestId: 'q', approval: {} } as never, {} as ReportedRequest)).toStrictEqual({ requestId: 'q' });
  });

  test('says what was shown with it: told of what is shown later, as long as it is not another too often', () => {
    const asked = (previewDigest: string, ...scopes: string[]) =>
      ({ requestId: 'q', approval: { previewDigest, remember: scopes.map((scope) => ({ scope })) } }) as never;
    const first = put({ requestId: 'q', digest: 'd', remember: ['session', 'user'] });
    expect(toPut(asked('d', 'session', 'user'), {} as ReportedRequest)).toStrictEqual(first);
    const shown = (...questions: PutQuestion[]) => ({ questions }) as ReportedRequest;
    expect(toPut(asked('e'), shown(first))).toStrictEqual(put({ requestId: 'q', digest: 'e' }));
    expect(toPut(asked('e'), shown(...Array(16).fill(first)))).toBeUndefined();
    expect(changedSinceShown(asked('d', 'user'), shown())).toEqual({ call: false, remember: false });
    expect(changedSinceShown(asked('d', 'user'), shown(put({ requestId: 'q' })))).toMatchObject({ remember: false });
    expect(changedSinceShown(asked('d', 'user'), shown(first))).toEqual({ call: false, remember: true });
    const second = put({ requestId: 'q', digest: 'e', remember: ['user'] });
    expect(changedSinceShown(asked('e', 'user'), shown(first, second))).toEqual({ call: false, remember: true });
    expect(changedSinceShown(asked('d', 'user'), shown(second))).toEqual({ call: true, remember: false });
  });

  test('hides each place once', () => {
    expect(hidden(['/a'], undefined, ['/b', '/a'])).toEqual(['/a', '/b']);
    expect(hidden(undefined)).toEqual([]);
  });
});

describe('an executor that goes on listing what it was told of', () => {
  const told = (requestId: string): SessionInput[] => [{ kind: 'tool_result', requestId, result: { content: [] } }];
  const open = (requestId: string, handledBy = 'host') => [{ requestId, handledBy }] as ReportedRequest[];
  test('is heard seven times, and no more', () => {
    const repeats = new Repeats();
    for (let n = 0; n < 7; n++) void repeats.took(told('c'), open('c'));
    for (let n = 0; n < 20; n++) void repeats.took(told('d'), open('other'));
    for (let n = 0; n < 20; n++) void repeats.took([{ kind: 'message', content: 'hi' }], open('c'));
    for (let n = 0; n < 20; n++) void repeats.took([{ kind: 'continue' }], open('c'));
    expect(() => repeats.took(told('c'), open('c'))).toThrow(
      expect.objectContaining({ code: 'E_EXECUTOR_CONTRADICTION', details: { requestId: 'c' } }),
    );
  });

  test('may list a call that its host runs until that has its result', () => {
    const repeats = new Repeats();
    const approval: SessionInput[] = [{ kind: 'tool_approval', requestId: 'c' }];
    for (let n = 0; n < 20; n++) void repeats.took(approval, open('c'));
    for (let n = 0; n < 7; n++) void repeats.took(approval, open('c', 'agent'));
    expect(() => repeats.took(approval, open('c', 'agent'))).toThrow('correct the executor');
  });

  test('others are let in after each sixty-four streams', async () => {
    const repeats = new Repeats();
    const waits = Array.from({ length: 128 }, () => repeats.took([], []));
    expect(waits.flatMap((wait, index) => (wait ? [index] : []))).toEqual([63, 127]);
    expect(await waits[63]).toBeUndefined();
  });
});

test('digests do not hang on the order of members, and tell apart what is shown', () => {
  expect(jsonDigest({ a: 1, b: 2 })).toBe(jsonDigest({ b: 2, a: 1 }));
  expect(jsonDigest({ a: 1 })).not.toBe(jsonDigest({ a: 2 }));
  const tool = { name: 't' } as never;
  const shown = [{ type: 'text' as const, text: 'x' }];
  const all = [
    previewDigest({ tool }, {}, []),
    previewDigest({ tool, digest: 'd' }, {}, []),
    previewDigest({ tool }, { a: 1 }, []),
    previewDigest({ tool }, {}, shown),
    previewDigest({ tool: { name: 'u' } as never }, {}, []),
  ];
  expect(new Set(all).size).toBe(5);
  expect(previewDigest({ tool, digest: '' }, {}, [])).toBe(all[0]);
});
