import type { SessionPlace } from '../contracts/index.ts';

/** One text for one place, for maps: no two places have the same. */
export function nameOfPlace({ agent, userId, sessionId }: SessionPlace): string {
  return JSON.stringify([agent, userId, sessionId]);
}
