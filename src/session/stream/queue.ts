import { breath } from '../../base/index.ts';
import type { AgentErrorEvent, AgentEvent, AgentStream } from '../../contracts/index.ts';
import { joinedEvents } from './joined-events.ts';
import type { Joining } from './joining.ts';

/** Partial frames that may wait for a slow consumer before their producer is asked to pause. */
const PARTIALS_AHEAD = 64;

/** Items that are taken one after the other without a wait before others of the process are let in. */
const AT_ONCE = 128;

/** Places of items that were taken, before they are given up. */
const MAX_TAKEN = 4096;

/** Items that are made when they are asked for. */
class Unmade<T> {
  readonly items: Iterator<T>;

  constructor(items: Iterator<T>) {
    this.items = items;
  }
}

/** An item that others are joined with until it is taken. */
class Joined<T> {
  readonly key: string;
  item: T;

  constructor(key: string, item: T) {
    this.key = key;
    this.item = item;
  }
}

interface Waiter<T> {
  resolve: (result: IteratorResult<T>) => void;
  reject: (reason: unknown) => void;
}

/**
 * Joins a producer that pushes with a consumer that pulls. A hand-written iterator: an async generator in between
 * would cost as much again as the frames themselves, and the producer must be able to finish without a consumer.
 *
 * Lazy: `drive` is called at the first `next()`. Leaving the loop early calls `leave`.
 */
export class StreamQueue<T> implements AsyncIterableIterator<T> {
  #items: (T | Unmade<T> | Joined<T> | undefined)[] = [];
  #head = 0;
  #wanted: Waiter<T> | undefined;
  /** Further `next()` calls that came before the first was answered. */
  #waiting: Waiter<T>[] = [];
  /** Taken since the last wait. */
  #inRow = 0;
  #resting: Promise<void> | undefined;
  #room: Promise<void> | undefined;
  #openRoom: (() => void) | undefined;
  #released = false;
  #closed = false;
  #failure: { reason: unknown } | undefined;
  #driving: Promise<void> | undefined;
  /** What waits and others are joined with, by key; made when a consumer is behind. */
  #joined: Map<string, Joined<T>> | undefined;
  readonly #joining: Joining<T> | undefined;
  readonly #drive: (queue: StreamQueue<T>) => Promise<void>;
  readonly #leave: (reason: string) => Promise<void>;

  /**
   * @param drive resolves when nothing more comes
   * @param leave told why
   * @param joining of items that are pushed while 64 others wait: a producer may push without room
   */
  constructor(
    drive: (queue: StreamQueue<T>) => Promise<void>,
    leave: (reason: string) => Promise<void> = async () => {},
    joining?: Joining<T>,
  ) {
    this.#drive = drive;
    this.#leave = leave;
    this.#joining = joining;
  }

  /** Adds many items, which are made one by one as they are asked for. */
  pushLater(items: Iterable<T>): void {
    if (this.#closed) return;
    this.#items.push(new Unmade(items[Symbol.iterator]()));
    const waiting = this.#wanted ? [this.#wanted, ...this.#waiting.splice(0)] : [];
    this.#wanted = undefined;
    // Whoever pushes has done a piece of work already.
    for (const { resolve, reject } of waiting) this.#afterRest().then(resolve, reject);
  }

  /** Adds an item; never waits. */
  push(item: T): void {
    if (this.#closed) return;
    const wanted = this.#wanted;
    if (wanted) {
      this.#wanted = this.#waiting.shift();
      wanted.resolve({ value: item, done: false });
    } else if (this.#items.length === 0) {
      // One alone is the rule; an array that is pushed to takes room for sixteen more.
      this.#items = [item];
    } else if (this.#joining && this.ahead >= PARTIALS_AHEAD) {
      this.#pushBehind(item, this.#joining);
    } else {
      this.#items.push(item);
    }
  }

  /** The consumer is behind. */
  #pushBehind(item: T, { keyOf, join }: Joining<T>): void {
    const key = keyOf(item);
    if (key === undefined) {
      this.#items.push(item);
      return;
    }
    this.#joined ??= new Map();
    const waiting = this.#joined.get(key);
    if (waiting) {
      waiting.item = join(waiting.item, item);
      return;
    }
    const joined = new Joined(key, item);
    this.#joined.set(key, joined);
    this.#items.push(joined);
  }

  /**
   * What a producer awaits after a durable item (`ahead` 0: until the consumer asks for more) or a partial one
   * (until fewer than 64 wait). Undefined: go on at once.
   */
  room(partial: boolean): Promise<void> | undefined {
    if (this.#released || this.#closed) return undefined;
    if (partial ? this.ahead < PARTIALS_AHEAD : this.#wanted !== undefined) return undefined;
    this.#room ??= new Promise((resolve) => {
      this.#openRoom = resolve;
    });
    return this.#room;
  }

  /** Items that wait for the consumer. */
  get ahead(): number {
    return this.#items.length - this.#head;
  }

  /** Whoever waits for room goes on, this once. */
  letIn(): void {
    const open = this.#openRoom;
    this.#openRoom = undefined;
    this.#room = undefined;
    open?.();
  }

  /** From now on the producer never waits: its consumer is gone or it has been told to end. */
  release(): void {
    this.#released = true;
    this.letIn();
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#resting) return this.#afterRest();
    while (this.#head < this.#items.length) {
      if (this.#inRow >= AT_ONCE) return this.#afterRest();
      const next = this.#items[this.#head];
      const made = next instanceof Unmade ? next.items.next() : undefined;
      if (!made || made.done) this.#dropFirst();
      if (made?.done) continue;
      this.#inRow++;
      return Promise.resolve({ value: made ? made.value : this.#taken(next as T | Joined<T>), done: false });
    }
    this.#inRow = 0;
    if (this.#failure) {
      const { reason } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(reason);
    }
    if (this.#closed) return Promise.resolve({ value: undefined, done: true });
    const waiter = Promise.withResolvers<IteratorResult<T>>();
    if (this.#wanted) this.#waiting.push(waiter);
    else this.#wanted = waiter;
    if (this.#openRoom) this.letIn();
    if (!this.#driving) void this.start();
    return waiter.promise;
  }

  /** What comes later is joined with it no more. */
  #taken(next: T | Joined<T>): T {
    if (!(next instanceof Joined)) return next;
    this.#joined?.delete(next.key);
    return next.item;
  }

  #dropFirst(): void {
    this.#items[this.#head++] = undefined;
    if (this.#head < this.#items.length && this.#head < MAX_TAKEN) return;
    // A consumer that is never done would keep the places of all that it has taken.
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }

  /** Whoever reads many in a row lets others of the process in. */
  #afterRest(): Promise<IteratorResult<T>> {
    this.#resting ??= breath().then(() => {
      this.#inRow = 0;
      this.#resting = undefined;
    });
    return this.#resting.then(() => this.next());
  }

  /** Lets the producer run, with or without a consumer. Resolves when it has ended; never rejects. */
  start(): Promise<void> {
    this.#driving ??= this.#begin().then(
      () => this.#close(),
      (reason: unknown) => this.#close({ reason }),
    );
    return this.#driving;
  }

  get started(): boolean {
    return this.#driving !== undefined;
  }

  /** Resolves when the producer has ended. */
  get ended(): Promise<void> {
    return this.#driving ?? Promise.resolve();
  }

  async return(): Promise<IteratorResult<T>> {
    if (this.#driving && !this.#closed) {
      this.release();
      await this.#leave('the consumer left');
      await this.#driving;
    }
    this.#closed = true;
    this.#items = [];
    this.#head = 0;
    this.#joined = undefined;
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #begin(): Promise<void> {
    try {
      return this.#drive(this);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #close(failure?: { reason: unknown }): void {
    this.#closed = true;
    this.letIn();
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted) {
      if (failure) wanted.reject(failure.reason);
      else wanted.resolve({ value: undefined, done: true });
    } else {
      this.#failure = failure;
    }
    for (const { resolve } of this.#waiting.splice(0)) resolve({ value: undefined, done: true });
  }
}

/** The events of one stream of a session. Leaving it aborts it. */
export class EventStream extends StreamQueue<AgentEvent> implements AgentStream {
  readonly streamId: string;
  readonly abort: (reason?: string) => Promise<void>;
  /** A fatal error was shown: after it comes nothing but the end. */
  fatal: AgentErrorEvent | undefined;
  #hasEnded = false;

  constructor(streamId: string, drive: (out: EventStream) => Promise<void>, abort: (reason?: string) => Promise<void>) {
    // What is handed to `drive` is this stream itself.
    super(drive as (queue: StreamQueue<AgentEvent>) => Promise<void>, abort, joinedEvents);
    this.streamId = streamId;
    this.abort = abort;
  }

  get hasFailed(): boolean {
    return this.fatal !== undefined;
  }

  override push(event: AgentEvent): void {
    if (event.type === 'error' && event.fatal) this.fatal = event;
    if (event.type === 'stream_end' && event.streamId === this.streamId) this.#hasEnded = true;
    super.push(event);
  }

  /** Leaving it once it has shown its end aborts nothing: what is open then stays open. */
  override async return(): Promise<IteratorResult<AgentEvent>> {
    if (this.#hasEnded) {
      this.release();
      await this.ended;
    }
    return super.return();
  }
}
