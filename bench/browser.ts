/**
 * `node bench/browser.ts`: the time from a delta of a model to the code of a page in Chromium, over an event stream and over
 * a socket. Both clocks are those of the machine; Chromium rounds its own to 0.1 ms. Streams take turns.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { rolldown } from 'rolldown';
import { serve } from '../src/host/websocket/index.ts';
import type { Model } from '../src/index.ts';
import { createHost, LlmAgent } from '../src/index.ts';
import { median } from './measure.ts';

const DELTAS = 200;
const ROUNDS = 7;
/** Milliseconds between deltas: about 200 a second, as of a fast model. */
const APART_MS = 5;

const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);
if (executablePath === undefined) {
  console.log('there is no Chromium on this machine; set CHROMIUM');
  process.exit(2);
}

const now = () => performance.timeOrigin + performance.now();
const model: Model = {
  name: 'clock',
  async *generate() {
    const content = (text: string) => ({ role: 'model' as const, parts: [{ type: 'text' as const, text }] });
    for (let n = 0; n < DELTAS; n++) {
      await pause(APART_MS);
      yield { partial: true, content: content(`${now()} `) };
    }
    yield { content: content('over'), turnComplete: true, finishReason: 'stop' };
  },
};

const build = await rolldown({ input: join(import.meta.dirname, '../src/entries/client.ts'), platform: 'browser' });
const { output } = await build.generate({ format: 'esm' });
await build.close();
const host = createHost({ app: 'bench', agents: [new LlmAgent({ name: 'clock', model })] });
const http = createServer();
http.listen(0, '127.0.0.1');
await once(http, 'listening');
const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
const server = await serve(host, {
  server: http,
  basePath: '/agents',
  http: true,
  authenticate: () => ({ id: 'anna' }),
  allowedOrigins: [origin],
});
http.on(
  'request',
  getRequestListener((request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/agents')) return server.fetch(request);
    const [body, type] =
      pathname === '/client.js'
        ? [output[0].code, 'text/javascript']
        : ['<!doctype html><title>bench</title>', 'text/html'];
    return new Response(body, { headers: { 'content-type': type } });
  }),
);

/** The times of one turn, as a page of this way of following measures them. */
function turn(page: Page, way: 'event stream' | 'socket'): Promise<number[]> {
  return page.evaluate(
    async (path) => {
      const load = new Function('name', 'return import(name)');
      const { connect } = await load('/client.js');
      const remote = await connect(path, { token: 'any' });
      const session = await remote.open('clock', { create: true, sessionId: crypto.randomUUID() });
      const times: number[] = [];
      for await (const event of session.stream('go')) {
        if (event.type !== 'message' || !event.partial) continue;
        // A frame may have several.
        const said = event.content[0].text.trim().split(' ').map(Number);
        const at = performance.timeOrigin + performance.now();
        for (const from of said) times.push(at - from);
      }
      await remote.close();
      return times;
    },
    `${way === 'socket' ? origin.replace('http', 'ws') : origin}/agents/v1`,
  );
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage();
page.on('pageerror', (error) => console.error(error));
await page.goto(origin);
const ways = ['event stream', 'socket'] as const;
const times = new Map<string, number[]>(ways.map((way) => [way, []]));
const seen = new Map<string, number>(ways.map((way) => [way, 0]));
for (let round = -1; round < ROUNDS; round++) {
  for (const way of ways) {
    const measured = await turn(page, way);
    if (measured.length !== DELTAS) throw new Error(`${measured.length} of ${DELTAS} deltas came over the ${way}`);
    if (round < 0) continue;
    times.get(way)?.push(median(measured));
    seen.set(way, (seen.get(way) ?? 0) + measured.length);
  }
}
const [stream = 0, socket = 0] = ways.map((way) => median(times.get(way) ?? []));
for (const [way, ms] of [
  ['event stream', stream],
  ['socket', socket],
] as const)
  console.log(
    `     ${way.padEnd(14)} ${ms.toFixed(2).padStart(8)} ms from the model to the page, ${seen.get(way)} deltas`,
  );
const isMet = stream <= 2 * socket;
console.log(`${isMet ? 'ok  ' : 'MISS'} ${(stream / socket).toFixed(2)} × the socket  (≤ 2 ×)`);
await browser.close();
await server.close({ deadlineMs: 0 });
await host.close();
http.closeAllConnections();
http.close();
process.exitCode = isMet ? 0 : 1;
