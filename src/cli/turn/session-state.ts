import type { AgentDescriptor, Session } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError, notesOf } from '../../contracts/index.ts';
import type { ModuleHost } from '../workspace/index.ts';

/** How a session stands: `none` without a turn, `open` in the midst of one, else the reason of its end. */
export type TurnStanding = 'none' | 'open' | (string & {});

/**
 * Opens a session of the agent of a module host: a stored one, or a new one.
 * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND | E_AGENT_UNKNOWN`
 */
export async function openSession(work: ModuleHost, id?: string): Promise<{ session: Session; turn: TurnStanding }> {
  try {
    const session = await work.host.open(work.agent, id === undefined ? {} : { sessionId: id });
    return { session, turn: id === undefined ? 'none' : await turnState(session) };
  } catch (error) {
    if (!isCoxswainError(error) || error.code !== 'E_SESSION_NOT_FOUND') throw error;
    throw new CoxswainError(
      'NOT_FOUND',
      'E_SESSION_NOT_FOUND',
      `there is no session ${id} in ${work.store.url}; "coxswain sessions list" shows what is there`,
    );
  }
}

/** How a session stands. @throws CoxswainError `NOT_FOUND / E_AGENT_UNKNOWN` where another agent spoke in it */
export async function turnState(session: Session): Promise<TurnStanding> {
  const names = new Set(namesIn(session.descriptor));
  let turn: TurnStanding = 'none';
  for await (const event of session.events()) {
    if (event.type === 'stream_end') turn = event.reason;
    else if (event.type !== 'session_update' && !notesOf(event).steer) turn = 'open';
    const { agentId } = event;
    if (event.type !== 'message' || event.role !== 'agent' || event.threadId !== undefined) continue;
    if (agentId !== undefined && !names.has(agentId)) throw stranger(session, agentId);
  }
  return turn;
}

function namesIn({ name, subAgents = [] }: AgentDescriptor): string[] {
  return [name, ...subAgents.flatMap(namesIn)];
}

function stranger(session: Session, agent: string): CoxswainError {
  return new CoxswainError(
    'NOT_FOUND',
    'E_AGENT_UNKNOWN',
    `session ${session.id} belongs to agent ${agent}, and this module exports ${session.descriptor.name}; name the ` +
      'module that it was made with',
  );
}
