import type { Sessions, Setup } from './subjects.ts';

/** Whether there is a host to measure. */
export const hasHost = false;

/** Sessions of a host in this process. */
export function hosted(_setup: Setup): Sessions {
  throw new Error('there is no host yet');
}
