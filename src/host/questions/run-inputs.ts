import type {
  ApprovalQuestion,
  DecisionRecord,
  ReportedRequest,
  StreamEndEvent,
  ToolResult,
  ToolResultInput,
} from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../../contracts/index.ts';
import { hasAnswer } from '../../gate/index.ts';
import type { Step } from './step.ts';

export type RunStep = Extract<Step, { kind: 'run' }>;

/** Codes of an answer or result that somebody else was faster with. */
export const closedByOthers: ReadonlySet<string> = new Set([
  'E_REQUEST_CLOSED',
  'E_UNKNOWN_REQUEST',
  'E_SESSION_CLOSED',
]);

/** The call's turn is over, and somebody has answered what the host asked about it. */
export function hasOutlived(request: ReportedRequest): boolean {
  return request.detached === true && hasAnswer(request);
}

/** A call that waits, or whether one is run again: the host decides on it, by the answers to what it asks. */
export function isOfCall({ kind }: ReportedRequest): boolean {
  return kind === 'tool' || kind === 'rerun_unknown';
}

export function isApprovalQuestion(request: ReportedRequest): request is ApprovalQuestion {
  return request.approval !== undefined;
}

/** The turn has ended. */
export function isOver(end: StreamEndEvent): boolean {
  return end.reason !== 'input_required' && end.data.transfer === undefined;
}

const known = new WeakMap<readonly ReportedRequest[], ReadonlySet<string | undefined>>();

/** Ids of the calls that are open: looked up, however many there are. A list is not changed after it was made. */
export function callsOf(open: readonly ReportedRequest[]): ReadonlySet<string | undefined> {
  let calls = known.get(open);
  if (!calls) {
    calls = new Set(open.map(({ callId }) => callId));
    known.set(open, calls);
  }
  return calls;
}

/** One of these was settled or answered elsewhere. */
export function hasClosed(open: readonly ReportedRequest[], now: readonly ReportedRequest[]): boolean {
  const still = new Set(now.map(({ requestId }) => requestId));
  return open.some(({ requestId }) => !still.has(requestId));
}

export function resultInput(
  request: ReportedRequest,
  result: ToolResult,
  decision: DecisionRecord | undefined,
  interim = false,
): ToolResultInput {
  return {
    kind: 'tool_result',
    requestId: request.callId ?? request.requestId,
    result,
    ...(decision ? { decision } : {}),
    ...(interim ? { interim: true } : {}),
  };
}

export function asAbort(reason: unknown): CoxswainError {
  if (isCoxswainError(reason)) return reason;
  return new CoxswainError('ABORTED', 'E_ABORTED', reason === undefined ? 'aborted' : messageOf(reason));
}

/** Tells of an abort, now or later, until the returned function is called. */
export function onAbort(signal: AbortSignal, tell: (reason: CoxswainError) => void): () => void {
  const follow = () => tell(asAbort(signal.reason));
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  return () => signal.removeEventListener('abort', follow);
}
