import { isoTime, MANY, newId } from '../../base/index.ts';
import type { AgentEvent, ContentPart, ToolUpdate } from '../../contracts/index.ts';
import type { RunSink, StoredEvent, TextTeller } from '../../runtime/index.ts';
import { sizeOf } from '../../runtime/index.ts';
import type { StreamQueue } from '../../session/index.ts';
import { project, projectInPieces } from './project.ts';

/** Shows a run's events in a stream. */
export class StreamSink implements RunSink {
  readonly streamId: string;
  /** Newest event that was shown. */
  seq = 0;
  /** The inputs were accepted: what fails from now on ends the stream. */
  isAccepted = false;
  readonly #queue: StreamQueue<AgentEvent>;
  readonly #session: { readonly id: string; began(sink: StreamSink, at: number): void };
  readonly #sessionId: string;
  readonly #streaming: boolean;
  /** Tells other programs what is not stored. */
  readonly teller: TextTeller | undefined;
  #frames = 0;
  #ended = false;

  /** @param session is told when the stream has begun */
  constructor(
    queue: StreamQueue<AgentEvent>,
    session: { readonly id: string; began(sink: StreamSink, at: number): void },
    streamId: string,
    streaming: boolean,
    teller?: TextTeller,
  ) {
    this.teller = teller;
    this.#queue = queue;
    this.#session = session;
    this.#sessionId = session.id;
    this.streamId = streamId;
    this.#streaming = streaming;
  }

  push(event: AgentEvent): void {
    this.#queue.push(event);
  }

  accepted(at: number): void {
    this.isAccepted = true;
    this.#session.began(this, at);
  }

  event(event: StoredEvent): void {
    // What is stored behind the end of the turn is of no stream.
    if (this.#ended) return;
    this.seq = event.seq;
    if (event.actions.end && event.streamId === this.streamId) this.#ended = true;
    // One that ends the stream is told at once.
    if (sizeOf(event) > MANY && event.errorCode === undefined) {
      this.#queue.pushLater(projectInPieces(this.#sessionId, event));
    } else for (const item of project(this.#sessionId, event)) this.#queue.push(item);
  }

  delta(context: Parameters<RunSink['delta']>[0], messageId: string, part: number, delta: ContentPart): void {
    if (!this.#streaming) return;
    const threadId = context.place.thread;
    const event: AgentEvent = {
      id: `${messageId}~${this.#frames++}`,
      type: 'message',
      timestamp: isoTime(),
      sessionId: this.#sessionId,
      streamId: this.streamId,
      turnId: context.invocation.turnId,
      agentId: context.agent.name,
      source: 'agent',
      role: 'agent',
      content: [delta],
      partial: true,
      _meta: { messageId, part },
    };
    if (threadId !== undefined) event.threadId = threadId;
    this.teller?.add(event);
    this.#queue.push(event);
  }

  toolUpdate(context: Parameters<RunSink['toolUpdate']>[0], callId: string, update: ToolUpdate): void {
    const threadId = context.place.thread;
    this.#queue.push({
      ...update,
      id: newId(),
      type: 'tool_update',
      timestamp: isoTime(),
      sessionId: this.#sessionId,
      streamId: this.streamId,
      turnId: context.invocation.turnId,
      agentId: context.agent.name,
      ...(threadId === undefined ? {} : { threadId }),
      source: 'agent',
      requestId: callId,
    });
  }

  room(partial: boolean): Promise<void> | undefined {
    return this.#queue.room(partial);
  }

  letIn(): void {
    this.#queue.letIn();
  }

  release(): void {
    this.#queue.release();
  }
}
