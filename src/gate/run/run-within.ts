import { heedAbort, isTimed } from '../../base/index.ts';
import type { ToolCallContext, ToolContract } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Decision } from '../policy/index.ts';
import { runHandler } from './run-handler.ts';

/** What bounds a run of a handler. */
export interface RunBounds {
  /** A long-running tool: the first thing that it yields or returns is the value. */
  readonly firstOnly?: boolean;
  /** Milliseconds. Undefined or 0: no limit. */
  readonly timeoutMs: number | undefined;
  /** An abort of any ends the wait with its reason. */
  readonly signals: readonly AbortSignal[];
  /** Tells the handler that nobody waits for it any more: it was too slow, or one of the signals was aborted. */
  end(reason: unknown): void;
}

/** What a run of a handler came to. */
export type HandlerEnd =
  | { readonly kind: 'value'; readonly value: unknown }
  /** A long-running tool has begun, and has nothing to say yet. */
  | { readonly kind: 'begun' }
  /** It was too slow; what it has done by then is not known. */
  | { readonly kind: 'late'; readonly error: CoxswainError }
  /** One of the signals was aborted. */
  | { readonly kind: 'aborted'; readonly error: unknown }
  | { readonly kind: 'threw'; readonly error: unknown };

class TooLate extends CoxswainError<'E_TOOL'> {
  constructor(timeoutMs: number) {
    super('DEADLINE_EXCEEDED', 'E_TOOL', `no result within ${timeoutMs} ms; its effects are unknown`);
  }
}

/**
 * Runs a handler within its bounds: the one way in which the runtime, a host and standalone tools do. Never throws; what
 * hooks make of it, and what is stored of it, is theirs.
 */
export async function runWithin<Context extends ToolCallContext<never>>(
  decision: Decision,
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are those that the decision is about
  tool: ToolContract<any, Context>,
  context: Context,
  bounds: RunBounds,
): Promise<HandlerEnd> {
  const { firstOnly = false, signals } = bounds;
  try {
    const value = await within(runHandler(decision, tool, context, { firstOnly }), bounds);
    return firstOnly && (value === undefined || value === null) ? { kind: 'begun' } : { kind: 'value', value };
  } catch (error) {
    if (error instanceof TooLate) return { kind: 'late', error };
    return { kind: signals.some(({ aborted }) => aborted) ? 'aborted' : 'threw', error };
  }
}

/** The wait ends, the work may not: its later failure is nobody's surprise. */
function within<T>(work: Promise<T>, { timeoutMs = 0, signals, end }: RunBounds): Promise<T> {
  return new Promise((resolve, reject) => {
    const over = () => {
      clearTimeout(timer);
      for (const leave of heeded) leave();
    };
    const stop = (reason: unknown) => {
      over();
      end(reason);
      reject(reason);
    };
    const heeded: (() => void)[] = [];
    const timer = isTimed(timeoutMs) ? setTimeout(() => stop(new TooLate(timeoutMs)), timeoutMs) : undefined;
    work.then(
      (value) => {
        over();
        resolve(value);
      },
      (reason: unknown) => {
        over();
        reject(reason);
      },
    );
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted) stop(aborted.reason);
    else for (const signal of signals) heeded.push(heedAbort(signal, () => stop(signal.reason)));
  });
}
