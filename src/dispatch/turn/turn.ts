import { CoxswainError } from '../../contracts/index.ts';
import type { DispatchStatus } from './buses.ts';
import type { DispatchOptions } from './dispatch.ts';
import { dispatch } from './dispatch.ts';
import { asError, caused, isAbort } from './errors.ts';
import type { Middleware } from './pipeline.ts';
import { runPipeline } from './pipeline.ts';
import type { TurnContext } from './turn-context.ts';

export interface TurnOptions extends DispatchOptions {
  /** Once, before the dispatch. */
  turnInputPipeline?: readonly Middleware<TurnContext>[] | undefined;
  /** Once, after a dispatch that was acknowledged. */
  turnOutputPipeline?: readonly Middleware<TurnContext>[] | undefined;
}

export interface TurnOutcome {
  turnId: string;
  /** `nack` also for a turn whose pipelines or callbacks failed. */
  status: DispatchStatus;
  error?: Error;
  iterations: number;
}

/**
 * One turn: load, input pipeline, dispatch, output pipeline. Never rejects: the first error is told once on the
 * observability bus, and `turnEnd` comes last, whatever happened.
 */
export async function runTurn(
  turn: TurnContext,
  options: TurnOptions,
  load: () => Promise<void>,
): Promise<TurnOutcome> {
  const { turnId, buses } = turn;
  const startedAt = Date.now();
  buses.tell('turnStart', { turnId, startedAt });
  const outcome = await stages(turn, options, load);
  if (outcome.error) buses.tell('error', outcome.error);
  const endedAt = Date.now();
  buses.tell('turnEnd', { turnId, startedAt, endedAt, durationMs: endedAt - startedAt, status: outcome.status });
  return outcome;
}

async function stages(turn: TurnContext, options: TurnOptions, load: () => Promise<void>): Promise<TurnOutcome> {
  const { turnId } = turn;
  const before = await stage(turn, 'E_INPUT_PIPELINE_ERROR', 'turn-input', options.turnInputPipeline, load);
  if (before) return { turnId, iterations: 0, ...before };
  const result = await dispatch(turn, options);
  // An abort that comes after the ack has nothing left to end, unless there is an output pipeline.
  if (result.status !== 'ack' || !options.turnOutputPipeline?.length) return { turnId, ...result };
  const after = await stage(turn, 'E_OUTPUT_PIPELINE_ERROR', 'turn-output', options.turnOutputPipeline);
  return { turnId, ...result, ...after };
}

/** Undefined: go on. */
async function stage(
  turn: TurnContext,
  code: 'E_INPUT_PIPELINE_ERROR' | 'E_OUTPUT_PIPELINE_ERROR',
  name: string,
  steps: readonly Middleware<TurnContext>[] = [],
  load?: () => Promise<void>,
): Promise<Pick<TurnOutcome, 'status' | 'error'> | undefined> {
  try {
    await load?.();
    const reached = await runPipeline(steps, turn, () => turn.aborted);
    if (turn.aborted) return { status: 'aborted' };
    if (reached) return undefined;
    const message = `the ${name} pipeline was left without next() or abort`;
    return { status: 'nack', error: new CoxswainError('FAILED_PRECONDITION', 'E_PIPELINE_SHORT_CIRCUITED', message) };
  } catch (error) {
    if (turn.aborted || isAbort(error)) return { status: 'aborted' };
    return { status: 'nack', error: asError(caused('INTERNAL', code, `the ${name} stage failed`, error)) };
  }
}
