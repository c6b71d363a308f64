const over: IteratorReturnResult<undefined> = { value: undefined, done: true };

/**
 * The items of an iterator as `take` gives them; what it gives undefined for is left out. A hand-written iterator:
 * leaving it while an item is awaited ends its source at once, where an async generator would await that item first.
 */
export function derived<T, R>(
  source: AsyncIterable<T>,
  take: (item: T) => R | undefined,
): AsyncIterableIterator<R, undefined> {
  const items = source[Symbol.asyncIterator]();
  let isLeft = false;
  return {
    async next() {
      while (!isLeft) {
        const step = await items.next();
        if (step.done) break;
        const value = isLeft ? undefined : take(step.value);
        if (value !== undefined) return { value, done: false };
      }
      return over;
    },
    async return() {
      isLeft = true;
      await items.return?.();
      return over;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
