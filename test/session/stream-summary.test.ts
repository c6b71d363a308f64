import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { StreamSummary } from '../../src/session/index.ts';

let count = 0;
const event = (fields: object): AgentEvent =>
  ({
    id: `e${++count}`,
    timestamp: '2026-01-01T00:00:00.000Z',
    sessionId: 's',
    streamId: 'x',
    ...fields,
  }) as AgentEvent;
const says = (text: string, more: object = {}) =>
  event({ type: 'message', role: 'agent', content: [{ type: 'text', text }], ...more });
const ends = (reason: string, data: object = {}) => event({ type: 'stream_end', reason, data });
const summed = (events: AgentEvent[], options?: ConstructorParameters<typeof StreamSummary>[0]) => {
  const summary = new StreamSummary(options);
  for (const one of events) summary.see(one);
  return summary;
};

test('a stream that has not ended has no reason and nothing of an end', () => {
  const { reason, pending, usage, output, truncated, isPaused, error } = summed([says('a')]);
  expect({ reason, pending, usage, output, truncated, isPaused, error }).toEqual({
    pending: [],
    usage: {},
    truncated: false,
    isPaused: false,
  });
});

test('the newest end of a turn counts, and where it is', () => {
  const summary = summed([
    ends('input_required', { truncated: true, output: 1, pending: [{ requestId: 'r' }] }),
    event({ type: 'custom', kind: 'x', cursor: 'c7', turnId: 't' }),
    ends('completed', { usage: { inputTokens: 3 } }),
  ]);
  const { reason, pending, usage, output, truncated, cursor, turnId } = summary;
  expect([reason, pending, usage, output, truncated]).toEqual(['completed', [], { inputTokens: 3 }, undefined, false]);
  expect([cursor, turnId]).toEqual(['c7', 't']);
});

test.each([
  [ends('input_required'), true],
  [ends('completed', { transfer: { requestId: 'r', from: 'a', to: 'b' } }), true],
  [ends('completed'), false],
  [ends('failed'), false],
])('a stream waits for somebody or has ended: %#', (end, isPaused) => {
  expect(summed([end]).isPaused).toBe(isPaused);
});

test('an error that is not fatal leaves the one that was', () => {
  const error = (code: string, fatal: boolean) =>
    event({ type: 'error', status: 'INTERNAL', code, message: 'm', fatal });
  const summary = summed([error('E_TOOL', false), error('E_MODEL', true), error('E_STORE', false)]);
  expect([summary.error?.code, summary.fatal?.code]).toEqual(['E_STORE', 'E_MODEL']);
});

test('of words there are the last of its own thread, all of them, and those that came last in its branches', () => {
  const events = [
    says('one'),
    says('t', { partial: true }),
    says('two'),
    says(''),
    says('left', { threadId: 'left' }),
    says('right', { threadId: 'right' }),
  ];
  const all = summed(events, { keepsAll: true });
  expect([all.lastText, all.allText, all.words]).toEqual(['two', 'one\n\ntwo', 'left\n\nright']);
  expect(summed(events, { thread: 'left' }).lastText).toBe('left');
});

test('names of denied calls are kept, and no more than ten thousand', () => {
  const response = (name: string, errorType?: string) =>
    event({ type: 'tool_response', requestId: 'r', name, errorType });
  expect(
    summed([response('a', 'denied'), response('b'), response('c', 'failed'), response('a', 'denied')]).denied,
  ).toEqual(['a', 'a']);
  expect(summed(Array.from({ length: 10_001 }, () => response('a', 'denied'))).denied).toHaveLength(10_000);
});
