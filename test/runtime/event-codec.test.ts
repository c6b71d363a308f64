import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContentPart } from '../../src/contracts/index.ts';
import { canonicalJson, deepFreeze } from '../../src/contracts/index.ts';
import type { EventActions, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, decodeEvent, encodeEvent } from '../../src/runtime/index.ts';
import { fullEvent } from '../suites/session-service.ts';

/** JSON as what it says: members come in any order. */
const columnsOf = (row: object) =>
  Object.entries(row).map(([column, value]) => [
    column,
    value !== null && /^(?:content|actions|.*_metadata)$/.test(column) ? JSON.parse(value) : value,
  ]);

/** What a database gives back: numbers for booleans. */
function throughDatabase(event: StoredEvent): StoredEvent {
  const row = encodeEvent(event);
  for (const value of Object.values(row)) if (typeof value === 'string') expect(value.includes('\u0000')).toBe(false);
  const stored = Object.entries(row).map(([column, value]) => [
    column,
    typeof value === 'boolean' ? Number(value) : typeof value === 'string' ? value.toWellFormed() : value,
  ]);
  const read = decodeEvent(Object.fromEntries(stored));
  // An audit takes a row that would be written otherwise for one that was changed.
  expect(columnsOf(encodeEvent(read))).toEqual(columnsOf(row));
  return read;
}

// Any UTF-16, lone surrogates and zeros included; and the keys that JavaScript or the row form treat specially.
const text = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const special = ['__proto__', 'constructor', 'toJSON', 'coxswain', 'text', 'thought', 'type', '$exact', '$custom', '0'];
const name = fc.oneof(text, fc.constantFrom(...special));
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    number,
    text,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const map = fc.array(fc.tuple(name, json), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
const more = fc.option(fc.record({ _meta: map, extra: json }, { requiredKeys: [] }), { nil: {} });
const kinds = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('thought'), thought: text }),
  fc.record({ type: fc.constant('function_call'), id: text, name, args: map }),
  fc.record({ type: fc.constant('function_response'), id: text, name, response: map, isError: fc.boolean() }),
  fc.record({ type: fc.constant('media'), mimeType: text, data: fc.base64String() }),
  fc.record({ type: fc.constant('media'), mimeType: text, data: text }),
  fc.record({ type: fc.constant('media'), mimeType: text, uri: text }),
  fc.record({ type: fc.constantFrom('refusal', 'citation', 'reference', 'hologram'), text }),
  fc.record({ type: fc.constantFrom('code', 'hologram'), thing: json }),
  fc.record({ type: fc.constantFrom('text', 'thought', 'citation'), text: json }),
);
const part = fc.tuple(more, kinds).map(([rest, kind]) => ({ ...rest, ...kind }) as unknown as ContentPart);
const actions = fc.record(
  {
    stateDelta: map,
    artifactDelta: fc.dictionary(fc.string(), fc.nat()),
    escalate: fc.boolean(),
    skipSummarization: fc.boolean(),
    transferToAgent: text,
    requestedToolConfirmations: map,
    requestedAuthConfigs: map,
    started: fc.array(text, { maxLength: 2 }),
    interim: map,
    steer: fc.boolean(),
    later: json,
  },
  { requiredKeys: [] },
);
const event = fc
  .record(
    {
      turnId: text,
      invocationId: text,
      streamId: text,
      path: text,
      branch: text,
      iso: text,
      timestamp: fc.oneof(
        fc.nat(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => value !== 0),
      ),
      content: fc.record({ role: fc.constantFrom('user', 'model'), parts: fc.array(part, { maxLength: 3 }) }),
      turnComplete: fc.boolean(),
      finishReason: text,
      errorCode: text,
      errorMessage: text,
      error: map,
      interrupted: fc.boolean(),
      model: text,
      usage: map,
      citationMetadata: map,
      groundingMetadata: map,
      customMetadata: map,
      longRunningToolIds: fc.array(text, { maxLength: 2 }),
      later: json,
    },
    { requiredKeys: [] },
  )
  .chain((fields) => fc.record({ fields: fc.constant(fields), actions, author: text }))
  .map(({ fields, actions, author }) =>
    createEvent({
      ...(fields as unknown as Partial<StoredEvent>),
      id: 'e1',
      seq: 1,
      author,
      actions: actions as Partial<EventActions>,
    }),
  );

describe('event codec', () => {
  test('S2-17 S2-26 S2-27 F27 every event survives its row form', () => {
    fc.assert(
      fc.property(event, (given) => {
        const before = canonicalJson(given);
        const restored = throughDatabase(deepFreeze(given));
        expect(canonicalJson(restored)).toBe(before);
        expect(restored).toEqual(given);
        expect(Object.isFrozen(restored.actions.stateDelta)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('S2-17 an event with every field in use survives too', () => {
    const given = { ...fullEvent('e1'), seq: 7 };
    expect(throughDatabase(given)).toStrictEqual(given);
  });

  test("another program's row can be read", () => {
    const read = decodeEvent({
      ...encodeEvent(createEvent({ id: 'e1', author: 'bot', timestamp: 0 })),
      content: '{"role":"model","parts":[{"text":"hm","thought":true},{"text":"hi","thought":false},{}]}',
      actions: '{"state_delta":{"k":1},"artifact_delta":{},"transfer_to_agent":null,"escalate":false}',
      custom_metadata: '{"theirs":1}',
      timestamp: '2026-02-08T12:00:00.123456',
    });
    expect(read.content?.parts).toEqual([{ type: 'thought', thought: 'hm' }, { type: 'text', text: 'hi' }, {}]);
    expect(read.actions).toEqual({
      stateDelta: { k: 1 },
      artifactDelta: {},
      escalate: false,
      skipSummarization: false,
    });
    expect(read.customMetadata).toEqual({ theirs: 1 });
    expect(read.timestamp).toBe(Date.UTC(2026, 1, 8, 12, 0, 0, 123));
  });
});
