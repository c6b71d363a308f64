import type {
  AbortTarget,
  AgentEvent,
  AgentSession,
  CoxswainError,
  ExecutionOptions,
  ExecutorSession,
  Limits,
  ReportedRequest,
  RequestAnswer,
  SessionInput,
  StreamEndEvent,
  Usage,
} from '../../contracts/index.ts';
import type { JoiningOptions } from '../../session/index.ts';
import type { HostTool } from '../tools/index.ts';

/** The caller's stream, as a sub-agent sees it. */
export interface CallersStream {
  readonly options: ExecutionOptions & { streamId: string };
  /** What a sub-agent may still use that has used this much. */
  limits(used: Usage): Limits;
  /** Nothing is shown before the first event of its own, nor after a fatal error. */
  phase(): 'early' | 'open' | 'over';
  /** Counts what an earlier stream was charged for. */
  see(event: AgentEvent): void;
  show(event: AgentEvent): Promise<void> | undefined;
}

/** One handle of a hosted session, as its frame, its callers and its siblings use it. */
export interface Handle extends AgentSession {
  /** The executor's own session. */
  readonly inner: ExecutorSession;
  /** What it has of its host. */
  readonly frame: object;
  /** Ids of open calls that somebody has answered, in it or below it. */
  answeredCalls(): Promise<string[]>;
  /** Undefined where none of its tools is an agent. */
  readonly subagents: CalledAgents | undefined;
  /** A stream is live on this handle. */
  readonly running: boolean;
  /** The run of the session in this host, on whichever of its handles. */
  readonly liveRun: { readonly hold: { readonly isHeld: boolean }; readonly options: ExecutionOptions } | undefined;
  /** Streams of this handle that do not run yet. */
  readonly beginnings: {
    abort(reason: CoxswainError): Promise<{ readonly ended: Promise<string> } | undefined>[];
  };
  /** Something may have been answered elsewhere. */
  wake(): void;
  /** `events()`, and what sub-agents did, behind their calls. */
  history(): AsyncIterableIterator<AgentEvent>;
  /** @throws CoxswainError what `respond` would throw for this answer */
  checkResponse(requestId: string, answer: RequestAnswer): Promise<void>;
}

/** The sub-agents that one hosted session has called. A session none of whose tools is an agent has no such part. */
export interface CalledAgents {
  /** The sub-agent of a call; undefined for any other request. */
  of(request: ReportedRequest): CalledAgent | undefined;
  /** The sub-agent's session in which, or below which, a request is open or was answered, or a thread is. */
  find(target: Pick<AbortTarget, 'requestId' | 'threadId'>): Promise<Handle | undefined>;
  /** The sessions of sub-agents whose calls are open, and those below them. */
  sessions(): AsyncIterable<Handle>;
  /** Some of those, or below them, wait in memory: another handle of the caller cannot continue them. */
  readonly holdsInMemory: boolean;
  /** A new stream of the caller begins: whoever waited is looked at again. */
  begin(inputs: readonly SessionInput[], options: JoiningOptions): Promise<CalledStream>;
  /**
   * Ends sub-agents: those whose calls are open, so that these can be closed; or, where calls are given that were open
   * before, those of these calls that are closed by now.
   */
  end(reason: string, before?: readonly ReportedRequest[]): Promise<void>;
  dispose(): Promise<void>;
}

/** The sub-agent of one call. */
export interface CalledAgent {
  /** Where its own words are shown. */
  readonly threadId: string;
  /** Its session, where that is kept: the same at each look, also before it is made. */
  readonly place: { readonly agent: string; readonly sessionId: string } | undefined;
  /** Its call was started and can be gone on with. */
  readonly isResumable: boolean;
  /** The tool that was called, with a handler that runs the sub-agent. */
  bound(hostTool: HostTool, stream: CallersStream): HostTool;
  /**
   * Makes its session, if that can be kept, before the start of its call is stored: a call that was started and has no
   * session has lost it, and one whose session is empty has done nothing.
   */
  make(): Promise<unknown> | undefined;
  /** Its session; undefined before its call was started. */
  session(): Promise<Handle | undefined>;
  /** What is open inside of it, which stands in the place of its call; undefined for nothing. */
  open(): Promise<ReportedRequest[] | undefined>;
  /** What it waits for, as long as nothing has changed. */
  waitsFor(): Promise<ReportedRequest[] | undefined>;
  /** It writes and shows nothing any more. What it has used. */
  quiet(): Promise<Usage | undefined>;
  /** Its session, to be closed by who asked unless it runs here; undefined where it was never made, is gone, or is kept nowhere. */
  look(): Promise<{ readonly session: Handle; readonly isOpen: boolean } | undefined>;
  /** What it did, as a stream shows it. */
  history(streamId: string): AsyncIterableIterator<AgentEvent>;
}

/** The sub-agents of a session in one stream of it. */
export interface CalledStream {
  /** The caller's stream has begun: what happened before is shown now. */
  release(stream: CallersStream): void;
  /** The stream has shown this question of a sub-agent. */
  hasAsked(requestId: string): boolean;
  /** Those that run are on their way to an end: they write and show nothing any more, and what they closed is closed. */
  settled(): Promise<void>;
  /** The stream is about to end: nothing is shown or written any more; those whose calls are closed end with it. */
  finish(end: StreamEndEvent): Promise<StreamEndEvent>;
}
