import { CoxswainError } from '../contracts/index.ts';
import type { SessionService } from '../runtime/index.ts';
import { DATA_FOLDER, dataFolder } from './data-folder.ts';

export const DEFAULT_STORE = `sqlite:${DATA_FOLDER}/coxswain.db`;

export interface Store {
  readonly url: string;
  readonly sessions: SessionService;
  /** Outlives this process. */
  readonly durable: boolean;
  close(): Promise<void>;
}

/**
 * Opens the store of a URL: `sqlite:PATH` or `memory:`.
 * @throws CoxswainError `INVALID_ARGUMENT / E_STORE_URL`, and what the store itself says
 */
export async function openStore(url: string): Promise<Store> {
  if (url === 'memory:' || url === 'memory') return openMemory();
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
  if (path === undefined) {
    // The URL may hold a password: only its kind is shown.
    const kind = /^[\w+-]+:/.exec(url)?.[0] ?? 'it';
    throw new CoxswainError(
      'INVALID_ARGUMENT',
      'E_STORE_URL',
      `--store: ${kind} is not a store that this command knows; use sqlite:PATH or memory:`,
    );
  }
  if (path === ':memory:') return openMemory();
  if (url === DEFAULT_STORE) dataFolder();
  const { openSqlite } = await import('../adapters/stores/sqlite.ts');
  const sessions = openSqlite(path);
  return { url, sessions, durable: true, close: () => sessions.close() };
}

async function openMemory(): Promise<Store> {
  const { InMemorySessionService } = await import('../runtime/index.ts');
  return { url: 'memory:', sessions: new InMemorySessionService(), durable: false, close: async () => {} };
}
