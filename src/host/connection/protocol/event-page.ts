import type { AgentEvent } from '../../../contracts/index.ts';
import { fittingEvent } from './wire-event.ts';

/** Stored events of one answer, with the JSON that they were measured by: it is not made a second time. */
export class EventPage {
  readonly #maxBytes: number;
  readonly #maxEvent: number;
  #events: AgentEvent[] = [];
  #texts: string[] = [];
  #bytes = 0;
  #more = false;
  #newest = false;

  /** @param maxBytes of all of them; one alone may have more, up to `maxEvent` */
  constructor(maxBytes: number, maxEvent: number) {
    this.#maxBytes = maxBytes;
    this.#maxEvent = maxEvent;
  }

  get length(): number {
    return this.#events.length;
  }

  get events(): AgentEvent[] {
    return this.#events;
  }

  get more(): boolean {
    return this.#more;
  }

  /** False: there is no room for it. */
  add(given: AgentEvent): boolean {
    const { event, text, size } = fittingEvent(given, this.#maxEvent);
    if (this.#events.length > 0 && this.#bytes + size > this.#maxBytes) return false;
    this.#events.push(event);
    this.#texts.push(text);
    this.#bytes += size;
    return true;
  }

  /** There are more than these. */
  cut(): this {
    this.#more = true;
    return this;
  }

  /** The other way round: they are the last ones, added from behind. */
  reversed(): this {
    this.#newest = true;
    this.#events.reverse();
    this.#texts.reverse();
    return this;
  }

  /** As JSON. */
  get text(): string {
    return `{"events":[${this.#texts.join(',')}],"more":${this.#more}${this.#newest ? ',"newest":true' : ''}}`;
  }

  toJSON(): { events: AgentEvent[]; more: boolean; newest?: boolean } {
    return { events: this.#events, more: this.#more, ...(this.#newest ? { newest: true } : {}) };
  }
}
