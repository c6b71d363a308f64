import { describe, expect, test } from 'vitest';
import type { AgentEvent, OpenRequest, ReportedRequest } from '../../src/contracts/index.ts';
import { CoxswainError, RPC_CODES } from '../../src/contracts/index.ts';
import { fittingPending, fittingQuestion } from '../../src/host/connection/protocol/fitting-requests.ts';
import { readIncoming } from '../../src/host/connection/protocol/incoming.ts';
import {
  errorText,
  isTooDeep,
  noticeText,
  protocolError,
  resultText,
  wireError,
} from '../../src/host/connection/protocol/json-rpc.ts';
import { assertFits, checkParams, loadProtocol, numberOf } from '../../src/host/connection/protocol/messages.ts';
import { Quota } from '../../src/host/connection/protocol/quota.ts';
import { Ring } from '../../src/host/connection/protocol/ring.ts';
import { fittingEvent, wireEvent } from '../../src/host/connection/protocol/wire-event.ts';
import { Offsets } from '../../src/session/resume/index.ts';

describe('the newest frames of a session', () => {
  const pushed = (ring: Ring, ...texts: string[]) => texts.map((text) => ring.push({ text }));
  test('are numbered from 1 and kept up to a number', () => {
    const ring = new Ring(3, 1000);
    expect([ring.head, ring.first, ring.bytes]).toEqual([0, 1, 0]);
    expect(pushed(ring, 'a', 'b', 'c')).toEqual([1, 2, 3]);
    expect([ring.head, ring.first, ring.bytes]).toEqual([3, 1, 3]);
    expect(pushed(ring, 'd')).toEqual([4]);
    expect([ring.head, ring.first, ring.bytes]).toEqual([4, 2, 3]);
    expect([0, 1, 2, 3, 4, 5].map((at) => ring.get(at)?.text)).toEqual([
      undefined,
      undefined,
      'b',
      'c',
      'd',
      undefined,
    ]);
  });

  test('are kept up to a size, the newest whatever its size', () => {
    const ring = new Ring(100, 10);
    pushed(ring, '12345', '12345');
    expect([ring.first, ring.bytes]).toEqual([1, 10]);
    pushed(ring, '1');
    expect([ring.first, ring.bytes]).toEqual([2, 6]);
    pushed(ring, 'x'.repeat(50));
    expect([ring.first, ring.head, ring.bytes, ring.get(4)?.text.length]).toEqual([4, 4, 50, 50]);
  });

  test('are found by their numbers however many have gone', () => {
    const ring = new Ring(10, 1e6);
    for (let n = 1; n <= 5000; n++) {
      ring.push({ text: String(n) });
      expect(ring.get(n)?.text).toBe(String(n));
    }
    expect([ring.first, ring.head, ring.get(4991)?.text, ring.get(4990)]).toEqual([4991, 5000, '4991', undefined]);
  });
});

test('each principal may have so many at once', () => {
  const quota = new Quota(2, 'sessions');
  quota.take('ann');
  expect(quota.isFull('ann')).toBe(false);
  quota.take('ann');
  quota.take('bob');
  expect([quota.isFull('ann'), quota.isFull('bob')]).toEqual([true, false]);
  expect(() => quota.take('ann')).toThrow(
    expect.objectContaining({
      code: 'E_RATE_LIMIT',
      retryable: true,
      message: expect.stringContaining('ann has 2 sessions'),
    }),
  );
  quota.give('ann');
  quota.take('ann');
  for (let n = 0; n < 5; n++) quota.give('ann');
  quota.take('ann');
  expect(quota.isFull('ann')).toBe(false);
});

describe('where a delta belongs', () => {
  const message = (messageId: unknown, part: number | undefined, content: object[], partial = true) =>
    ({
      type: 'message',
      partial,
      content,
      _meta: { messageId, ...(part === undefined ? {} : { part }) },
    }) as unknown as AgentEvent;
  const text = (words: string) => [{ type: 'text', text: words }];
  const thought = (words: string) => [{ type: 'thought', thought: words }];

  test('behind the characters of its part that came before', () => {
    const offsets = new Offsets();
    expect(offsets.of(message('m', 0, text('abc')))).toEqual({ at: 0, joins: 'm/0/text' });
    expect(offsets.of(message('m', undefined, text('de')))).toEqual({ at: 3, joins: 'm/0/text' });
    expect(offsets.of(message('m', 1, thought('xy')))).toEqual({ at: 0, joins: 'm/1/thought' });
    expect(offsets.of(message('m', 1, thought('z')))).toEqual({ at: 2, joins: 'm/1/thought' });
    expect(offsets.of(message('m', 2, [{ type: 'media', mimeType: 'a/b' }]))).toEqual({ at: 0, joins: '' });
    expect(offsets.of(message('m', 2, []))).toEqual({ at: 1, joins: '' });
    expect(offsets.of(message('n', 0, text('q')))).toEqual({ at: 0, joins: 'n/0/text' });
    expect(offsets.of(message(undefined, 0, text('q')))).toBeUndefined();
    expect(offsets.of({ type: 'usage' } as AgentEvent)).toBeUndefined();
  });

  test('nowhere once its message was shown whole; of the last sixty-four', () => {
    const offsets = new Offsets();
    offsets.of(message('m0', 0, text('abc')));
    expect(offsets.of(message('m0', 0, text('abcd'), false))).toBeUndefined();
    expect(offsets.of(message('m0', 0, text('e')))).toBe('stale');
    for (let n = 1; n <= 63; n++) offsets.of(message(`m${n}`, 0, [], false));
    expect(offsets.of(message('m0', 0, text('e')))).toBe('stale');
    offsets.of(message('m64', 0, [], false));
    expect(offsets.of(message('m0', 0, text('e')))).toEqual({ at: 0, joins: 'm0/0/text' });
    expect(offsets.of(message('m1', 0, text('e')))).toBe('stale');
  });

  test('ATK6-01 a thousand messages grow at a time, and parts of one; more are sent when they are whole', () => {
    const offsets = new Offsets();
    for (let n = 0; n < 1_000; n++) expect(offsets.of(message(`m${n}`, 0, text('a')))).toMatchObject({ at: 0 });
    expect(offsets.of(message('late', 0, text('a')))).toBe('stale');
    expect(offsets.of(message('m0', 0, text('b')))).toMatchObject({ at: 1 });
    offsets.of(message('m0', 0, text('ab'), false));
    expect(offsets.of(message('late', 0, text('b')))).toMatchObject({ at: 0 });
    for (let n = 1; n < 1_000; n++) offsets.of(message('late', n, text('a')));
    expect(offsets.of(message('late', 1_000, text('a')))).toBe('stale');
    expect(offsets.of(message('late', 999, text('b')))).toMatchObject({ at: 1 });
  });

  test('at the start again in another stream', () => {
    const offsets = new Offsets();
    offsets.of(message('m', 0, text('abc')));
    offsets.of({ type: 'stream_end' } as AgentEvent);
    expect(offsets.of(message('m', 0, text('abc')))).toMatchObject({ at: 0 });
  });
});

describe('a frame that comes', () => {
  test.each<[string, unknown]>([
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}', { id: 1, method: 'm', params: { a: 1 } }],
    ['{"jsonrpc":"2.0","id":"x","method":"m"}', { id: 'x', method: 'm', params: {} }],
    ['{"jsonrpc":"2.0","method":"m","params":null}', { id: undefined, method: 'm', params: {} }],
    [`{"jsonrpc":"2.0","id":"${'x'.repeat(256)}","method":"m"}`, { id: 'x'.repeat(256), method: 'm', params: {} }],
    [`{"jsonrpc":"2.0","id":"${'x'.repeat(257)}","method":"m"}`, 'not a JSON-RPC 2.0 request'],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', 'not a JSON-RPC 2.0 request'],
    ['{"jsonrpc":"2.0","id":1e999,"method":"m"}', 'not a JSON-RPC 2.0 request'],
    ['{"jsonrpc":"2.0","id":{},"method":"m"}', 'not a JSON-RPC 2.0 request'],
    ['{"jsonrpc":"2.0","id":1,"method":5}', 'not a JSON-RPC 2.0 request'],
    ['{"jsonrpc":"2.0","id":1}', 'not a JSON-RPC 2.0 request'],
    ['{"jsonrpc":"1.0","id":1,"method":"m"}', 'not a JSON object'],
    ['[]', 'not a JSON object'],
    ['null', 'not a JSON object'],
    ['{', 'not a JSON object'],
    [`${'['.repeat(221)}${']'.repeat(221)}`, 'nested too deep'],
  ])('%s', (frame, expected) => {
    expect(readIncoming(frame)).toEqual(expected);
  });

  test('is as deep as its brackets, those in texts left out', () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
    expect([isTooDeep(nested(10), 10), isTooDeep(nested(12), 10)]).toEqual([false, true]);
    expect(isTooDeep(`"${'['.repeat(50)}"`, 10)).toBe(false);
    expect(isTooDeep(`["\\"${'['.repeat(50)}"]`, 10)).toBe(false);
    expect(isTooDeep(`["\\\\",${'['.repeat(50)}`, 10)).toBe(true);
    expect(isTooDeep('[]'.repeat(50), 10)).toBe(false);
    expect(isTooDeep('{}'.repeat(50), 1)).toBe(false);
  });
});

describe('what goes back', () => {
  test('names a typed fault, and hides what is not typed', () => {
    const typed = new CoxswainError('ABORTED', 'E_SESSION_BUSY', 'busy', { retryable: true, details: { a: 1 } });
    expect(wireError(typed)).toEqual({
      code: RPC_CODES.server,
      message: 'busy',
      data: { status: 'ABORTED', code: 'E_SESSION_BUSY', retryable: true, details: { a: 1 } },
    });
    const hidden = wireError(new Error('postgres://secret'), -32000);
    expect([hidden.code, hidden.data]).toEqual([-32000, { status: 'INTERNAL', code: 'E_INTERNAL', retryable: false }]);
    expect(hidden.message).not.toContain('secret');
  });

  test('is JSON-RPC, whatever it holds', () => {
    expect(JSON.parse(resultText(1, undefined))).toEqual({ jsonrpc: '2.0', id: 1, result: null });
    expect(JSON.parse(resultText('x', 0))).toEqual({ jsonrpc: '2.0', id: 'x', result: 0 });
    expect(JSON.parse(noticeText('m', { a: 1 }))).toEqual({ jsonrpc: '2.0', method: 'm', params: { a: 1 } });
    const broken = { code: 5, message: 'm', data: { details: { a: 1n } } } as never;
    expect(JSON.parse(errorText(null, broken))).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: 5, message: expect.stringContaining('BigInt') },
    });
    expect(JSON.parse(errorText(2, { code: 5, message: 'm' } as never))).toMatchObject({
      id: 2,
      error: { message: 'm' },
    });
  });

  test('has a number for each kind of refusal', () => {
    expect(numberOf(new Error('x'))).toBe(RPC_CODES.server);
    expect(numberOf(new CoxswainError('ABORTED', 'E_SESSION_BUSY', 'x'))).toBe(RPC_CODES.server);
    expect(numberOf(protocolError('x'))).toBe(RPC_CODES.invalidParams);
    expect(numberOf(protocolError('x', 'UNIMPLEMENTED'))).toBe(RPC_CODES.methodNotFound);
  });

  test('says which member of the params is wrong', async () => {
    await loadProtocol();
    expect(() => checkParams('session/pending', { sessionId: 5 })).toThrow(/session\/pending: params\.sessionId: /);
  });

  test('fits into one message, measured in bytes', () => {
    expect(() => assertFits('a'.repeat(30), 'm', 30)).not.toThrow();
    expect(() => assertFits('é'.repeat(15), 'm', 30)).not.toThrow();
    expect(() => assertFits('a'.repeat(31), 'm', 30)).toThrow(expect.objectContaining({ code: 'E_TOO_LARGE' }));
    expect(() => assertFits('é'.repeat(16), 'm', 30)).toThrow('larger than the 30 bytes');
  });

  test('an event that is too large has another in its place: of the same id, cursor and stream', () => {
    const ids = {
      id: 'e',
      timestamp: 't',
      sessionId: 's',
      streamId: 'r',
      seq: 3,
      cursor: 'c',
      agentId: 'a',
      threadId: 'h',
      turnId: 'u',
    };
    const event = (data: string) =>
      ({ ...ids, type: 'message', content: [{ type: 'text', text: data }] }) as unknown as AgentEvent;
    const small = event('x');
    expect(JSON.parse(wireEvent(small, 100_000))).toEqual(small);
    expect(fittingEvent(small, 100_000)).toEqual({
      event: small,
      text: JSON.stringify(small),
      size: Buffer.byteLength(JSON.stringify(small)),
    });
    const large = event('x'.repeat(9000));
    const bytes = Buffer.byteLength(JSON.stringify(large));
    const stand = {
      ...ids,
      _meta: { oversized: { type: 'message', bytes } },
      ...{ type: 'error', status: 'RESOURCE_EXHAUSTED', code: 'E_TOO_LARGE', fatal: false, retryable: false },
      message: expect.stringContaining(`has ${bytes} bytes`),
    };
    expect(JSON.parse(wireEvent(large, bytes + 2048))).toEqual(large);
    expect(JSON.parse(wireEvent(large, bytes + 2047))).toEqual(stand);
    expect(fittingEvent(large, bytes + 2048)).toEqual({ event: large, text: JSON.stringify(large), size: bytes });
    expect(fittingEvent(large, bytes + 2047)).toEqual({
      event: stand,
      text: wireEvent(large, bytes + 2047),
      size: 2048,
    });
    const bare = {
      id: 'e',
      timestamp: 't',
      sessionId: 's',
      streamId: 'r',
      type: 'stream_end',
      reason: 'completed',
      data: { a: 'x'.repeat(9000) },
    };
    expect(fittingEvent(bare as unknown as AgentEvent, 3000).event).toEqual({
      ...{ id: 'e', timestamp: 't', sessionId: 's', streamId: 'r', type: 'stream_end', reason: 'completed', data: {} },
      _meta: { oversized: { type: 'stream_end', bytes: expect.any(Number) } },
    });
  });
});

describe('questions in a message', () => {
  const asked = (requestId: string, length: number, more: object = {}) => {
    const preview = length > 0 ? [{ type: 'text', text: 'p'.repeat(length) }] : [];
    const approval = { title: 't', preview, previewDigest: `d-${requestId}`, requestedBy: { id: 'ann' }, remember: [] };
    return {
      requestId,
      kind: 'elicitation',
      args: { n: 1 },
      message: 'm',
      approval,
      ...more,
    } as unknown as OpenRequest;
  };
  const lengths = (requests: readonly ReportedRequest[]) =>
    requests.map(({ approval }) => JSON.stringify(approval?.preview ?? []).length > 1_000);

  test('the largest previews give way until the rest fits; arguments stay', () => {
    const pending = [asked('a', 3_000), asked('b', 9_000), asked('c', 6_000), asked('d', 0)];
    expect(fittingPending(pending, 40_000)).toEqual(pending);
    expect(lengths(fittingPending(pending, 14_000))).toEqual([true, false, true, false]);
    const least = fittingPending(pending, 5_000);
    expect(lengths(least)).toEqual([false, false, false, false]);
    expect(least.map(({ args }) => args)).toEqual(pending.map(({ args }) => args));
    expect(least[1]?.approval).toMatchObject({
      previewDigest: 'd-b',
      preview: [{ text: expect.stringContaining('d-b') }],
    });
    const host = [asked('a', 0, { args: { n: 'n'.repeat(9_000) } })];
    expect(fittingPending(host, 5_000)).toEqual(host);
  });

  test('people are told of one whose arguments are too large that they are not shown', () => {
    const large = { request: asked('a', 9_000, { args: { n: 'n'.repeat(9_000) }, context: { c: 'c' } }) };
    expect(fittingQuestion(large, 40_000)).toBe(large);
    const { request } = fittingQuestion(large, 5_000);
    expect(request).toMatchObject({ requestId: 'a', args: {}, approval: { title: 't', previewDigest: 'd-a' } });
    expect(request.message).toMatch(/^Not shown: .* arguments .* digest d-a\.$/);
    expect(request).not.toHaveProperty('context');
    const bare = {
      request: { ...asked('a', 0), approval: undefined, message: 'm'.repeat(9_000) } as never as OpenRequest,
    };
    expect(fittingQuestion(bare, 5_000).request.message).toMatch(/may have\.$/);
  });
});
