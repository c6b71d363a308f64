import { describe, expect, test } from 'vitest';
import type { EventInit, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, decodeEvent, encodeEvent, sqlTime, timeOf } from '../../src/runtime/index.ts';

const event = (more: Partial<EventInit> = {}): StoredEvent =>
  createEvent({ id: 'e1', author: 'bot', timestamp: 0, ...more });
const plain = () => encodeEvent(event());
const json = (text: string | null) => (text === null ? null : (JSON.parse(text) as unknown));

describe('the row of an event', () => {
  test('has what other readers of the table know', () => {
    expect(plain()).toStrictEqual({
      id: 'e1',
      seq: 0,
      invocation_id: '',
      author: 'bot',
      content: null,
      actions:
        '{"state_delta":{},"artifact_delta":{},"transfer_to_agent":null,"escalate":false,"skip_summarization":false}',
      branch: null,
      partial: false,
      turn_complete: true,
      error_code: null,
      error_message: null,
      interrupted: null,
      custom_metadata: null,
      usage_metadata: null,
      citation_metadata: null,
      grounding_metadata: null,
      long_running_tool_ids: '[]',
      timestamp: '1970-01-01T00:00:00.000000',
    });
  });

  test('has the rest under a key of its own', () => {
    const row = encodeEvent(
      event({
        seq: 4,
        turnId: 't',
        streamId: 's',
        path: 'p',
        invocationId: 'i',
        branch: 'b',
        iso: 'o',
        timestamp: 1,
        partial: true,
        turnComplete: false,
        errorCode: 'c',
        errorMessage: 'm',
        interrupted: false,
        longRunningToolIds: ['l'],
        usage: { inputTokens: 1 },
        citationMetadata: { c: 1 },
        groundingMetadata: { g: 1 },
        customMetadata: { theirs: 1 },
        actions: {
          stateDelta: { k: 1 },
          transferToAgent: 'eve',
          requestedToolConfirmations: { a: { hint: 'h' } },
          requestedAuthConfigs: { a: {} },
          started: ['a'],
        },
      }),
    );
    expect({ ...row, actions: json(row.actions), custom_metadata: json(row.custom_metadata) }).toStrictEqual({
      id: 'e1',
      seq: 4,
      invocation_id: 'i',
      author: 'bot',
      content: null,
      actions: {
        state_delta: { k: 1 },
        artifact_delta: {},
        transfer_to_agent: 'eve',
        escalate: false,
        skip_summarization: false,
        requested_tool_confirmations: { a: { hint: 'h' } },
        requested_auth_configs: { a: {} },
      },
      branch: 'b',
      partial: false,
      turn_complete: false,
      error_code: 'c',
      error_message: 'm',
      interrupted: false,
      custom_metadata: {
        theirs: 1,
        coxswain: { turnId: 't', streamId: 's', path: 'p', iso: 'o', actions: { started: ['a'] } },
      },
      usage_metadata: '{"inputTokens":1}',
      citation_metadata: '{"c":1}',
      grounding_metadata: '{"g":1}',
      long_running_tool_ids: '["l"]',
      timestamp: '1970-01-01T00:00:00.001000',
    });
  });

  test.each<[string, object, object]>([
    ['text', { type: 'text', text: 'a' }, { text: 'a' }],
    ['text with more', { type: 'text', text: 'a', _meta: { m: 1 } }, { text: 'a', coxswain: { _meta: { m: 1 } } }],
    ['text that is none', { type: 'text', text: 1 }, { coxswain: { type: 'text', text: 1 } }],
    ['a thought', { type: 'thought', thought: 'a' }, { text: 'a', thought: true }],
    ['a thought that is none', { type: 'thought', thought: 1 }, { coxswain: { type: 'thought', thought: 1 } }],
    [
      'a call',
      { type: 'function_call', id: 'c', name: 'n', args: { a: 1 }, _meta: {} },
      { function_call: { name: 'n', id: 'c', args: { a: 1 } }, coxswain: { _meta: {} } },
    ],
    [
      'a response',
      { type: 'function_response', id: 'c', name: 'n', response: { a: 1 }, isError: true },
      { function_response: { name: 'n', id: 'c', response: { a: 1 } }, coxswain: { isError: true } },
    ],
    [
      'a picture',
      { type: 'media', mimeType: 'image/png', data: 'AAA=' },
      { inline_data: { data: 'AAA=', mime_type: 'image/png' } },
    ],
    [
      'a picture that others could not read',
      { type: 'media', mimeType: 'image/png', data: 'AAA' },
      { coxswain: { type: 'media', mimeType: 'image/png', data: 'AAA' } },
    ],
    [
      'a picture of strange letters',
      { type: 'media', mimeType: 'image/png', data: 'A-_A' },
      { coxswain: { type: 'media', mimeType: 'image/png', data: 'A-_A' } },
    ],
    [
      'a picture elsewhere',
      { type: 'media', mimeType: 'image/png', uri: 'u' },
      { coxswain: { type: 'media', mimeType: 'image/png', uri: 'u' } },
    ],
    ['another kind with a text', { type: 'refusal', text: 'no' }, { text: 'no', coxswain: { type: 'refusal' } }],
    ['another kind', { type: 'code', thing: 1 }, { coxswain: { type: 'code', thing: 1 } }],
  ])('tells %s as others do, as far as they can', (_, part, expected) => {
    const row = encodeEvent(event({ content: { role: 'model', parts: [part] as never } }));
    expect(json(row.content)).toStrictEqual({ role: 'model', parts: [expected] });
    expect(decodeEvent(row).content?.parts).toStrictEqual([part]);
  });

  test('keeps the user’s own metadata where they are, and apart where they cannot be', () => {
    const custom = (customMetadata: Record<string, unknown>, more: Partial<EventInit> = {}) =>
      json(encodeEvent(event({ customMetadata, ...more })).custom_metadata);
    expect(custom({ a: 1 })).toStrictEqual({ a: 1 });
    expect(custom({ a: 1 }, { path: 'p' })).toStrictEqual({ a: 1, coxswain: { path: 'p' } });
    expect(custom({})).toStrictEqual({ coxswain: { $custom: {} } });
    expect(custom({ coxswain: 1, a: 2 }, { path: 'p' })).toStrictEqual({
      coxswain: { path: 'p', $custom: { coxswain: 1, a: 2 } },
    });
  });

  test('keeps exactly what its columns cannot hold', () => {
    const bent = event({ author: 'a\u0000b', invocationId: '\ud800', branch: '\u0000', timestamp: 0.5 });
    const row = encodeEvent(bent);
    expect([row.author, row.invocation_id, row.branch, row.timestamp]).toEqual([
      'a\ufffdb',
      '\ufffd',
      '\ufffd',
      '1970-01-01T00:00:00.000000',
    ]);
    expect(json(row.custom_metadata)).toStrictEqual({
      coxswain: { $exact: { author: 'a\u0000b', invocationId: '\ud800', branch: '\u0000', timestamp: 0.5 } },
    });
    expect(decodeEvent(row)).toStrictEqual(bent);
  });
});

describe('a row', () => {
  test('is read as an event that cannot be changed, with nothing that it does not say', () => {
    const read = decodeEvent({ ...plain(), partial: 1, turn_complete: 0, interrupted: 1 });
    expect(read).toStrictEqual({
      id: 'e1',
      seq: 0,
      turnId: '',
      invocationId: '',
      streamId: '',
      path: '',
      author: 'bot',
      timestamp: 0,
      partial: false,
      turnComplete: false,
      interrupted: true,
      longRunningToolIds: [],
      actions: { stateDelta: {}, artifactDelta: {}, escalate: false, skipSummarization: false },
    });
    expect([read, read.actions, read.longRunningToolIds].every((one) => Object.isFrozen(one))).toBe(true);
  });

  test('of another program may leave out what it does not know', () => {
    const read = decodeEvent({
      ...plain(),
      invocation_id: null as never,
      author: null as never,
      content: '{"role":"user"}',
      actions: '{"transfer_to_agent":5,"requested_tool_confirmations":{"a":{}},"requested_auth_configs":{"b":{}}}',
    });
    expect([read.invocationId, read.author, read.content]).toEqual(['', '', { role: 'user', parts: [] }]);
    expect(read.actions).toStrictEqual({
      stateDelta: {},
      artifactDelta: {},
      escalate: false,
      skipSummarization: false,
      requestedToolConfirmations: { a: {} },
      requestedAuthConfigs: { b: {} },
    });
    const more = decodeEvent({
      ...plain(),
      custom_metadata: '{"coxswain":{"actions":{"started":["a"]},"novelty":1},"a":1,"b":2}',
    });
    expect(more).toMatchObject({ novelty: 1, customMetadata: { a: 1, b: 2 }, actions: { started: ['a'] } });
    expect(more).not.toHaveProperty('$exact');
    expect(decodeEvent({ ...plain(), custom_metadata: '{"coxswain":{}}' })).not.toHaveProperty('customMetadata');
  });

  test.each<[string, Partial<ReturnType<typeof plain>>, string]>([
    ['actions that are none', { actions: '1' }, 'its actions are no object'],
    ['actions that are nothing', { actions: 'null' }, 'its actions are no object'],
    ['metadata that are none', { custom_metadata: '1' }, 'its custom_metadata are no object'],
    ['metadata that are nothing', { custom_metadata: 'null' }, 'its custom_metadata are no object'],
    ['metadata that are a list', { custom_metadata: '[]' }, 'its custom_metadata are no object'],
    ['metadata of ours that are none', { custom_metadata: '{"coxswain":1}' }, 'custom_metadata.coxswain is no object'],
  ])('with %s cannot be read', (_, bent, message) => {
    expect(() => decodeEvent({ ...plain(), ...bent })).toThrow(message);
  });
});

test.each<[number, string]>([
  [0, '1970-01-01T00:00:00.000000'],
  [1_700_000_000_123, '2023-11-14T22:13:20.123000'],
  [-30_610_224_000_000, '1000-01-01T00:00:00.000000'],
  [-30_610_224_000_001, '1970-01-01T00:00:00.000000'],
  [253_402_300_799_999, '9999-12-31T23:59:59.999000'],
  [253_402_300_800_000, '1970-01-01T00:00:00.000000'],
  [1.5, '1970-01-01T00:00:00.000000'],
])('the time %s is kept as %s', (ms, expected) => {
  expect(sqlTime(ms)).toBe(expected);
  expect(sqlTime(ms)).toBe(expected);
  expect(sqlTime(ms, 7)).toBe(`${expected.slice(0, -3)}007`);
  expect(timeOf(sqlTime(ms, 999))).toBe(timeOf(expected));
});
