import type { AgentEvent } from '../../contracts/index.ts';
import type { UiMessageChunk } from '../../session/ui/index.ts';
import { UiWriter } from '../../session/ui/index.ts';
import type { Channel, FramePlace, FrameWriter } from '../connection/index.ts';
import type { EventBody } from './event-body.ts';
import type { HeldAnswer } from './held-chars.ts';

type Asks = ConstructorParameters<typeof UiWriter>[0];

export const chunkLine = (chunk: UiMessageChunk): string => `data: ${JSON.stringify(chunk)}\n\n`;

/** Characters of events that are held for one answer: of a turn that is replayed, of a session that is loaded. */
export const MAX_HELD_CHARS = 32 * 1024 * 1024;

const DONE = 'data: [DONE]\n\n';

/** What a page is told where it is to come back: its parser takes chunks alone. */
export function farewell(reason: string): string {
  return chunkLine({ type: 'error', errorText: `E_CONNECTION_LOST: ${reason}; come back` }) + DONE;
}

/** Says all of a body that ends with these chunks. */
export function sayAll(body: EventBody, chunks: readonly UiMessageChunk[]): void {
  body.write(chunks.map(chunkLine).join('') + DONE);
  body.finish();
}

/** One stream of a session, as the UI message stream that a page has asked for. */
export class UiStreamFrames implements FrameWriter {
  readonly isAcknowledged = false;
  readonly #channel: Channel;
  readonly #body: EventBody;
  readonly #only: string;
  readonly #writer: UiWriter;

  constructor(channel: Channel, body: EventBody, only: string, options: Asks) {
    this.#channel = channel;
    this.#body = body;
    this.#only = only;
    this.#writer = new UiWriter(options);
  }

  event(text: string, { streamId, isEnd }: FramePlace): void {
    if (streamId !== this.#only) return;
    const chunks = this.#writer.write(JSON.parse(text) as AgentEvent);
    if (isEnd) sayAll(this.#body, chunks);
    else if (chunks.length > 0) this.#body.write(chunks.map(chunkLine).join(''));
  }

  /** After a reset, whole messages say what the deltas that were lost would have. */
  notice(method: 'session/reset' | 'session/live'): void {
    const { streamId, lastEnd } = this.#channel;
    if (method === 'session/reset' || streamId === this.#only) return;
    if (lastEnd?.streamId === this.#only) sayAll(this.#body, this.#writer.write(lastEnd));
    else sayAll(this.#body, this.#writer.rest('completed'));
  }
}

export interface UiTurnOptions extends NonNullable<Asks> {
  /** A turn that waits for somebody else is waited for. */
  waits: boolean;
  /** What the session waits for. */
  pending: readonly (Parameters<UiWriter['ask']>[0] & { turnId: string })[];
  /** Calls whose questions the page has answered, for one that has the message of a turn. */
  answered?: readonly string[];
  /** Counts what waits to be sent. */
  held: HeldAnswer;
}

/**
 * The newest turn of a session and what comes of it: from its beginning, for a page that was loaded in its midst. For one whose answer
 * somebody else has given before, the turn that has the calls of the page, behind these; where that was rewound, that it is over.
 */
export class UiTurnFrames implements FrameWriter {
  readonly isAcknowledged = false;
  readonly #channel: Channel;
  readonly #body: EventBody;
  readonly #options: UiTurnOptions;
  readonly #known: ReadonlySet<string>;
  #writer: UiWriter;
  #turnId: string | undefined;
  /** The turn that the message of the page is of, once one of its calls has come. */
  #pages: string | undefined;
  /** Calls that the page has answered and has no result of. */
  readonly #open: Set<string>;
  /** Of the turn that is the newest so far; sent when there is no newer one. */
  #waiting: UiMessageChunk[] | undefined = [];
  #ended: string | undefined;
  #held = 0;

  constructor(channel: Channel, body: EventBody, options: UiTurnOptions) {
    this.#channel = channel;
    this.#body = body;
    this.#options = options;
    this.#known = new Set(options.knownCalls);
    this.#open = new Set(options.answered);
    this.#writer = new UiWriter(options);
  }

  event(text: string, { isEnd }: FramePlace): void {
    const event = JSON.parse(text) as AgentEvent;
    if (this.#isOthers(event)) {
      if (isEnd && !this.#waiting) sayAll(this.#body, this.#writer.rest(this.#ended ?? 'completed'));
      return;
    }
    if (this.#waiting && this.#beginsAnew(event)) {
      this.#writer = new UiWriter(this.#options);
      this.#waiting = [];
      this.#options.held.give(this.#held);
      this.#held = 0;
    }
    if (this.#waiting) {
      const why = this.#hold(text.length);
      if (why !== undefined) {
        this.#waiting = [];
        sayAll(this.#body, [{ type: 'error', errorText: why }]);
        return;
      }
    }
    if (event.type === 'tool_request' && this.#known.has(event.requestId)) return;
    const goesOn = this.#goesOn(event);
    const chunks = this.#writer.write(event).filter(({ type }) => type !== 'finish' || !goesOn);
    if (this.#waiting) this.#waiting.push(...chunks);
    else if (isEnd && !goesOn) sayAll(this.#body, chunks);
    else if (chunks.length > 0) this.#body.write(chunks.map(chunkLine).join(''));
  }

  notice(method: 'session/reset' | 'session/live'): void {
    if (method === 'session/reset' || !this.#waiting) return;
    const chunks = this.#waiting;
    this.#waiting = undefined;
    // From here on what is written counts.
    this.#options.held.give(this.#held);
    const { waits } = this.#options;
    const pending = this.#options.pending.filter(({ turnId }) => !this.#hasMessage || turnId === this.#pages);
    if (this.#hasMessage && this.#pages === undefined) {
      sayAll(this.#body, this.#gone());
      return;
    }
    const isLeft = this.#hasMessage && this.#turnId !== this.#pages && this.#open.size === 0;
    if ((this.#channel.streamId !== undefined && !isLeft) || waits) {
      const questions = waits ? pending.flatMap((question) => this.#writer.ask(question)) : [];
      this.#body.write([...chunks, ...questions].map(chunkLine).join(''));
      return;
    }
    const reason = pending.length > 0 ? 'input_required' : (this.#ended ?? 'completed');
    sayAll(this.#body, [...chunks, ...this.#writer.rest(reason, pending)]);
  }

  /** What comes belongs to the message that the page has, and not to a newer one. */
  get #hasMessage(): boolean {
    return this.#options.isContinued === true && this.#known.size > 0;
  }

  /** Of another turn than the message of the page: what is newer is in messages that the page does not have yet. */
  #isOthers(event: AgentEvent): boolean {
    if (!this.#hasMessage) return false;
    const callId = ('callId' in event && event.callId) || ('requestId' in event && event.requestId);
    const isKnown = typeof callId === 'string' && this.#known.has(callId);
    if (isKnown && event.type === 'tool_request') this.#pages = event.turnId;
    if (isKnown && event.type === 'tool_response') this.#open.delete(callId);
    const isOthers = this.#pages !== undefined && event.turnId !== undefined && event.turnId !== this.#pages;
    if (isOthers) this.#turnId = event.turnId;
    return isOthers && !isKnown;
  }

  /** Nothing of the page's message is in the log any more: it is asked for no answer again. */
  #gone(): UiMessageChunk[] {
    const errorText = 'the session was rewound to before this call';
    const errors = [...this.#open].map((toolCallId) => ({ type: 'tool-output-error', toolCallId, errorText }) as const);
    const [start, ...rest] = this.#writer.rest('aborted');
    return [...(start ? [start] : []), ...errors, ...rest];
  }

  /** Why no more of the turn can be held; undefined: it is. */
  #hold(chars: number): string | undefined {
    if (!this.#options.held.tryTake(chars)) {
      return 'E_RATE_LIMIT: the server holds as much for answers that are not read yet as it may; come back later';
    }
    this.#held += chars;
    if (this.#held <= MAX_HELD_CHARS) return undefined;
    return `E_TOO_LARGE: the turn has more than ${MAX_HELD_CHARS} characters; read it by GET …/events`;
  }

  /** What the page has, or what is of an earlier turn, is left out. */
  #beginsAnew(event: AgentEvent): boolean {
    // Once the message of the page is found, no other turn takes its place.
    const isOfNewer = this.#pages === undefined && event.turnId !== undefined && event.turnId !== this.#turnId;
    this.#turnId = event.turnId ?? this.#turnId;
    return isOfNewer || (event.type === 'tool_request' && this.#known.has(event.requestId));
  }

  /** The end of a stream that somebody else's answer continues, or of one that another has followed. */
  #goesOn(event: AgentEvent): boolean {
    if (event.type !== 'stream_end') return false;
    this.#ended = event.reason;
    return this.#waiting !== undefined || (this.#options.waits && event.reason === 'input_required');
  }
}
