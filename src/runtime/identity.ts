let batch: string[] = [];

/** A random UUID; made in batches, since events are made on the hot path. */
export function newId(): string {
  const id = batch.pop();
  if (id !== undefined) return id;
  batch = Array.from({ length: 64 }, () => crypto.randomUUID());
  return crypto.randomUUID();
}
