import type {
  AgentEvent,
  CoxswainError,
  ExecutionOptions,
  ReportedRequest,
  TelemetrySpan,
} from '../../contracts/index.ts';
import { isoTime, newId } from '../../session/index.ts';
import type { CallersStream, Hosted } from '../frame/index.ts';

/** What the parts of one run know of it. */
export interface RunBase {
  readonly session: Hosted;
  readonly options: ExecutionOptions & { streamId: string };
  /** Fires when the run is aborted. */
  readonly signal: AbortSignal;
  /** The turn's. */
  readonly span: TelemetrySpan | undefined;
  /** The first inner stream has begun: what fails from now on ends the stream. */
  accepted: boolean;
  /** Nothing more is shown but the end. */
  readonly hasFailed: boolean;
  /** A tool of this name is offered in this stream, as far as its caller and policy say. */
  offers(name: string): boolean;
  push(event: AgentEvent): void;
  /** For the sub-agents that are called in this run. */
  readonly below: CallersStream;
  /** Something changed that the run should look at. */
  wake(): void;
  /** Resolves when something has changed that nobody has looked at yet. */
  woken(): Promise<void>;
}

/** What every event of the host's own carries; with a request, where in the tree it belongs. */
export function eventBase({ session, options }: RunBase, request?: ReportedRequest) {
  const agentId = request?.agentPath.at(-1);
  return {
    id: newId(),
    timestamp: isoTime(),
    sessionId: session.id,
    streamId: options.streamId,
    source: 'host' as const,
    ...(request === undefined ? {} : { turnId: request.turnId }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(request?.threadId === undefined ? {} : { threadId: request.threadId }),
  };
}

/** An error of the host's own in one run. */
export function hostError(
  run: RunBase,
  { status, code, message, retryable }: Pick<CoxswainError, 'status' | 'code' | 'message' | 'retryable'>,
  fatal: boolean,
): AgentEvent {
  return { ...eventBase(run), type: 'error', status, code, message, fatal, retryable };
}
