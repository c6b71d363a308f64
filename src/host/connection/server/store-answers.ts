import type { SessionProvider } from '../../../contracts/index.ts';
import { isCoxswainError } from '../../../contracts/index.ts';

/** Asks the store for something small. Agents that keep no sessions have none that could be away. */
export async function storeAnswers(sessions: () => SessionProvider | undefined): Promise<void> {
  try {
    await sessions()?.list({ limit: 1 });
  } catch (error) {
    if (!isCoxswainError(error) || error.code !== 'E_UNSUPPORTED') throw error;
  }
}
