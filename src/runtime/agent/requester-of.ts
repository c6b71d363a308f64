import type { Principal } from '../../contracts/index.ts';
import { frozenPrincipal } from '../../gate/index.ts';
import type { LiveSession } from '../live/index.ts';
import type { EngineParts } from './run-parts.ts';

/** On whose behalf a turn was begun: as a host has said in the log, or whoever runs the agent; else the user. */
export function requesterOf(
  { fold, key }: Pick<LiveSession, 'fold' | 'key'>,
  { principal }: Pick<EngineParts, 'principal'>,
  turnId: string,
): Principal {
  return frozenPrincipal(fold.terms.get(turnId)?.principal ?? principal ?? { id: key.userId });
}
