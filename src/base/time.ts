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

/** Milliseconds by which a clock may be wrong: those of most machines are kept right, and a database is asked over a network. */
const TOLERATED_MS = 2000;

/** Milliseconds that this machine's clock is behind; negative: ahead of. */
let behind = 0;

/**
 * Epoch milliseconds for what is stored, and is held against what others have stored: by this machine's clock, or by that of the
 * database that the programs share, where the two differ by more than two seconds.
 */
export function commonTime(): number {
  return Date.now() + behind;
}

/** What the clock of this machine says at a common time: for what waits here. */
export function localTime(common: number): number {
  return common - behind;
}

/** Seconds by which the clock of this machine is put right. */
export function clockCorrection(): number {
  return behind / 1000;
}

/** A database has just said what its clock is. @param asked what this machine's was before it was asked */
export function noteCommonTime(theirs: number, asked: number): void {
  const now = Date.now();
  // It was that at some moment of the time that the answer took.
  const off = theirs < asked ? theirs - asked : Math.max(0, theirs - now);
  if (Number.isFinite(off)) behind = Math.abs(off) > TOLERATED_MS ? off : 0;
}
