import { amount, checkOptions, fn, pause } from '../../base/index.ts';
import type { AgentCallContext, AnyAgentTool, ToolUpdate } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import { isRepeatable } from '../calls/index.ts';
import { checkTool } from '../schema/index.ts';
import { runWrapped, withHandler } from './with-handler.ts';

export interface RetryToolOptions {
  /** Attempts after the first. Default 2. */
  retries?: number;
  /** Milliseconds before the second attempt; doubled with each. Default 200. */
  initialDelayMs?: number;
  /** Milliseconds. Default 5,000. */
  maxDelayMs?: number;
  /** Whether what was thrown may pass. Default: everything but a CoxswainError that is not `retryable`. */
  retryIf?: (error: unknown) => boolean;
  /** Waits; rejects with the signal's reason as soon as it fires. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** 0 to 1: how much of the delay's upper half is taken. Default `Math.random`. */
  random?: () => number;
}

/**
 * The tool, tried again with growing delays where its handler throws. One call of the model, one decision, one result:
 * the attempts are inside, and share the call's id, time limit and abort. Only for tools that say that they may run
 * twice.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`: neither `readOnly` nor `idempotent`, `longRunning`, or no handler
 */
export function retryTool<T extends AnyAgentTool>(tool: T, options: RetryToolOptions = {}): T {
  checkTool(tool);
  checkOptions<RetryToolOptions>(options, 'retryTool: options', {
    retries: amount,
    initialDelayMs: amount,
    maxDelayMs: amount,
    retryIf: fn,
    sleep: fn,
    random: fn,
  });
  const { longRunning } = tool.annotations ?? {};
  if (!isRepeatable(tool.annotations)) {
    throw bad(`tool ${tool.name} may not run twice; annotate it readOnly or idempotent if it may`);
  }
  if (longRunning) throw bad(`tool ${tool.name} is longRunning: its first word is its result`);
  if (!tool.execute) throw bad(`tool ${tool.name} has no handler here; its host runs it`);
  return withHandler(tool, (args, context) => attempts(tool, options, args, context));
}

async function* attempts(
  tool: AnyAgentTool,
  { retries = 2, initialDelayMs = 200, maxDelayMs = 5000, retryIf = mayPass, ...options }: RetryToolOptions,
  args: unknown,
  context: AgentCallContext<never>,
): AsyncGenerator<ToolUpdate, unknown> {
  const { sleep = pause, random = Math.random } = options;
  for (let attempt = 0; ; attempt++) {
    try {
      return yield* runWrapped(tool, args, context);
    } catch (error) {
      if (attempt >= retries || context.signal.aborted || !retryIf(error)) throw error;
      const delay = Math.min(maxDelayMs, initialDelayMs * 2 ** attempt);
      await sleep((delay / 2) * (1 + random()), context.signal);
    }
  }
}

function mayPass(error: unknown): boolean {
  return !isCoxswainError(error) || error.retryable;
}

function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
