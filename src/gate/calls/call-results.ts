import { unreachable, untilAborted, untilLate } from '../../base/index.ts';
import type {
  AnyAgentTool,
  CallInfo,
  ToolAnnotations,
  ToolResult,
  UnknownOutcomeVerdict,
} from '../../contracts/index.ts';
import { deniedResult } from '../policy/index.ts';
import { errorResult } from '../result/index.ts';
import type { Refusal } from './next-step.ts';

export const NOBODY_IN_TIME = 'nobody answered in time';
/** It may have run, and somebody said no to another run. */
export const NOT_AGAIN = 'its outcome is unknown; it was not run again';

/** What a model is told of a call that was closed without a run. `reason`: of who said no. */
export function refusalResult(as: Exclude<Refusal, 'not_found'>, reason?: string): ToolResult {
  switch (as) {
    case 'denied':
      return deniedResult(reason);
    case 'cancelled':
      return errorResult('cancelled', 'cancelled: it never ran');
    case 'expired':
      return deniedResult(NOBODY_IN_TIME);
    case 'not_again':
      return errorResult('interrupted', NOT_AGAIN);
    case 'not_again_gone':
      return errorResult('interrupted', 'its outcome is unknown, and its tool is not there to be run again');
    default:
      return unreachable(as, 'a refusal');
  }
}

/** What the log says of a call that has no result. `unknown`: its start would not be there. */
export type HasRun = 'begun' | 'unknown' | 'never';

/** What a call is closed with that nobody will answer any more: its turn was ended, cut off, or left by its agent. */
export function abandonedResult(hasRun: HasRun, why: string): ToolResult {
  switch (hasRun) {
    case 'begun':
      return errorResult('interrupted', `interrupted (${why}): it was started, its effects are unknown`);
    case 'unknown':
      return errorResult('cancelled', `cancelled (${why}): it may have run, its effects are unknown`);
    case 'never':
      return errorResult('cancelled', `cancelled (${why}): it never ran`);
    default:
      return unreachable(hasRun, 'what a log says');
  }
}

/** What a person is asked where the author of the tool does not say. */
export function rerunQuestion(name: string): string {
  return `${name} was started and its outcome is unknown. Run it again?`;
}

/** What the tool's author says of a run whose outcome is unknown; in doubt `ask`. Undefined: it was aborted meanwhile. */
export async function authorsWord(
  tool: Pick<AnyAgentTool, 'onUnknownOutcome'> | undefined,
  name: string,
  call: CallInfo & { readonly args: Record<string, unknown> },
  options: {
    /** Milliseconds. Default: no limit. */
    timeoutMs?: number;
    warn(message: string, error?: unknown): void;
  },
): Promise<UnknownOutcomeVerdict | undefined> {
  const { timeoutMs, warn } = options;
  const { signal } = call;
  try {
    const said = tool?.onUnknownOutcome?.(call);
    return (await (timeoutMs === undefined ? untilAborted(said, signal) : untilLate(said, timeoutMs, signal))) ?? 'ask';
  } catch (error) {
    if (signal?.aborted) return undefined;
    warn(`${name}.onUnknownOutcome failed; a person is asked`, error);
    return 'ask';
  }
}

/** By its author's word, a second run with the same id does nothing that the first has not done. */
export function isRepeatable(annotations: ToolAnnotations | undefined): boolean {
  return annotations?.readOnly === true || annotations?.idempotent === true;
}
