import type { AgentEvent, AttachResult, EventFrame } from '../../contracts/index.ts';
import type { ClaimedPosition } from '../../session/resume/index.ts';
import { Assembler, claimOf } from '../../session/resume/index.ts';

/** Frames after which an acknowledgement is sent at once. */
const ACK_FRAMES = 64;
/** Milliseconds after which it is sent anyway. */
const ACK_MS = 100;

export interface PositionOptions {
  show(event: AgentEvent): void;
  ack(epoch: string, offset: number): void;
  /** The server left something out: the place has to be taken up anew. */
  hole(): void;
}

/** Where a client is in a session: what it has, in order, once. */
export class Position {
  epoch: string;
  offset: number;
  cursor: string | undefined;
  /** False while durable history is on its way: until then the offset says more than the client has. */
  #isWhole = true;
  readonly #options: PositionOptions;
  readonly #assembler = new Assembler();
  #acked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(at: AttachResult, cursor: string | undefined, options: PositionOptions) {
    this.#options = options;
    this.epoch = at.epoch;
    this.offset = at.offset;
    this.cursor = cursor;
    this.#acked = at.offset;
  }

  /** What the server is told at the next connection. */
  get known(): ClaimedPosition {
    return claimOf(this, this.#isWhole);
  }

  /** The history has come; frames after this one follow. */
  live(offset: number): void {
    this.#isWhole = true;
    this.offset = Math.max(this.offset, offset);
  }

  /** Taken up on another connection, or moved by the server. */
  move(epoch: string, offset: number, recovered: boolean): void {
    this.#isWhole = recovered;
    if (!recovered) this.#assembler.gap();
    this.epoch = epoch;
    this.offset = offset;
    this.#acked = offset;
  }

  take(frame: EventFrame): void {
    // Of an attachment that is over.
    if (frame.epoch !== this.epoch) return;
    if (frame.offset !== undefined) {
      if (frame.offset <= this.offset) return;
      if ((frame.from ?? frame.offset) !== this.offset + 1) {
        this.#options.hole();
        return;
      }
      this.offset = frame.offset;
    }
    const { cursor } = frame.event;
    for (const event of this.#assembler.take(frame)) this.#options.show(event);
    if (cursor !== undefined) this.cursor = cursor;
    this.#ackSoon();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #ackSoon(): void {
    if (this.offset - this.#acked >= ACK_FRAMES) this.#ack();
    else if (this.#timer === undefined && this.offset > this.#acked) {
      this.#timer = setTimeout(() => this.#ack(), ACK_MS);
      (this.#timer as { unref?: () => void }).unref?.();
    }
  }

  #ack(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.offset === this.#acked) return;
    this.#acked = this.offset;
    this.#options.ack(this.epoch, this.offset);
  }
}
