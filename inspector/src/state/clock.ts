import { signal } from '@preact/signals';

/** Epoch milliseconds, set anew each second while somebody looks. */
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1000);

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** The exact time in the reader's zone. */
export const exactly = (time: string | number): string => dates.format(new Date(time));

const units: readonly [seconds: number, one: string, many: string][] = [
  [86_400, 'day', 'days'],
  [3600, 'h', 'h'],
  [60, 'min', 'min'],
];

/** `9 min`, `2 days`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  for (const [size, one, many] of units) {
    if (seconds >= size) {
      const count = Math.floor(seconds / size);
      return `${count} ${count === 1 ? one : many}`;
    }
  }
  return `${seconds} s`;
}
