import type { AnswerLimits, LifecycleInterceptor } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Check, Shape } from '../../session/index.ts';
import {
  amount,
  answerLimits,
  anything,
  bag,
  checkIs,
  checkOptions,
  either,
  fn,
  having,
  iterable,
  list,
  listOf,
  name,
  object,
  signal,
  text,
} from '../../session/index.ts';
import type { AutoToolsOptions } from './options.ts';

const model: Check = {
  needs: 'a model, or the name of one',
  fits: (value) => name.fits(value) || (having('generate').fits(value) && name.fits((value as { name: unknown }).name)),
};

const functions: Check = { needs: 'FunctionTools', fits: (value) => !list.fits(value) && iterable.fits(value) };

const oneHook = having('fire', 'supportedHookPoints');

// Schemas and the number of turns have checks of their own.
const shape: Shape<AutoToolsOptions> = {
  model,
  models: fn,
  systemInstruction: text,
  config: bag,
  tools: either(listOf(object), functions),
  outputSchema: anything,
  answerLimits: object,
  signal,
  policy: having('evaluate'),
  principal: object,
  onApproval: fn,
  toolTimeoutMs: amount,
  toolConcurrency: amount,
  hooks: either(oneHook, listOf(oneHook)),
  interceptors: listOf(oneHook),
  plugins: listOf(object),
  telemetry: having('startSpan'),
  deps: anything,
  warn: fn,
  turnLimit: anything,
  onPhase: fn,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`; `E_USAGE` for hooks by both of their names */
export function checkAutoTools(options: Partial<AutoToolsOptions>): void {
  checkOptions<AutoToolsOptions>(options, 'options', shape);
  checkIs(options, 'options', bag);
  hooksGiven(options);
  if (options.answerLimits) checkOptions<AnswerLimits>(options.answerLimits, 'options.answerLimits', answerLimits);
}

/**
 * The hooks that options give, in their order.
 * @throws CoxswainError `INVALID_ARGUMENT / E_USAGE` where both names are given: one of them would not be used
 */
export function hooksGiven({ hooks, interceptors }: AutoToolsOptions): readonly LifecycleInterceptor[] {
  if (hooks !== undefined && interceptors !== undefined) {
    const message = 'options.interceptors is the former name of options.hooks, and both are given; give hooks alone';
    throw new CoxswainError('INVALID_ARGUMENT', 'E_USAGE', message);
  }
  const given = hooks ?? interceptors ?? [];
  return 'fire' in given ? [given] : given;
}
