import type { AgentEvent, ContentPart, StreamEndReason } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';

/** What one turn of an agent has come to: a fold over its events, live or from the log. */
export class Turn {
  reason: StreamEndReason | undefined;
  id: string | undefined;
  error: string | undefined;
  /** Names of the tools whose calls were denied. */
  readonly denied = new Set<string>();
  #output: unknown;
  #answer: ContentPart[] = [];
  /** Said before a call: shown only if nothing follows. */
  #earlier: ContentPart[] = [];

  push(event: AgentEvent): void {
    if ('turnId' in event && typeof event.turnId === 'string') this.id = event.turnId;
    switch (event.type) {
      case 'message':
        if (event.role === 'agent' && !event.partial && !event.threadId) this.#answer.push(...event.content);
        break;
      case 'tool_response':
        if (event.errorType === 'denied' || event.errorType === 'cancelled') this.denied.add(event.name);
        if (!event.threadId) this.#earlier.push(...this.#answer.splice(0));
        break;
      case 'error':
        if (event.fatal) this.error = `${event.code}: ${event.message}`;
        break;
      case 'stream_end':
        this.reason = event.reason;
        this.#output = event.data.output;
        if (event.data.reason !== undefined) this.error ??= String(event.data.reason);
        break;
      default:
    }
  }

  /** The last words; what was said before the last call if nothing followed. */
  get parts(): readonly ContentPart[] {
    return this.#answer.length > 0 ? this.#answer : this.#earlier;
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
