import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { equivalents } from '../../scripts/mutants/equivalent.ts';
import { reportOf, survivorOf, textOf } from '../../scripts/mutants/report.ts';
import { patternOf } from '../../scripts/mutants/sample.ts';
import type { Result } from '../../scripts/mutants/stryker.ts';
import { fromZero, mutantsOf } from '../../scripts/mutants/stryker.ts';
import { temporaryFolder } from './temporary.ts';

const code = ['const a = 1;', 'if (a > 0) {', '  work(a);', '}', ''].join('\n');
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let planted: Result[];

beforeAll(async () => {
  folder = await temporaryFolder({ 'some.ts': code });
  planted = await mutantsOf([{ name: folder.pathOf('some.ts'), content: code }], { excludedMutations: [] });
});
afterAll(() => folder.remove());

/** As Stryker reports a mutant, which counts from 1. */
function reported(mutated: string, status: string, more: Partial<Result> = {}): Result {
  const found = planted.find(({ replacement }) => replacement === mutated);
  if (!found) throw new Error(`nothing is changed into ${mutated}`);
  const from1 = ({ line, column }: { line: number; column: number }) => ({ line: line + 1, column: column + 1 });
  const { start, end } = found.location;
  return fromZero({ ...found, location: { start: from1(start), end: from1(end) }, status, ...more });
}

describe('what is reported of mutants', () => {
  test('is the text that was changed, and where', async () => {
    const survivor = await survivorOf(reported('a >= 0', 'Survived', { coveredBy: ['t'] }));
    expect(survivor).toMatchObject({ line: 'if (a > 0) {', original: 'a > 0', mutated: 'a >= 0', tests: 1 });
    expect(survivor.location).toEqual({ start: { line: 1, column: 4 }, end: { line: 1, column: 9 } });
    const block = await survivorOf(reported('{}', 'NoCoverage'));
    expect([block.original, block.tests]).toEqual(['{\n  work(a);\n}', 0]);
  });

  test('is asked for again by the same place', () => {
    const at = reported('a >= 0', 'Survived');
    expect(patternOf(at)).toBe(`${at.fileName}:2:4-2:9`);
  });

  test('tells apart who noticed, and what says nothing of the tests', async () => {
    const own = [
      reported('true', 'Killed'),
      reported('false', 'Timeout'),
      reported('a >= 0', 'Survived', { coveredBy: ['t'] }),
      reported('a <= 0', 'NoCoverage'),
      reported('{}', 'NoCoverage'),
      reported('{}', 'Ignored', {
        mutatorName: 'Loading',
        statusReason: 'Static mutant (and "ignoreStatic" was enabled)',
      }),
      reported('{}', 'Ignored', { mutatorName: 'Excluded', statusReason: 'Ignored because of excluded mutation' }),
      reported('{}', 'RuntimeError', { mutatorName: 'Broken', statusReason: 'does not start' }),
    ];
    const wider = [
      reported('a >= 0', 'Killed'),
      reported('a <= 0', 'Survived', { coveredBy: ['w'] }),
      reported('{}', 'NoCoverage'),
    ];
    const report = await reportOf('area', 7, own, wider);
    expect(report.counts).toEqual({
      ...{ mutants: 5, killed: 1, killedWider: 1, timeout: 1, timeoutWider: 0, survived: 1, uncovered: 1 },
      ...{ equivalent: 0, loading: 1, broken: 1 },
    });
    expect(report.score).toBe(60);
    expect(report.survivors.map(({ mutated, tests }) => [mutated, tests])).toEqual([
      ['a <= 0', 1],
      ['{}', 0],
    ]);
    const text = textOf(report);
    expect(text).toMatch(/some\.ts:2:5 {2}a > 0 {2}→ {2}a <= 0\n/);
    expect(text).toContain('area, seed 7: 60 % (5 mutants, 1 killed and 1 by tests of other parts, 1 timed out,');
    expect(text).toContain('does not start');
  });
});

describe('mutants that are equal to the original', () => {
  test.each(equivalents)('$fileName: $original in $line', async ({ fileName, line, original, mutated, reason }) => {
    const content = await readFile(fileName, 'utf8');
    const made = await mutantsOf([{ name: fileName, content }], { excludedMutations: ['StringLiteral'] });
    const there = (await Promise.all(made.map(survivorOf))).filter(
      (one) => one.line === line && one.original === original,
    );
    expect(there.map((one) => one.mutated)).toEqual(expect.arrayContaining([...mutated]));
    expect(reason.length).toBeGreaterThan(20);
  });
});
