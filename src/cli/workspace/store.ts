import { existsSync } from 'node:fs';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { ArtifactService, SessionService } from '../../runtime/index.ts';
import { DATA_FOLDER, dataFolder } from './data-folder.ts';

export const DEFAULT_STORE = `sqlite:${DATA_FOLDER}/coxswain.db`;

export interface Store {
  /** Without password: fit to be shown. */
  readonly url: string;
  readonly sessions: SessionService;
  /** Of its database. Absent: there are none. */
  readonly artifacts?: ArtifactService;
  /** Outlives this process. */
  readonly durable: boolean;
  close(): Promise<void>;
}

/**
 * Opens the store of a URL, by its scheme: `sqlite:PATH`, `postgres://…`, `mysql://…`, `mariadb://…` or `memory:`.
 * @throws CoxswainError `INVALID_ARGUMENT / E_STORE_URL`, and what the store itself says
 */
export async function openWorkspaceStore(url: string): Promise<Store> {
  if (isMemory(url)) return openMemory();
  if (url === DEFAULT_STORE) dataFolder();
  const { openStore: open } = await import('../../adapters/stores/open-store.ts');
  try {
    const sessions: SessionService & { artifacts?: ArtifactService } = await open(url);
    const { artifacts } = sessions;
    const close = () => sessions.close();
    return { url: shownUrl(url), sessions, ...(artifacts ? { artifacts } : {}), durable: true, close };
  } catch (error) {
    if (!isCoxswainError(error) || error.code !== 'E_STORE_URL') throw error;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_STORE_URL', `--store: ${error.message}`, { cause: error });
  }
}

/** A store that is kept, for commands that would have nothing to do on another. */
export async function openKeptStore(url: string): Promise<Store> {
  if (!isMemory(url)) return openWorkspaceStore(url);
  const message = '--store: memory: keeps nothing; give the store that the sessions are in';
  throw new CoxswainError('INVALID_ARGUMENT', 'E_STORE_URL', message);
}

function isMemory(url: string): boolean {
  return /^memory:?$/.test(url) || /^sqlite:(?:\/\/)?:memory:$/.test(url);
}

/** A URL without its password, which also stands in no hint and no error. */
export function shownUrl(url: string): string {
  if (/^sqlite:/i.test(url) || !URL.canParse(url)) return url;
  const shown = new URL(url);
  shown.password = '';
  for (const name of [...shown.searchParams.keys()]) if (/pass|secret|key/i.test(name)) shown.searchParams.delete(name);
  return shown.href;
}

async function openMemory(): Promise<Store> {
  const { InMemorySessionService } = await import('../../runtime/index.ts');
  return { url: 'memory:', sessions: new InMemorySessionService(), durable: false, close: async () => {} };
}

/** Whether a store of files is there at all; servers are asked by opening them. */
export function isThere(url: string): boolean {
  const path = fileOf(url);
  return path === undefined || existsSync(path);
}

/** Where a store of files is; undefined for a server. */
export function fileOf(url: string): string | undefined {
  return /^sqlite:(?:\/\/(?=\/))?(.+)$/i.exec(url)?.[1];
}
