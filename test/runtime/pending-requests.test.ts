import { expect, test } from 'vitest';
import type { EventInit, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, Fold, OpenRequests } from '../../src/runtime/index.ts';

const key = { app: 'shop', userId: 'u', id: 's' };

/** A fold of one turn with the calls `a` and `b`, and what adds an event to it. */
function twoCalls() {
  const fold = new Fold({}, {});
  let seq = 0;
  const add = (init: Partial<EventInit>) => {
    const event: StoredEvent = {
      ...createEvent({ turnId: 't', streamId: 'x', author: 'bot', path: '', ...init }),
      seq: ++seq,
    };
    fold.apply(event);
  };
  add({ author: 'user', actions: { turn: { start: 'bot' } } });
  const parts = ['a', 'b'].map((id) => ({
    type: 'function_call' as const,
    id,
    name: 'pay',
    args: {},
    _meta: { handledBy: 'host' },
  }));
  add({ content: { role: 'model', parts } });
  return { fold, add, requests: new OpenRequests(key, () => ['bot']) };
}

const changes: Record<string, [Partial<EventInit>, unknown]> = {
  'a decision': [
    { actions: { decisions: { a: { outcome: 'approved', by: 'policy' } } } },
    { decision: { by: 'policy' } },
  ],
  'a start': [{ actions: { started: ['a'] } }, { started: true }],
  'a question': [
    { actions: { asks: [{ requestId: 'a#0', callId: 'a', kind: 'tool_confirmation', message: '?' }] } },
    { requestId: 'a#0' },
  ],
  'an answer to a question of the host': [
    { author: 'user', actions: { answers: { 'a#policy': { action: 'accept', by: 'kim' } } } },
    { answers: [{ requestId: 'a#policy' }] },
  ],
  'terms of the turn': [
    { author: 'user', actions: { terms: { principal: { id: 'kim' } } } },
    { requestedBy: { id: 'kim' } },
  ],
  'the end of the turn': [{ actions: { end: { reason: 'completed' } } }, { detached: true }],
};

for (const [what, [change, expected]] of Object.entries(changes)) {
  test(`ATT-B6 a listed request is made anew after ${what}, and the same object until then`, () => {
    const { fold, add, requests } = twoCalls();
    const [before, other] = requests.of(fold);
    expect(requests.of(fold)[0]).toBe(before);
    add(change);
    const [after, otherAfter] = requests.of(fold);
    expect(after).not.toBe(before);
    expect(after).toMatchObject(expected as object);
    if (!what.includes('turn')) expect(otherAfter).toBe(other);
  });
}

test('ATT-B6 a call with a first word, or a result, is listed no more', () => {
  const { fold, add, requests } = twoCalls();
  expect(requests.of(fold).map(({ requestId }) => requestId)).toEqual(['a', 'b']);
  add({ actions: { interim: { a: {} } } });
  add({ content: { role: 'user', parts: [{ type: 'function_response', id: 'b', name: 'pay', response: {} }] } });
  expect(requests.of(fold)).toEqual([]);
});
