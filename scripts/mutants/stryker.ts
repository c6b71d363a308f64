import { createRequire } from 'node:module';
import type { Place, Position } from './sample.ts';

/** One mutant and what became of it. */
export interface Result extends Place {
  mutatorName: string;
  replacement?: string;
  /** `Killed`, `Timeout`, `Survived`, `NoCoverage`, or why it was none. */
  status?: string;
  /** Why it has this status, if Stryker says so. */
  statusReason?: string;
  coveredBy?: readonly string[];
}

/** What is used of Stryker. */
interface Core {
  Stryker: new (options: object) => { runMutationTest(): Promise<Result[]> };
}

interface Instrumentation {
  Instrumenter: new (
    logger: object,
  ) => { instrument(files: readonly object[], options: object): Promise<{ mutants: Result[] }> };
}

// By require, so that the types of everything else can be checked without these packages.
const load = createRequire(import.meta.url);

/** Plants mutants, runs the tests on each. */
export async function runMutationTest(options: object): Promise<Result[]> {
  const { Stryker } = load('@stryker-mutator/core') as Core;
  return (await new Stryker(options).runMutationTest()).map(fromZero);
}

/** What Stryker reports counts lines and columns from 1, while what its instrumenter makes counts them from 0. */
export function fromZero(result: Result): Result {
  const { start, end } = result.location;
  return { ...result, location: { start: before(start), end: before(end) } };
}

function before({ line, column }: Position): Position {
  return { line: line - 1, column: column - 1 };
}

/** All mutants of the files, in the order of the code. */
export async function mutantsOf(
  files: readonly { name: string; content: string }[],
  options: object,
): Promise<Result[]> {
  const { Instrumenter } = load('@stryker-mutator/instrumenter') as Instrumentation;
  const silent = () => {};
  const logger = { isDebugEnabled: () => false, debug: silent, info: silent, warn: silent };
  const all = files.map((file) => ({ ...file, mutate: true }));
  const { mutants } = await new Instrumenter(logger).instrument(all, { plugins: null, ignorers: [], ...options });
  return mutants.filter(({ status }) => status !== 'Ignored');
}
