import { postgresDispatcher, restateDispatcher } from '../../src/adapters/nodes/index.ts';
import type { Dispatcher } from '../../src/contracts/index.ts';
import { freePort } from '../adapters/servers.ts';

// Which dispatcher the nodes of a test have, as one word for a child's command line: the name of a schema in PostgreSQL, or where
// Restate is and where it reaches the nodes.

export interface RestatePlace {
  url: string;
  admin: string;
  /** Of what balances between the nodes. */
  address: string;
}

export const wordOf = (place: RestatePlace) => `restate ${JSON.stringify(place)}`;

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
