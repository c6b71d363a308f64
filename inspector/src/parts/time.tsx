import { useComputed } from '@preact/signals';
import type { JSX } from 'preact';
import { duration, exactly, now } from '../state/clock.ts';

/** `9 min ago`, with the exact time under the pointer. */
export function Ago({ time }: { time: string | number }): JSX.Element {
  const at = new Date(time);
  // A list has a thousand of these: each second those alone are drawn that say something else.
  const says = useComputed(() => {
    const ms = now.value - new Date(time).getTime();
    return ms < 5000 ? 'just now' : `${duration(ms)} ago`;
  });
  return (
    <time dateTime={at.toISOString()} title={exactly(time)}>
      {says}
    </time>
  );
}

/** `in 9 min`. */
export function Until({ time }: { time: string }): JSX.Element {
  const ms = new Date(time).getTime() - now.value;
  const isSoon = ms < 10 * 60_000;
  return (
    <time dateTime={time} title={exactly(time)} class={isSoon ? 'soon' : ''}>
      {ms <= 0 ? 'expired' : `expires in ${duration(ms)}`}
    </time>
  );
}
