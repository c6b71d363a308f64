import { clipped, MAX_WORDS } from './recent-words.ts';

/** Branches whose words are kept at once: those that spoke last. */
const MOST_THREADS = 1000;

/**
 * The last words of an agent whose work may part into branches: its own, or those of its branches where they came
 * last, each branch's in the order of the tree. Words in a thread stand in for what was said above and below it before.
 */
export class LastWords {
  readonly #said = new Map<string, { text: string; place: string }>();
  /** Of texts and threads. */
  #chars = 0;

  /** `place` orders branches. An empty text says nothing. */
  say(thread: string, text: string, place: string): void {
    if (text === '') return;
    for (const other of this.#said.keys()) {
      if (other.startsWith(`${thread}.`) || thread.startsWith(`${other}.`)) this.#forget(other);
    }
    this.#forget(thread);
    const said = { text: clipped(text), place };
    this.#said.set(thread, said);
    this.#chars += said.text.length + thread.length;
    // Those that were said first go first.
    for (const oldest of this.#said.keys()) {
      if ((this.#chars <= MAX_WORDS && this.#said.size <= MOST_THREADS) || this.#said.size === 1) break;
      this.#forget(oldest);
    }
  }

  #forget(thread: string): void {
    const said = this.#said.get(thread);
    if (!said) return;
    this.#said.delete(thread);
    this.#chars -= said.text.length + thread.length;
  }

  get text(): string {
    if (this.#said.size < 2) return this.#said.values().next().value?.text ?? '';
    const all = [...this.#said.values()];
    all.sort((a, b) => a.place.localeCompare(b.place, 'en', { numeric: true }));
    return all.map(({ text }) => text).join('\n\n');
  }
}
