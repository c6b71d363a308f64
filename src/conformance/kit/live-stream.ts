import type {
  AgentEvent,
  AgentStream,
  ReportedRequest,
  StreamEndEvent,
  ToolRequestEvent,
  ToolResponseEvent,
} from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import { Breach } from './breach.ts';
import type { Deadline } from './deadline.ts';

interface Waiter {
  fits(event: AgentEvent): boolean;
  resolve(event: AgentEvent): void;
}

/** Is told of a stream as it is read. */
export interface StreamWatcher {
  event(event: AgentEvent): void;
  /** It has ended, refused or broken off it has not. */
  over(): void;
}

export type EventOf<T extends string> = Extract<AgentEvent, { type: T }>;

/** One stream of a session that is read as fast as it comes. */
export class LiveStream {
  readonly stream: AgentStream;
  readonly events: AgentEvent[] = [];
  /** What it was refused or broken off with. */
  thrown: { reason: unknown } | undefined;
  readonly #deadline: Deadline;
  readonly #waiting: Waiter[] = [];
  readonly #ended: Promise<void>;

  constructor(stream: AgentStream, deadline: Deadline, watcher: StreamWatcher) {
    this.stream = stream;
    this.#deadline = deadline;
    this.#ended = this.#read(watcher);
  }

  /** The first event that fits, now or later. */
  async seen<T extends AgentEvent['type']>(
    type: T,
    fits: (event: EventOf<T>) => boolean = () => true,
  ): Promise<EventOf<T>> {
    const matches = (event: AgentEvent) => event.type === type && fits(event as EventOf<T>);
    const known = this.events.find(matches);
    if (known) return known as EventOf<T>;
    const found = new Promise<AgentEvent>((resolve) => this.#waiting.push({ fits: matches, resolve }));
    const none = this.#ended.then(() => undefined);
    const event = await this.#deadline.within(Promise.race([found, none]), `an event ${type} of the stream`);
    if (event === undefined) throw new Breach(`an event ${type}`, `a stream of ${this.summary}`);
    return event as EventOf<T>;
  }

  /** Waits until nothing more comes; whatever it was. */
  async settled(): Promise<this> {
    await this.#deadline.within(this.#ended, 'the stream to end');
    return this;
  }

  /** Waits for the end of a stream that was not refused. */
  async ended(): Promise<this> {
    await this.settled();
    if (this.thrown) throw this.thrown.reason;
    return this;
  }

  /** The first `stream_end`. */
  get end(): StreamEndEvent {
    const end = this.events.find((event) => event.type === 'stream_end');
    if (end?.type !== 'stream_end') throw new Breach('a stream_end', `a stream of ${this.summary}`);
    return end as StreamEndEvent;
  }

  get reason(): string {
    return this.end.reason;
  }

  get pending(): ReportedRequest[] {
    return this.end.data?.pending ?? [];
  }

  /** What the agent said, durable messages only. */
  get text(): string {
    return this.ofType('message')
      .filter(({ role, partial }) => role === 'agent' && !partial)
      .map(({ content }) => textOfParts(content))
      .join('');
  }

  get requests(): ToolRequestEvent[] {
    return this.ofType('tool_request');
  }

  get responses(): ToolResponseEvent[] {
    return this.ofType('tool_response');
  }

  ofType<T extends AgentEvent['type']>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  /** The types of its events, for people. */
  get summary(): string {
    if (this.events.length === 0) return 'no events';
    return this.events
      .map((event) => (event.type === 'stream_end' ? `stream_end(${event.reason})` : event.type))
      .join(', ');
  }

  async #read(watcher: StreamWatcher): Promise<void> {
    try {
      for await (const event of this.stream) {
        this.events.push(event);
        watcher.event(event);
        for (const wait of this.#waiting) if (wait.fits(event)) wait.resolve(event);
      }
      watcher.over();
    } catch (reason) {
      this.thrown = { reason };
    }
  }
}
