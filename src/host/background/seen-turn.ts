import type { AgentEvent } from '../../contracts/index.ts';

/** Characters of the agent's words. */
const MAX_ANSWER = 65_536;

export interface SeenOutcome {
  at: string;
  reason: string;
  /** The last words of the agent. */
  answer: string;
}

/** How a turn stands, as the events of its session say, from its beginning on. */
export class SeenTurn {
  readonly #turnId: string;
  #answer = '';
  /** The log has something of it. */
  isThere = false;
  /** Undefined: it has not ended. */
  outcome: SeenOutcome | undefined;

  constructor(turnId: string) {
    this.#turnId = turnId;
  }

  add(event: AgentEvent): void {
    if (event.turnId !== this.#turnId) return;
    this.isThere = true;
    if (event.type === 'message' && event.role === 'agent' && event.partial !== true) {
      this.#answer = event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    }
    if (event.type !== 'stream_end' || event.reason === 'input_required') return;
    this.outcome = { at: event.timestamp, reason: event.reason, answer: this.#answer };
  }
}

/** Of the agent's words, as they are sent. */
export const shownAnswer = (answer: string) => ({
  answer: answer.slice(0, MAX_ANSWER),
  ...(answer.length > MAX_ANSWER ? { truncated: true } : {}),
});
