import type { AgentEvent } from '../../contracts/index.ts';

const MAX_LINES = 400;
const MAX_WIDTH = 300;

/** What went over the contract in one check, a line each: `>` to the executor, `<` from it. */
export class Transcript {
  readonly #lines: string[] = [];
  #left = 0;

  sent(what: string, value?: unknown): void {
    this.#add(`> ${what}${value === undefined ? '' : ` ${json(value)}`}`);
  }

  event(event: AgentEvent): void {
    const { type, id: _, timestamp: __, sessionId: ___, streamId: ____, ...rest } = event;
    this.#add(`< ${type} ${json(rest)}`);
  }

  received(what: string, value?: unknown): void {
    this.#add(`< ${what}${value === undefined ? '' : ` ${json(value)}`}`);
  }

  get lines(): readonly string[] {
    return this.#left > 0 ? [...this.#lines, `… ${this.#left} more lines`] : this.#lines;
  }

  #add(line: string): void {
    if (this.#lines.length >= MAX_LINES) this.#left++;
    else this.#lines.push(line.length > MAX_WIDTH ? `${line.slice(0, MAX_WIDTH)}… (${line.length} characters)` : line);
  }
}

/** A value for people to read; never throws. */
export function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
