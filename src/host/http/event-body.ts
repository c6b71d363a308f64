import { SUBPROTOCOL } from '../../contracts/index.ts';
import type { Transport } from '../connection/index.ts';
import type { HeldAnswer } from './held-chars.ts';

const encoder = new TextEncoder();

/** Milliseconds until a browser asks again after an event stream has ended. */
const RETRY_MS = 1000;

/** Characters that a reader is given at a time: each piece that it takes says that it reads. */
const PIECE = 64 * 1024;

export interface EventBodyOptions {
  /** Milliseconds between comments on a quiet stream, so that proxies keep it. */
  keepAliveMs: number;
  /** Milliseconds that a reader has to take a piece of what waits, before it is to come back, or is cut off at the end. */
  stallMs: number;
  /** The same, where it is to come back or is closed. */
  closeMs: number;
  /** Counts what waits. */
  held: HeldAnswer;
  /** One text and no events: nothing is sent of itself, and a reader that does not read is cut off. */
  isPlain?: boolean;
  /** What the reader is sent where it is to come back. Default: an event `reconnect`. */
  farewell?: ((reason: string) => string) | undefined;
  /** The reader is gone, or has been sent the end. Called once. */
  over(isGone: boolean): void;
}

/**
 * The body of an event stream, or a long text. It is read as fast as its reader asks, piece by piece: what waits is counted, so
 * that people who write can wait; nothing is queued beside that. A reader that does not read is not waited for.
 */
export class EventBody implements Transport {
  readonly protocol: string = SUBPROTOCOL;
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #options: EventBodyOptions;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #waiting: string[] = [];
  /** The first of what waits is the rest of an event: the reader has been given how it begins. */
  #isCut = false;
  /** Characters that wait, and those that the reader was given and has not come back from. */
  #size = 0;
  #given = 0;
  #isAsked = false;
  #isFlushing = false;
  #isEnding = false;
  #isOver = false;
  readonly #drained: (() => void)[] = [];
  #listener: (text: string) => void = () => {};
  #paused: PromiseWithResolvers<void> | undefined;
  readonly #pulse: ReturnType<typeof setInterval> | undefined;
  /** Until the reader has to ask for more. */
  #patience: ReturnType<typeof setTimeout> | undefined;
  #patienceMs: number;

  constructor(options: EventBodyOptions) {
    this.#options = options;
    this.#patienceMs = options.stallMs;
    this.stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#end(true),
      },
      // Asked for by a reader alone.
      { highWaterMark: 0 },
    );
    if (options.isPlain) return;
    this.#pulse = setInterval(() => this.#isAsked && this.write(':\n\n'), options.keepAliveMs);
    unheld(this.#pulse);
    this.write(`retry: ${RETRY_MS}\n\n`);
  }

  get bufferedAmount(): number {
    return this.#size + this.#given;
  }

  get unwritten(): number {
    return this.bufferedAmount;
  }

  /** Whole lines of an event stream. */
  write(text: string): void {
    if (this.#isEnding || this.#isOver) return;
    if (!this.#options.held.tryTake(text.length)) {
      this.reconnect('too slow');
      return;
    }
    this.#waiting.push(text);
    this.#size += text.length;
    if (!this.#isAsked) this.#watch();
    if (!this.#isAsked || this.#isFlushing) return;
    this.#isFlushing = true;
    // What is written in one go leaves in one piece.
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  /** One message of the session protocol. */
  send(text: string): void {
    this.write(`data: ${text}\n\n`);
  }

  /** The reader is told to come back; what waits for it is left out, as it has it from its last id then. */
  reconnect(reason: string): void {
    if (this.#isEnding || this.#isOver) return;
    if (this.#options.isPlain) {
      this.#cut();
      return;
    }
    this.#drop();
    this.write(this.#options.farewell?.(reason) ?? `event: reconnect\ndata: ${JSON.stringify({ reason })}\n\n`);
    this.finish(this.#options.closeMs);
  }

  /** As a close of the session protocol. */
  close(code: number, reason: string): void {
    this.write(`event: close\ndata: ${JSON.stringify({ code, reason })}\n\n`);
    this.finish(this.#options.closeMs);
  }

  /** Nothing more comes. */
  finish(patienceMs: number = this.#options.stallMs): void {
    if (this.#isEnding || this.#isOver) return;
    this.#isEnding = true;
    this.#patienceMs = patienceMs;
    clearTimeout(this.#patience);
    this.#patience = undefined;
    if (this.#isAsked) this.#flush();
    this.#watch();
  }

  /** What the client sends waits, and its request with it. */
  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  onMessage(listener: (text: string) => void): void {
    this.#listener = listener;
  }

  /** A message of the client, which came by a request of its own. */
  async receive(text: string): Promise<void> {
    await this.#paused?.promise;
    this.#listener(text);
  }

  /** Nobody reads it. */
  leave(): void {
    this.#end(true);
  }

  onDrain(listener: () => void): void {
    this.#drained.push(listener);
  }

  #pull(): void {
    this.#options.held.give(this.#given);
    this.#given = 0;
    this.#isAsked = true;
    clearTimeout(this.#patience);
    this.#patience = undefined;
    if (this.#waiting.length > 0 || this.#isEnding) this.#flush();
    // Who waits for room writes as much as they have.
    if (this.#waiting.length === 0) for (const drained of this.#drained) drained();
  }

  #flush(): void {
    if (this.#isOver || !this.#isAsked) return;
    if (this.#waiting.length > 0) {
      const text = this.#piece();
      this.#size -= text.length;
      this.#given = text.length;
      this.#isAsked = false;
      this.#controller?.enqueue(encoder.encode(text));
      this.#watch();
    }
    if (!this.#isEnding || this.#waiting.length > 0) return;
    this.#end(false);
    this.#controller?.close();
  }

  /** What is given next; no character of two halves is cut. */
  #piece(): string {
    let count = 0;
    let size = 0;
    while (count < this.#waiting.length && size < PIECE) size += this.#waiting[count++]?.length ?? 0;
    const text = this.#waiting.splice(0, count).join('');
    this.#isCut = text.length > PIECE;
    if (!this.#isCut) return text;
    const isHalf = text.charCodeAt(PIECE - 1) >= 0xd800 && text.charCodeAt(PIECE - 1) < 0xdc00;
    const to = isHalf ? PIECE - 1 : PIECE;
    this.#waiting.unshift(text.slice(to));
    return text.slice(0, to);
  }

  /** Something waits, and the reader asks for nothing: not for long. */
  #watch(): void {
    if (this.#isOver || this.#isAsked || this.#patience) return;
    if (this.#waiting.length === 0 && !this.#isEnding) return;
    this.#patience = setTimeout(() => {
      this.#patience = undefined;
      if (this.#isEnding) this.#cut();
      else this.reconnect('too slow');
    }, this.#patienceMs);
    unheld(this.#patience);
  }

  /** Who does not read is cut off. */
  #cut(): void {
    if (this.#isOver) return;
    this.#end(true);
    this.#controller?.error(new Error('the reader of an answer did not take what was left of it'));
  }

  /** An event that the reader has a part of is sent whole: what follows would be taken for the rest of it, and its id for seen. */
  #drop(): void {
    const rest = this.#isCut ? this.#waiting.slice(0, 1) : [];
    const size = rest[0]?.length ?? 0;
    this.#options.held.give(this.#size - size);
    this.#waiting = rest;
    this.#size = size;
  }

  #end(isGone: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    this.#size = 0;
    this.#options.held.giveAll();
    clearInterval(this.#pulse);
    clearTimeout(this.#patience);
    this.resume();
    this.#options.over(isGone);
  }
}

/** A timer that keeps no process alive, where the platform knows of that. */
function unheld(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}
