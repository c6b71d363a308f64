import { describe, expect, test } from 'vitest';
import { linesIn } from '../../src/cli/terminal/lines.ts';
import { all } from '../host/kit.ts';

async function* pieces(...given: (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  yield* given;
}

describe('CASE-F1 the lines of a file', () => {
  test.each<[string, string[], string[]]>([
    ['end with a line feed', ['a\nb\n'], ['a', 'b']],
    ['or with both', ['a\r\nb'], ['a', 'b']],
    ['and with nothing else', ['a\u2028b\u2029c\u0085d\ve\f\rf\n'], ['a\u2028b\u2029c\u0085d\ve\f\rf']],
    ['may be empty', ['\n\na\n'], ['', '', 'a']],
    ['may come in pieces', ['a', 'b\nc', 'd\r', '\ne'], ['ab', 'cd', 'e']],
    ['may be none', [], []],
  ])('%s', async (_title, given, lines) => {
    expect(await all(linesIn(pieces(...given)))).toEqual(lines);
  });

  test('are text, wherever their bytes are cut', async () => {
    const bytes = new TextEncoder().encode('{"a":"ö\u2028€"}\n{"b":"😀"}\n');
    for (let at = 0; at <= bytes.length; at++) {
      const lines = await all(linesIn(pieces(bytes.subarray(0, at), bytes.subarray(at))));
      expect(lines).toEqual(['{"a":"ö\u2028€"}', '{"b":"😀"}']);
    }
  });

  test('a failing input fails the loop', async () => {
    async function* broken(): AsyncGenerator<string> {
      yield 'a\nb';
      throw new Error('disk');
    }
    await expect(all(linesIn(broken()))).rejects.toThrow('disk');
  });
});
