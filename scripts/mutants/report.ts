import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Place } from './sample.ts';
import type { Result } from './stryker.ts';

export interface Survivor extends Place {
  mutator: string;
  /** What stands there. */
  original: string;
  mutated: string;
  /** Tests that ran it and saw nothing. */
  tests: number;
}

export interface Report {
  area: string;
  /** `invalid`: none at all (the changed program does not start, say); not among `mutants`. */
  counts: { mutants: number; killed: number; timeout: number; survived: number; uncovered: number; invalid: number };
  /** Per cent of the valid ones that a test has noticed. */
  score: number;
  survivors: Survivor[];
}

const FOLDER = 'reports/mutants';
const jsonOf = (area: string) => `${FOLDER}/${area}.json`;

export async function reportOf(area: string, results: readonly Result[]): Promise<Report> {
  const count = (...states: string[]) => results.filter(({ status }) => states.includes(status ?? '')).length;
  const killed = count('Killed');
  const timeout = count('Timeout');
  const survived = count('Survived');
  const uncovered = count('NoCoverage');
  const mutants = killed + timeout + survived + uncovered;
  const left = results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const survivors = await Promise.all(left.map(survivorOf));
  survivors.sort((a, b) => a.fileName.localeCompare(b.fileName) || a.location.start.line - b.location.start.line);
  return {
    area,
    counts: { mutants, killed, timeout, survived, uncovered, invalid: results.length - mutants },
    score: mutants === 0 ? 100 : Math.round((1000 * (killed + timeout)) / mutants) / 10,
    survivors,
  };
}

async function survivorOf({ fileName, location, mutatorName, replacement, coveredBy }: Result): Promise<Survivor> {
  const { start, end } = location;
  const lines = (await readFile(fileName, 'utf8')).split('\n').slice(start.line, end.line + 1);
  lines.push((lines.pop() ?? '').slice(0, end.column));
  lines.unshift((lines.shift() ?? '').slice(start.column));
  return {
    fileName: relative(process.cwd(), fileName),
    location: { start, end },
    mutator: mutatorName,
    original: lines.join('\n'),
    mutated: replacement ?? '',
    tests: coveredBy?.length ?? 0,
  };
}

export function textOf({ area, counts, score, survivors }: Report): string {
  const { mutants, killed, timeout, survived, uncovered, invalid } = counts;
  const facts = [
    `${mutants} mutants`,
    `${killed} killed`,
    `${timeout} timed out`,
    `${survived} survived`,
    `${uncovered} in code that no test runs`,
    ...(invalid > 0 ? [`${invalid} invalid`] : []),
  ];
  const lines = survivors.map(({ fileName, location, original, mutated, tests }) => {
    const where = `${fileName}:${location.start.line + 1}:${location.start.column + 1}`;
    return `${where}  ${brief(original)}  →  ${brief(mutated)}${tests === 0 ? '  (no test runs it)' : ''}`;
  });
  return [...lines, '', `${area}: ${score} % (${facts.join(', ')})`, ''].join('\n');
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
