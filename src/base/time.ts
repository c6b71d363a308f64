let lastMs = Number.NaN;
let lastText = '';

/** ISO 8601, UTC, milliseconds. Cached by millisecond: frames come many to one. */
export function isoTime(ms: number = Date.now()): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
