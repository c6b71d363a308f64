import type { StatusCode } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { Chat } from './chat.ts';
import type { LoopEnd } from './run-loop.ts';

/** A request that came to no answer. Nothing that was done is lost: `chat` has it. */
export class AutoToolsError extends CoxswainError {
  /** The history so far, every call with its result: pass it in again to continue. Not in the error's JSON or log. */
  declare readonly chat: Chat;

  constructor(error: CoxswainError, chat: Chat) {
    const { status, code, message, retryable, details, cause } = error;
    super(status, code, message, {
      retryable,
      ...(details ? { details } : {}),
      ...(cause === undefined ? {} : { cause }),
    });
    this.name = 'AutoToolsError';
    Object.defineProperty(this, 'chat', { value: chat, enumerable: false });
  }
}

/** Why a run came to no answer; undefined if it did come to one. */
export function loopFailure(
  end: LoopEnd,
  turnLimit: number,
  signal: AbortSignal | undefined,
): CoxswainError | undefined {
  const { reason, failure } = end;
  if (reason === 'completed' || reason === 'refusal') return undefined;
  if (reason === 'aborted') {
    const why = signal?.reason as unknown;
    return new CoxswainError('ABORTED', 'E_ABORTED', why === undefined ? 'aborted' : messageOf(why), { cause: why });
  }
  if (reason === 'max_turns') {
    return new CoxswainError(
      'RESOURCE_EXHAUSTED',
      'E_MAX_LLM_CALLS',
      `Maximum tool-calling turns exceeded: ${turnLimit} model calls were made; raise turnLimit, or continue from the error's chat`,
      { details: { reason: 'turn_limit_exceeded', turnLimit } },
    );
  }
  const { status = 'INTERNAL', retryable = false, details } = failure?.error ?? {};
  return new CoxswainError(
    status as StatusCode,
    (failure?.errorCode ?? 'E_INTERNAL') as `E_${string}`,
    failure?.errorMessage ?? `the run ended: ${reason}`,
    { retryable, ...(details ? { details } : {}) },
  );
}
