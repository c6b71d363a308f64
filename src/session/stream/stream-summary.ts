import type {
  AgentErrorEvent,
  AgentEvent,
  ReportedRequest,
  StreamEndEvent,
  StreamEndReason,
  Usage,
} from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import { AnswerWords } from './answer-words.ts';
import { RecentWords } from './recent-words.ts';

const MAX_DENIED = 10_000;

/**
 * What a stream has come to, or a turn of several: a fold over its events, live or from the log. Everything that tells a
 * stream's end to somebody reads it here.
 */
export class StreamSummary {
  /** The newest end; undefined: it has not ended. */
  end: StreamEndEvent | undefined;
  turnId: string | undefined;
  cursor: string | undefined;
  /** The newest error, and the newest that was fatal. */
  error: AgentErrorEvent | undefined;
  fatal: AgentErrorEvent | undefined;
  /** The newest message of the agent's own thread that has text. */
  lastText = '';
  /** Names of the tools whose calls were denied, at most 10,000. */
  readonly denied: string[] = [];
  readonly #thread: string | undefined;
  readonly #said: RecentWords | undefined;
  readonly #words: AnswerWords;

  /** `thread` is the agent's own: undefined, the root's. `keepsAll`: for {@link allText}. */
  constructor({ thread, keepsAll = false }: { thread?: string; keepsAll?: boolean } = {}) {
    this.#thread = thread;
    this.#words = new AnswerWords(thread);
    this.#said = keepsAll ? new RecentWords() : undefined;
  }

  see(event: AgentEvent): void {
    this.#words.see(event);
    if (event.cursor) this.cursor = event.cursor;
    if (typeof event.turnId === 'string') this.turnId = event.turnId;
    switch (event.type) {
      case 'message':
        if (event.role === 'agent' && !event.partial && (event.threadId || undefined) === this.#thread) {
          const text = textOfParts(event.content);
          this.lastText = text || this.lastText;
          this.#said?.say(text);
        }
        break;
      case 'tool_response':
        if (event.errorType === 'denied' && this.denied.length < MAX_DENIED) this.denied.push(event.name);
        break;
      case 'error':
        this.error = event;
        if (event.fatal) this.fatal = event;
        break;
      case 'stream_end':
        this.end = event;
        break;
      default:
    }
  }

  /** Undefined: it has not ended. */
  get reason(): StreamEndReason | undefined {
    return this.end?.reason;
  }

  /** It waits for somebody: for answers, or for leave to hand over to another agent, which is no end of the turn. */
  get isPaused(): boolean {
    return this.end?.reason === 'input_required' || this.end?.data.transfer !== undefined;
  }

  get pending(): ReportedRequest[] {
    return this.end?.data.pending ?? [];
  }

  get usage(): Usage {
    return this.end?.data.usage ?? {};
  }

  get output(): unknown {
    return this.end?.data.output;
  }

  /** The last answer was cut at the model's output limit. */
  get truncated(): boolean {
    return this.end?.data.truncated === true;
  }

  /** The agent's last words, or those of its branches where they came last. */
  get words(): string {
    return this.#words.text;
  }

  /** What the agent said on its own thread, messages separated by a blank line; the last part of what is very long. */
  get allText(): string {
    return this.#said?.text ?? this.lastText;
  }
}
