import { postgresDispatcher, restateDispatcher } from '../../src/adapters/nodes/index.ts';
import type { Dispatcher } from '../../src/contracts/index.ts';
import { freePort } from '../adapters/servers.ts';
import { callsBalancer } from './calls-balancer.ts';
import { restateServer } from './restate-server.ts';

// Which dispatcher the nodes of a test have, as one word for a child's command line: the name of a schema in PostgreSQL, or where
// Restate is and where it reaches the nodes.

export interface RestatePlace {
  url: string;
  admin: string;
  /** Of what balances between the nodes. */
  address: string;
}

const wordOf = (place: RestatePlace) => `restate ${JSON.stringify(place)}`;

const placeOf = (word: string) =>
  word.startsWith('restate ') ? (JSON.parse(word.slice('restate '.length)) as RestatePlace) : undefined;

/** Where a node listens to Restate: a balancer has to know. */
export async function listenBehind(word: string): Promise<{ port?: number }> {
  return placeOf(word) ? { port: await freePort() } : {};
}

export function dispatcherOf(
  word: string,
  database: string,
  options: { port?: number; warn?: (message: string, error?: unknown) => void },
): Promise<Dispatcher> {
  const place = placeOf(word);
  const { port, warn } = options;
  const told = warn ? { warn } : {};
  if (!place) return postgresDispatcher(database, { app: 'shop', schema: word, ...told });
  const { url, admin, address } = place;
  return restateDispatcher(url, { app: 'shop', admin, address, ...(port === undefined ? {} : { port }), ...told });
}

/** A Restate server with a balancer before the nodes, and the word for them. */
export async function ownRestate() {
  const server = await restateServer();
  const behind = await callsBalancer();
  const { url, admin, kill, start } = server;
  return {
    word: wordOf({ url, admin, address: behind.address }),
    behind,
    kill,
    start,
    async close() {
      await behind.close();
      await server.close();
    },
  };
}

/** What stands between Restate and the nodes: each is added before Restate may ask it, and dropped as it dies. */
export type Behind = Pick<Awaited<ReturnType<typeof callsBalancer>>, 'add' | 'drop'>;
