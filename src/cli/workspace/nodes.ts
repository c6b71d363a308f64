import type { Bus, Dispatcher } from '../../contracts/index.ts';
import { usageError } from '../terminal/index.ts';

export interface NodeFlags {
  /** URL, or `postgres` for that of the store. */
  dispatcher?: string;
  /** URL by which Restate reaches the nodes, and the address and port on which this one listens to it. */
  dispatcherAddress?: string;
  dispatcherListen?: string;
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
  const { natsBus, postgresBus, postgresDispatcher, restateDispatcher } = await import('../../adapters/nodes/index.ts');
  const url = (flag: string, given: string) => {
    if (given !== 'postgres') return given;
    if (/^postgres(ql)?:/i.test(flags.store)) return flags.store;
    throw usageError(`--${flag} postgres: the store is not in PostgreSQL; give a URL`);
  };
  const options = { app, warn };
  const openDispatcher = (given: string) => {
    if (!/^(restate|https?):/i.test(given)) return postgresDispatcher(url('dispatcher', given), options);
    const { dispatcherAddress: address, dispatcherListen = '127.0.0.1:0' } = flags;
    const [, listen, port] = /^(.+):(\d{1,5})$/.exec(dispatcherListen) ?? [];
    if (listen === undefined) throw usageError(`--dispatcher-listen ${dispatcherListen}: give ADDRESS:PORT`);
    return restateDispatcher(given, {
      ...options,
      listen,
      port: Number(port),
      ...(address === undefined ? {} : { address }),
    });
  };
  const dispatcher = flags.dispatcher === undefined ? undefined : await openDispatcher(flags.dispatcher);
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
