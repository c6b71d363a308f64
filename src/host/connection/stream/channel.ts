import type {
  AgentEvent,
  AgentSession,
  AgentStream,
  ExecutionOptions,
  SessionInput,
} from '../../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../../contracts/index.ts';
import type { JoiningOptions } from '../../../session/index.ts';
import { inTime, isoTime, unlessSince } from '../../../session/index.ts';
import { Offsets } from '../../../session/resume/index.ts';
import { HostedSession } from '../../hosted/index.ts';
import type { Counts, ServerLimits } from '../protocol/index.ts';
import { Ring, wireEvent } from '../protocol/index.ts';
import { Control } from './control.ts';
import { LogFollower } from './log-follower.ts';

export interface ChannelOptions {
  agent: string;
  userId: string;
  /** It is not stored. */
  ephemeral: boolean;
  limits: ServerLimits;
  counts: Counts;
  warn(message: string, error?: unknown): void;
}

/** Who is told that there are new frames. */
export interface Watcher {
  pump(): void;
}

/** One session as a server shows it: numbered frames for any number of watchers, one of whom is in control. */
export class Channel {
  readonly session: AgentSession;
  readonly options: ChannelOptions;
  readonly epoch: string = crypto.randomUUID();
  readonly ring: Ring;
  readonly control: Control<Channel> = new Control<Channel>(this);
  readonly attachments = new Set<Watcher>();
  /** Connections that hold the session, attached or not. */
  holders = 0;
  /** The session was deleted: whoever opens one of its id is given another channel. */
  isGone = false;
  /** Where the newest durable event is: its cursor, and the offset of its frame. */
  durable: { cursor: string | undefined; offset: number } = { cursor: undefined, offset: 0 };
  lastEnd: AgentEvent | undefined;
  #streamId: string | undefined;
  #running: Promise<void> | undefined;
  readonly #follower: LogFollower;
  readonly #offsets = new Offsets();
  /** Streams that the log shows, up to a place in it. */
  readonly #stored = new Set<string>();
  #storedTo: string | undefined;
  #storedSeq = 0;
  #leave: (() => void) | undefined;

  private constructor(session: AgentSession, options: ChannelOptions) {
    this.session = session;
    this.options = options;
    this.ring = new Ring(options.limits.ringFrames, options.limits.ringBytes);
    this.#follower = new LogFollower(
      session,
      (event) => this.#emit(event),
      (error) => options.warn(`the log of session ${session.id} could not be followed`, error),
    );
  }

  static async open(session: AgentSession, options: ChannelOptions): Promise<Channel> {
    const channel = new Channel(session, options);
    try {
      await channel.#follower.start((event) => channel.#note(event));
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
    channel.durable = { cursor: channel.#follower.cursor, offset: 0 };
    // What the host goes on with by itself is shown, too.
    if (session instanceof HostedSession) {
      const hidden = session.shownBy((input) => channel.#show(input));
      const deaf = session.partialTexts((event) => void (channel.#running ?? channel.#emit(event)));
      channel.#leave = () => {
        hidden();
        deaf?.();
      };
    }
    return channel;
  }

  /** The stream that runs: none once its end was shown, though its iterator may settle later. */
  get streamId(): string | undefined {
    return this.lastEnd?.streamId === this.#streamId ? undefined : this.#streamId;
  }

  /** Resolves when the stream that runs has ended; undefined if none does. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /**
   * Starts a stream and resolves once it is accepted. It runs to its end, whoever watches.
   * @param isLookedFor the log was read a moment ago, and `knows` nothing of it: it is refused if that is so no longer
   * @throws CoxswainError what the session refuses the input with
   */
  async stream(
    input: string | SessionInput | readonly SessionInput[],
    options: ExecutionOptions,
    isLookedFor = false,
  ): Promise<void> {
    const given: JoiningOptions = isLookedFor ? { ...options, [unlessSince]: this.#storedSeq } : options;
    const stream = this.session.stream(input, given);
    this.#follower.begin(stream.streamId);
    let first: IteratorResult<AgentEvent>;
    try {
      first = await stream.next();
    } catch (error) {
      this.#follower.end();
      this.options.counts.turnsRefused++;
      if (isCoxswainError(error) && error.code === 'E_FULL') this.options.counts.turnsFull++;
      throw error;
    }
    this.options.counts.turnsBegun++;
    this.#streamId = stream.streamId;
    this.#running = this.#drain(stream, first);
  }

  /** Whether the log holds something of this stream. */
  async knows(streamId: string): Promise<boolean> {
    const after = this.#storedTo;
    for await (const event of this.session.events(after === undefined ? {} : { after })) this.#note(event);
    return this.#stored.has(streamId);
  }

  #note({ streamId, cursor, seq = 0 }: AgentEvent): void {
    this.#stored.add(streamId);
    this.#storedSeq = Math.max(this.#storedSeq, seq);
    this.#storedTo = cursor ?? this.#storedTo;
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for a cursor of no event of this session */
  async assertCursor(cursor: string | undefined): Promise<void> {
    if (cursor === undefined || cursor === this.durable.cursor) return;
    for await (const _ of this.session.events({ after: cursor, limit: 1 })) return;
  }

  async #show(input: SessionInput): Promise<void> {
    await this.stream(input, {});
    await this.running;
  }

  /**
   * The session is disposed of, whatever its log's iterator does.
   * @throws CoxswainError `DEADLINE_EXCEEDED / E_EXECUTOR_SILENT` after `closeMs`; what disposing throws
   */
  async close(): Promise<void> {
    this.#leave?.();
    const { counts, limits } = this.options;
    const { closeMs } = limits;
    counts.sessionsClosing++;
    const dispose = async () => this.session[Symbol.asyncDispose]();
    const over = Promise.allSettled([this.#follower.stop(), dispose()]);
    void over.then(() => counts.sessionsClosing--);
    if (!(await inTime(over, closeMs))) {
      const message = `session ${this.session.id} did not close in ${closeMs} ms: its agent's dispose, or the return of its events(), does not settle`;
      throw new CoxswainError('DEADLINE_EXCEEDED', 'E_EXECUTOR_SILENT', message);
    }
    for (const part of await over) if (part.status === 'rejected') throw part.reason;
  }

  /** Never rejects. */
  async #drain(stream: AgentStream, first: IteratorResult<AgentEvent>): Promise<void> {
    try {
      for (let next = first; !next.done; next = await stream.next()) {
        const behind = this.#follower.see(next.value);
        if (behind) await behind;
      }
    } catch (error) {
      this.options.warn(`a stream of session ${this.session.id} broke`, error);
      for (const event of broken(this.session.id, stream.streamId)) this.#emit(event);
    }
    this.#follower.end();
    // Whoever has seen the end may have begun the next one.
    if (this.#streamId !== stream.streamId) return;
    this.#running = undefined;
    this.#streamId = undefined;
  }

  #emit(event: AgentEvent): void {
    if (event.type === 'stream_end') {
      this.lastEnd = event;
      if (event.streamId === this.#streamId && event.reason === 'failed') this.options.counts.turnsFailed++;
    }
    const place = this.#offsets.of(event);
    // A delta whose message has been shown whole says nothing new.
    if (place === 'stale') return;
    const offset = this.ring.push({
      text: wireEvent(event, this.options.limits.maxPayload),
      cursor: event.cursor,
      at: place?.at,
      joins: place?.joins,
      streamId: event.streamId,
      isEnd: event.type === 'stream_end',
    });
    if (event.cursor !== undefined) this.durable = { cursor: event.cursor, offset };
    for (const attachment of this.attachments) attachment.pump();
  }
}

/** What is accepted has an end, even where its executor breaks. */
function broken(sessionId: string, streamId: string): AgentEvent[] {
  const base = { timestamp: isoTime(), sessionId, streamId };
  const message = 'the stream broke off; the log of the server says how';
  return [
    {
      ...base,
      id: crypto.randomUUID(),
      type: 'error',
      status: 'INTERNAL',
      code: 'E_INTERNAL',
      message,
      fatal: true,
      retryable: false,
    },
    { ...base, id: crypto.randomUUID(), type: 'stream_end', reason: 'failed', data: {} },
  ];
}
