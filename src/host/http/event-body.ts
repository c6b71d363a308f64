import { SUBPROTOCOL } from '../../contracts/index.ts';
import type { Transport } from '../connection/index.ts';

const encoder = new TextEncoder();

/** Milliseconds until a browser asks again after an event stream has ended. */
const RETRY_MS = 1000;

export interface EventBodyOptions {
  /** Milliseconds between comments on a quiet stream, so that proxies keep it. */
  keepAliveMs: number;
  /** Milliseconds that a reader has to take what is left, before it is cut off. */
  stallMs: number;
  /** The same, where it is to come back or is closed. */
  closeMs: number;
  /** What the reader is sent where it is to come back. Default: an event `reconnect`. */
  farewell?: ((reason: string) => string) | undefined;
  /** The reader is gone, or has been sent the end. Called once. */
  over(isGone: boolean): void;
}

/**
 * The body of an event stream. It is read as fast as its reader asks: what waits is joined into one piece, and counted,
 * so that whoever writes can wait; nothing is queued beside that.
 */
export class EventBody implements Transport {
  readonly protocol: string = SUBPROTOCOL;
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #options: EventBodyOptions;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #waiting: string[] = [];
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
  readonly #pulse: ReturnType<typeof setInterval>;

  constructor(options: EventBodyOptions) {
    this.#options = options;
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
    this.#waiting.push(text);
    this.#size += text.length;
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
    this.#waiting = [];
    this.#size = 0;
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
    if (this.#isAsked) {
      this.#flush();
      return;
    }
    // Who does not read is cut off.
    unheld(
      setTimeout(() => {
        if (this.#isOver) return;
        this.#end(true);
        this.#controller?.error(new Error('the reader of an event stream did not take its end'));
      }, patienceMs),
    );
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
    this.#given = 0;
    this.#isAsked = true;
    if (this.#waiting.length > 0 || this.#isEnding) this.#flush();
    for (const drained of this.#drained) drained();
  }

  #flush(): void {
    if (this.#isOver || !this.#isAsked) return;
    if (this.#waiting.length > 0) {
      const text = this.#waiting.join('');
      this.#waiting = [];
      this.#size = 0;
      this.#given = text.length;
      this.#isAsked = false;
      this.#controller?.enqueue(encoder.encode(text));
    }
    if (!this.#isEnding) return;
    this.#end(false);
    this.#controller?.close();
  }

  #end(isGone: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    this.#size = 0;
    clearInterval(this.#pulse);
    this.resume();
    this.#options.over(isGone);
  }
}

/** A timer that keeps no process alive, where the platform knows of that. */
function unheld(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}
