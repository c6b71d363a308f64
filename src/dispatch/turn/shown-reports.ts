import type { AgentContext } from '../../runtime/index.ts';
import { eventIdOf } from './log-records.ts';

interface Shown {
  kind: 'message' | 'thought';
  text: string;
  /** A durable message of this id is in the log: pieces may not follow it. */
  closed: boolean;
}

/**
 * What the stream has been shown of messages that are not stored. A host is never left with half a message: at the
 * end of a stream what was only shown stands in the log as interrupted, and a whole that comes later replaces it.
 */
export class ShownReports {
  readonly #shown = new Map<string, Shown>();

  show(context: AgentContext, kind: 'message' | 'thought', id: string, delta: string): void {
    if (context.signal.aborted || context.invocation.options.streaming === false) return;
    const messageId = eventIdOf(kind, id);
    const shown = this.#shown.get(messageId) ?? { kind, text: '', closed: false };
    if (shown.closed) return;
    shown.text += delta;
    this.#shown.set(messageId, shown);
    const part =
      kind === 'message' ? ({ type: 'text', text: delta } as const) : ({ type: 'thought', thought: delta } as const);
    // Reports are synchronous: what the consumer cannot take yet waits in the stream's queue.
    void context.delta(messageId, 0, part);
  }

  /** How the durable message has to stand: under its own id, or as a replacement of what was shown. */
  store(messageId: string, text: string): { id: string } | { replaces: string } {
    const shown = this.#shown.get(messageId);
    if (!shown) {
      this.#shown.set(messageId, { kind: 'message', text: '', closed: true });
      return { id: messageId };
    }
    const replaces = shown.closed || shown.text !== text;
    shown.closed = true;
    shown.text = '';
    return replaces ? { replaces: messageId } : { id: messageId };
  }

  async close(context: AgentContext): Promise<void> {
    for (const [id, shown] of this.#shown) {
      if (shown.closed) continue;
      shown.closed = true;
      const { kind, text } = shown;
      shown.text = '';
      const part =
        kind === 'message' ? ({ type: 'text', text } as const) : ({ type: 'thought', thought: text } as const);
      await context.emit({ id, interrupted: true, turnComplete: false, content: { role: 'model', parts: [part] } });
    }
  }
}
