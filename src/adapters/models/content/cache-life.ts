/** How long a provider keeps the beginning of a request that is marked for it. */
export type CacheLife = 'auto' | 'none' | '5m' | '1h';

export const CACHE_LIVES: readonly CacheLife[] = ['auto', 'none', '5m', '1h'];

/** As Anthropic has it; without a time, five minutes. */
export interface CacheMark {
  type: 'ephemeral';
  ttl?: '1h';
}

/**
 * What marks are made of; undefined for none. Left to itself, who has tools asks again within minutes, and repeats
 * everything; where a person is asked it takes longer.
 */
export function cacheMark(
  life: CacheLife,
  { hasTools, pauses }: { hasTools: boolean; pauses: boolean },
): CacheMark | undefined {
  if (life === 'none' || (life === 'auto' && !hasTools)) return undefined;
  return life === '1h' || (life === 'auto' && pauses) ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' };
}
