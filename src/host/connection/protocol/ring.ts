/** One frame as it goes over the wire, without its envelope. */
export interface RingEntry {
  /** JSON of the event. */
  readonly text: string;
  /** Of a delta: characters of its part that came before it. */
  readonly at?: number | undefined;
  /** What adjacent deltas share that may be joined. */
  readonly joins?: string | undefined;
  /** Of a durable event. */
  readonly cursor?: string | undefined;
  readonly streamId?: string | undefined;
  /** It is the end of its stream. */
  readonly isEnd?: boolean | undefined;
}

/** The newest frames of a session, bounded in number and size; the log has the rest. */
export class Ring {
  #entries: (RingEntry | undefined)[] = [];
  #start = 0;
  /** Offset of the first entry that is kept. */
  #first = 1;
  #bytes = 0;
  readonly #maxFrames: number;
  readonly #maxBytes: number;

  constructor(maxFrames: number, maxBytes: number) {
    this.#maxFrames = maxFrames;
    this.#maxBytes = maxBytes;
  }

  /** Offset of the newest frame; 0 before the first one. */
  get head(): number {
    return this.#first + this.#entries.length - this.#start - 1;
  }

  /** Offset of the oldest frame that is kept. */
  get first(): number {
    return this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(entry: RingEntry): number {
    this.#entries.push(entry);
    this.#bytes += entry.text.length;
    // The newest one stays, whatever its size: somebody is about to be sent it.
    while (
      this.#entries.length - this.#start > 1 &&
      (this.#entries.length - this.#start > this.#maxFrames || this.#bytes > this.#maxBytes)
    ) {
      this.#bytes -= this.#entries[this.#start]?.text.length ?? 0;
      this.#entries[this.#start++] = undefined;
      this.#first++;
    }
    if (this.#start > 1024 && this.#start * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#start);
      this.#start = 0;
    }
    return this.head;
  }

  get(offset: number): RingEntry | undefined {
    return offset < this.#first ? undefined : this.#entries[this.#start + offset - this.#first];
  }

  /** Offset of the frame with the event of this cursor; undefined: it is not kept, or never was. */
  offsetOf(cursor: string): number | undefined {
    for (let offset = this.head; offset >= this.#first; offset--)
      if (this.get(offset)?.cursor === cursor) return offset;
    return undefined;
  }
}
