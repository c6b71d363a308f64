import { globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { areas } from './areas.ts';
import { leftOver, reportOf, store, stored, textOf } from './report.ts';
import { excludedMutations, patternOf, sample } from './sample.ts';
import type { Result } from './stryker.ts';
import { runMutationTest } from './stryker.ts';

const usage = `npm run mutants -- AREA… [options]     areas: ${Object.keys(areas).join(', ')}
  --sample N        about so many mutants of each area, default 120; 0: all of them
  --seed N          which ones, default 1
  --files GLOB      instead of the area's source; may be repeated
  --tests GLOB      instead of the area's own tests; may be repeated
  --wider GLOB      instead of the tests of other parts, which are asked about what
                    the area's own let through; may be repeated
  --no-wider        the area's own tests alone
  --survivors       only those that survived the last run of the area
  --min PERCENT     a lower score is a failure: exit code 1
  --concurrency N   default 1
  --timeout SECONDS what a mutant may take beyond its tests' own time, default 20;
                    more on a busy machine, where a slow test is no endless one
What survived is printed and written to reports/mutants.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '120' },
    seed: { type: 'string', default: '1' },
    files: { type: 'string', multiple: true },
    tests: { type: 'string', multiple: true },
    wider: { type: 'string', multiple: true },
    'no-wider': { type: 'boolean', default: false },
    survivors: { type: 'boolean', default: false },
    min: { type: 'string', default: '0' },
    concurrency: { type: 'string', default: '1' },
    timeout: { type: 'string', default: '20' },
  },
});

/** What Stryker is to change, as its patterns. */
async function patternsOf(area: string, source: readonly string[]): Promise<string[]> {
  if (values.survivors) return (await stored(area)).survivors.map(patternOf);
  const files = globSync(values.files ?? [...source]).sort();
  const size = Number(values.sample);
  return size === 0 ? files : sample(files, size, Number(values.seed));
}

function run(mutate: readonly string[], testFiles: readonly string[]): Promise<Result[]> {
  return runMutationTest({
    mutate,
    testFiles,
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'scripts/mutants/vitest.config.ts', related: false, pool: 'forks' },
    coverageAnalysis: 'perTest',
    // What runs while a file is loaded belongs to no test: each such mutant would take all of them.
    ignoreStatic: true,
    mutator: { excludedMutations },
    // Rewriting it needs an API that this TypeScript has not; nothing that runs here reads it.
    tsconfigFile: 'none',
    concurrency: Number(values.concurrency),
    timeoutMS: Number(values.timeout) * 1_000,
    dryRunTimeoutMinutes: 60,
    reporters: ['progress-append-only'],
    ignorePatterns: ['bench', 'docs', 'reports', 'coverage', '*.tsbuildinfo'],
    allowConsoleColors: false,
    tempDirName: '.stryker-tmp',
  });
}

/** A test of another part that fails without any mutant must not cost what is known already. */
async function askOthers(mutate: readonly string[], testFiles: readonly string[]): Promise<Result[]> {
  try {
    return await run(mutate, testFiles);
  } catch (error) {
    console.error(`tests of other parts were not asked: ${String(error)}`);
    return [];
  }
}

/** True where the score is what is asked for. */
async function test(area: string): Promise<boolean> {
  const { source, tests, wider } = areas[area] ?? { source: [], tests: [], wider: [] };
  const mutate = await patternsOf(area, source);
  if (mutate.length === 0) throw new Error(`${area}: there is nothing to change`);
  const own = await run(mutate, values.tests ?? tests);
  const left = leftOver(own);
  const others = values['no-wider'] ? [] : (values.wider ?? wider);
  const second = left.length > 0 && others.length > 0 ? await askOthers(left.map(patternOf), others) : [];
  const report = await reportOf(area, Number(values.seed), own, second);
  await store(report);
  console.log(textOf(report));
  return report.score >= Number(values.min);
}

if (positionals.length === 0 || positionals.some((name) => !Object.hasOwn(areas, name))) {
  console.error(usage);
  process.exitCode = 2;
} else {
  for (const area of positionals) if (!(await test(area))) process.exitCode = 1;
}
