import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NameRules } from '../../../src/adapters/schema/index.ts';
import { aliasOf, anthropicNames, declareTools, geminiNames, openaiNames } from '../../../src/adapters/schema/index.ts';

const dialects: [string, NameRules][] = [
  ['OpenAI', openaiNames],
  ['Anthropic', anthropicNames],
  ['Gemini', geminiNames],
];
const long = `${'a_very_long_tool_name_'.repeat(4)}xy`;

describe.each(dialects)('F11 names at %s', (_title, rules) => {
  const odd = [
    'calendar.add',
    'calendar_add',
    'calendar/add',
    '查询',
    '查詢',
    long,
    `${long}z`,
    '9lives',
    '-x',
    ' ',
    '🚣',
  ];

  test('legal, and never one for two', () => {
    const aliases = odd.map((name) => aliasOf(name, rules));
    for (const alias of aliases) {
      expect(alias).toMatch(rules.legal);
      expect(alias.length).toBeLessThanOrEqual(rules.maxLength);
    }
    expect(new Set(aliases).size).toBe(odd.length);
  });

  test('a legal name stays as it is', () => {
    expect(aliasOf('calendar_add', rules)).toBe('calendar_add');
    expect(aliasOf('getWeather-2', rules)).toBe('getWeather-2');
  });

  test('readable, and with a hash where something was changed or cut', () => {
    expect(aliasOf('calendar.add', rules)).toMatch(/^calendar_add_[0-9a-f]{10}$/);
    expect(aliasOf(long, rules)).toMatch(/^a_very_long_.*_[0-9a-f]{10}$/);
    expect(long.length).toBe(90);
  });

  test('another tool cannot take an alias by being named like it', () => {
    const alias = aliasOf('calendar.add', rules);
    expect(aliasOf(alias, rules)).not.toBe(alias);
  });

  test('any two names: two aliases, both legal, whatever was asked before', () => {
    const name = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constantFrom(...odd),
    );
    fc.assert(
      fc.property(name, name, (a, b) => {
        const [first, second] = [aliasOf(a, rules), aliasOf(b, { ...rules })];
        expect(first === second).toBe(a === b);
        expect(first).toMatch(rules.legal);
        expect(first.length).toBeLessThanOrEqual(rules.maxLength);
      }),
    );
  });
});

test.each(['openai', 'openai-strict', 'anthropic', 'gemini'] as const)(
  'F11 %s: there and back, in any order',
  (dialect) => {
    const names = ['calendar.add', 'calendar_add', '查询', long];
    const inputSchema = { type: 'object', properties: {} };
    const declare = (order: readonly string[]) =>
      declareTools(new Map(order.map((name) => [name, { name, description: name, inputSchema }])), dialect);
    const forth = declare(names);
    const back = declare(names.toReversed());
    expect(forth.tools.map(({ alias }) => forth.nameOf(alias))).toEqual(names);
    for (const name of names) expect(back.aliasOf(name)).toBe(forth.aliasOf(name));
    expect(forth.nameOf('nobody')).toBe('nobody');
    // Calls of a tool that is no longer offered are still in the history.
    expect(declare([]).aliasOf('calendar.add')).toBe(forth.aliasOf('calendar.add'));
  },
);
