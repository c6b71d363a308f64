import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { LineHistory } from '../../src/cli/editing/history.ts';
import { diffLines } from '../../src/cli/questions/diff.ts';
import { questionLines } from '../../src/cli/questions/preview.ts';
import { exitCodeOf } from '../../src/cli/terminal/exit-code.ts';
import { argsLine, clean, oneLine } from '../../src/cli/terminal/text.ts';
import { WordWrap } from '../../src/cli/terminal/wrap.ts';
import { comeBackLine, commandName } from '../../src/cli/workspace/command-line.ts';
import { minutes } from '../../src/cli/workspace/flags.ts';
import { describeRequest } from '../../src/cli/workspace/open-requests.ts';
import type { DisplayContent } from '../../src/contracts/index.ts';

describe('a difference', () => {
  const shown = (oldText: string | undefined, newText: string) =>
    diffLines(oldText, newText).map((line) => (line.mark === 'gap' ? `…${line.count}` : `${line.mark}${line.text}`));

  test('of a new file is all of it', () => {
    expect(shown(undefined, 'a\nb\n')).toEqual(['+a', '+b']);
  });

  test('has a little around it, and says what it leaves out', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const text = `${lines.join('\n')}\n`;
    const changed = text.replace('line 10', 'LINE 10');
    expect(shown(text, changed)).toEqual([
      '…8',
      ' line 8',
      ' line 9',
      '-line 10',
      '+LINE 10',
      ' line 11',
      ' line 12',
      '…7',
    ]);
  });

  test('finds what stays between two changes', () => {
    expect(shown('a\nb\nc\n', 'x\nb\ny\n')).toEqual(['-a', '+x', ' b', '-c', '+y']);
    expect(shown('a\nb\n', 'b\na\n').filter((line) => line.startsWith(' '))).toHaveLength(1);
  });

  test('of equal texts is nothing', () => {
    expect(shown('a\nb\n', 'a\nb\n')).toEqual(['…2']);
    expect(shown('', '')).toEqual([]);
  });

  test('turns the old text into the new one', () => {
    const random = (seed: number) => {
      let state = seed;
      return Array.from({ length: 12 }, () => {
        state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
        return 'abc'[(state >> 8) % 3];
      }).join('\n');
    };
    for (let seed = 1; seed < 200; seed++) {
      const [before, after] = [random(seed), random(seed + 1000)];
      const lines = diffLines(before, after);
      expect(lines.some((line) => line.mark === 'gap' && line.count > 12)).toBe(false);
      const side = (mark: '-' | '+') => lines.filter((line) => line.mark === mark).length;
      expect(side('+') - side('-')).toBe(after.split('\n').length - before.split('\n').length);
    }
  });

  test('of large files takes no square of memory', () => {
    const many = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`).join('\n');
    expect(diffLines(many('old'), many('new'))).toHaveLength(10_000);
  });
});

test.each([
  ['30s', 0.5],
  ['5m', 5],
  ['1h', 60],
  ['2.5', 2.5],
  ['90s', 1.5],
])('%s is %d minutes', (text, expected) => {
  expect(minutes(text)).toBe(expected);
});

test.each(['', '0', '-1', 's', '1d', '1 m', '1e3', 'NaN'])('%j is no time', (text) => {
  expect(() => minutes(text)).toThrow('Give minutes');
});

test.each<[string, number, number]>([
  ['completed', 0, 0],
  ['completed', 1, 3],
  ['failed', 1, 1],
  ['input_required', 1, 4],
  ['max_turns', 0, 5],
  ['max_budget', 0, 5],
  ['max_time', 0, 5],
  ['refusal', 0, 6],
  ['aborted', 2, 130],
  ['something_new', 0, 1],
])('%s with %d denied exits with %d', (reason, denied, code) => {
  expect(exitCodeOf(reason, { denied, truncated: false })).toBe(code);
});

test.each([
  ['completed', 0, 7],
  ['completed', 2, 7],
  ['failed', 0, 1],
])('IOP-M1 %s with %d denied, cut, exits with %d', (reason, denied, code) => {
  expect(exitCodeOf(reason, { denied, truncated: true })).toBe(code);
});

test('foreign text loses what moves a cursor or turns text around', () => {
  expect(clean('a\u001b[31mb\u0007\r\nc\td\u009b1m\u202ee\u2066')).toBe(
    'a\ufffd[31mb\ufffd\nc\td\ufffd1m\ufffde\ufffd',
  );
  expect(oneLine('a\n\n  b\rc', 20)).toBe('a b\ufffdc');
  expect(oneLine('💡💡💡💡', 3)).toBe('💡💡…');
  expect(argsLine({ path: 'x', n: 1, deep: { a: ['\u001b'] } }, 80)).toBe('path="x" n=1 deep={"a":["\\u001b"]}');
});

test('marks that turn text around and separators that end a line are no text', () => {
  expect(clean('a\u200fb\u061cc\u2028d')).toBe('a\ufffdb\ufffdc\ufffdd');
  // ATK3-08
  expect(clean('a\u200bb\u{e0041}c\u3164d')).toBe('a\ufffdb\ufffdc\ufffdd');
});

describe('what is asked', () => {
  const long = `${'x'.repeat(300)}THE END`;
  const asked = (preview: DisplayContent[], args: Record<string, unknown>, all = false) => {
    const approval = { title: '', preview, previewDigest: '', requestedBy: { id: 'anna' }, remember: [] };
    return questionLines({ name: 'tool', args, approval }, { all }).join('\n');
  };

  test.each<[string, DisplayContent[]]>([
    ['without a preview', []],
    ['beside words of the author', [{ type: 'text', text: 'runs something' }]],
    ['beside a preview that cannot be shown', [{ type: '_hologram' }]],
  ])('is shown whole %s', (_, preview) => {
    expect(asked(preview, { command: long, deep: [{ list: [long] }] }).split('THE END')).toHaveLength(3);
    expect(asked(preview, { command: `a\nb\u001b${long}` })).toContain('command: a\n    b\ufffdxxx');
  });

  test('is not said twice: what one line says, what a difference shows; but whole for whoever wants it', () => {
    expect(asked([], { command: 'ls' })).toBe('');
    const diff: DisplayContent[] = [{ type: 'diff', path: 'a.txt', newText: 'a\n' }];
    expect(asked(diff, { content: long })).not.toContain('THE END');
    expect(asked(diff, { content: long }, true)).toContain('THE END');
  });

  test('is whole where the line that describes the request has less room for it than a line of its own', () => {
    for (let length = 1; length < 200; length++) {
      const args = { a: `${'x'.repeat(50)}1`, b: `${'y'.repeat(length % 55)}END` };
      const request = { kind: 'elicitation', elicitation: 'tool_confirmation', name: 'tool', args };
      const line = describeRequest({ ...request, message: 'Run tool?' });
      expect(line + asked([], args, true)).toContain('END');
    }
  });

  test('has tables with whole cells', () => {
    const rows = [
      [long, { deep: 1 }],
      ['a\nb', null],
    ];
    expect(asked([{ type: 'table', columns: ['what', 'of'], rows }], {})).toBe(
      `what | of\n${long} | {"deep":1}\na b | null`,
    );
  });
});

test.each([
  ['/usr/local/bin/coxswain', 'coxswain'],
  ['/home/anna/shop/node_modules/.bin/coxswain', 'npx coxswain'],
  ['/home/anna/shop/node_modules/coxswain/dist/cli.js', 'npx coxswain'],
])('called as %s, it is named %s in hints', (script, name) => {
  const [node = '', ...before] = process.argv;
  process.argv = [node, script];
  expect(commandName()).toBe(name);
  process.argv = [node, ...before];
});

test.each([
  ['words are broken between', 10, ['aaaa bbbb ', 'cc', 'cc dddd'], 'aaaa bbbb\ncccc dddd'],
  ['what fits exactly stays', 9, ['aaaa bbbb', ' cccc\nd'], 'aaaa bbbb\ncccc\nd'],
  [
    'wide characters count twice, marks not at all',
    8,
    ['世界 e\u0301e\u0301e\u0301 f'],
    '世界 e\u0301e\u0301e\u0301\nf',
  ],
  ['a word that is wider than a line stays whole', 5, ['a ', 'bbbbbbb', ' c'], 'a\nbbbbbbb c'],
  ['indents and empty lines stay', 12, ['  a\n\n    b c\n'], '  a\n\n    b c\n'],
])('NEW-T12 %s', (_, width, pieces, whole) => {
  const wrap = new WordWrap(() => width);
  // In pieces as they come, and character by character.
  for (const given of [pieces, [...pieces.join('')]]) {
    const written = given.map((piece) => wrap.push(piece)).join('') + wrap.flush();
    expect(written).toBe(whole);
    wrap.restart();
  }
});

test('NEW-T1 whoever has come by npm start is told to come back by it', () => {
  vi.stubEnv('npm_lifecycle_event', 'start');
  expect(comeBackLine('examples/workspace/agent.ts', { session: 'x' })).toBe('npm start -- --session x');
  expect(comeBackLine('agent.ts', { session: 'x' })).toMatch(/ run agent\.ts --session x$/);
  vi.unstubAllEnvs();
});

test('NEW-T11 the history keeps the newest 500 texts, of several lines too, in a file of its owner', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-history-'));
  const file = join(folder, 'history');
  try {
    writeFileSync(file, 'no JSON\n5\n', { mode: 0o600 });
    const history = new LineHistory(file);
    for (let count = 0; count < 1100; count++) history.add(`text ${count}`);
    history.add('a\nb');
    history.add('a\nb');
    history.add(' ');
    const next = new LineHistory(file);
    expect(next.step(1, 'draft')).toBeUndefined();
    expect([next.step(-1, 'draft'), next.step(-1, ''), next.step(1, ''), next.step(1, '')]).toEqual([
      'a\nb',
      'text 1099',
      'a\nb',
      'draft',
    ]);
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(500);
    for (let count = 1; count < 500; count++) next.step(-1, '');
    expect([next.step(-1, ''), next.step(-1, '')]).toEqual(['text 601', undefined]);
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o077).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
