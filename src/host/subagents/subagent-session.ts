import type {
  AbortTarget,
  AgentDescriptor,
  AgentEvent,
  AgentStream,
  ArtifactAccess,
  Compaction,
  EventsOptions,
  ExecutorSession,
  ExecutorStreamOptions,
  HostAnswer,
  PutQuestion,
  ReportedRequest,
  SessionInput,
  SessionStanding,
  SessionUpdate,
  Settlement,
  SteerData,
} from '../../contracts/index.ts';
import type { AnsweredSession, Heeded, HeedfulSession, HoldableSession, HoldOptions } from '../../session/index.ts';
import {
  answeredNow,
  compactIn,
  derived,
  heed,
  hold,
  isHeedful,
  isHoldable,
  keepsAnswers,
  keepsQuestions,
  lendsArtifacts,
  putQuestions,
  resultArtifacts,
} from '../../session/index.ts';

/** Where the words of the sub-agent of a call are shown. */
export function subagentThread({ threadId = '', callId, requestId }: ReportedRequest): string {
  return `${threadId}/${callId ?? requestId}`;
}

/**
 * A sub-agent's own session as its caller's host sees it: agents are named from the caller's root on, threads stand
 * below the caller's call, and requests are of the caller's session, where they are answered.
 */
export class SubagentSession implements AnsweredSession, HeedfulSession, HoldableSession {
  readonly #inner: ExecutorSession;
  readonly #caller: ReportedRequest;
  /** Thread of the sub-agent's own words. */
  readonly threadId: string;

  constructor(inner: ExecutorSession, caller: ReportedRequest) {
    this.#inner = inner;
    this.#caller = caller;
    this.threadId = subagentThread(caller);
  }

  get id(): string {
    return this.#inner.id;
  }

  get descriptor(): AgentDescriptor {
    return this.#inner.descriptor;
  }

  stream(input: string | SessionInput | readonly SessionInput[], options?: ExecutorStreamOptions): AgentStream {
    const stream = this.#inner.stream(input, options);
    const moved = async (step: Promise<IteratorResult<AgentEvent>>): Promise<IteratorResult<AgentEvent>> => {
      const result = await step;
      return result.done ? result : { value: this.#event(result.value), done: false };
    };
    return {
      streamId: stream.streamId,
      abort: (reason) => stream.abort(reason),
      next: () => moved(stream.next()),
      return: async () => {
        await stream.return?.();
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  events(options?: EventsOptions): AsyncIterableIterator<AgentEvent> {
    return derived(this.#inner.events(options), (event) => this.#event(event));
  }

  async pending(): Promise<ReportedRequest[]> {
    return (await this.#inner.pending()).map((request) => this.#request(request));
  }

  async standing(): Promise<SessionStanding> {
    return (await this.#inner.standing?.()) ?? { isOver: false };
  }

  respond(requestId: string, answer: HostAnswer): Promise<Settlement> {
    return this.#inner.respond(requestId, answer);
  }

  async [putQuestions](questions: readonly PutQuestion[]): Promise<void> {
    if (keepsQuestions(this.#inner)) await this.#inner[putQuestions](questions);
  }

  [resultArtifacts](callId: string): Pick<ArtifactAccess, 'save'> | undefined {
    return lendsArtifacts(this.#inner) ? this.#inner[resultArtifacts](callId) : undefined;
  }

  steer(data: SteerData): Promise<{ steerId: string; disposition: 'current_turn' | 'next_turn' }> {
    const { threadId, ...rest } = data;
    const own = threadId === undefined ? undefined : this.#ownThread(threadId);
    return this.#inner.steer(own === undefined ? rest : { ...rest, threadId: own });
  }

  update(config: SessionUpdate): Promise<{ effective: 'next_step' }> {
    return this.#inner.update(config);
  }

  async compact(): Promise<Compaction> {
    return compactIn(this.#inner);
  }

  abort(target?: AbortTarget): Promise<void> {
    const { threadId, ...rest } = target ?? {};
    const own = threadId === undefined ? undefined : this.#ownThread(threadId);
    return this.#inner.abort(own === undefined ? rest : { ...rest, threadId: own });
  }

  async [hold](options?: HoldOptions): Promise<(() => Promise<void>) | undefined> {
    return isHoldable(this.#inner) ? this.#inner[hold](options) : undefined;
  }

  [answeredNow](): string[] {
    return keepsAnswers(this.#inner) ? this.#inner[answeredNow]() : [];
  }

  [heed](tell: (heard: Heeded) => void): (() => void) | undefined {
    if (!isHeedful(this.#inner)) return undefined;
    return this.#inner[heed](({ abort }) => {
      const { threadId } = abort ?? {};
      tell(abort ? { abort: threadId === undefined ? abort : { ...abort, threadId: this.#thread(threadId) } } : {});
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]();
  }

  #event(event: AgentEvent): AgentEvent {
    const moved = { ...event, threadId: this.#thread(event.threadId) } as AgentEvent;
    if (moved.type === 'stream_end' && moved.data.pending) {
      moved.data = { ...moved.data, pending: moved.data.pending.map((request) => this.#request(request)) };
    }
    return moved;
  }

  #request(request: ReportedRequest): ReportedRequest {
    return {
      ...request,
      sessionId: this.#caller.sessionId,
      agentPath: [...this.#caller.agentPath, ...request.agentPath],
      threadId: this.#thread(request.threadId),
    };
  }

  #thread(own: string | undefined): string {
    if (own === undefined) return this.threadId;
    return own.startsWith('/') ? `${this.threadId}${own}` : `${this.threadId}.${own}`;
  }

  /** A thread of the sub-agent's own, or below one of its calls: the id of another call may begin alike. */
  holds(threadId: string): boolean {
    return threadId.startsWith(`${this.threadId}.`) || threadId.startsWith(`${this.threadId}/`);
  }

  #ownThread(threadId: string): string | undefined {
    const rest = threadId.slice(this.threadId.length);
    return rest.startsWith('.') ? rest.slice(1) : rest === '' ? undefined : rest;
  }
}
