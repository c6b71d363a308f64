import { describe, expect, test } from 'vitest';
import type { ReportedRequest, RequestAnswer, SessionInput } from '../../src/contracts/index.ts';
import { asksNobody, onlyReads, PERMISSION_MODES, traitsOfMode } from '../../src/contracts/index.ts';
import {
  callIdOf,
  isHostQuestion,
  isPolicyQuestion,
  questionId,
  questionNumber,
} from '../../src/contracts/values/question-id.ts';
import { approvalCursor, byAge, isBefore, startOf, wasShown } from '../../src/host/approvals/approval-pages.ts';
import { byAgentName, callersOf, isAt } from '../../src/host/approvals/open-places.ts';
import { callsWithin } from '../../src/host/hosted/calls-within.ts';
import { answerOf, fromElicitation, inputOf } from '../../src/host/questions/answer-forms.ts';
import { faultOfPrincipal } from '../../src/host/terms/principal.ts';
import { isTighter, stricterMode, strictnessOf } from '../../src/host/terms/stricter-mode.ts';

describe('ids of questions', () => {
  test.each<[string, string, boolean, boolean, number]>([
    ['c1', 'c1', false, false, 0],
    ['c1#policy', 'c1', true, true, 0],
    ['c1#policy.3', 'c1', true, true, 3],
    ['c1#rerun', 'c1', true, false, 0],
    ['c1#rerun.12', 'c1', true, false, 12],
    ['c1#2', 'c1', false, false, 0],
    ['a#b#policy.1', 'a#b', true, true, 1],
    ['c1#policy.x', 'c1', false, false, 0],
    ['c1#policyx', 'c1', false, false, 0],
    ['#policy', '', true, true, 0],
  ])('%s is about call %s', (id, callId, isHosts, isPolicys, number) => {
    expect([callIdOf(id), isHostQuestion(id), isPolicyQuestion(id), questionNumber(id)]).toEqual([
      callId,
      isHosts,
      isPolicys,
      number,
    ]);
  });

  test('are made as they are read', () => {
    expect([questionId('c', 'policy', 0), questionId('c', 'rerun', 2)]).toEqual(['c#policy', 'c#rerun.2']);
  });
});

describe('permission modes', () => {
  test('from loose to strict', () => {
    const modes = ['autonomous', 'auto_edit', 'default', 'dont_ask', 'plan'];
    expect(modes.map(strictnessOf)).toEqual([0, 1, 2, 3, 4]);
    const unknown = ['', 'toString', 'other'];
    expect(unknown.map(strictnessOf)).toEqual([2, 2, 2]);
    expect([...unknown, undefined].map(traitsOfMode)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('one alone only reads', () => {
    expect([...PERMISSION_MODES, 'other', undefined].filter(onlyReads)).toEqual(['plan']);
  });

  test('one alone asks nobody', () => {
    expect([...PERMISSION_MODES, 'other', undefined].filter(asksNobody)).toEqual(['dont_ask']);
  });

  test.each([
    [undefined, undefined, undefined],
    ['plan', undefined, 'plan'],
    [undefined, 'plan', 'plan'],
    ['plan', 'default', 'plan'],
    ['autonomous', 'plan', 'plan'],
    ['default', 'other', 'default'],
    ['other', 'default', 'other'],
    ['auto_edit', 'other', 'other'],
    ['other', 'dont_ask', 'dont_ask'],
  ])('of %s and %s the stricter is %s', (a, b, stricter) => {
    expect(stricterMode(a as 'plan', b as 'plan')).toBe(stricter);
  });

  test.each([
    [undefined, undefined, false],
    ['default', undefined, false],
    ['plan', undefined, true],
    ['auto_edit', 'autonomous', true],
    ['auto_edit', 'auto_edit', false],
    ['default', 'plan', false],
    ['dont_ask', 'plan', true],
    ['other', 'auto_edit', true],
    ['other', 'default', false],
    ['default', 'other', false],
  ])('%s under a host of %s takes something away: %s', (mode, hosts, expected) => {
    expect(isTighter(mode as 'plan', hosts as 'plan')).toBe(expected);
  });
});

test.each<[unknown, string | undefined]>([
  [{ id: 'ann' }, undefined],
  [{ id: 'ann', roles: [] }, undefined],
  [{ id: 'ann', roles: ['a'], more: 1 }, undefined],
  [undefined, 'a undefined, not {id, roles?}'],
  [null, 'a object, not {id, roles?}'],
  ['ann', 'a string, not {id, roles?}'],
  [{}, 'a principal whose id is no text'],
  [{ id: '' }, 'a principal whose id is no text'],
  [{ id: 5 }, 'a principal whose id is no text'],
  [{ id: 'ann', roles: 'admin' }, 'a principal whose roles are no list of texts'],
  [{ id: 'ann', roles: ['a', 5] }, 'a principal whose roles are no list of texts'],
  [{ id: 'ann', onBehalfOf: 'bob' }, undefined],
  [{ id: 'ann', onBehalfOf: undefined }, undefined],
  [{ id: 'ann', onBehalfOf: null }, 'a principal whose onBehalfOf is no text; where there is nobody it is left out'],
])('%j names somebody, or is %s', (found, fault) => {
  expect(faultOfPrincipal(found)).toBe(fault);
});

describe('answers', () => {
  const by = { id: 'ann' };
  const result = { content: [] };
  test.each<[Exclude<SessionInput, { kind: 'message' | 'continue' }>, RequestAnswer]>([
    [
      { kind: 'tool_result', requestId: 'q', result },
      { kind: 'result', result },
    ],
    [{ kind: 'tool_approval', requestId: 'q' }, { kind: 'approve' }],
    [
      { kind: 'tool_approval', requestId: 'q', args: { a: 1 }, previewDigest: 'd', by },
      { kind: 'approve', args: { a: 1 }, previewDigest: 'd', by },
    ],
    [
      { kind: 'elicitation_response', requestId: 'q', response: { action: 'accept', content: { a: 1 } }, by },
      { kind: 'elicitation', action: 'accept', content: { a: 1 }, by },
    ],
  ])('%j is %j', (input, answer) => {
    expect(answerOf(input)).toStrictEqual(answer);
  });

  test.each<[RequestAnswer, SessionInput]>([
    [{ kind: 'approve' }, { kind: 'tool_approval', requestId: 'q' }],
    [
      { kind: 'approve', args: {}, previewDigest: '', by },
      { kind: 'tool_approval', requestId: 'q', args: {}, previewDigest: '', by },
    ],
    [
      { kind: 'deny', by },
      { kind: 'elicitation_response', requestId: 'q', response: { action: 'decline' }, by },
    ],
    [
      { kind: 'elicitation', action: 'cancel', content: { a: 1 } },
      { kind: 'elicitation_response', requestId: 'q', response: { action: 'cancel' } },
    ],
  ])('%j is put as %j', (answer, input) => {
    expect(inputOf('q', answer)).toStrictEqual(input);
  });

  test('yes and no, however they are said', () => {
    const said = (action: 'accept' | 'decline' | 'cancel') =>
      fromElicitation({ kind: 'elicitation', action, content: { a: 1 }, by });
    expect(said('accept')).toStrictEqual({ kind: 'approve', by });
    expect(said('decline')).toStrictEqual({ kind: 'deny', by });
    expect(said('cancel')).toStrictEqual({ kind: 'elicitation', action: 'cancel', content: { a: 1 }, by });
  });
});

describe('pages of questions', () => {
  const session = (since: number | undefined, userId: string, sessionId: string) =>
    ({ agent: 'a', since, userId, sessionId }) as never;
  const request = { requestId: 'q2', requestedAt: '2026-01-01T00:00:02Z' } as ReportedRequest;

  test('go on behind a question, wherever it is meanwhile', () => {
    const place = startOf(approvalCursor(session(5, 'ann', 's1'), request));
    expect(place).toEqual({
      since: 5,
      userId: 'ann',
      sessionId: 's1',
      requestedAt: request.requestedAt,
      requestId: 'q2',
    });
    if (!place) return;
    const before = [
      session(4, 'zoe', 's9'),
      session(5, 'amy', 's9'),
      session(5, 'ann', 's0'),
      session(undefined, 'z', 'z'),
    ];
    const after = [session(5, 'ann', 's1'), session(5, 'ann', 's2'), session(5, 'bob', 's0'), session(6, 'a', 'a')];
    expect(before.map((one) => isBefore(one, place))).toEqual([true, true, true, true]);
    expect(after.map((one) => isBefore(one, place))).toEqual([false, false, false, false]);
    const shown = (requestedAt: string, requestId: string, at = session(5, 'ann', 's1')) =>
      wasShown({ request: { requestId, requestedAt } } as never, at, place);
    expect([
      shown('2026-01-01T00:00:01Z', 'q9'),
      shown(request.requestedAt, 'q1'),
      shown(request.requestedAt, 'q2'),
    ]).toEqual([true, true, true]);
    expect([shown(request.requestedAt, 'q3'), shown('2026-01-01T00:00:03Z', 'q1')]).toEqual([false, false]);
    const elsewhere = [session(5, 'ann', 's2'), session(5, 'bob', 's1'), session(6, 'ann', 's1')];
    expect(elsewhere.map((at) => shown(request.requestedAt, 'q1', at))).toEqual([false, false, false]);
  });

  test('begin with those that have waited longest', () => {
    const list = [
      session(2, 'a', 'a'),
      session(1, 'b', 'b'),
      session(1, 'a', 'c'),
      session(1, 'a', 'b'),
      session(undefined, 'z', 'z'),
    ];
    expect([...list].sort(byAge).map(({ userId, sessionId }) => `${userId}${sessionId}`)).toEqual([
      'zz',
      'ab',
      'ac',
      'bb',
      'aa',
    ]);
  });

  test.each([
    '',
    'x',
    'null',
    '{}',
    '[1]',
    '["1","a","b","c","d"]',
    '[1,"a","b","c"]',
    '[1,"a","b","c","d","e"]',
    '[1,"a","b","c",5]',
  ])('do not begin at %s', (cursor) => {
    expect(() => startOf(cursor)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  });

  test('begin at the start without one', () => {
    expect(startOf(undefined)).toBeUndefined();
  });
});

test('places of sessions: those whose ids stand before a dot may have called one', () => {
  const at = (userId: string, sessionId: string) => ({ agent: 'a', userId, sessionId });
  const all = [at('ann', 's'), at('ann', 's.c1'), at('ann', 's.c1.c2'), at('bob', 's'), at('ann', 's')];
  const byName = byAgentName(all);
  expect([byName.size, byName.get('ann/s')?.length]).toEqual([4, 2]);
  expect(callersOf(at('ann', 's.c1.c2'), byName)).toEqual([all[0], all[4], all[1]]);
  expect(callersOf(at('ann', 's'), byName)).toEqual([]);
  const here = at('ann', 's');
  expect([{}, { userId: 'ann' }, { agent: 'a', sessionId: 's' }].map((place) => isAt(here, place))).toEqual([
    true,
    true,
    true,
  ]);
  expect([{ userId: 'bob' }, { agent: 'b' }, { sessionId: 't' }].map((place) => isAt(here, place))).toEqual([
    false,
    false,
    false,
  ]);
});

test.each<[object, string[]]>([
  [{ threadId: 't' }, ['at', 'below', 'of']],
  [{ threadId: 't.u' }, ['of']],
  [{ threadId: 'x' }, []],
  [{ requestId: 'at#policy' }, ['of', 'inside']],
  [{}, []],
])('an end of %j takes these calls with it: %j', (target, ids) => {
  const call = (callId: string, path: string, threadId?: string) => ({
    callId,
    path,
    ...(threadId ? { threadId } : {}),
  });
  const open = [
    call('at', 'root/t', 't'),
    call('below', 'root/t/deep'),
    call('of', 'root/t~at', 't.u'),
    call('beside', 'root/tx'),
    call('inside', 'root/q~at/x'),
    { path: 'root/t' },
  ] as unknown as ReportedRequest[];
  expect(callsWithin(open, target)).toEqual(ids);
});
