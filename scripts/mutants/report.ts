import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { reasonFor } from './equivalent.ts';
import type { Place } from './sample.ts';
import type { Result } from './stryker.ts';

/** A mutant that no test has noticed. */
export interface Survivor extends Place {
  mutator: string;
  /** The line that it begins on, without the space around it. */
  line: string;
  /** What stands there. */
  original: string;
  mutated: string;
  /** Tests that ran it and saw nothing. */
  tests: number;
  /** Why it cannot be noticed, if that is known. */
  equivalent?: string;
}

export interface Counts {
  /** Those that can be noticed: all but `equivalent`, `loading` and `broken`. */
  mutants: number;
  /** By the area's own tests; the tests of other parts were asked about the rest only. */
  killed: number;
  killedWider: number;
  timeout: number;
  timeoutWider: number;
  survived: number;
  uncovered: number;
  equivalent: number;
  /** Only run while a file is loaded, by no test: not tried. */
  loading: number;
  /** Fail outside of every test, as where the changed program does not start. */
  broken: number;
}

export interface Report {
  area: string;
  seed: number;
  counts: Counts;
  /** Per cent of `mutants` that a test has noticed. */
  score: number;
  survivors: Survivor[];
  /** Of `broken`: where, and what was said. */
  broken: { where: string; reason: string }[];
}

const FOLDER = 'reports/mutants';
const jsonOf = (area: string) => `${FOLDER}/${area}.json`;

const isOf = (states: readonly string[]) => (result: Result) => states.includes(result.status ?? '');
const isLeft = isOf(['Survived', 'NoCoverage']);

/** Those that the area's own tests have let through. */
export function leftOver(results: readonly Result[]): Result[] {
  return results.filter(isLeft);
}

/** `wider`: what tests of other parts made of those that the area's own had let through. */
export async function reportOf(
  area: string,
  seed: number,
  own: readonly Result[],
  wider: readonly Result[],
): Promise<Report> {
  const second = new Map(wider.map((result) => [keyOf(result), result]));
  const rest = leftOver(own).map((result) => better(result, second.get(keyOf(result))));
  const count = (of: readonly Result[], ...states: string[]) => of.filter(isOf(states)).length;
  const left = await Promise.all(rest.filter(isLeft).map(survivorOf));
  left.sort((a, b) => a.fileName.localeCompare(b.fileName) || a.location.start.line - b.location.start.line);
  const survivors = left.filter(({ equivalent }) => equivalent === undefined);
  const found = {
    killed: count(own, 'Killed'),
    killedWider: count(rest, 'Killed'),
    timeout: count(own, 'Timeout'),
    timeoutWider: count(rest, 'Timeout'),
    survived: survivors.filter(({ tests }) => tests > 0).length,
    uncovered: survivors.filter(({ tests }) => tests === 0).length,
  };
  const noticed = found.killed + found.killedWider + found.timeout + found.timeoutWider;
  const mutants = noticed + survivors.length;
  const broken = [...own, ...rest].filter(isOf(['RuntimeError', 'CompileError']));
  return {
    area,
    seed,
    counts: {
      mutants,
      ...found,
      equivalent: left.length - survivors.length,
      loading: own.filter(({ status, statusReason }) => status === 'Ignored' && isLoading(statusReason)).length,
      broken: broken.length,
    },
    score: mutants === 0 ? 100 : Math.round((1000 * noticed) / mutants) / 10,
    survivors: left,
    broken: broken.map((result) => ({ where: placeOf(nameIn(result), result), reason: result.statusReason ?? '' })),
  };
}

/** Others that are ignored are of kinds that are left out, in a place that holds one of the sample. */
function isLoading(reason: string | undefined): boolean {
  return reason?.startsWith('Static mutant') ?? false;
}

/** What the second run found out; where no test of it ran the mutant the first one's word stands. */
function better(first: Result, second: Result | undefined): Result {
  if (second === undefined || second.status === 'NoCoverage' || second.status === 'Ignored') return first;
  if (second.status !== 'Survived') return second;
  return { ...second, coveredBy: [...(first.coveredBy ?? []), ...(second.coveredBy ?? [])] };
}

function keyOf(result: Result): string {
  const { start, end } = result.location;
  return JSON.stringify([nameIn(result), start, end, result.mutatorName, result.replacement]);
}

function nameIn({ fileName }: Place): string {
  return relative(process.cwd(), fileName);
}

export async function survivorOf(result: Result): Promise<Survivor> {
  const { start, end } = result.location;
  const lines = (await readFile(result.fileName, 'utf8')).split('\n').slice(start.line, end.line + 1);
  const line = (lines[0] ?? '').trim();
  lines.push((lines.pop() ?? '').slice(0, end.column));
  lines.unshift((lines.shift() ?? '').slice(start.column));
  const survivor = {
    fileName: nameIn(result),
    location: { start, end },
    mutator: result.mutatorName,
    line,
    original: lines.join('\n'),
    mutated: result.replacement ?? '',
    tests: result.coveredBy?.length ?? 0,
  };
  const equivalent = reasonFor(survivor);
  return equivalent === undefined ? survivor : { ...survivor, equivalent };
}

export function textOf({ area, seed, counts, score, survivors, broken }: Report): string {
  const wider = (count: number) => (count === 0 ? '' : ` and ${count} by tests of other parts`);
  const facts = [
    `${counts.mutants} mutants`,
    `${counts.killed} killed${wider(counts.killedWider)}`,
    `${counts.timeout} timed out${wider(counts.timeoutWider)}`,
    `${counts.survived} survived`,
    `${counts.uncovered} in code that no test runs`,
  ];
  const beside = [
    `${counts.equivalent} equal to the original`,
    `${counts.loading} that only run while a file is loaded`,
    `${counts.broken} that fail outside of every test`,
  ];
  const lines = survivors
    .filter(({ equivalent }) => equivalent === undefined)
    .map((one) => {
      const change = `${brief(one.original)}  →  ${brief(one.mutated)}`;
      return `${placeOf(one.fileName, one)}  ${change}${one.tests === 0 ? '  (no test runs it)' : ''}`;
    });
  const failed = broken.map(({ where, reason }) => `${where}  fails outside of every test: ${brief(reason)}`);
  const verdict = `${area}, seed ${seed}: ${score} % (${facts.join(', ')})`;
  return [...lines, ...failed, '', verdict, `Left out: ${beside.join(', ')}.`, ''].join('\n');
}

function placeOf(fileName: string, { location: { start } }: Place): string {
  return `${fileName}:${start.line + 1}:${start.column + 1}`;
}

function brief(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 97)}...` : line;
}

export async function store(report: Report): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await writeFile(jsonOf(report.area), `${JSON.stringify(report, undefined, 2)}\n`);
  await writeFile(`${FOLDER}/${report.area}.txt`, textOf(report));
}

export async function stored(area: string): Promise<Report> {
  return JSON.parse(await readFile(jsonOf(area), 'utf8')) as Report;
}
