import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { postgresBus, postgresDispatcher } from '../../src/adapters/nodes/index.ts';
import { openSql } from '../../src/adapters/stores/sql/index.ts';
import { loadHost } from './load-host.ts';

// One node of a load: it runs what the dispatcher brings, and serves nobody.

const [url = '', schema = '', turns = '100', modelMs = '1000'] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);
const warn = (message: string, error?: unknown) => say(`warn ${message} ${String(error)}`.replaceAll('\n', ' '));
const store = await openSql(url, { maxConnections: 10 });
const dispatcher = await postgresDispatcher(url, { app: 'shop', schema, warn });
const bus = await postgresBus(url, { app: 'shop', warn });
const host = loadHost(store, { dispatcher, bus, warn }, Number(modelMs));
await host.work({ concurrency: Number(turns) });
say('ready');

// What is still held after all garbage is gone: what grows there, grows.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
setInterval(() => {
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  say(`memory ${[heapUsed, rss].map((bytes) => (bytes / 1024 / 1024).toFixed(1)).join(' ')}`);
}, 20_000).unref();
