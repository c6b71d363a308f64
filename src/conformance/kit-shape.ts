import type { Check, Shape } from '../session/index.ts';
import {
  amount,
  bag,
  checkIs,
  checkOptions,
  fn,
  having,
  list,
  listOf,
  name,
  names,
  object,
  signal,
  text,
  texts,
} from '../session/index.ts';
import type { ModelServerOptions } from './model-server/server.ts';
import type { Requirement } from './requirement.ts';
import type { RunOptions } from './run.ts';
import type { LaunchOptions } from './stdio/launch.ts';
import type { ConformanceTarget } from './target.ts';

const target: Check = {
  needs: 'a target: {name, start()}, e.g. targetOfSource()',
  fits: (value) => having('start').fits(value) && text.fits((value as ConformanceTarget).name),
};
const requirement: Check = {
  needs: 'a requirement: {id, title, tier, cites, check()}',
  fits: (value) => having('check').fits(value) && name.fits((value as Requirement).id),
};
const command: Check = {
  needs: 'a list: the command, then its arguments',
  fits: (value) => names.fits(value) && name.fits((value as readonly string[])[0]),
};
const launch: Shape<LaunchOptions> = { env: texts, cwd: name, signal, graceMs: amount };
const server: Shape<ModelServerOptions> = { script: list, aside: fn };
const run: Shape<RunOptions & { onFinding?: unknown; signal?: AbortSignal }> = {
  deadlineMs: amount,
  onFinding: fn,
  signal,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export const kitInput = {
  target: (given: ConformanceTarget): void => checkIs(given, 'target', target),
  requirement: (given: Requirement): void => checkIs(given, 'requirement', requirement),
  requirements: (given: readonly Requirement[]): void => checkIs(given, 'requirements', listOf(requirement)),
  options: (given: RunOptions): void => checkOptions<RunOptions>(given, 'options', run),
  named: (given: string, make: unknown): void => {
    checkIs(given, 'the name of a target', text);
    checkIs(make, 'what makes a target', fn);
  },
  launch: (given: readonly string[], options: LaunchOptions): void => {
    checkIs(given, 'command', command);
    checkOptions<LaunchOptions>(options, 'options', launch);
  },
  server: (options: ModelServerOptions): void =>
    checkOptions<ModelServerOptions>(options, 'ModelServer: options', server),
  text: (given: string, where: string): void => checkIs(given, where, text),
  findings: (given: readonly unknown[], where: string): void => checkIs(given, where, listOf(object)),
  bag: (given: object, where: string): void => checkIs(given, where, bag),
};
