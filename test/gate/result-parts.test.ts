import { describe, expect, test } from 'vitest';
import type { ContentPart, FunctionResponsePart, ToolResult } from '../../src/contracts/index.ts';
import { fromResponse, normaliseReturn, toJsonValue, toResponse } from '../../src/gate/index.ts';

const text = (value: string): Extract<ContentPart, { type: 'text' }> => ({ type: 'text', text: value });
const content = (part: unknown) => normaliseReturn({ content: [text('x'), part] }).content[1];
const display = (part: unknown) => normaliseReturn({ content: [text('x')], display: part }).display;

describe('parts of a result', () => {
  const whole: Record<string, unknown>[] = [
    { type: 'text', text: '' },
    { type: 'thought', thought: 'hm', signature: 's' },
    { type: 'media', mimeType: 'image/png', data: 'AQI=' },
    { type: 'media', mimeType: 'image/png', uri: 'https://x/y' },
    { type: 'reference', text: 't', uri: 'u', mimeType: 'text/plain', data: 'AQI=' },
    { type: 'refusal', text: 'no' },
    { type: 'citation' },
    { type: 'citation', title: 't', uri: 'u', text: 'x' },
    { type: 'code', language: 'js', code: '1' },
    { type: 'code_result', output: '1', exitCode: 0 },
    { type: 'function_call', id: 'c', name: 'n', args: {} },
    { type: 'function_response', id: 'c', name: 'n', response: {}, isError: true, errorType: 'failed' },
    { type: 'function_response', id: 'c', name: 'n', response: {}, content: [text('x')] },
    { type: 'ext:chart', points: 'any' },
  ];
  test.each(whole.map((part) => [JSON.stringify(part), part]))('%s is taken as it is', (_, part) => {
    expect(content(part)).toEqual(part);
    expect(content({ ...(part as object), _meta: { a: 1 } })).toEqual({ ...(part as object), _meta: { a: 1 } });
  });

  test.each<[string, Record<string, unknown>]>([
    ['text without words', { type: 'text' }],
    ['a thought of a number', { type: 'thought', thought: 5 }],
    ['media of no kind', { type: 'media', mimeType: 5, data: 'AQI=' }],
    ['a reference without words', { type: 'reference', uri: 'u' }],
    ['code of no language', { type: 'code', code: '1' }],
    ['code that is missing', { type: 'code', language: 'js' }],
    ['a result without output', { type: 'code_result', exitCode: 0 }],
    ['a call without arguments', { type: 'function_call', id: 'c', name: 'n' }],
    ['a call with a list of them', { type: 'function_call', id: 'c', name: 'n', args: [] }],
    ['a response without one', { type: 'function_response', id: 'c', name: 'n' }],
  ])('%s is said in words', (_, part) => {
    expect(content(part)).toEqual(text(JSON.stringify(part)));
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['a signature', { type: 'thought', thought: 'hm', signature: 5 }, 'signature'],
    ['data', { type: 'media', mimeType: 'image/png', uri: 'u', data: 5 }, 'data'],
    ['an address', { type: 'media', mimeType: 'image/png', data: 'AQI=', uri: 5 }, 'uri'],
    ['a title', { type: 'citation', title: 5 }, 'title'],
    ['an exit code', { type: 'code_result', output: '', exitCode: 1.5 }, 'exitCode'],
    ['a flag', { type: 'function_response', id: 'c', name: 'n', response: {}, isError: 'yes' }, 'isError'],
    ['attachments', { type: 'function_response', id: 'c', name: 'n', response: {}, content: 'x' }, 'content'],
    [
      'attachments of another kind',
      { type: 'function_response', id: 'c', name: 'n', response: {}, content: [{ type: 'thought', thought: 'x' }] },
      'content',
    ],
    [
      'attachments that are null',
      { type: 'function_response', id: 'c', name: 'n', response: {}, content: [null] },
      'content',
    ],
    ['meta', { type: 'text', text: 'x', _meta: 'y' }, '_meta'],
    ['meta that is null', { type: 'text', text: 'x', _meta: null }, '_meta'],
  ])('%s that is of no use is left out', (_, part, name) => {
    const { [name]: __, ...rest } = part;
    expect(content(part)).toEqual(rest);
  });

  test('bytes and strings among parts are media and text', () => {
    const bytes = { type: 'media', mimeType: 'application/octet-stream', data: 'AQI=' };
    expect(normaliseReturn({ llmContent: [new Uint8Array([1, 2])] }).content).toEqual([bytes]);
    const items = normaliseReturn({ llmContent: ['a', null, 5, undefined, { b: 1 }] }).content;
    expect(items).toEqual([text('a'), text('null'), text('5'), text('null'), text('{"b":1}')]);
    const broken = {
      type: 'text',
      text: 'x',
      get data() {
        throw new Error('no');
      },
    };
    expect(content(broken)).toEqual({ type: 'text', text: 'x', data: '[Unreadable]' });
  });

  test.each<[string, unknown, unknown]>([
    ['a string', 'a', [text('a')]],
    [
      'one',
      { type: 'diff', path: 'p', newText: 'n', oldText: 'o' },
      [{ type: 'diff', path: 'p', newText: 'n', oldText: 'o' }],
    ],
    ['several', ['a', { type: 'thread', threadId: 't' }], [text('a'), { type: 'thread', threadId: 't' }]],
    ['a terminal', { type: 'terminal', text: 't', exitCode: 1 }, [{ type: 'terminal', text: 't', exitCode: 1 }]],
    ['a terminal with no code', { type: 'terminal', text: 't', exitCode: 'x' }, [{ type: 'terminal', text: 't' }]],
    ['a table', { type: 'table', columns: ['a'], rows: [[1]] }, [{ type: 'table', columns: ['a'], rows: [[1]] }]],
    ['a table of other columns', { type: 'table', columns: [1], rows: [[1]] }, undefined],
    ['a table of other rows', { type: 'table', columns: ['a'], rows: [1] }, undefined],
    ['a picture', { type: 'media', mimeType: 'image/png' }, [{ type: 'media', mimeType: 'image/png' }]],
    ['a diff of nothing', { type: 'diff', path: 'p' }, undefined],
    ['a thread without a name', [{ type: 'thread' }], undefined],
    ['what has no type', [{ text: 'a' }, 5, null], undefined],
    ['another kind', { type: 'ext:chart', a: 1 }, [{ type: 'ext:chart', a: 1 }]],
  ])('what people are shown: %s', (_, given, shown) => {
    expect(display(given)).toEqual(shown);
  });

  test('a list is read up to ten thousand parts', () => {
    const many = (length: number) => normaliseReturn({ llmContent: Array.from({ length }, () => 'a') }).content.length;
    expect([many(10_000), many(10_001)]).toEqual([10_000, 10_000]);
  });

  test.each<[string, unknown]>([
    ['only strangers', { content: [{ type: 'ext:chart' }] }],
    ['no parts', { content: [5] }],
    ['parts without a type', { content: [{ a: 1 }] }],
    ['no list', { content: 'x', isError: true }],
    ['structured beside no list', { content: 'x', structuredContent: 1 }],
    ['nothing', {}],
    ['meta alone', { _meta: {} }],
  ])('an object with %s is a value, not a result', (_, value) => {
    expect(normaliseReturn(value).structuredContent).toEqual(value);
  });

  test.each<[string, unknown]>([
    ['no parts', { content: [] }],
    ['a known part', { content: [text('a')] }],
    ['a stranger beside a known one', { content: [{ type: 'ext:chart' }, text('a')] }],
    ['strangers and a flag', { content: [{ type: 'ext:chart' }], isError: false }],
    ['tail calls', { tailCalls: [{ name: 'n', args: {} }] }],
  ])('an object with %s is a result', (_, value) => {
    expect(normaliseReturn(value)).not.toHaveProperty('structuredContent');
  });

  test('what follows a call is cleaned', () => {
    const { tailCalls } = normaliseReturn({
      content: [],
      tailCalls: [{ name: 'a', args: { b: 1n }, c: 1 }, { name: 'b', args: 'x' }, { name: 5, args: {} }, null],
    });
    expect(tailCalls).toEqual([
      { name: 'a', args: { b: '1' } },
      { name: 'b', args: {} },
    ]);
    expect(normaliseReturn({ content: [], tailCalls: 'x' })).not.toHaveProperty('tailCalls');
  });

  test('flags and words of a result are taken only as what they are', () => {
    const of = (more: object) => normaliseReturn({ content: [text('a')], ...more });
    expect(of({ isError: true, errorType: 'failed' })).toEqual({
      content: [text('a')],
      isError: true,
      errorType: 'failed',
    });
    expect(of({ isError: false, errorType: 5, _meta: 'x' })).toEqual({ content: [text('a')] });
  });

  test.each([
    ['a word', { isError: 'yes' }, { isError: true }],
    ['a number', { isError: 1 }, { isError: true }],
    ['an object', { isError: {} }, { isError: true }],
    ['no verdict beside the name of an error', { errorType: 'denied' }, { isError: true, errorType: 'denied' }],
    ['null', { isError: null }, {}],
    ['a plain no', { isError: false }, {}],
  ])('a verdict that is not a plain no is a failure: %s', (_, verdict, wanted) => {
    expect(normaliseReturn({ content: [text('a')], ...verdict })).toEqual({ content: [text('a')], ...wanted });
  });
});

describe('a value as JSON', () => {
  test.each<[string, unknown, unknown]>([
    ['a regular expression', /a/g, '/a/g'],
    ['a shared buffer', new SharedArrayBuffer(1), { mimeType: 'application/octet-stream', data: 'AA==' }],
    ['clamped bytes', new Uint8ClampedArray([1]), { mimeType: 'application/octet-stream', data: 'AQ==' }],
    ['larger numbers', new BigInt64Array([1n]), ['1']],
    ['a boxed flag', Object(false), false],
    ['a map of texts in a list', [new Map([['a', 1]])], [{ a: 1 }]],
    [
      'a map with one other key',
      new Map<unknown, unknown>([
        ['a', 1],
        [2, 3],
      ]),
      [
        ['a', 1],
        [2, 3],
      ],
    ],
    ['a function', () => 1, null],
    ['a date that is none, inside', { at: new Date(Number.NaN) }, { at: null }],
    ['minus nothing', -0, 0],
  ])('%s', (_, value, expected) => {
    expect(toJsonValue(value)).toStrictEqual(expected);
  });

  test('everything after two million values is left out, once', () => {
    const list = Array.from({ length: 2_000_100 }, () => 1);
    const made = toJsonValue(list) as unknown[];
    expect([made.length, made.at(-1), made.at(-2)]).toEqual([2_000_000, '[Truncated]', 1]);
    const both = toJsonValue([list, { a: 1 }]) as unknown[];
    expect(both).toHaveLength(2);
    expect(both[1]).toBe('[Truncated]');
  });
});

describe('what is stored of a result', () => {
  test.each<[string, ToolResult, object]>([
    [
      'an error with a value of its own',
      { content: [text('{"a":1}')], structuredContent: { a: 1 }, isError: true },
      { response: { a: 1 } },
    ],
    [
      'a value that looks like a wrapped one',
      { content: [], structuredContent: { content: 1 } },
      { response: { content: 1 }, content: [text('')] },
    ],
    [
      'an error that looks like one',
      { content: [], structuredContent: { error: 'x' }, isError: true },
      { response: { error: 'x' }, content: [text('')] },
    ],
    [
      'what looks like an error and is none',
      { content: [], structuredContent: { error: 'x' } },
      { response: { error: 'x' } },
    ],
    [
      'an error of no text',
      { content: [], structuredContent: { error: 1 }, isError: true },
      { response: { error: 1 } },
    ],
    [
      'a value of two members',
      { content: [], structuredContent: { content: 1, b: 2 } },
      { response: { content: 1, b: 2 } },
    ],
    ['a list', { content: [text('[1]')], structuredContent: [1] }, { response: { content: [1] } }],
    [
      'a list in other words',
      { content: [text('one')], structuredContent: [1] },
      { response: { content: [1] }, content: [{ ...text('one'), _meta: { wrapped: true } }] },
    ],
    [
      'a text that is a value',
      { content: [], structuredContent: 'a' },
      { response: { content: 'a' }, content: [{ ...text(''), _meta: { wrapped: true } }] },
    ],
  ])('%s', (_, result, fields) => {
    expect(toResponse(result)).toEqual(fields);
  });

  const stored = (part: Partial<FunctionResponsePart>) =>
    fromResponse({ type: 'function_response', id: 'c', name: 't', response: {}, ...part } as FunctionResponsePart);

  test.each<[string, Partial<FunctionResponsePart>, ToolResult]>([
    ['text', { response: { content: 'a' } }, { content: [text('a')] }],
    ['an error', { response: { error: 'a' }, isError: true }, { content: [text('a')], isError: true }],
    [
      'an error without the flag',
      { response: { error: 'a' } },
      { content: [text('{"error":"a"}')], structuredContent: { error: 'a' } },
    ],
    [
      'other words',
      { response: { a: 1 }, content: [text('b'), text('c')] as never },
      { content: [text('b\nc')], structuredContent: { a: 1 } },
    ],
    [
      'other words for a wrapped value',
      { response: { content: 1 }, content: [{ ...text('b'), _meta: { wrapped: true } }] as never },
      { content: [text('b')], structuredContent: 1 },
    ],
    ['nothing to say', { response: { content: '' } }, { content: [text('')] }],
  ])('%s is read back', (_, part, result) => {
    expect(stored(part)).toStrictEqual(result);
  });

  test('what people were shown is read back, if it is something to show', () => {
    const response = { content: 'a' };
    expect(stored({ response, _meta: { display: ['b', { type: 'thread', threadId: 't' }] } })).toEqual({
      content: [text('a')],
      display: [text('b'), { type: 'thread', threadId: 't' }],
    });
    expect(stored({ response, _meta: { display: [5] } })).not.toHaveProperty('display');
    expect(stored({ response, _meta: {} })).not.toHaveProperty('display');
  });
});
