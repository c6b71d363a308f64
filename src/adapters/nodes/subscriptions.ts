/** Who listens to which topic. */
export class Subscriptions {
  readonly #byTopic = new Map<string, Set<{ heard(message: string): void; missed(): void }>>();

  /** @returns what ends it, and says whether it was the last of its topic */
  add(topic: string, heard: (message: string) => void, missed: () => void): () => boolean {
    const one = { heard, missed };
    const all = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, all);
    all.add(one);
    return () => {
      all.delete(one);
      const isLast = all.size === 0 && this.#byTopic.get(topic) === all;
      if (isLast) this.#byTopic.delete(topic);
      return isLast;
    };
  }

  has(topic: string): boolean {
    return this.#byTopic.has(topic);
  }

  hear(topic: string, message: string): void {
    for (const { heard } of this.#byTopic.get(topic) ?? []) heard(message);
  }

  missed(): void {
    for (const all of this.#byTopic.values()) for (const one of all) one.missed();
  }
}
