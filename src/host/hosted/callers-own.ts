import { CoxswainError } from '../../contracts/index.ts';
import { isSessionOfCall, mayBeSubagents } from '../../gate/index.ts';
import type { CalledBy, Hosted } from '../frame/index.ts';

/** Of a sub-agent's session, by its log, which call it works for, and whether its turn has ended; undefined of another. */
export async function callerOf(session: Hosted): Promise<{ calledBy: CalledBy; isOver: boolean } | undefined> {
  if (!mayBeSubagents(session.id)) return undefined;
  const { terms, isOver } = await session.standing();
  const { calledBy } = terms ?? {};
  // A copy of one has its terms, and an id of its own.
  return calledBy && isSessionOfCall(session.id, calledBy) ? { calledBy, isOver } : undefined;
}

/**
 * What a sub-agent answers is a tool's result to its caller: nobody but the caller speaks in its session, by whichever way
 * they have opened it. Undefined: there is no need to look.
 * @throws CoxswainError `PERMISSION_DENIED / E_CEILING`
 */
export function assertCallers(session: Hosted): Promise<void> | undefined {
  if (session.frame.depth > 0 || !mayBeSubagents(session.id)) return undefined;
  return callerOf(session).then((caller) => {
    if (caller) throw isSubagents(session.id);
  });
}

export function isSubagents(sessionId: string): CoxswainError {
  const message = `session ${sessionId} is of a sub-agent: it is changed by its caller alone, and its questions are answered there`;
  return new CoxswainError('PERMISSION_DENIED', 'E_CEILING', message, { details: { sessionId } });
}
