import type { AgentEvent, ContentPart, StreamEndReason } from '../../../contracts/index.ts';
import { textOfParts } from '../../../contracts/index.ts';
import { AnswerWords } from '../../../session/index.ts';
import type { HostedSession } from '../../hosted/index.ts';

/** What became of a call: `unknown` was begun and may have run, `waiting` has not begun. */
export type CallProgress = 'ran' | 'failed' | 'refused' | 'denied' | 'unknown' | 'running' | 'waiting';

export interface TurnCall {
  name: string;
  outcome: CallProgress;
}

/** What one turn of an agent has come to: a fold over its events, live or from the log. */
export class Turn {
  reason: StreamEndReason | undefined;
  id: string | undefined;
  error: string | undefined;
  /** The last answer was cut at the model's output limit. */
  truncated = false;
  /** Its calls of tools, by id, in the order in which they were made. */
  readonly calls = new Map<string, TurnCall>();
  #output: unknown;
  #answer: ContentPart[] = [];
  /** What its branches have said counts where it says nothing itself. */
  readonly #words = new AnswerWords();
  /** Said before a call: shown only if nothing follows. */
  #earlier: ContentPart[] = [];

  push(event: AgentEvent): void {
    this.#words.see(event);
    if ('turnId' in event && typeof event.turnId === 'string') this.id = event.turnId;
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
      case 'error':
        if (event.fatal) this.error = `${event.code}: ${event.message}`;
        break;
      case 'stream_end':
        this.reason = event.reason;
        this.#output = event.data.output;
        this.truncated = event.data.truncated === true;
        if (event.data.reason !== undefined) this.error ??= String(event.data.reason);
        break;
      default:
    }
  }

  /** The last words; what was said before the last call if nothing followed; what was said side by side if that was all. */
  get parts(): readonly ContentPart[] {
    const own = this.#answer.length > 0 ? this.#answer : this.#earlier;
    const { text } = this.#words;
    return own.length > 0 || text === '' ? own : [{ type: 'text', text }];
  }

  /** Structured output: the executor's own, else the JSON that the agent said. */
  get output(): unknown {
    if (this.#output !== undefined) return this.#output;
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

/** What the log says of a turn so far. */
export async function loggedTurn(session: HostedSession, turnId: string | undefined): Promise<Turn> {
  const turn = new Turn();
  if (turnId === undefined) return turn;
  for await (const event of session.events()) {
    if ('turnId' in event && event.turnId === turnId) turn.push(event);
  }
  return turn;
}
