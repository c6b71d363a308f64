import type { Model } from '../../../runtime/index.ts';

/** Milliseconds that a provider's own word on when to come back is believed for. */
const MAX_REST_MS = 600_000;

/** Until when models rest, in epoch milliseconds. By the model, so that what one list learns all lists know. */
const resting = new WeakMap<Model, number>();

export function restsUntil(model: Model, now: number): number | undefined {
  const until = resting.get(model);
  return until !== undefined && until > now ? until : undefined;
}

/** It has failed. `asked`: milliseconds that its provider asks to wait. */
export function rest(model: Model, now: number, asked: number | undefined, usual: number): void {
  resting.set(model, now + Math.min(asked ?? usual, MAX_REST_MS));
}

/** It has answered. */
export function isWell(model: Model): void {
  resting.delete(model);
}
