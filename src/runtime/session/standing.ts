import type { PermissionMode, SessionStanding } from '../../contracts/index.ts';
import type { AgentTree } from '../agent/index.ts';
import { hasUnheard } from '../calls/index.ts';
import type { LiveSession } from '../live/index.ts';
import { storeRefusal } from '../store/index.ts';

/**
 * Where a session stands, over all processes.
 * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND` where it was deleted, `ABORTED / E_SESSION_CONFLICT` where another
 *   one has its id by now
 */
export async function standingOf(live: LiveSession, tree: AgentTree): Promise<SessionStanding> {
  if (!live.stateNow && !(await live.readOn())) throw storeRefusal.missing(live.key);
  const { turn, terms } = live.fold;
  const permissionMode = live.fold.config.permissionMode as PermissionMode | undefined;
  const own = turn && terms.get(turn.id);
  return {
    isOver: !turn || (turn.ended !== undefined && !hasUnheard({ fold: live.fold, tree })),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(own ? { terms: own } : {}),
    ...(turn?.trace ? { traceContext: turn.trace } : {}),
  };
}
