import type { Survivor } from './report.ts';

/** Mutants that no caller can tell from the original, each with the reason. They are left out of the score. */
export interface Equivalent {
  fileName: string;
  /** The line of the code, without the space around it. */
  line: string;
  /** What is changed in it, and to what: every mutant of these texts on the line. */
  original: string;
  mutated: readonly string[];
  reason: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    fileName: 'src/gate/pattern-machine.ts',
    line: 'if (known.size < MAX_KNOWN) known.set(code, fits);',
    original: 'known.size < MAX_KNOWN',
    mutated: ['true', 'false', 'known.size <= MAX_KNOWN'],
    reason: 'What is not remembered is found out again: only time and memory differ.',
  },
  {
    fileName: 'src/gate/asked.ts',
    line: 'if (args) asked.args = args;',
    original: 'args',
    mutated: ['true'],
    reason: 'A member that is undefined is not written into a log, and nobody looks for its name.',
  },
];

export function reasonFor({ fileName, line, original, mutated }: Survivor): string | undefined {
  const found = equivalents.find(
    (one) =>
      one.fileName === fileName &&
      one.line === line &&
      one.original === original &&
      one.mutated.some((text) => text === mutated),
  );
  return found?.reason;
}
