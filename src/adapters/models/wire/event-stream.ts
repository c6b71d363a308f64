const LF = 10;
const CR = 13;
const DATA = 0x64;
const EVENT = 0x65;
const BRACKET = 0x5b;
const BLANK_LINE = Buffer.from('\n');
/** Bytes of one event, or of a whole response that is no stream: a picture fits, a line without end does not. */
export const MAX_EVENT_BYTES = 32 * 1024 * 1024;

export interface EventStreamRules {
  /** The reader understands `event:` lines. Else only `data:` lines are let through. */
  namedEvents: boolean;
  /** `data: [DONE]` was seen. */
  onSentinel: () => void;
  /** An event holds an `error`; told where no events have names, since the reader may pass over it. */
  onError?: (error: unknown) => void;
  /** More than {@link MAX_EVENT_BYTES} have come of one event; makes the error of the stream. */
  tooLarge: () => Error;
  /** A piece of the body is awaited. */
  onWait?: () => void;
  onPiece?: () => void;
}

/**
 * Server-sent events as every reader understands them, whatever came: whole events only, LF, no comments, no BOM, a
 * blank line after the last one. JSON that stands there without `data:` (proxies report errors like that) becomes an
 * event. What needs no repair passes through untouched.
 */
export function repairEvents(body: ReadableStream<Uint8Array>, rules: EventStreamRules): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const repair = new Repair(rules);
  let out: ReadableStreamDefaultController<Uint8Array>;
  // Plain callbacks, made once: this runs for every piece that the network brings.
  const take = ({ done, value }: Awaited<ReturnType<typeof reader.read>>): void | Promise<void> => {
    rules.onPiece?.();
    const piece = done ? repair.end() : repair.push(value);
    if (piece && !rules.namedEvents && rules.onError) tellErrors(piece, rules.onError);
    if (piece) out.enqueue(piece);
    if (done) out.close();
    else if (!piece) return pull();
  };
  const pull = (): Promise<void> => {
    rules.onWait?.();
    return reader.read().then(take);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        out = controller;
      },
      pull,
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Looks for errors among whole events of a line each. */
function tellErrors(piece: Uint8Array, onError: (error: unknown) => void): void {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  if (!bytes.includes('"error"')) return;
  for (const line of bytes.toString().split('\n')) {
    const error = line.startsWith('data:') ? errorIn(line.slice('data:'.length)) : undefined;
    if (error) onError(error);
  }
}

/** The member `error` of a JSON object. */
export function errorIn(text: string): unknown {
  const value = parse(text);
  return typeof value === 'object' && value !== null ? (value as { error?: unknown }).error : undefined;
}

/** The body as it is, up to a limit, and word of each wait for a piece of it. */
export function upTo(
  body: ReadableStream<Uint8Array>,
  { onWait, onPiece, tooLarge }: Pick<EventStreamRules, 'onWait' | 'onPiece' | 'tooLarge'>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      onWait?.();
      const { done, value } = await reader.read();
      onPiece?.();
      if (done) return controller.close();
      bytes += value.length;
      if (bytes > MAX_EVENT_BYTES) throw tooLarge();
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The bytes-to-bytes half of {@link repairEvents}. */
export class Repair {
  readonly #rules: EventStreamRules;
  /** Start of a line whose end has not come. */
  #line: Buffer[] = [];
  /** Complete lines of an event whose end has not come. */
  #event: Buffer[] = [];
  /** Bytes held of the line, and of whole lines. */
  #lineBytes = 0;
  #heldBytes = 0;
  #stray: string[] = [];
  #afterCr = false;
  #isFirst = true;

  constructor(rules: EventStreamRules) {
    this.#rules = rules;
  }

  push(chunk: Uint8Array): Uint8Array | undefined {
    if (this.#isIdle() && this.#isClean(chunk)) {
      this.#isFirst = false;
      return chunk;
    }
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const out: Buffer[] = [];
    let start = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte !== LF && byte !== CR) {
        this.#afterCr = false;
        continue;
      }
      const isSecondHalf = byte === LF && this.#afterCr;
      this.#afterCr = byte === CR;
      if (!isSecondHalf) {
        if (at > start) this.#line.push(bytes.subarray(start, at));
        this.#endLine(out);
      }
      start = at + 1;
    }
    // Copied: the reader's buffer may be used again.
    if (start < bytes.length) this.#line.push(Buffer.from(bytes.subarray(start)));
    this.#lineBytes += bytes.length - start;
    if (this.#lineBytes + this.#heldBytes > MAX_EVENT_BYTES) throw this.#rules.tooLarge();
    return out.length > 0 ? Buffer.concat(out) : undefined;
  }

  end(): Uint8Array | undefined {
    const out: Buffer[] = [];
    if (this.#line.length > 0) this.#endLine(out);
    this.#endEvent(out);
    return out.length > 0 ? Buffer.concat(out) : undefined;
  }

  #isIdle(): boolean {
    return this.#line.length === 0 && this.#event.length === 0 && this.#stray.length === 0 && !this.#afterCr;
  }

  /** Whole events in the plainest form: nothing to repair. */
  #isClean(bytes: Uint8Array): boolean {
    const { length } = bytes;
    if (length < 2 || bytes[length - 1] !== LF || bytes[length - 2] !== LF) return false;
    let isStart = true;
    let isMarked = false;
    for (let at = 0; at < length; at++) {
      const byte = bytes[at] as number;
      if (byte === LF) {
        // Blank lines before an event are no event of their own.
        if (at === 0) return false;
        isStart = true;
      } else if (isStart) {
        // An event of several lines, for a reader that takes one.
        if (!this.#rules.namedEvents && at > 0 && bytes[at - 2] !== LF) return false;
        if (byte !== DATA && !(byte === EVENT && this.#rules.namedEvents)) return false;
        isStart = false;
        isMarked ||= isSentinel(bytes, at);
      } else if (byte === CR) return false;
    }
    if (isMarked) this.#rules.onSentinel();
    return true;
  }

  #endLine(out: Buffer[]): void {
    let line = this.#line.length === 1 ? (this.#line[0] as Buffer) : Buffer.concat(this.#line);
    this.#line = [];
    this.#lineBytes = 0;
    if (this.#isFirst && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) line = line.subarray(3);
    this.#isFirst = false;
    const first = line[0];
    if (first === undefined) {
      this.#endEvent(out);
    } else if (this.#stray.length > 0 || first === 0x7b || first === 0x5b) {
      this.#stray.push(line.toString());
      this.#heldBytes += line.length;
    } else if (this.#isWanted(line)) {
      this.#event.push(Buffer.from(line), BLANK_LINE);
      this.#heldBytes += line.length;
      if (isSentinel(line, 0)) this.#rules.onSentinel();
    }
  }

  #isWanted(line: Buffer): boolean {
    const field = line.toString('latin1', 0, 6);
    return field.startsWith('data') || (this.#rules.namedEvents && field.startsWith('event'));
  }

  #endEvent(out: Buffer[]): void {
    if (this.#event.length > 0) out.push(...this.#wholeEvent(), BLANK_LINE);
    this.#event = [];
    if (this.#stray.length === 0) {
      this.#heldBytes = 0;
      return;
    }
    const json = parse(this.#stray.join('\n'));
    // A blank line inside pretty-printed JSON: more is to come.
    if (json === undefined) return;
    this.#stray = [];
    this.#heldBytes = 0;
    const value: unknown = Array.isArray(json) ? json[0] : json;
    const isError = typeof value === 'object' && value !== null && 'error' in value;
    const event = isError && this.#rules.namedEvents ? 'event: error\n' : '';
    out.push(Buffer.from(`${event}data: ${JSON.stringify(value)}\n\n`));
  }

  /** Its data on one line where the reader takes no more: a line end between two lines of JSON is white space. */
  #wholeEvent(): Buffer[] {
    if (this.#rules.namedEvents || this.#event.length <= 2) return this.#event;
    const lines = this.#event.filter((piece) => piece !== BLANK_LINE);
    const data = lines.map((line) => line.toString().replace(/^data:? ?/, ''));
    return [Buffer.from(`data: ${data.join(' ')}\n`)];
  }
}

/** `data: [DONE]`, with or without the space, at the start of a line. */
function isSentinel(bytes: Uint8Array, at: number): boolean {
  const bracket = bytes[at + 5] === BRACKET ? at + 5 : bytes[at + 6] === BRACKET ? at + 6 : -1;
  return bracket > 0 && String.fromCharCode(...bytes.subarray(bracket, bracket + 6)) === '[DONE]';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
