import type { AgentSession, ArtifactAccess } from '../../contracts/index.ts';

/** Key of a method of sessions that lend their artifacts to whoever bounds a result before it is handed in. */
export const resultArtifacts: unique symbol = Symbol.for('coxswain.resultArtifacts') as never;

/** A session that keeps what is cut off a result: the event of that result notes it, by whichever door it is handed in. */
export interface ArtifactLender extends AgentSession {
  [resultArtifacts](callId: string): Pick<ArtifactAccess, 'save'> | undefined;
}

export function lendsArtifacts(session: AgentSession): session is ArtifactLender {
  return resultArtifacts in session;
}

/** Key of a method of sessions that show what they have kept. */
export const keptArtifacts: unique symbol = Symbol.for('coxswain.keptArtifacts') as never;

export interface ArtifactKeeper extends AgentSession {
  [keptArtifacts](): Pick<ArtifactAccess, 'load' | 'measure'>;
}

export function keepsArtifacts(session: AgentSession): session is ArtifactKeeper {
  return keptArtifacts in session;
}
