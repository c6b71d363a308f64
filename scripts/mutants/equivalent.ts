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
  {
    fileName: 'src/gate/effort.ts',
    line: 'if (owner && ofOwner !== undefined && left < start) leftOf.set(owner, ofOwner - (start - left));',
    original: 'left < start',
    mutated: ['true', 'left <= start'],
    reason: 'Where nothing was spent, what is written is what was there: only a place in memory is saved.',
  },
  {
    fileName: 'src/gate/pattern-syntax.ts',
    line: "const isLook = /^\\(\\?<?[=!]$/.test(open ?? '');",
    original: '/^\\(\\?<?[=!]$/',
    mutated: ['/^\\(\\?<?[=!]/', '/\\(\\?<?[=!]$/'],
    reason: 'What opens a group is matched whole before, and no other opening begins or ends like this.',
  },
  {
    fileName: 'src/gate/pattern-syntax.ts',
    line: "return isLook ? { type: 'look', ahead: !open?.includes('<'), negated: open?.at(-1) === '!', inner } : inner;",
    original: 'open?.at',
    mutated: ['open.at'],
    reason: 'Only what was opened looks ahead or behind: it is there.',
  },
  {
    fileName: 'src/gate/schema-refs.ts',
    line: 'if (name !== undefined) this.#anchors.set(name, [...(this.#anchors.get(name) ?? []), node]);',
    original: 'name !== undefined',
    mutated: ['true'],
    reason: 'A reference is text: what is kept under no name is never looked up.',
  },
  {
    fileName: 'src/gate/schema.ts',
    line: '} catch {',
    original: '{\n    return true;\n  }',
    mutated: ['{}'],
    reason: 'What cannot be looked at is refused with the same code where it is converted.',
  },
  {
    fileName: 'src/gate/schema.ts',
    line: 'return true;',
    original: 'true',
    mutated: ['false'],
    reason: 'What cannot be looked at is refused with the same code where it is converted.',
  },
  {
    fileName: 'src/gate/validator.ts',
    line: 'spend(1);',
    original: 'spend(1);',
    mutated: [';'],
    reason: 'What follows spends more, and is refused there where nothing is left.',
  },
  {
    fileName: 'src/gate/zod-schema.ts',
    line: "if (typeof at !== 'object' || at === null) return undefined;",
    original: 'at === null',
    mutated: ['false'],
    reason: 'The converter refers to schemas, which are reached through objects alone.',
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
