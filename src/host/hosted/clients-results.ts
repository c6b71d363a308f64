import { CoxswainError } from '../../contracts/index.ts';
import type { Hosted } from '../frame/index.ts';
import { loggedCall } from '../frame/index.ts';

/**
 * Results of calls that a client may give: of tools that it has offered in this turn, and of those that the host declares
 * without running them. Those of the host and of its agents are not taken from outside, also where the tool goes on behind
 * its first word, or is away for the moment.
 * @throws CoxswainError `FAILED_PRECONDITION / E_WRONG_ANSWER`
 */
export async function assertClientRuns(session: Hosted, callId: string): Promise<void> {
  const below = await session.subagents?.find({ requestId: callId });
  if (below) return assertClientRuns(below as Hosted, callId);
  const call = await callIn(session, callId);
  if (!call) return;
  const { name = '', handledBy } = call;
  const tool = session.frame.toolOf(call);
  const isClients = tool === undefined && (await isOffered(session, name));
  if (handledBy !== 'agent' && (isClients || (tool && tool.tool.execute === undefined))) return;
  const message = `${name} is no tool of this client; its result is not taken from outside`;
  throw new CoxswainError('FAILED_PRECONDITION', 'E_WRONG_ANSWER', message, { details: { requestId: callId } });
}

async function callIn({ inner }: Hosted, callId: string) {
  const open = (await inner.pending()).find((request) => request.kind === 'tool' && request.callId === callId);
  return open ?? loggedCall(inner, callId);
}

async function isOffered({ inner, frame }: Hosted, name: string): Promise<boolean> {
  const { terms = frame.shared.begun } = (await inner.standing?.()) ?? {};
  return terms?.tools?.some((tool) => tool.name === name) === true;
}
