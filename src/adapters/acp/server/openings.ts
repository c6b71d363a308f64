/** What is being opened: the same thing once, and whoever ends waits for all of it. */
export class Openings<T> {
  readonly #underWay = new Set<Promise<T>>();
  readonly #byId = new Map<string, Promise<T>>();

  async run(open: () => Promise<T>): Promise<T> {
    const opening = open();
    this.#underWay.add(opening);
    try {
      return await opening;
    } finally {
      this.#underWay.delete(opening);
    }
  }

  /** Who asks for one that is being opened is given that one. */
  async once(id: string, open: () => Promise<T>): Promise<T> {
    const known = this.#byId.get(id);
    if (known) return known;
    const opening = open();
    this.#byId.set(id, opening);
    try {
      return await opening;
    } finally {
      this.#byId.delete(id);
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }
}
