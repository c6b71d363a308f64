import { MAX_TIMER_MS } from '../../base/index.ts';
import type { ConnectOptions } from './options.ts';

/** Milliseconds to wait before the nth attempt to connect again, counted from 0. */
export function backoffMs(attempt: number, options: ConnectOptions): number {
  const { minBackoffMs = 100, maxBackoffMs = 15_000, random = Math.random } = options;
  const backoff = Math.min(maxBackoffMs, minBackoffMs * 2 ** attempt);
  // Full jitter above half, so that clients of one server do not return together.
  return Math.min(backoff / 2 + (random() * backoff) / 2, MAX_TIMER_MS);
}
