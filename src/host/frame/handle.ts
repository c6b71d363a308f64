import type {
  AbortTarget,
  AgentEvent,
  AgentSession,
  CoxswainError,
  ExecutionOptions,
  Limits,
  PendingRequest,
  RequestAnswer,
  SessionInput,
  SteerData,
  StreamEndEvent,
  Usage,
} from '../../contracts/index.ts';
import type { JoiningOptions } from '../../session/index.ts';
import type { HostTool, Subagent } from '../tools/index.ts';

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
  readonly inner: AgentSession;
  /** What it has of its host. */
  readonly frame: object;
  /** Ids of open calls that somebody has answered, in it or below it. */
  answeredCalls(): Promise<string[]>;
  readonly subagents: CalledAgents;
  /** A stream is live on this handle. */
  readonly running: boolean;
  /** The run of the session in this host, on whichever of its handles. */
  readonly liveRun: { readonly hold: { readonly isHeld: boolean } } | undefined;
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

/** The sub-agents that one hosted session has called: their sessions, their questions, their turns. */
export interface CalledAgents {
  of(request: PendingRequest): Subagent | undefined;
  /** A call of a sub-agent that was started and can be gone on with. */
  isResumable(request: PendingRequest): boolean;
  /** A new stream begins: whoever waited is looked at again. The calls of sub-agents that are open now. */
  begin(inputs: readonly SessionInput[], options: JoiningOptions): Promise<PendingRequest[]>;
  /** Once for each handle: ends what a process that died has left behind; reads what sub-agents have used before. */
  heal(): Promise<void>;
  /** Ends all sub-agents whose calls are open, but those of `kept`, so that their calls can be closed. */
  abortAll(reason: string, kept?: readonly string[]): Promise<void>;
  /** The caller's stream has begun: what happened before is shown now. */
  release(stream: CallersStream): void;
  /** A stream is about to end: nothing is shown or written any more; those whose calls are closed end with it. */
  finish(end: StreamEndEvent, before: readonly PendingRequest[]): Promise<StreamEndEvent>;
  /** Those that run are on their way to an end: they write and show nothing any more, and what they closed is closed. */
  settled(): Promise<void>;
  /** The tool with a handler that runs the sub-agent of one call; any other tool as it is. */
  bound(request: PendingRequest, hostTool: HostTool, stream: CallersStream): HostTool;
  /** What a waiting sub-agent waits for, as long as nothing has changed. */
  waitsFor(request: PendingRequest): Promise<PendingRequest[] | undefined>;
  /** What is open inside of a sub-agent that was called: it stands in the place of the call. */
  openBelow(request: PendingRequest): Promise<PendingRequest[] | undefined>;
  /** The session of the sub-agent of a call that was started. */
  within(request: PendingRequest): Promise<Handle | undefined>;
  /** The sub-agent's session in which, or below which, a request is open or was answered. */
  owner(requestId: string): Promise<Handle | undefined>;
  /** Ids of the sessions of sub-agents that are open below this one. */
  sessionIds(): Promise<string[]>;
  /** The stream that runs now has shown this question of a sub-agent. */
  hasAsked(requestId: string): boolean;
  /** The sub-agent of this call writes and shows nothing any more. */
  quiet(callId: string): Promise<void>;
  /** What the sub-agent of a call has used; undefined for any other call. */
  usageOf(callId: string): Usage | undefined;
  /** True: the target is a sub-agent's, and was aborted there. */
  abort(target: AbortTarget): Promise<boolean>;
  /** The open call whose sub-agent has this thread for its own words. */
  callOfThread(threadId: string): Promise<string | undefined>;
  /** Undefined: the words are for no thread of a sub-agent. */
  steer(data: SteerData): Promise<Awaited<ReturnType<AgentSession['steer']>> | undefined>;
  /** Ends the sub-agents whose calls are closed, of those that were open before. */
  reap(before: readonly PendingRequest[], reason: string): Promise<void>;
  /** What the sub-agent of a call did, as a stream shows it; nothing for any other call. */
  history(call: Extract<AgentEvent, { type: 'tool_request' }>): AsyncIterableIterator<AgentEvent>;
  dispose(): Promise<void>;
}
