import type { ContentPart } from '../../src/contracts/index.ts';
import type { EventActions, EventInit, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, Fold } from '../../src/runtime/index.ts';

/** A fold to which events are added one by one: the first turn is `t`, its agent `bot`, its stream `x`. */
export class Folding {
  readonly fold: Fold;
  readonly events: StoredEvent[] = [];

  constructor(initial: Record<string, unknown> = {}, shared: Record<string, unknown> = {}) {
    this.fold = new Fold(initial, shared);
    this.act({ turn: { start: 'bot' } });
  }

  add(init: Partial<EventInit>): StoredEvent {
    const made = createEvent({ turnId: 't', streamId: 'x', author: 'bot', timestamp: 0, ...init });
    const event: StoredEvent = { ...made, seq: this.events.length + 1 };
    this.events.push(event);
    this.fold.apply(event);
    return event;
  }

  act(actions: Partial<EventActions>, more: Partial<EventInit> = {}): StoredEvent {
    return this.add({ author: 'user', actions, ...more });
  }

  /** The agent speaks. */
  speak(text: string, more: Partial<EventInit> = {}): StoredEvent {
    return this.add({ content: { role: 'model', parts: [{ type: 'text', text }] }, ...more });
  }

  /** The agent calls tools, each named after its call. */
  call(ids: readonly string[], more: Partial<EventInit> = {}, meta?: Record<string, unknown>): StoredEvent {
    const parts = ids.map(
      (id): ContentPart => ({
        type: 'function_call',
        id,
        name: `tool ${id}`,
        args: { of: id },
        ...(meta ? { _meta: meta } : {}),
      }),
    );
    return this.add({ content: { role: 'model', parts }, ...more });
  }

  respond(id: string, more: Partial<EventInit> = {}, part: { isError?: true; errorType?: string } = {}): StoredEvent {
    const response: ContentPart = { type: 'function_response', id, name: `tool ${id}`, response: {}, ...part };
    return this.add({ content: { role: 'user', parts: [response] }, ...more });
  }
}
