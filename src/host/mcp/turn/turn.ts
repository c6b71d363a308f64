import type { AgentEvent, ContentPart, StreamEndReason } from '../../../contracts/index.ts';
import { textOfParts } from '../../../contracts/index.ts';
import { StreamSummary } from '../../../session/index.ts';

/** What became of a call: `unknown` was begun and may have run, `waiting` has not begun. */
export type CallProgress = 'ran' | 'failed' | 'refused' | 'denied' | 'unknown' | 'running' | 'waiting';

export interface TurnCall {
  name: string;
  outcome: CallProgress;
}

/** What one turn of an agent has come to, for a caller over MCP: with its calls, and what it said before and after them. */
export class Turn {
  readonly #summary = new StreamSummary();
  #why: string | undefined;
  /** Its calls of tools, by id, in the order in which they were made. */
  readonly calls = new Map<string, TurnCall>();
  #answer: ContentPart[] = [];
  /** Said before a call: shown only if nothing follows. */
  #earlier: ContentPart[] = [];
  /** Of its first and its newest event, as the log has them. */
  begunAt: string | undefined;
  changedAt: string | undefined;

  push(event: AgentEvent): void {
    this.#summary.see(event);
    this.begunAt ??= event.timestamp;
    this.changedAt = event.timestamp;
    switch (event.type) {
      case 'message':
        if (event.role === 'agent' && !event.partial && !event.threadId) this.#answer.push(...event.content);
        break;
      case 'tool_request':
        if (!this.calls.has(event.requestId)) this.calls.set(event.requestId, { name: event.name, outcome: 'waiting' });
        break;
      case 'tool_update': {
        const call = this.calls.get(event.requestId);
        if (call?.outcome === 'waiting' && event.status === 'started') call.outcome = 'running';
        break;
      }
      case 'tool_response':
        this.calls.set(event.requestId, { name: event.name, outcome: outcomeOf(event.errorType) });
        if (!event.threadId) this.#earlier.push(...this.#answer.splice(0));
        break;
      case 'stream_end':
        if (event.data.reason !== undefined) this.#why ??= String(event.data.reason);
        break;
      default:
    }
  }

  get reason(): StreamEndReason | undefined {
    return this.#summary.reason;
  }

  get id(): string | undefined {
    return this.#summary.turnId;
  }

  get truncated(): boolean {
    return this.#summary.truncated;
  }

  get error(): string | undefined {
    const { fatal } = this.#summary;
    return fatal ? `${fatal.code}: ${fatal.message}` : this.#why;
  }

  /** It ended for what is the host's or the executor's own fault: a hook that failed, words that break the protocol. */
  get isBroken(): boolean {
    const { fatal } = this.#summary;
    return this.reason === 'failed' && fatal?.status === 'INTERNAL' && fatal.code !== 'E_MODEL';
  }

  /** The last words; what was said before the last call if nothing followed; what was said side by side if that was all. */
  get parts(): readonly ContentPart[] {
    const own = this.#answer.length > 0 ? this.#answer : this.#earlier;
    const { words } = this.#summary;
    return own.length > 0 || words === '' ? own : [{ type: 'text', text: words }];
  }

  /** Structured output: the executor's own, else the JSON that the agent said. */
  get output(): unknown {
    const { output } = this.#summary;
    if (output !== undefined) return output;
    try {
      return JSON.parse(textOfParts(this.#answer));
    } catch {
      return undefined;
    }
  }
}

function outcomeOf(errorType: string | undefined): CallProgress {
  switch (errorType) {
    case undefined:
    case 'truncated':
    case 'too_large':
    case 'invalid_output':
      return 'ran';
    case 'denied':
    case 'cancelled':
      return 'denied';
    case 'not_found':
    case 'invalid_args':
      return 'refused';
    case 'interrupted':
    case 'timeout':
      return 'unknown';
    default:
      return 'failed';
  }
}
