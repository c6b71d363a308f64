import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { ContentPart, ToolResult } from '../../src/contracts/index.ts';
import { textOfParts } from '../../src/contracts/index.ts';
import { capResult, normaliseReturn, truncatedOf } from '../../src/gate/index.ts';
import { capSync } from '../../src/gate/result/cap-result.ts';

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

function shelf() {
  const kept = new Map<string, string | Uint8Array>();
  const spill = async (name: string, body: string | Uint8Array) => {
    kept.set(name, body);
    return name;
  };
  return { kept, spill };
}

describe('F17 results above the cap', () => {
  test('what fits is left alone', () => {
    const result = normaliseReturn({ a: 'x'.repeat(1000) });
    expect(capResult(result)).toBe(result);
  });

  test.each([
    [
      { bytes: '5', artifacts: 'a', text: 5 },
      { bytes: 0, artifacts: [] },
    ],
    [
      { bytes: 5, artifacts: ['a', 5], text: null },
      { bytes: 5, artifacts: ['a'], text: null },
    ],
    ['cut', undefined],
  ])('MUT-G16 of a log that says %j was cut, what is no number, name or text is not believed', (truncated, said) => {
    expect(truncatedOf({ _meta: { truncated } })).toEqual(said);
  });

  test('CMP-14 of a long text the beginning and the end are left, and between them it says how large it was', async () => {
    const long = `begin ${'x'.repeat(5000)} end`;
    const result = await capResult(normaliseReturn(long), { maxBytes: 1000 });
    expect(result.content).toEqual([
      { type: 'text', text: expect.stringMatching(/^begin x{500,}$/) },
      { type: 'text', text: expect.stringMatching(/^\[cut: 50\d\d bytes in all; the rest was dropped\]$/) },
      { type: 'text', text: expect.stringMatching(/^x{200,} end$/) },
    ]);
    expect(bytes(result.content)).toBeLessThanOrEqual(1000);
    expect(result._meta?.truncated).toEqual({ bytes: expect.any(Number), artifacts: [], text: null });
    expect(normaliseReturn(long, { maxBytes: 1000 })).toEqual(result);
  });

  test('CMP-14 both are cut at a character, whatever it takes', async () => {
    for (const character of ['ü', '語', '😀', '"', '\n', '\ud800']) {
      for (const pad of ['', 'a', 'ab', 'abc']) {
        const whole = `${pad}${character.repeat(2000)}`;
        const { content } = await capResult(normaliseReturn(whole), { maxBytes: 1000 });
        const [head, , tail] = content.map((part) => (part.type === 'text' ? part.text : ''));
        expect([whole.startsWith(head ?? '-'), whole.endsWith(tail ?? '-')]).toEqual([true, true]);
        expect([...(tail ?? '')].every((each) => each === character)).toBe(true);
        expect(bytes(content)).toBeLessThanOrEqual(1000);
        expect(bytes(content)).toBeGreaterThan(950);
      }
    }
  });

  test('the default is 1 MiB', async () => {
    const result = await capResult(normaliseReturn('x'.repeat(2 * 1024 * 1024)));
    expect(bytes(result.content)).toSatisfy((size: number) => size > 1_000_000 && size <= 1024 * 1024);
  });

  test('the whole goes where the caller keeps it', async () => {
    const { kept, spill } = shelf();
    const value = { rows: Array.from({ length: 500 }, (_, n) => ({ n })) };
    const result = await capResult(normaliseReturn(value), { maxBytes: 1000, spill, callId: 'c7' });
    expect(JSON.parse(String(kept.get('result-c7.json')))).toEqual(value);
    expect(result.structuredContent).toBeUndefined();
    expect(textOfParts(result.content)).toMatch(/^\{"rows":\[\{"n":0\}.*kept as artifact "result-c7\.json"/s);
    expect(result._meta?.truncated).toMatchObject({ artifacts: ['result-c7.json'] });
  });

  test('ATK4-05 a result that was cut before keeps its names, and nothing is kept over what they name', async () => {
    const { kept, spill } = shelf();
    const whole = 'x'.repeat(5000);
    const once = await capResult(normaliseReturn(whole), { maxBytes: 2000, spill, callId: 'c' });
    const twice = await capResult(once, { maxBytes: 1000, spill, callId: 'c' });
    expect(once._meta?.truncated).toMatchObject({ artifacts: ['result-c.txt'], text: 'result-c.txt' });
    expect(twice._meta?.truncated).toMatchObject({
      artifacts: ['result-c.txt', 'result-c.1.txt'],
      text: 'result-c.1.txt',
    });
    expect(kept.get('result-c.txt')).toBe(whole);
  });

  test('ATK4-05 a text that says it stands for something is cut like any other', async () => {
    const text = { type: 'text', text: 'x'.repeat(5000), _meta: { standIn: true } };
    const { content } = await capResult(normaliseReturn({ content: [text] }), { maxBytes: 1000 });
    expect(bytes(content)).toBeLessThanOrEqual(1000);
  });

  test('media that do not fit are kept whole', async () => {
    const { kept, spill } = shelf();
    const image = { type: 'media', mimeType: 'image/png', data: Buffer.alloc(3000).toString('base64') };
    const small = { type: 'media', mimeType: 'image/gif', data: 'AQI=' };
    const value = { content: [{ type: 'text', text: 'look' }, image, small] };
    const result = await capResult(normaliseReturn(value), { maxBytes: 1000, spill, callId: 'c' });
    expect(kept.get('result-c-1.png')).toEqual(Buffer.alloc(3000));
    expect(result.content).toMatchObject([
      { text: 'look' },
      { text: '[image/png, 3000 bytes: kept as artifact "result-c-1.png"]' },
      small,
    ]);
    const dropped = await capResult(normaliseReturn(value), { maxBytes: 1000 });
    expect(dropped.content[1]).toMatchObject({ text: '[image/png, 3000 bytes: too large, dropped]' });
  });

  test('MUT-G1 media that fit one by one and not together are replaced until the rest fits', async () => {
    const pictures = Array.from({ length: 3 }, () => ({ type: 'media', mimeType: 'image/png', data: 'A'.repeat(800) }));
    const result = await capResult(normaliseReturn({ content: pictures }), { maxBytes: 2000 });
    expect(result.content.map(({ type }) => type)).toEqual(['media', 'text', 'text']);
    expect(bytes(result.content)).toBeLessThanOrEqual(2000);
  });

  describe('text beside an attachment', () => {
    // Takes 500 bytes of 2,000.
    const picture = { type: 'media' as const, mimeType: 'image/png', data: 'A'.repeat(451) };
    const text = (length: number) => ({ type: 'text' as const, text: 'x'.repeat(length) });

    test('stays whole as long as both fit, and is cut where they do not', async () => {
      expect(bytes(picture)).toBe(500);
      const of = (length: number) =>
        capResult({ content: [text(length), picture], display: [text(3000)] }, { maxBytes: 2000 });
      const whole = await of(1400);
      expect(whole.content).toEqual([text(1400), picture]);
      const cut = await of(1600);
      expect(textOfParts(cut.content)).toMatch(/^x{700,1599}\n?\[cut: [^\]]*\]\n?x{300,}/);
      expect([cut.content.at(-1), bytes(cut.content) <= 2000]).toEqual([picture, true]);
    });

    test('is cut where its structured form does not fit beside it, which is left out then', async () => {
      const of = (length: number) =>
        capResult(
          { content: [text(10), picture], structuredContent: { x: 'y'.repeat(length) }, display: [text(3000)] },
          { maxBytes: 2000 },
        );
      expect((await of(1400)).structuredContent).toEqual({ x: 'y'.repeat(1400) });
      expect((await of(1600)).structuredContent).toBeUndefined();
    });

    test('leaves room for the lines that stand for what is left out', async () => {
      const large = { ...picture, data: 'A'.repeat(3000) };
      const { kept, spill } = shelf();
      const result = await capResult({ content: [large, text(1800)] }, { maxBytes: 2000, spill, callId: 'c' });
      expect(bytes(result.content)).toBeLessThanOrEqual(2000);
      expect(kept.get('result-c.txt')).toBe('x'.repeat(1800));
    });
  });

  test.each<[string, ToolResult]>([
    ['a media type', { content: [{ type: 'media', mimeType: `image/${'x'.repeat(50_000)}`, data: 'AAAA' }] }],
    ['the name of an error', { content: [], isError: true, errorType: 'e'.repeat(50_000) }],
    ['what is beside it', { content: [], _meta: { a: 'x'.repeat(50_000) } }],
    ['the name of a part', { content: [{ type: 'x'.repeat(50_000), data: 'A' } as unknown as ContentPart] }],
  ])('ATK2-05 %s is bounded with the result', async (_, given) => {
    const { spill } = shelf();
    for (const result of [await capResult(given, { maxBytes: 2000, spill }), capSync(given, { maxBytes: 2000 })])
      expect(bytes(result)).toBeLessThan(2500);
  });

  test.each([0, 900, 990, 2000])(
    'ATK2-05 sibling: what is said behind a result of %s bytes is within its bound',
    async (size) => {
      const note = 'n'.repeat(100);
      const { kept, spill } = shelf();
      const { content } = await capResult(
        { content: [{ type: 'text', text: 'x'.repeat(size) }] },
        { maxBytes: 1000, spill, callId: 'c', note },
      );
      expect(bytes(content)).toBeLessThanOrEqual(1000);
      expect(content.at(-1)).toEqual({ type: 'text', text: note });
      expect([...kept.values()]).toEqual(size < 850 ? [] : ['x'.repeat(size)]);
    },
  );

  test('a shelf that fails is no shelf', async () => {
    const spill = () => Promise.reject(new Error('full'));
    const result = await capResult(normaliseReturn('x'.repeat(5000)), { maxBytes: 1000, spill });
    expect(textOfParts(result.content)).toContain('the rest was dropped');
  });

  test('ATK-15 a shelf that does not answer is none after 30 s: of what it has kept by then the name is told', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const asked: string[] = [];
      const spill = (name: string) => (asked.push(name) === 1 ? Promise.resolve(name) : new Promise<string>(() => {}));
      const parts: ContentPart[] = [1, 2, 3].map(() => ({
        type: 'media',
        mimeType: 'image/png',
        data: 'A'.repeat(3000),
      }));
      const result = capResult({ content: parts }, { maxBytes: 1000, spill, callId: 'c' });
      await vi.advanceTimersByTimeAsync(29_999);
      expect(asked).toEqual(['result-c-0.png', 'result-c-1.png']);
      await vi.advanceTimersByTimeAsync(1);
      const texts = (await result).content.map((part) => (part.type === 'text' ? part.text : ''));
      expect(texts.map((text) => /kept as artifact|dropped/.exec(text)?.[0])).toEqual([
        'kept as artifact',
        'dropped',
        'dropped',
      ]);
      expect(asked).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('a display above the cap is left out, flags stay', async () => {
    const result: ToolResult = {
      content: [{ type: 'text', text: 'short' }],
      display: [{ type: 'diff', path: 'p', newText: 'x'.repeat(5000) }],
      isError: true,
      errorType: 'failed',
    };
    expect(await capResult(result, { maxBytes: 1000 })).toMatchObject({
      content: [{ text: 'short' }],
      display: [{ type: 'text', text: expect.stringContaining('left out') }],
      isError: true,
      errorType: 'failed',
    });
  });

  test('never above the cap, never in the middle of a character', async () => {
    const strings = fc.oneof(
      fc.string({ unit: 'binary', minLength: 100, maxLength: 2000, size: 'max' }),
      fc.integer({ min: 200, max: 900 }).map((n) => `${'a'.repeat(n % 4)}${'😀"\n\u0001é€'.repeat(n)}`),
    );
    const part = fc.oneof(
      strings.map((value) => ({ type: 'text', text: value })),
      strings.map((value) => ({ type: 'media', mimeType: 'image/png', data: Buffer.from(value).toString('base64') })),
      strings.map((value) => ({ type: 'reference', text: value })),
    );
    const values = fc.oneof(
      strings,
      fc.array(part, { minLength: 1, maxLength: 4 }).map((content) => ({ content })),
      fc.array(strings),
    );
    await fc.assert(
      fc.asyncProperty(values, fc.integer({ min: 2000, max: 4000 }), async (value, maxBytes) => {
        const result = await capResult(normaliseReturn(value), { maxBytes, ...shelf() });
        expect(bytes(result.content)).toBeLessThanOrEqual(maxBytes);
        if (result.structuredContent !== undefined)
          expect(bytes(result.structuredContent)).toBeLessThanOrEqual(maxBytes);
        if (result._meta?.truncated && typeof value === 'string' && value.isWellFormed()) {
          expect(textOfParts(result.content).isWellFormed()).toBe(true);
        }
      }),
    );
  });
});
