/**
 * What event streams on which nothing happens cost a server: memory and CPU, and that there are no more than its limits
 * say. `node bench/idle-streams.ts [streams] [seconds]`; default 1000 and 20. The server is a process of its own.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '../src/host/websocket/index.ts';
import { createHost, LlmAgent } from '../src/index.ts';
import { ScriptedModel } from '../src/testing/index.ts';

interface Reading {
  heap: number;
  rss: number;
  /** Microseconds since the start. */
  cpu: number;
}

async function server(streams: number): Promise<void> {
  const host = createHost({
    app: 'idle',
    agents: [new LlmAgent({ name: 'clerk', model: new ScriptedModel(['Hello.']) })],
  });
  const limits = { maxConnections: streams, maxConnectionsPerPrincipal: streams, maxSessionsPerPrincipal: streams + 1 };
  const { url } = await serve(host, {
    http: true,
    limits,
    authenticate: ({ token }) => (token ? { id: token } : undefined),
  });
  process.on('message', () => {
    globalThis.gc?.();
    const { heapUsed: heap, rss } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    process.send?.({ heap, rss, cpu: user + system } satisfies Reading);
  });
  process.send?.(url.replace('ws', 'http'));
}

async function measure(streams: number, seconds: number): Promise<void> {
  const child = fork(import.meta.filename, ['server', String(streams)], { execArgv: ['--expose-gc'] });
  const [base] = (await once(child, 'message')) as [string];
  const read = async (): Promise<Reading> => {
    child.send('read');
    const [reading] = (await once(child, 'message')) as [Reading];
    return reading;
  };
  const headers = { authorization: 'Bearer anna', 'content-type': 'application/json' };
  const sessions = Math.min(streams, 100);
  for (let at = 0; at < sessions; at++) {
    const body = JSON.stringify({ sessionId: `s${at}`, create: true });
    const made = await fetch(`${base}/agents/clerk/sessions`, { method: 'POST', headers, body });
    if (!made.ok) throw new Error(await made.text());
  }
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const open = (at: number) =>
    new Promise<number>((resolve, reject) => {
      const path = `${base}/agents/clerk/sessions/s${at % sessions}/events`;
      get(path, { agent, headers: { ...headers, accept: 'text/event-stream' } }, (response) => {
        response.on('data', () => {});
        response.on('error', () => {});
        resolve(response.statusCode ?? 0);
      }).on('error', reject);
    });
  const before = await read();
  const statuses: number[] = [];
  for (let at = 0; at < streams; at += 50) {
    const some = Array.from({ length: Math.min(50, streams - at) }, (_, index) => open(at + index));
    statuses.push(...(await Promise.all(some)));
  }
  const opened = await read();
  await sleep(seconds * 1000);
  const idle = await read();
  const refused = await Promise.all(Array.from({ length: 10 }, (_, at) => open(at)));
  agent.destroy();
  child.kill();
  await once(child, 'exit');
  const each = (bytes: number) => `${(bytes / streams / 1024).toFixed(1)} KiB`;
  console.log(`streams           ${statuses.filter((status) => status === 200).length} of ${streams}`);
  console.log(
    `heap of each      ${each(opened.heap - before.heap)}, after ${seconds} s ${each(idle.heap - before.heap)}`,
  );
  console.log(`resident of each  ${each(opened.rss - before.rss)}`);
  console.log(`CPU while idle    ${(((idle.cpu - opened.cpu) / (seconds * 1e6)) * 100).toFixed(2)} %`);
  console.log(`one more          ${[...new Set(refused)].join(', ')}`);
  if (statuses.some((status) => status !== 200) || refused.some((status) => status !== 429 && status !== 503))
    process.exitCode = 1;
}

const [first = '1000', second = '20'] = process.argv.slice(2);
if (first === 'server') await server(Number(second));
else await measure(Number(first), Number(second));
