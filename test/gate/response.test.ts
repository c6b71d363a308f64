import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FunctionResponsePart, ToolResult } from '../../src/contracts/index.ts';
import { functionResponsePart } from '../../src/contracts/schemas/index.ts';
import { errorResult, fromResponse, normaliseReturn, toResponse } from '../../src/gate/index.ts';

/** As the runtime stores it. */
function stored(result: ToolResult): FunctionResponsePart {
  const part = { type: 'function_response', id: 'c1', name: 'tool', ...toResponse(result) } as FunctionResponsePart;
  if (result.isError) part.isError = true;
  if (result.errorType !== undefined) part.errorType = result.errorType;
  if (result.display) part._meta = { display: result.display };
  return JSON.parse(JSON.stringify(part)) as FunctionResponsePart;
}

describe('S3-51 what a model gets of a result', () => {
  test.each<[string, unknown, Record<string, unknown>]>([
    ['an object as it is', { a: 1 }, { a: 1 }],
    ['a string', 'x', { content: 'x' }],
    ['a number', 5, { content: 5 }],
    ['null', null, { content: null }],
    ['an array', [1, 2], { content: [1, 2] }],
    ['undefined', undefined, { content: '' }],
    ['an error', new Error('boom'), { error: 'boom' }],
  ])('%s', (_, value, response) => {
    expect(toResponse(normaliseReturn(value))).toEqual({ response });
  });

  test('display stays with people', () => {
    const result = normaliseReturn({
      content: [{ type: 'text', text: 'a' }],
      display: [{ type: 'text', text: 'secret' }],
    });
    expect(JSON.stringify(toResponse(result))).not.toContain('secret');
  });

  test('media and references go beside the response', () => {
    const media = { type: 'media' as const, mimeType: 'image/png', data: 'AQI=' };
    expect(toResponse({ content: [{ type: 'text', text: 'see' }, media] })).toEqual({
      response: { content: 'see' },
      content: [media],
    });
    expect(toResponse(normaliseReturn(new Uint8Array([1])))).toMatchObject({
      response: { content: '' },
      content: [{ type: 'media', data: 'AQ==' }],
    });
  });

  test('code, citations and strangers are said in words, thoughts are not', () => {
    const content: ToolResult['content'] = [
      { type: 'code', language: 'js', code: '1 + 1' },
      { type: 'code_result', output: '2' },
      { type: 'thought', thought: 'hm' },
      { type: 'citation', title: 'T', uri: 'u' },
    ];
    expect(toResponse({ content })).toEqual({ response: { content: '1 + 1\n2\nT u' } });
  });

  test('text that says something else than the value goes along', () => {
    const result: ToolResult = { content: [{ type: 'text', text: 'two' }], structuredContent: { n: 2 } };
    expect(toResponse(result)).toEqual({ response: { n: 2 }, content: [{ type: 'text', text: 'two' }] });
  });
});

describe('reading a stored response back', () => {
  const image = { type: 'media' as const, mimeType: 'image/png', data: 'AQI=' };
  const text = (value: string) => ({ type: 'text' as const, text: value });

  test.each<[string, ToolResult]>([
    ['text', { content: [text('x')] }],
    ['nothing', { content: [text('')] }],
    ['media only', { content: [image] }],
    ['text and media', { content: [text('x'), image] }],
    ['object', normaliseReturn({ a: [1] })],
    ['array', normaliseReturn([1])],
    ['null', normaliseReturn(null)],
    ['an object that looks wrapped', normaliseReturn({ content: 'x' })],
    ['an object that looks like an error', { ...normaliseReturn({ error: 'x' }), isError: true }],
    ['a value with other words', { content: [text('two ids')], structuredContent: [1, 2] }],
    ['an object with other words', { content: [text('see'), image], structuredContent: { content: [1] } }],
    ['a string value', { content: [text('"x"')], structuredContent: 'x' }],
    ['an error', errorResult('denied', 'no', { display: [{ type: 'text', text: 'shown' }] })],
    [
      'an error with a value',
      { content: [text('bad')], structuredContent: { code: 5 }, isError: true, errorType: 'failed' },
    ],
  ])('%s', (_, result) => {
    const part = stored(result);
    expect(functionResponsePart.safeParse(part).success).toBe(true);
    expect(fromResponse(part)).toEqual(result);
  });

  test('whatever a tool returned', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, isError) => {
        const result = { ...normaliseReturn(JSON.parse(JSON.stringify(value))), ...(isError && { isError }) };
        expect(fromResponse(stored(result))).toEqual(result);
      }),
    );
  });

  test('a response of another runtime is an object as it is', () => {
    const part = { type: 'function_response' as const, id: 'c', name: 't', response: { result: 5 } };
    expect(fromResponse(part)).toEqual({ content: [text('{"result":5}')], structuredContent: { result: 5 } });
  });
});
