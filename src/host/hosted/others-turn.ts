import type { Principal, SessionStanding, SteerData } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { checkSteer, nameOfPrincipal } from '../../session/index.ts';
import type { Hosted } from '../frame/index.ts';
import { passSteer } from '../run/index.ts';

/**
 * A turn acts for whoever began it, with their roles: what somebody else says does not become a part of it.
 * @throws CoxswainError `FAILED_PRECONDITION / E_INPUT_REQUIRED`
 */
export function assertOwnTurn(sessionId: string, { terms }: SessionStanding, who: Principal): void {
  const { principal } = terms ?? {};
  if (!principal || nameOfPrincipal(principal) === nameOfPrincipal(who)) return;
  const message = `the turn of session ${sessionId} acts for ${named(principal)}: words of ${named(who)} do not join it; bring it to its end (answer what is open, then continue), or abort it, and send them as a message`;
  throw new CoxswainError('FAILED_PRECONDITION', 'E_INPUT_REQUIRED', message, { details: { sessionId } });
}

/**
 * Adds words to the turn, or to that of the sub-agent whose thread is named.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`, `FAILED_PRECONDITION / E_INPUT_REQUIRED`, what a hook says
 */
export async function steerTurn(session: Hosted, data: SteerData, who: Principal): ReturnType<Hosted['steer']> {
  checkSteer(data);
  const standing = await session.standing();
  if (session.liveRun || !standing.isOver) assertOwnTurn(session.id, standing, who);
  const { threadId } = data;
  const child = threadId === undefined ? undefined : await session.subagents?.find({ threadId });
  const { id, onBehalfOf } = who;
  // Not what the caller says of it, nor what else the host knows of them.
  const said: SteerData = { ...data, by: { id, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) } };
  return child ? child.steer(said) : session.inner.steer(await passSteer(session, said, who));
}

function named({ id, onBehalfOf }: Principal): string {
  return onBehalfOf === undefined ? id : `${id} on behalf of ${onBehalfOf}`;
}
