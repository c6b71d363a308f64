import { describe, expect, test } from 'vitest';
import type { AgentEvent, GrammarOptions } from '../../src/contracts/index.ts';
import { checkStream, createGrammarChecker } from '../../src/contracts/index.ts';
import type { Sketch } from './grammar-stream.ts';
import {
  answer,
  ask,
  end,
  initialize,
  message,
  partial,
  pendingEnd,
  request,
  response,
  stream,
  text,
  thought,
} from './grammar-stream.ts';

const judge = (sketches: Sketch[], options: GrammarOptions = {}) => checkStream(stream(...sketches), options);

/** A turn with thoughts, two threads, a confirmation, a denial, a re-run question, a crash-proof pause. */
const long: Sketch[] = [
  initialize,
  { type: 'message', role: 'user', content: [text('go')], seq: 1, source: 'user' },
  { type: 'session_update', stateDelta: { a: 1 }, seq: 2 },
  partial('m1', 0, thought('let me ')),
  partial('m1', 0, thought('see')),
  partial('m1', 2, text('Pay')),
  partial('m1', 2, text('ing.')),
  { type: 'tool_update', requestId: 'c1', argsDelta: '{"am' },
  message('m1', [thought('let me see'), text('Paying.')], { seq: 3 }),
  request('c1', { seq: 3 }),
  request('c2', { seq: 3 }),
  request('c3', { seq: 3, handledBy: 'agent' }),
  { type: 'usage', model: 'm', inputTokens: 1, seq: 3 },
  ask('c1#policy'),
  answer('c1#policy', { seq: 4 }),
  { type: 'custom', kind: 'policy_decision', data: { callId: 'c1' }, seq: 4 },
  { type: 'tool_update', requestId: 'c1', status: 'started', seq: 5 },
  ask('c2#1', { seq: 5 }),
  { type: 'message', content: [text('left')], threadId: 'a.left', seq: 9 },
  { type: 'message', content: [text('right')], threadId: 'a.right', seq: 7 },
  partial('m2', 0, text('Le'), { threadId: 'a.left' }),
  partial('m3', 0, text('Ri'), { threadId: 'a.right' }),
  message('m3', [text('Ri')], { threadId: 'a.right', seq: 11 }),
  message('m2', [text('Le')], { threadId: 'a.left', seq: 10 }),
  response('c1', { seq: 12 }),
  response('c2', { seq: 13, isError: true, errorType: 'cancelled' }),
  ask('c3#1', { seq: 14, kind: 'rerun_unknown' }),
  answer('c3#1', { seq: 15 }),
  ask('c3#2', { seq: 16, kind: 'auth_required' }),
  { type: 'error', code: 'E_TOOL', fatal: false, seq: 17 },
  { type: '_weather', sun: true },
  partial('m4', 0, text('secret')),
  { type: 'message', content: [text('hidden')], _meta: { messageId: 'm5', replaces: 'm4' }, seq: 18 },
  partial('m6', 0, text('')),
  pendingEnd('c3', 'c3#2'),
];

describe('streams that are right', () => {
  test('a long one', () => {
    expect(judge(long, { immutability: true })).toEqual([]);
  });

  test('what one checker ends with lets the next stream of the session go on', () => {
    const first = createGrammarChecker();
    for (const event of stream(...long)) first.push(event);
    expect(first.end()).toEqual([]);
    expect(first.initialized).toBe(true);
    expect([...first.openRequests]).toEqual(['c3', 'c3#2']);
    const second = [answer('c3#2', { seq: 20 }), response('c3', { seq: 21 }), end];
    expect(judge(second, first)).toEqual([]);
    expect(judge(second)).not.toEqual([]);
  });

  test('the caller keeps its own set of open requests', () => {
    const openRequests = new Set(['c1']);
    expect(judge([initialize, response('c1'), end], { openRequests })).toEqual([]);
    expect([...openRequests]).toEqual(['c1']);
  });

  test.each<[string, Sketch[], GrammarOptions?]>([
    [
      'a question that the host derives is asked again after a restart',
      [initialize, ask('c1#policy'), pendingEnd('c1', 'c1#policy')],
      { openRequests: ['c1', 'c1#policy'] },
    ],
    [
      'a transfer that waits for the host',
      [initialize, request('c1'), { ...end, data: { transfer: { requestId: 'c1', from: 'a', to: 'b' } } }],
    ],
    [
      'an abort leaves an interrupted message that has more than was shown',
      [
        initialize,
        partial('m1', 0, text('He')),
        message('m1', [text('Hel')], { interrupted: true }),
        { ...end, reason: 'aborted' },
      ],
    ],
    ['an abort leaves nothing', [initialize, partial('m1', 0, text('He')), { ...end, reason: 'aborted' }]],
    [
      'a time limit leaves nothing',
      [initialize, partial('m1', 0, text('He')), { type: 'error', code: 'E_MAX_TIME' }, { ...end, reason: 'max_time' }],
    ],
    [
      'a failure leaves nothing',
      [initialize, partial('m1', 0, text('He')), { type: 'error', fatal: true }, { ...end, reason: 'failed' }],
    ],
    ['a message that was not streamed', [initialize, message('m1', [text('all')]), end]],
    [
      'media come whole beside streamed text',
      [
        initialize,
        partial('m1', 1, text('x')),
        message('m1', [{ type: 'media', mimeType: 'image/png', data: '' }, text('x')]),
        end,
      ],
    ],
    [
      'the person has no message id',
      [
        initialize,
        { type: 'message', role: 'user', content: [text('a')] },
        { type: 'message', role: 'user', content: [text('b')] },
        end,
      ],
    ],
    [
      'parts are shown out of order',
      [
        initialize,
        partial('m1', 2, text('b')),
        partial('m1', 0, thought('a')),
        message('m1', [thought('a'), text('b')]),
        end,
      ],
    ],
    [
      'message ids of the person are not judged',
      [initialize, message('u', [text('a')], { role: 'user' }), message('u', [text('b')], { role: 'user' }), end],
    ],
    ['an end without data', [initialize, { ...end, data: undefined }]],
  ])('%s', (_, sketches, options) => {
    expect(judge(sketches, options)).toEqual([]);
  });
});

/** Streams that break exactly one rule, with the place of the event to blame (none: something is missing). */
const wrong: [rule: number, what: string, blamed: number | undefined, sketches: Sketch[], options?: GrammarOptions][] =
  [
    [1, 'no initialize', 0, [message('m1', []), end]],
    [1, 'nothing but an end', 0, [end]],
    [1, 'initialize again', 1, [initialize, initialize, end]],
    [1, 'initialize in a later stream', 0, [initialize, end], { initialized: true }],
    [2, 'no end', undefined, [initialize, message('m1', [])]],
    [2, 'no event at all', undefined, []],
    [2, 'two ends', 2, [initialize, end, end]],
    [2, 'words after the end', 2, [initialize, end, message('m1', [])]],
    [
      2,
      'words after the end of a failed stream',
      3,
      [initialize, { type: 'error', fatal: true }, { ...end, reason: 'failed' }, message('m1', [])],
    ],
    [
      4,
      'the whole of a message that was replaced',
      3,
      [
        initialize,
        partial('m1', 0, text('a')),
        message('m2', [text('b')], { _meta: { messageId: 'm2', replaces: 'm1' } }),
        message('m1', [text('a')]),
        end,
      ],
    ],
    [2, 'a fatal error after the end', 2, [initialize, end, { type: 'error', fatal: true }]],
    [3, 'a response to nothing', 1, [initialize, response('c1'), end]],
    [3, 'an answer to nothing', 1, [initialize, answer('c1#1'), end]],
    [3, 'a second response', 3, [initialize, request('c1'), response('c1'), response('c1'), end]],
    [3, 'a second answer', 4, [initialize, request('c1'), ask('c1#1'), answer('c1#1'), answer('c1#1'), end]],
    [
      3,
      'a second response to an earlier request',
      2,
      [initialize, response('c1'), response('c1'), end],
      { openRequests: ['c1'] },
    ],
    [3, 'a response to a question', 3, [initialize, request('c1'), ask('c1#1'), response('c1#1'), end]],
    [3, 'an answer to a call', 2, [initialize, request('c1'), answer('c1'), end]],
    [
      3,
      'an answer after its call was settled',
      4,
      [initialize, request('c1'), ask('c1#1'), response('c1'), answer('c1#1'), end],
    ],
    [3, 'a question about a settled call', 3, [initialize, request('c1'), response('c1'), ask('c1#1'), end]],
    [3, 'one id for two calls', 2, [initialize, request('c1'), request('c1'), end]],
    [3, 'the id of an open call of before', 1, [initialize, request('c1'), end], { openRequests: ['c1'] }],
    [3, 'the id of a settled call', 3, [initialize, request('c1'), response('c1'), request('c1'), end]],
    [
      3,
      'a stored question is asked twice',
      1,
      [initialize, ask('c1#1', { seq: 3 }), end],
      { openRequests: ['c1', 'c1#1'] },
    ],
    [3, 'a derived question is asked twice', 3, [initialize, request('c1'), ask('c1#policy'), ask('c1#policy'), end]],
    [3, 'a settled call is called pending', 3, [initialize, request('c1'), response('c1'), pendingEnd('c1')]],
    [3, 'an unknown call is called pending', 1, [initialize, pendingEnd('c9')]],
    [
      3,
      'a transfer nobody asked for',
      1,
      [initialize, { ...end, data: { transfer: { requestId: 'c1', from: 'a', to: 'b' } } }],
    ],
    [4, 'a partial without message id', 1, [initialize, { ...partial('m1', 0, text('a')), _meta: { part: 0 } }, end]],
    [4, 'a partial without part', 1, [initialize, { ...partial('m1', 0, text('a')), _meta: { messageId: 'm1' } }, end]],
    [
      4,
      'a partial of two parts',
      1,
      [initialize, { ...partial('m1', 0, text('a')), content: [text('a'), text('b')] }, end],
    ],
    [4, 'a partial of no part', 1, [initialize, { ...partial('m1', 0, text('a')), content: [] }, end]],
    [
      4,
      'a call in a partial',
      1,
      [initialize, partial('m1', 0, { type: 'function_call', id: 'c', name: 'n', args: {} }), end],
    ],
    [4, 'a partial in the log', 1, [initialize, partial('m1', 0, text(''), { seq: 3 }), end]],
    [4, 'a partial with a cursor', 1, [initialize, partial('m1', 0, text(''), { cursor: 'x' }), end]],
    [
      4,
      'a part that changes its kind',
      2,
      [initialize, partial('m1', 0, thought('a')), partial('m1', 0, text('b')), message('m1', [thought('a')]), end],
    ],
    [4, 'no durable message', 2, [initialize, partial('m1', 0, text('a')), partial('m1', 0, text('b')), end]],
    [4, 'another text', 2, [initialize, partial('m1', 0, text('a')), message('m1', [text('b')]), end]],
    [
      4,
      'text that was not shown',
      2,
      [initialize, partial('m1', 0, text('a')), message('m1', [text('a'), text('b')]), end],
    ],
    [
      4,
      'a thought that was shown as text',
      2,
      [initialize, partial('m1', 0, text('a')), message('m1', [thought('a')]), end],
    ],
    [
      4,
      'a part that was lost',
      3,
      [initialize, partial('m1', 0, thought('a')), partial('m1', 1, text('b')), message('m1', [text('b')]), end],
    ],
    [
      4,
      'an interrupted message that lost what was shown',
      2,
      [
        initialize,
        partial('m1', 0, text('ab')),
        message('m1', [text('a')], { interrupted: true }),
        { ...end, reason: 'aborted' },
      ],
    ],
    [4, 'the durable message twice', 2, [initialize, message('m1', []), message('m1', []), end]],
    [
      4,
      'a partial after the durable message',
      3,
      [initialize, partial('m1', 0, text('a')), message('m1', [text('a')]), partial('m1', 0, text('b')), end],
    ],
    [
      4,
      'a replacement under the same id',
      2,
      [
        initialize,
        partial('m1', 0, text('a')),
        message('m1', [text('b')], { _meta: { messageId: 'm1', replaces: 'm1' } }),
        end,
      ],
    ],
    [5, 'a step back on the root thread', 2, [initialize, { type: 'usage', seq: 4 }, { type: 'usage', seq: 3 }, end]],
    [
      5,
      'a step back on another thread',
      3,
      [
        initialize,
        { type: 'usage', seq: 4, threadId: 'a' },
        { type: 'usage', seq: 1 },
        { type: 'usage', seq: 3, threadId: 'a' },
        end,
      ],
    ],
    [
      7,
      'words after a fatal error',
      2,
      [initialize, { type: 'error', fatal: true }, message('m1', []), { ...end, reason: 'failed' }],
    ],
    [7, 'a fatal error and a completed end', 2, [initialize, { type: 'error', fatal: true }, end]],
    [
      7,
      'a limit as a fatal error',
      1,
      [initialize, { type: 'error', code: 'E_MAX_LLM_CALLS', fatal: true }, { ...end, reason: 'failed' }],
    ],
  ];

describe('streams that are wrong', () => {
  test.each(wrong)('rule %i: %s', (rule, _, blamed, sketches, options) => {
    const violations = judge(sketches, { ...options, immutability: true });
    expect(violations.map((violation) => [violation.rule, violation.eventId])).toEqual([
      [rule, blamed === undefined ? undefined : `e${blamed}`],
    ]);
    expect(violations[0]?.message).not.toBe('');
  });

  test('rule 1: initialize that comes second is late, not missing twice', () => {
    const violations = judge([message('m1', []), initialize, end]);
    expect(violations.map(({ rule, eventId }) => [rule, eventId])).toEqual([
      [1, 'e0'],
      [1, 'e1'],
    ]);
  });

  test.each<[string, (events: AgentEvent[]) => void]>([
    ['a field set', (events) => Object.assign(events[1]!, { role: 'user' })],
    [
      'a text grown in place',
      (events) => Object.assign((events[1] as { content: object[] }).content[0]!, { text: 'ab' }),
    ],
    ['a part added', (events) => (events[1] as { content: object[] }).content.push(text('b'))],
  ])('rule 6: %s after the event was emitted', (_, change) => {
    const events = stream(initialize, message('m1', [text('a')]), end);
    const checker = createGrammarChecker({ immutability: true });
    const during = events.flatMap((event) => checker.push(event));
    change(events);
    expect([...during, ...checker.end()].map(({ rule, eventId }) => [rule, eventId])).toEqual([[6, 'e1']]);
  });

  test('rule 6 is looked at only when asked for', () => {
    const events = stream(initialize, message('m1', [text('a')]), end);
    const checker = createGrammarChecker();
    for (const event of events) checker.push(event);
    Object.assign(events[1]!, { role: 'user' });
    expect(checker.end()).toEqual([]);
  });

  test('rule 6: an event that is not JSON cannot be shown to stay the same', () => {
    const violations = judge([initialize, response('c1', { structuredContent: 1n }), end], {
      openRequests: ['c1'],
      immutability: true,
    });
    expect(violations.map(({ rule, eventId }) => [rule, eventId])).toEqual([[6, 'e1']]);
  });
});
