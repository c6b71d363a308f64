import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundedTest, faultOfPattern, Undecided } from '../../src/gate/index.ts';
import { patternMachine } from '../../src/gate/pattern/pattern-machine.ts';
import { parsePattern } from '../../src/gate/pattern/pattern-syntax.ts';

/** The automaton's own test, whatever the engine would do faster. */
function machineOf(pattern: RegExp): (text: string) => boolean {
  const node = parsePattern(pattern);
  const machine = node && patternMachine(node, pattern.unicode);
  if (!machine) throw new Error(`${String(pattern)} is not read`);
  return machine.test;
}

/** As few characters as make texts on which patterns differ. */
const texts = [
  ...['', 'a', 'b', 'c', 'ab', 'ba', 'aab', 'abab', 'abc', 'xaby', 'aaaa', 'a b', 'a_b', 'a-b', 'a1', '_', ' a', '-'],
  ...['A', 'Z', 'z', '0', '9', '`', '{', '[', '@', '/', ':', '!', '.', '\n', 'a\nb', '\t', '\0', 'é', 'aé', 'ß'],
  ...[
    '\uffff',
    '\uffffa',
    '\u{1f600}',
    'a\u{1f600}',
    '\ud83d',
    '\ude00',
    '\u{1f600}\u{1f600}',
    '{',
    '}',
    '(',
    ')',
    '|',
    '^',
    '$',
    '*',
    '+',
    '?',
  ],
  ...['a{', 'a{2}', 'a{2,', ']', '\\', 'aaaaa', 'zzab', 'foobar', 'foobaz', 'barfoo', '1.5', 'x,y', '0a', 'aba', 'acb'],
];

const sources = [
  ...['', 'a', 'ab', 'a|b', 'a|', '|a', 'a|b|c', '(a)', '(?:a)', '(?<n>a)b', '(a|b)c', '((a))', '(?:)', 'x(?:a|b|)y'],
  ...['a*', 'a+', 'a?', 'a*?', 'a+?b', 'a??b', '^a*$', '^a+$', '^a?$', '^(ab)*$', '^(ab)+$', '^(ab)?$', '^(?:a|b)*c$'],
  ...['^a{2}$', '^a{2,}$', '^a{1,3}$', '^a{0}$', '^a{0,1}b$', '^(ab){2}$', '^(a|b){2,3}$', '^a{2,4}?$', 'a{3,}'],
  ...[
    '^',
    '$',
    '^$',
    '^a',
    'a$',
    'a^b',
    'a$b',
    '\\b',
    '\\B',
    '\\ba',
    'a\\b',
    '\\Ba',
    'a\\B',
    '^\\b',
    '\\b$',
    '^\\B$',
    '\\B\\B',
  ],
  ...['[ab]', '[^ab]', '[a-c]', '[^a-c]$', '[\\]]', '[\\w-]', '[.]', '[^]', '[a\\-b]+', '^[^\\n]$', '[\\b]'],
  ...[
    '.',
    '^.$',
    '^..$',
    '.*b',
    '\\.',
    '\\d',
    '\\D',
    '^\\w$',
    '^\\W$',
    '\\s',
    '\\S',
    '\\n',
    '\\t',
    '\\0',
    '\\/',
    '\\*',
    '\\{',
    '\\(',
  ],
  ...['\\x61', '\\u0061', '\\cJ', '\\^', '\\$', '\\|', '\\\\'],
  ...[
    'a(?=b)',
    'a(?!b)',
    '(?<=a)b',
    '(?<!a)b',
    '(?=ab)a',
    '^(?!ab)',
    '^(?=.*b)a',
    '(?<=^a)b',
    '(?<!^)a',
    '(?=a)b',
    '(?!a)[ab]',
  ],
  ...['(?=a(?=b))a', '(?<=(?<!b)a)b', '(?<=ab)', '(?<=a|b)c?$', '(?!.*b)a', '(?=(a|b)+$)a', '(?<=a{2})b', '(?<=a.)b'],
];
const plainOnly = ['a{', 'a{2,', '}', ']', 'a{,2}', '\\-', '\\a'];
const unicodeOnly = [
  '\\u{1f600}',
  '\\ud83d\\ude00',
  '\\p{L}',
  '^\\P{L}$',
  '^\\p{Lu}$',
  '^[\\u{1f600}-\\u{1f610}]$',
  '\\ud83d',
];

describe('patterns mean here what they mean to the engine', () => {
  const all: [string, string][] = [
    ...sources.flatMap((source): [string, string][] => [
      [source, ''],
      [source, 'u'],
    ]),
    ...plainOnly.map((source): [string, string] => [source, '']),
    ...['\u{1f600}', '^.$', '^\u{1f600}{2}$', '[\u{1f600}]'].map((source): [string, string] => [source, 'u']),
    ...unicodeOnly.map((source): [string, string] => [source, 'u']),
  ];
  test.each(all)('/%s/%s', (source, flags) => {
    const pattern = new RegExp(source, flags);
    const fits = machineOf(pattern);
    expect(texts.filter(fits)).toEqual(texts.filter((text) => pattern.test(text)));
  });

  test('also where parts of them meet', () => {
    const part = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '\\W', '^', '$', '\\b', '\\B');
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        part,
        fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `${a}${b}`),
        fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(?:${a}|${b})`),
        fc.tuple(tie('tree'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}')).map(([a, q]) => `(?:${a})${q}`),
        fc.tuple(fc.constantFrom('?=', '?!', '?<=', '?<!'), tie('tree')).map(([look, a]) => `(${look}${a})`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', '_'), maxLength: 6 });
    fc.assert(
      fc.property(tree, text, (source, subject) => {
        const pattern = new RegExp(source);
        expect(machineOf(pattern)(subject)).toBe(pattern.test(subject));
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  ['a group by number', /(a)\1/],
  ['a group by name', /(?<n>a)\k<n>/],
  ['a group by number, with u', /(a)\1/u],
  ['a group by name, with u', /(?<n>a)\k<n>/u],
  ['modifiers', /(?i:a)/],
])('%s is not read', (_, pattern) => {
  expect(parsePattern(pattern)).toBeUndefined();
});

test('what is nested without end is not read', () => {
  const nested = (depth: number) => new RegExp(`${'('.repeat(depth)}a${')'.repeat(depth)}`);
  expect(parsePattern(nested(200))).toBeDefined();
  expect(parsePattern(nested(201))).toBeUndefined();
});

test('repetitions are written out up to a number of states', () => {
  expect(faultOfPattern(/a{4999}/)).toBeUndefined();
  expect(faultOfPattern(/a{5000}/)).toContain('too many');
  expect(faultOfPattern(/(?:a{2000}|b{2000})/)).toBeUndefined();
  expect(faultOfPattern(/(?:a{2000}|b{2000}){2}/)).toContain('too many');
  expect(faultOfPattern(/(?=a{2500})b{2500}/)).toContain('too many');
});

describe('which texts are tested', () => {
  test('as long ones as are said', () => {
    const fits = boundedTest(/a/, 10);
    expect(fits(`${'b'.repeat(9)}a`)).toBe(true);
    expect(() => fits('a'.repeat(11))).toThrow('11 characters are too long for a pattern');
    expect(boundedTest(/^a+$/)('a'.repeat(10_000))).toBe(true);
    expect(() => boundedTest(/^a+$/)('a'.repeat(10_001))).toThrow(Undecided);
  });

  test('by the engine alone where the pattern is not read, as long as it cannot be slow', () => {
    const twice = boundedTest(/^(a)\1$/);
    expect([twice('aa'), twice('ab')]).toEqual([true, false]);
    expect(() => twice('a'.repeat(50))).toThrow(Undecided);
  });
});
