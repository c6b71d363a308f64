import { expect, test } from 'vitest';
import type { EventActions, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, digestOf } from '../../src/runtime/index.ts';
import { digestInPieces } from '../../src/runtime/log/digest.ts';

const init = { id: 'e', author: 'bot', timestamp: 5, actions: { stateDelta: { a: 1, b: { c: [1, 'x'] } } } };
const event = (more: object = {}): StoredEvent => createEvent({ ...init, ...more });
const acting = (actions: Partial<EventActions>): StoredEvent => createEvent({ ...init, actions });

test('a digest is the same whatever order members have, wherever it stands, and of whatever chain it is', () => {
  const digest = digestOf(event());
  const turned = Object.fromEntries(Object.entries(event()).reverse()) as unknown as StoredEvent;
  expect(digestOf(turned)).toBe(digest);
  expect(digestOf(acting({ stateDelta: { b: { c: [1, 'x'] }, a: 1 } }))).toBe(digest);
  expect(digestOf({ ...event(), seq: 7 })).toBe(digest);
  expect(digestOf({ ...event(), chain: { after: 'x', hash: 'y' } })).toBe(digest);
});

test('what says nothing counts for nothing', () => {
  const digest = digestOf(event());
  expect(digestOf(event({ turnId: '', path: '', content: undefined, usage: undefined }))).toBe(digest);
  expect(digestOf(acting({ ...init.actions, escalate: false, skipSummarization: false, artifactDelta: {} }))).toBe(
    digest,
  );
  expect(digestOf(acting({ stateDelta: { ...init.actions.stateDelta, 'temp:x': 1 }, trace: undefined as never }))).toBe(
    digest,
  );
  expect(digestOf(acting({ stateDelta: { 'temp:x': 1 } }))).toBe(digestOf(acting({})));
});

const others: Record<string, StoredEvent> = {
  'no author': event({ author: '' }),
  'an empty branch': event({ branch: '' }),
  'an empty error code': event({ errorCode: '' }),
  'an empty message': event({ errorMessage: '' }),
  'an empty finish reason': event({ finishReason: '' }),
  'an empty iso': event({ iso: '' }),
  'an empty model': event({ model: '' }),
  'an empty thread': event({ thread: '' }),
  'another time': event({ timestamp: 6 }),
  'a turn': event({ turnId: 't' }),
  'a stream': event({ streamId: 't' }),
  'a run': event({ invocationId: 't' }),
  'a place': event({ path: 't' }),
  'a long-running call': event({ longRunningToolIds: ['c'] }),
  'another long-running call': event({ longRunningToolIds: ['d'] }),
  'not its whole': event({ turnComplete: false }),
  words: event({ content: { role: 'model', parts: [{ type: 'text', text: 'a' }] } }),
  'other words': event({ content: { role: 'model', parts: [{ type: 'text', text: 'b' }] } }),
  'two words for one': event({
    content: {
      role: 'model',
      parts: [
        { type: 'text', text: 'a' },
        { type: 'text', text: '' },
      ],
    },
  }),
  'an interruption': event({ interrupted: true }),
  'an error': event({ error: { status: 'INTERNAL', fatal: true, retryable: false } }),
  usage: event({ usage: { inputTokens: 1 } }),
  'custom metadata': event({ customMetadata: { a: null } }),
  'custom metadata of another value': event({ customMetadata: { a: 'null' } }),
  'what a newer version adds': event({ novelty: 1 }),
  'what a newer version adds under another name': event({ novelties: 1 }),
  escalation: acting({ ...init.actions, escalate: true }),
  'no summary': acting({ ...init.actions, skipSummarization: true }),
  'another value of state': acting({ stateDelta: { a: 2, b: { c: [1, 'x'] } } }),
  'another key of state': acting({ stateDelta: { aa: 1, b: { c: [1, 'x'] } } }),
  'a list in another order': acting({ stateDelta: { a: 1, b: { c: ['x', 1] } } }),
  'a list in a list': acting({ stateDelta: { a: 1, b: { c: [[1, 'x']] } } }),
  'an artifact': acting({ ...init.actions, artifactDelta: { f: 1 } }),
  'a start': acting({ ...init.actions, started: ['a'] }),
  'a start with a temporary name': acting({
    ...init.actions,
    decisions: { 'temp:x': { outcome: 'approved', by: 'x' } },
  }),
  'an empty list': acting({ ...init.actions, started: [] }),
  'a broken half of a letter': event({ author: '\ud800' }),
  'another broken half': event({ author: '\ud801' }),
  'what a broken half is written as': event({ author: '\ufffd' }),
};

test('everything else counts', () => {
  const digests = new Map<string, string>([[digestOf(event()), 'the event itself']]);
  for (const [what, other] of Object.entries(others)) {
    const digest = digestOf(other);
    expect(digests.get(digest), what).toBeUndefined();
    digests.set(digest, what);
  }
});

test('ATT-B6 a digest that is made in pieces is the same', async () => {
  const words = ['a', '\ud800', '\u{1f600}', '5:a,b', ''];
  const parts = Array.from({ length: 2000 }, (_, k) =>
    k % 2 === 0
      ? { type: 'text' as const, text: `${words[k % words.length]}${k}` }
      : { type: 'function_call' as const, id: `c${k}`, name: 't', args: { z: k, a: [k, { y: undefined, b: words }] } },
  );
  const large = event({ content: { role: 'model', parts, note: 'n' }, branch: '', turnComplete: false, novelty: 1 });
  const bare = event({ content: { parts: [] } });
  for (const one of [large, bare, event(), ...Object.values(others)]) {
    expect(await digestInPieces(one), JSON.stringify(one).slice(0, 200)).toBe(digestOf(one));
  }
});

test('a text cannot pass for two', () => {
  const one = event({ customMetadata: { a: 'x', b: 'y' } });
  const other = event({ customMetadata: { a: 'x,1:b1:y' } });
  expect(digestOf(one)).not.toBe(digestOf(other));
});

test('the digest of a stored event is the same in every version', () => {
  // Logs outlive versions: another text would call every log of today changed.
  expect(digestOf(event())).toBe('j64aRN5EEJ8J3rwegFB8GehxZOju-pgxZeIIfZpBvQ8');
  const full = event({
    branch: '',
    thread: 'b',
    turnComplete: false,
    interrupted: false,
    longRunningToolIds: ['c1', 'c2'],
    customMetadata: { z: null, a: ['\ud800', 1.5, true] },
    novelty: { b: undefined, a: 1 },
    actions: { stateDelta: { 'temp:x': 1, y: 2 }, escalate: true, started: ['c1'], artifactDelta: {} },
  });
  expect(digestOf(full)).toBe('864WpWmpZRHiaDMiYfoQ5BLZYIYmyqM8pgX_mRSWy5w');
});
