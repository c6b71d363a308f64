import type { ViewItem } from '../../session/index.ts';

/**
 * What a view has, as values that never change: a part that is as it was is the same object as before, so that a page draws
 * anew what has changed alone.
 */
export class ShownItems {
  readonly #copies = new WeakMap<object, ViewItem>();
  #shown: readonly ViewItem[] = [];

  of(items: readonly ViewItem[]): readonly ViewItem[] {
    const now = items.map((item) => this.#copy(item));
    if (!areSame(this.#shown, now)) this.#shown = now;
    return this.#shown;
  }

  #copy(item: ViewItem): ViewItem {
    const source = item.type === 'message' ? item.message : item.call;
    const known = this.#copies.get(source);
    if (known && isAs(known.type === 'message' ? known.message : known.call, source)) return known;
    const made: ViewItem =
      item.type === 'message'
        ? { ...item, message: { ...item.message, content: [...item.message.content] } }
        : { ...item, call: { ...item.call } };
    this.#copies.set(source, made);
    return made;
  }
}

/** Their members are the same, or lists of the same: a view changes no part in place. */
function isAs(copy: object, source: object): boolean {
  const [before, now] = [Object.entries(copy), Object.entries(source)];
  const known = new Map<string, unknown>(before);
  return before.length === now.length && now.every(([key, value]) => isSame(known.get(key), value));
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (Array.isArray(a) && Array.isArray(b) && areSame(a, b));
}

function areSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}
