import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, errorCodeOfHttp, errorRowOf } from '../../src/contracts/index.ts';
import { root, sourceFiles } from '../structure/source.ts';

const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `E_'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, code = '', ...cells]) => ({ code: code.replaceAll('`', ''), cells: cells.slice(0, -1) }));

// https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto
const statuses =
  'CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED UNAUTHENTICATED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS'.split(
    ' ',
  );

const retries = new Map<unknown, string>([
  [true, 'yes'],
  [false, 'no'],
  ['varies', 'as `retryable` says'],
]);

describe('docs/errors.md', () => {
  test('has one row for each declared code, and no other', () => {
    expect(rows.map(({ code }) => code).sort()).toEqual([...ERROR_CODES].sort());
  });

  test('speaks of no code outside its rows that is not declared', () => {
    const declared: readonly string[] = ERROR_CODES;
    expect([...new Set(page.match(/\bE_[A-Z_]+\b/g))].filter((code) => !declared.includes(code))).toEqual([]);
  });

  test.each(rows)('$code says status, retry, what happened and what to do', ({ code, cells }) => {
    const [status = '', retry, ...texts] = cells;
    expect(status.split(', ').filter((name) => !statuses.includes(name))).toEqual([]);
    const row = errorRowOf(code);
    expect(status).toBe(row?.statuses.join(', '));
    expect(retry).toBe(row && retries.get(row.retryable));
    expect(texts).toHaveLength(2);
    for (const text of texts) expect(text).toMatch(/^.{10,}\.( \(.*\))?$|\)\.$/);
  });
});

test('an HTTP status of a refused upgrade stands for one code', () => {
  const coded = ERROR_CODES.flatMap((code) => {
    const { http } = errorRowOf(code) ?? {};
    return http === undefined ? [] : [[http, code] as const];
  });
  expect(coded.map(([http]) => errorCodeOfHttp(http))).toEqual(coded.map(([, code]) => code));
  expect(errorCodeOfHttp(418)).toBeUndefined();
});

test('every code that the source uses is declared', () => {
  const declared: readonly string[] = ERROR_CODES;
  const used = sourceFiles().flatMap(({ path, code }) =>
    [...code.matchAll(/['"`](E_[A-Z0-9_]*[A-Z0-9])['"`]/g)].map(([, name = '']) => ({ path, name })),
  );
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter(({ name }) => !declared.includes(name))).toEqual([]);
});
