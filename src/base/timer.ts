/** Milliseconds that a timer reaches; one that is set further off fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Whether a limit of time can run out: 0 is no limit, and what no timer reaches is none either. */
export function isTimed(limitMs: number): boolean {
  return limitMs > 0 && limitMs <= MAX_TIMER_MS;
}
