import type { AgentEvent, AgentStream, StreamEndEvent } from '../../contracts/index.ts';
import type { StreamQueue } from '../../session/index.ts';
import { EventStream } from '../../session/index.ts';

/** A stream as this client sees it: asked for, accepted, ended. */
export class RemoteStream {
  readonly streamId: string;
  readonly stream: AgentStream;
  /** Its frames have begun, or the server has said yes. */
  isAccepted = false;
  isEnded = false;
  readonly #ended = Promise.withResolvers<void>();
  #queue: StreamQueue<AgentEvent> | undefined;

  constructor(
    streamId: string,
    start: (stream: RemoteStream) => Promise<void>,
    abort: (reason?: string) => Promise<void>,
  ) {
    this.streamId = streamId;
    this.stream = new EventStream(
      streamId,
      async (out) => {
        this.#queue = out;
        await start(this);
        await this.#ended.promise;
      },
      abort,
    );
  }

  push(event: AgentEvent): void {
    if (this.isEnded) return;
    this.#queue?.push(event);
    if (event.type === 'stream_end' && event.streamId === this.streamId) this.finish();
  }

  end(event: StreamEndEvent): void {
    this.push(event);
    this.finish();
  }

  finish(): void {
    this.isEnded = true;
    this.#ended.resolve();
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }
}
