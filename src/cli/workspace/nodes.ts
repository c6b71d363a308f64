import type { Bus, Dispatcher } from '../../contracts/index.ts';
import { usageError } from '../terminal/index.ts';

export interface NodeFlags {
  /** URL, or `postgres` for that of the store. */
  dispatcher?: string;
  bus?: string;
}

/** What joins this program to others over the same store. */
export interface Nodes {
  readonly dispatcher?: Dispatcher;
  readonly bus?: Bus;
  close(): Promise<void>;
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_USAGE | E_STORE_URL`, and what a database or server says */
export async function openNodes(
  flags: NodeFlags & { store: string; app: string },
  warn: (message: string, error?: unknown) => void,
): Promise<Nodes> {
  const { app } = flags;
  if (flags.dispatcher === undefined && flags.bus === undefined) return { close: async () => {} };
  const { natsBus, postgresBus, postgresDispatcher } = await import('../../adapters/nodes/index.ts');
  const url = (flag: string, given: string) => {
    if (given !== 'postgres') return given;
    if (/^postgres(ql)?:/i.test(flags.store)) return flags.store;
    throw usageError(`--${flag} postgres: the store is not in PostgreSQL; give a URL`);
  };
  const options = { app, warn };
  const dispatcher =
    flags.dispatcher === undefined ? undefined : await postgresDispatcher(url('dispatcher', flags.dispatcher), options);
  const close = async () => void (await dispatcher?.close());
  try {
    const place = flags.bus === undefined ? undefined : url('bus', flags.bus);
    const open = place !== undefined && /^postgres(ql)?:/i.test(place) ? postgresBus : natsBus;
    const bus = place === undefined ? undefined : await open(place, options);
    return {
      ...(dispatcher ? { dispatcher } : {}),
      ...(bus ? { bus } : {}),
      close: async () => {
        await bus?.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
