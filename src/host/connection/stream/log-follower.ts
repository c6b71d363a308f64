import type { AgentEvent, AgentSession } from '../../../contracts/index.ts';
import { fromEnd, knowsEnd } from '../../../session/index.ts';
import { ShownEvents } from '../../../session/resume/index.ts';

/** Milliseconds that an event of a stream waits for the log to show it too. */
const PATIENCE_MS = 250;

/**
 * Joins the two views of a session into one order: what its streams show, partials included, and what its log shows,
 * whoever wrote it. Durable events come out in the order of the log, each once.
 */
export class LogFollower {
  /** Cursor of the newest durable event that has come out. */
  cursor: string | undefined;
  readonly #session: AgentSession;
  readonly #emit: (event: AgentEvent) => void;
  readonly #fail: (error: unknown) => void;
  /** Shown by the log, not yet by the stream that runs. */
  readonly #held: AgentEvent[] = [];
  /** Shown by a stream, not by the log yet: it is skipped there. */
  readonly #early = new Set<string>();
  /** Ids that the log has shown before the stream that runs. */
  readonly #out = new Set<string>();
  /** What has come out, by its place in the log. */
  #shown = new ShownEvents(0);
  #log: AsyncIterator<AgentEvent> | undefined;
  #streams = 0;
  /** The one that began last. */
  #streamId: string | undefined;
  #broken = false;
  #stopped = false;
  #arrived: (() => void) | undefined;
  #flushing = false;

  constructor(session: AgentSession, emit: (event: AgentEvent) => void, fail: (error: unknown) => void) {
    this.#session = session;
    this.#emit = emit;
    this.#fail = fail;
  }

  /** Goes to the end of the log and follows it from there. What has to be read on the way goes to `tell`. */
  async start(tell: (event: AgentEvent) => void = () => {}): Promise<void> {
    const end = knowsEnd(this.#session) ? await this.#session[fromEnd]() : undefined;
    if (end) {
      this.cursor = end.cursor;
      this.#shown = new ShownEvents(end.seq);
      this.#log = end.events[Symbol.asyncIterator]();
      void this.#follow(this.#log);
      return;
    }
    let last = 0;
    for await (const event of this.#session.events()) {
      const { cursor, seq } = event;
      tell(event);
      this.cursor = cursor ?? this.cursor;
      // A stream would show nothing that is older than its handle.
      last = seq ?? last;
    }
    this.#shown = new ShownEvents(last);
    const after = this.cursor;
    const log = this.#session.events({ ...(after === undefined ? {} : { after }), live: true })[Symbol.asyncIterator]();
    this.#log = log;
    void this.#follow(log);
  }

  /** Resolves when the log's iterator has ended; one of somebody else's making may not before its session does. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#log?.return?.();
  }

  begin(streamId: string): void {
    this.#streams++;
    this.#streamId = streamId;
  }

  end(): void {
    if (--this.#streams > 0) return;
    this.#flush();
    this.#out.clear();
  }

  /** An event of a stream. A promise only where the log is behind. */
  see(event: AgentEvent): Promise<void> | undefined {
    if (event.cursor === undefined) {
      this.#emit(event);
      return undefined;
    }
    if (this.#isOut(event)) return undefined;
    if (this.#take(event)) return undefined;
    return this.#await(event);
  }

  async #follow(log: AsyncIterator<AgentEvent>): Promise<void> {
    try {
      for (let next = await log.next(); !next.done; next = await log.next()) {
        this.#held.push(next.value);
        this.#arrived?.();
        if (this.#streams === 0) this.#flush();
        else this.#flushLater();
      }
    } catch (error) {
      this.#broken = true;
      if (!this.#stopped) this.#fail(error);
    }
  }

  /** Emits an event in the stream's version, after what the log has before it. */
  #take(event: AgentEvent): boolean {
    const index = this.#held.findIndex((held) => held.id === event.id);
    if (index === -1) return false;
    for (const before of this.#held.splice(0, index + 1).slice(0, -1)) this.#fromLog(before);
    this.#release(event);
    return true;
  }

  async #await(event: AgentEvent): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!this.#broken && Date.now() < deadline) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PATIENCE_MS);
        this.#arrived = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#arrived = undefined;
      if (this.#isOut(event) || this.#take(event)) return;
    }
    this.#early.add(event.id);
    this.#release(event);
  }

  /** What the stream does not show (another process's answer, say) comes out once the stream is quiet. */
  #flushLater(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() =>
      setImmediate(() => {
        this.#flushing = false;
        this.#flush();
      }),
    );
  }

  #flush(): void {
    // The end of a stream that runs is its own to show: whoever sees it may go on at once.
    const isOver = ({ type, streamId }: AgentEvent) => type === 'stream_end' && streamId === this.#streamId;
    const end = this.#streams > 0 ? this.#held.findIndex(isOver) : -1;
    for (const event of this.#held.splice(0, end < 0 ? this.#held.length : end)) {
      if (this.#streams > 0) this.#out.add(event.id);
      this.#fromLog(event);
    }
  }

  #fromLog(event: AgentEvent): void {
    if (!this.#early.delete(event.id)) this.#release(event);
  }

  /** A stream may begin with what was stored since the one before it, and has been shown. */
  #isOut(event: AgentEvent): boolean {
    return this.#out.has(event.id) || this.#shown.has(event);
  }

  #release(event: AgentEvent): void {
    this.cursor = event.cursor ?? this.cursor;
    if (event.seq !== undefined) this.#shown.add(event);
    this.#emit(event);
  }
}
