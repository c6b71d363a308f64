import { isUnlimited } from '../../base/index.ts';
import type { ExecutorStreamOptions, SessionInput } from '../../contracts/index.ts';
import type { Engine, InvocationResult, RunSink, TelemetrySpan, TurnLimits } from '../agent/index.ts';
import { strictest } from '../agent/index.ts';
import type { CurrentRun, LiveSession } from '../live/index.ts';
import { Invocation } from '../run/index.ts';

export interface RunStart {
  readonly inputs: readonly SessionInput[];
  readonly options: ExecutorStreamOptions;
  readonly sink: RunSink;
  readonly span?: TelemetrySpan | undefined;
  /** Listens for ends that other processes ask for while it runs; returns what stops that. */
  heedEnds(): (() => void) | undefined;
}

export interface StartedRun extends CurrentRun {
  readonly result: Promise<InvocationResult>;
}

/** Starts a run of a session in which none is under way; it is the session's current one from now on. */
export function startRun(
  live: LiveSession,
  whole: Engine,
  { inputs, options, sink, span, heedEnds }: RunStart,
): StartedRun {
  const own = options.limits as TurnLimits | undefined;
  const limits = isUnlimited(own) ? whole.limits : strictest(whole.limits, own);
  const engine: Engine = limits === whole.limits ? whole : { ...whole, limits };
  const invocation = new Invocation(live, engine, options, sink, span);
  const deaf = heedEnds();
  const result = deaf ? invocation.run(inputs).finally(deaf) : invocation.run(inputs);
  const current = { invocation, result };
  live.current = current;
  return current;
}
