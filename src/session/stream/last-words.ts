import { clipped, MAX_WORDS } from './recent-words.ts';

/**
 * The last words of an agent whose work may part into branches: its own, or those of its branches where they came
 * last, each branch's in the order of the tree. Words in a thread stand in for what was said above and below it before.
 */
export class LastWords {
  readonly #said = new Map<string, { text: string; place: string }>();

  /** `place` orders branches. An empty text says nothing. */
  say(thread: string, text: string, place: string): void {
    if (text === '') return;
    for (const other of this.#said.keys()) {
      if (other.startsWith(`${thread}.`) || thread.startsWith(`${other}.`)) this.#said.delete(other);
    }
    this.#said.delete(thread);
    this.#said.set(thread, { text: clipped(text), place });
    let chars = 0;
    for (const said of this.#said.values()) chars += said.text.length;
    // Those that were said first go first.
    for (const [oldest, said] of this.#said) {
      if (chars <= MAX_WORDS || this.#said.size === 1) break;
      this.#said.delete(oldest);
      chars -= said.text.length;
    }
  }

  get text(): string {
    if (this.#said.size < 2) return this.#said.values().next().value?.text ?? '';
    const all = [...this.#said.values()];
    all.sort((a, b) => a.place.localeCompare(b.place, 'en', { numeric: true }));
    return all.map(({ text }) => text).join('\n\n');
  }
}
