import type { Check, Shape } from '../../session/index.ts';
import { amount, checkIs, checkOptions, fn, having, listOf, name, signal, text } from '../../session/index.ts';

export interface RunOptions {
  /** Milliseconds that one wait may take; default 10,000. */
  deadlineMs?: number;
  /** Ids of requirements that are known to fail: what needs them is tested all the same. */
  known?: readonly string[];
}

const target: Check = {
  needs: 'a target: {name, start()}, e.g. targetOfSource()',
  fits: (value) => having('start').fits(value) && text.fits(Object(value).name),
};
const requirement: Check = {
  needs: 'a requirement: {id, title, tier, cites, check()}',
  fits: (value) => having('check').fits(value) && name.fits(Object(value).id),
};
const run: Shape<RunOptions & { onFinding?: unknown; signal?: AbortSignal }> = {
  deadlineMs: amount,
  known: listOf(text),
  onFinding: fn,
  signal,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export const kitInput = {
  target: (given: object): void => checkIs(given, 'target', target),
  requirement: (given: object): void => checkIs(given, 'requirement', requirement),
  requirements: (given: readonly object[]): void => checkIs(given, 'requirements', listOf(requirement)),
  options: (given: RunOptions): void => checkOptions<RunOptions>(given, 'options', run),
  named: (given: string, make: unknown): void => {
    checkIs(given, 'the name of a target', text);
    checkIs(make, 'what makes a target', fn);
  },
  text: (given: string, where: string): void => checkIs(given, where, text),
};
