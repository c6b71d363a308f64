import { describe, expect, test } from 'vitest';
import type { ContentPart } from '../../src/contracts/index.ts';
import type { EventInit, StoredEvent } from '../../src/runtime/index.ts';
import {
  createActions,
  createEvent,
  decodeEvent,
  encodeEvent,
  InMemorySessionService,
  isFinalResponse,
} from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, callIds, key, llm, tool } from './kit.ts';

test('S0-12 an event has an id, a time, and says nothing that nobody set', () => {
  const before = Date.now();
  const event = createEvent({ author: 'bot' });
  expect(event).toEqual({
    id: event.id,
    seq: 0,
    turnId: '',
    invocationId: '',
    streamId: '',
    path: '',
    author: 'bot',
    timestamp: event.timestamp,
    partial: false,
    turnComplete: true,
    longRunningToolIds: [],
    actions: { stateDelta: {}, artifactDelta: {}, escalate: false, skipSummarization: false },
  });
  expect(event.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(event.timestamp).toBeGreaterThanOrEqual(before);
  const ids = Array.from({ length: 1000 }, () => createEvent({ author: 'bot' }).id);
  expect(new Set(ids).size).toBe(1000);
});

test('S0-12 what is given stays', () => {
  const given: EventInit = {
    author: 'bot',
    id: 'e1',
    timestamp: 5,
    invocationId: 'i1',
    branch: 'all.a',
    content: { role: 'model', parts: [{ type: 'text', text: 'x' }] },
    turnComplete: false,
    errorCode: 'E_MODEL',
    errorMessage: 'down',
  };
  expect(createEvent(given)).toMatchObject(given);
});

test('S0-13 all further fields survive a store and a row', async () => {
  const full: Partial<StoredEvent> = {
    author: 'bot',
    interrupted: true,
    finishReason: 'length',
    model: 'm-1',
    usage: { inputTokens: 3, outputTokens: 4, cost: { usd: 0.1 } },
    citationMetadata: { sources: ['a'] },
    groundingMetadata: { chunks: [{ n: 1 }] },
    customMetadata: { mine: true },
    longRunningToolIds: ['c1'],
    content: { role: 'model', parts: [{ type: 'function_call', id: 'c1', name: 'wait', args: {} }] },
  };
  const service = new InMemorySessionService();
  await service.create(key);
  const [stored] = await service.append(key, [createEvent(full as EventInit)]);
  expect(stored).toMatchObject({ ...full, seq: 1 });
  expect((await service.get(key))?.events[0]).toEqual(stored);
  expect(decodeEvent(encodeEvent(stored as StoredEvent))).toEqual(stored);
});

test('S0-14 actions: empty deltas, no escalation, no skipping, no transfer, unless set', () => {
  const none = { stateDelta: {}, artifactDelta: {}, escalate: false, skipSummarization: false };
  expect(createActions()).toEqual(none);
  expect('transferToAgent' in createActions()).toBe(false);
  expect(createActions({ escalate: true, transferToAgent: 'clerk', stateDelta: { a: 1 } })).toEqual({
    ...none,
    escalate: true,
    transferToAgent: 'clerk',
    stateDelta: { a: 1 },
  });
});

describe('S0-15 a final response', () => {
  const words: ContentPart = { type: 'text', text: 'x' };
  const call: ContentPart = { type: 'function_call', id: 'c1', name: 'look', args: {} };
  const response: ContentPart = { type: 'function_response', id: 'c1', name: 'look', response: {} };
  const content = (...parts: ContentPart[]) => ({ content: { role: 'model' as const, parts } });

  test.each<[string, Partial<EventInit>, boolean]>([
    ['words', content(words), true],
    ['no content at all', {}, true],
    ['a partial one', { ...content(words), partial: true }, false],
    ['a call', content(words, call), false],
    ['a response', content(response), false],
    ['a response that needs no summary', { ...content(response), actions: { skipSummarization: true } }, true],
    ['a long-running call', { ...content(call), longRunningToolIds: ['c1'] }, true],
    [
      'a partial one that needs no summary',
      { ...content(words), partial: true, actions: { skipSummarization: true } },
      true,
    ],
  ])('%s', (_, init, expected) => {
    expect(isFinalResponse(createEvent({ author: 'bot', ...init }))).toBe(expected);
  });
});

test('S0-16 content is a role and parts; calls, responses, thoughts and media reach the log as they are', async () => {
  const media: ContentPart = { type: 'media', mimeType: 'image/png', data: 'AAEC' };
  const model = new ScriptedModel([
    { thought: 'hm', text: 'looking', calls: [['look', { at: ['x', 1] }]], parts: [media] },
    'ok',
  ]);
  const { say } = bench(llm('bot', model, { tools: [tool('look', () => ({ seen: [1, null] }))] }));
  const events = await say([{ kind: 'message', content: [{ type: 'text', text: 'see' }, media] }]);
  expect(events[0]?.content).toEqual({ role: 'user', parts: [{ type: 'text', text: 'see' }, media] });
  const [, call, , response] = events;
  const id = expect.stringMatching(/./);
  expect(call?.content).toEqual({
    role: 'model',
    parts: [
      { type: 'thought', thought: 'hm' },
      { type: 'text', text: 'looking' },
      media,
      { type: 'function_call', id, name: 'look', args: { at: ['x', 1] } },
    ],
  });
  expect(response?.content).toEqual({
    role: 'user',
    parts: [{ type: 'function_response', id, name: 'look', response: { seen: [1, null] } }],
  });
  const ids = callIds(events);
  expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
});
