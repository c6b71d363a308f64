import { subagentSessionId } from '../../gate/index.ts';
import type { StoredEvent } from '../log/index.ts';

/** First and last of the texts that the ids of a session's sub-agents lie between. */
export function idsBelow(id: string): readonly [string, string] {
  return [`${id}.`, `${id}/`];
}

/**
 * Whose ids begin like a session's own, and which of them are of the sub-agents that it has called, or that those have.
 * Others may be named alike: what was called is in the log.
 */
export class SessionsBelow {
  readonly found: string[] = [];
  readonly #root: string;
  readonly #named: Set<string>;

  constructor(root: string, named: Iterable<string>) {
    this.#root = root;
    this.#named = new Set(named);
  }

  /** Takes events of the log of a session: the root's, then of each that was found. */
  see(callersId: string, events: readonly StoredEvent[]): void {
    for (const { content } of events) {
      for (const part of content?.parts ?? []) {
        if (part.type !== 'function_call') continue;
        const id = subagentSessionId(this.#root, callersId, part.id);
        if (this.#named.delete(id)) this.found.push(id);
      }
    }
  }
}
