import { expect, test } from 'vitest';
import { sourceFiles } from './source.ts';

// A handler takes arguments, so `query.execute()` of a database is none. Covers `?.execute(`,
// `execute?.(`, `['execute'](` and call, apply and bind.
const handlerCall =
  /(?:\.\s*execute\b|\[\s*['"`]execute['"`]\s*\])\s*!?\s*(?:\?\.\s*)?(?:\(\s*(?!\))|\.?\s*(?:call|apply|bind)\s*\()/;

test('a tool handler is reachable from the gate only', () => {
  const callers = sourceFiles().filter(({ path, code }) => !path.startsWith('gate/') && handlerCall.test(code));
  expect(callers.map(({ path }) => path)).toEqual([]);
});

test.each([
  'tool.execute(args, ctx)',
  'tool?.execute(args)',
  'tool.execute?.(args)',
  "tool['execute'](args)",
  'tool.execute.call(tool, args)',
  'tool\n  .execute(\n    args,\n  )',
])('sees the call in %j', (code) => {
  expect(handlerCall.test(code)).toBe(true);
});

test.each(['query.execute()', 'const { name } = tool', 'execute(args) {}', "hasOwn(tool, 'execute')"])(
  'sees no call in %j',
  (code) => {
    expect(handlerCall.test(code)).toBe(false);
  },
);
