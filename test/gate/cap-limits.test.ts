import { describe, expect, test } from 'vitest';
import type { ContentPart, ToolResult } from '../../src/contracts/index.ts';
import { capResult, normaliseReturn } from '../../src/gate/index.ts';
import { headOf } from '../../src/gate/values/head.ts';

const text = (value: string): Extract<ContentPart, { type: 'text' }> => ({ type: 'text', text: value });
const _content = (part: unknown) => normaliseReturn({ content: [text('x'), part] }).content[1];
const _display = (part: unknown) => normaliseReturn({ content: [text('x')], display: part }).display;

describe('a result at its limit', () => {
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  test('fits with as many bytes as there are, and not with one more', () => {
    for (const result of [
      { content: [text('x'.repeat(400))] },
      { content: [text('x')], structuredContent: { a: 'x'.repeat(400) } },
      { content: [text('x')], display: [text('x'.repeat(400))] },
    ] as ToolResult[]) {
      const maxBytes = Math.max(
        bytes(result.content),
        bytes(result.structuredContent ?? 0),
        bytes(result.display ?? 0),
      );
      expect(capResult(result, { maxBytes })).toBe(result);
      expect(capResult(result, { maxBytes: maxBytes - 1 })).not.toBe(result);
    }
  });

  test.each<[string, ContentPart, string, string, string | Buffer]>([
    [
      'a picture',
      { type: 'media', mimeType: 'image/png', data: 'A'.repeat(4000) },
      'image/png',
      'png',
      Buffer.alloc(3000),
    ],
    [
      'a picture elsewhere',
      { type: 'media', mimeType: 'image/x-y', uri: 'u'.repeat(3000) },
      'image/x-y',
      'txt',
      'u'.repeat(3000),
    ],
    [
      'bytes of no known kind',
      { type: 'media', mimeType: 'x/y-z', data: 'A'.repeat(4000) },
      'x/y-z',
      'bin',
      Buffer.alloc(3000),
    ],
    ['a reference', { type: 'reference', text: 't'.repeat(3000) }, 'reference', 'txt', 't'.repeat(3000)],
    [
      'a reference with its document',
      { type: 'reference', text: 't', mimeType: 'application/pdf', data: 'A'.repeat(4000) },
      'application/pdf',
      'pdf',
      Buffer.alloc(3000),
    ],
  ])('%s is kept under a name that says what it is', async (_, part, what, extension, body) => {
    const kept: [string, string | Uint8Array][] = [];
    const spill = async (name: string, given: string | Uint8Array) => {
      kept.push([name, given]);
      return `kept-${name}`;
    };
    const result = await capResult({ content: [part, text('a')] }, { maxBytes: 1000, spill });
    expect(kept).toEqual([[`result-call-0.${extension}`, body]]);
    expect(result.content).toMatchObject([
      { text: `[${what}, 3000 bytes: kept as artifact "kept-result-call-0.${extension}"]`, _meta: { standIn: true } },
      { text: 'a' },
    ]);
    expect(result._meta).toEqual({
      truncated: { bytes: expect.any(Number), artifacts: [`kept-result-call-0.${extension}`] },
    });
  });

  test('a picture takes half of it at most', async () => {
    const picture = (size: number): ContentPart => ({
      type: 'media',
      mimeType: 'image/png',
      data: 'A'.repeat(size - 49),
    });
    expect(bytes(picture(500))).toBe(500);
    const isThere = async (size: number) => {
      const { content: parts } = await capResult(
        { content: [picture(size), text('x'.repeat(2000))] },
        { maxBytes: 1000 },
      );
      return parts.some(({ type }) => type === 'media');
    };
    expect([await isThere(500), await isThere(501)]).toEqual([true, false]);
  });

  test('a text that is cut is as long as there is room, and ends with a whole character', () => {
    expect(headOf('abc', 5)).toBe('abc');
    expect(headOf('abc', 4)).toBe('ab');
    expect(headOf('abc', 2)).toBe('');
    for (const [character, cost] of [
      ['a', 1],
      ['"', 2],
      ['\\', 2],
      ['\n', 2],
      ['\u0001', 6],
      ['\u001f', 6],
      ['\u007f', 1],
      ['\u0080', 2],
      ['\u07ff', 2],
      ['\u0800', 3],
      ['\uffff', 3],
      ['\u{10000}', 4],
      ['\ud800', 6],
      ['\udfff', 6],
      [' ', 1],
    ] as const) {
      expect(bytes(character) - 2).toBe(cost);
      expect([headOf(character, 2 + cost), headOf(character, 1 + cost)]).toEqual([character, '']);
    }
  });

  test('what a result had beside it stays', async () => {
    const result = await capResult(
      { content: [text('x'.repeat(3000))], display: [text('d')], isError: true, errorType: 'failed', _meta: { a: 1 } },
      { maxBytes: 1000 },
    );
    expect(result).toMatchObject({ display: [text('d')], isError: true, errorType: 'failed', _meta: { a: 1 } });
    expect(await capResult({ content: [text('x'.repeat(3000))] }, { maxBytes: 1000 })).not.toHaveProperty('display');
    const tiny = await capResult({ content: [text('x'.repeat(3000))] }, { maxBytes: 1 });
    expect(tiny.content[0]).toEqual(text(''));
  });
});
