import type { AgentSession, PutQuestion } from '../../contracts/index.ts';

/** Key of a method of sessions that keep what a host's questions were put with. */
export const putQuestions: unique symbol = Symbol.for('coxswain.putQuestions') as never;

/** A session whose record a host believes: what policy obliged to when a question was put is kept with the call. */
export interface QuestionKeeper extends AgentSession {
  /** Kept when it resolves; `pending()` gives it back. Of calls that are not open any more, nothing is kept. */
  [putQuestions](questions: readonly PutQuestion[]): Promise<void>;
}

export function keepsQuestions(session: AgentSession): session is QuestionKeeper {
  return putQuestions in session;
}
