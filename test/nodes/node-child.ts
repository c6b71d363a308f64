import { writeSync } from 'node:fs';
import { natsBus } from '../../src/adapters/nodes/index.ts';
import { openSql } from '../../src/adapters/stores/sql/index.ts';
import { serve } from '../../src/host/websocket/index.ts';
import { dispatcherOf, listenBehind } from './dispatchers.ts';
import { nodeHost, openWorld } from './node-host.ts';

// One node: any number of them run over one database. It serves clients and runs what the dispatcher brings, until SIGTERM.

const [url = '', schema = '', seed = '1', version, onAgentChanged, busUrl = '', skewMs = '0'] = process.argv.slice(2);
if (skewMs !== '0') setClock(Number(skewMs));
const say = (line: string) => writeSync(1, `${line}\n`);
const warn = (message: string, error?: unknown) => say(`warn ${message} ${String(error)}`.replaceAll('\n', ' '));
const store = await openSql(url, { maxConnections: 8 });
const world = await openWorld(url);
const bus = busUrl === '' ? undefined : await natsBus(busUrl, { app: 'shop', warn });
const listen = await listenBehind(schema);
// Who balances between the nodes has to know it before Restate asks.
if (listen.port !== undefined) say(`listens ${listen.port}`);
const dispatcher = await dispatcherOf(schema, url, { ...listen, warn });
const host = nodeHost(store, world, {
  dispatcher,
  seed: Number(seed),
  warn,
  ...(bus ? { bus } : {}),
  ...(version === undefined ? {} : { version }),
  ...(onAgentChanged === undefined ? {} : { onAgentChanged: onAgentChanged as 'go' }),
});
// A turn of a test may meet the deaths of more programs than a machine has in a year.
const silentMs = Number(process.env.COXSWAIN_TEST_SILENT_MS ?? 1750);
const work = await host.work({ concurrency: 50, maxDeaths: 1000, silentMs });
const server = await serve(host, {
  authenticate: ({ token = '' }) => ({ id: token, ...(token === 'boss' ? { roles: ['boss'] } : {}) }),
  warn,
});
process.once('SIGTERM', async () => {
  say('draining');
  const closed = server.close({ deadlineMs: 60_000 });
  say(`drained ${await work.stop({ deadlineMs: 30_000 })}`);
  await closed;
  process.exit();
});
say(`ready ${server.port}`);

/** All that asks for the time gets a wrong one; what only measures time does not. */
function setClock(skew: number): void {
  const Right = Date;
  globalThis.Date = class extends Right {
    constructor(...given: [] | [number]) {
      if (given.length === 0) super(Right.now() + skew);
      else super(...given);
    }
    static override now(): number {
      return Right.now() + skew;
    }
  } as DateConstructor;
}
