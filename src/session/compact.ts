import type { AgentSession, Compaction } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';

/**
 * Has a session compact the history of its agent.
 * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` where the executor cannot
 */
export async function compactIn(session: AgentSession): Promise<Compaction> {
  if (session.compact) return session.compact();
  const message = `agent ${session.descriptor.name} runs elsewhere and keeps its history there; it cannot be compacted from here`;
  throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
}
