import type { ModelFailure } from '../content/index.ts';

export interface RetryOptions {
  /** Attempts after the first. Default 2. */
  retries?: number;
  /** Milliseconds before the first retry; doubled with each. Default 500. */
  initialDelayMs?: number;
  /** Milliseconds. Default 8,000. */
  maxDelayMs?: number;
  /** Milliseconds that a provider may ask to wait; asked for more, the call fails at once. Default 60,000. */
  maxRetryAfterMs?: number;
  /** Waits; rejects with the signal's reason as soon as it fires. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** 0 to 1: how much of the delay's upper half is taken. Default `Math.random`. */
  random?: () => number;
  /** Epoch milliseconds, against which dates in `Retry-After` are read. */
  now?: () => number;
}

export type HeadersLike = Headers | Readonly<Record<string, string | undefined>>;

/** Milliseconds until attempt `attempt + 2`; undefined if there is none. */
export function delayBefore(
  attempt: number,
  failure: ModelFailure,
  headers: HeadersLike | undefined,
  options: RetryOptions,
): number | undefined {
  const { retries = 2, initialDelayMs = 500, maxDelayMs = 8000, maxRetryAfterMs = 60_000 } = options;
  if (attempt >= retries) return undefined;
  const advice = headers && headerOf(headers, 'x-should-retry');
  if (advice === 'false' || (!failure.retryable && advice !== 'true')) return undefined;
  const asked = (headers && retryAfter(headers, options.now ?? Date.now)) ?? failure.waitMs;
  if (asked !== undefined) return asked > maxRetryAfterMs ? undefined : asked;
  const delay = Math.min(maxDelayMs, initialDelayMs * 2 ** attempt);
  return (delay / 2) * (1 + (options.random ?? Math.random)());
}

/** Milliseconds that the headers ask to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date. */
export function retryAfter(headers: HeadersLike, now: () => number): number | undefined {
  const exact = Number.parseFloat(headerOf(headers, 'retry-after-ms') ?? '');
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headerOf(headers, 'retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  // A date has a time in it; the parser would make one of any number.
  const date = /\d:\d\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now());
}

function headerOf(headers: HeadersLike, name: string): string | undefined {
  if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name) ?? undefined;
  const found = Object.entries(headers as Record<string, string>).find(([key]) => key.toLowerCase() === name);
  return found?.[1];
}
