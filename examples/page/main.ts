import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import type { Model } from 'coxswain';
import { createHost, defineTool, LlmAgent, rulePolicy } from 'coxswain';
import { createHttp } from 'coxswain/server/http';
import { Hono } from 'hono';

const lamp = defineTool({
  name: 'switch_lamp',
  description: 'Turns the lamp on or off.',
  inputSchema: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] },
  execute: ({ on }) => `the lamp is ${on ? 'on' : 'off'}`,
});

/** Stands in for a model: it asks for the tool, and says what came of it. */
const standIn: Model = {
  name: 'stand-in',
  async *generate({ contents }) {
    const newest = contents.at(-1)?.parts.at(-1);
    const asks = newest?.type === 'text' && /\b(on|off)\b/.exec(newest.text);
    const said = newest?.type === 'function_response' ? 'Done.' : 'Do I turn the lamp on, or off?';
    yield {
      content: {
        role: 'model',
        parts: asks
          ? [{ type: 'function_call', id: crypto.randomUUID(), name: 'switch_lamp', args: { on: asks[1] === 'on' } }]
          : [{ type: 'text', text: said }],
      },
      turnComplete: true,
      finishReason: asks ? 'tool_calls' : 'stop',
    };
  },
};

/** Starts the application; `dist` is the folder of the package's files for browsers. */
export async function start({ port = 0, dist = installed() }: { port?: number; dist?: string } = {}) {
  const host = createHost({
    app: 'house',
    agents: [new LlmAgent({ name: 'keeper', description: 'Looks after the lamp.', model: standIn })],
    tools: [lamp],
    policy: rulePolicy([{ id: 'lamp', tool: 'switch_lamp', outcome: 'ask' }]),
  });
  const app = new Hono();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port });
  await once(server, 'listening');
  // From here on nothing is waited for: a page of before may come at once.
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`;
  // Replace this by your own login: who asks decides whose session it is.
  const handler = createHttp(host, {
    basePath: '/agents',
    authenticate: () => ({ id: 'anna' }),
    allowedOrigins: [url],
  });
  app.all('/agents/*', (c) => handler(c.req.raw));
  app.get('/', async (c) => c.html(await readFile(join(import.meta.dirname, 'page.html'), 'utf8')));
  const script = { 'content-type': 'text/javascript' };
  app.get('/page.js', async (c) => c.body(await readFile(join(import.meta.dirname, 'page.js'), 'utf8'), 200, script));
  // What is there is served, and nothing else.
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.js')) continue;
    const path = `/coxswain/${file.replaceAll('\\', '/')}`;
    app.get(path, async (c) => c.body(await readFile(join(dist, file), 'utf8'), 200, script));
  }
  const close = async () => {
    await handler.close({ deadlineMs: 0 });
    const closed = once(server, 'close');
    server.close();
    // A browser holds connections that it has not used yet.
    if ('closeAllConnections' in server) server.closeAllConnections();
    await closed;
    await host.close();
  };
  return { url, close };
}

function installed(): string {
  return join(dirname(fileURLToPath(import.meta.resolve('coxswain/client'))), '..');
}

if (import.meta.main) {
  const { url } = await start({ port: Number(process.env.PORT ?? 3000) });
  console.log(`Open ${url} and write: turn the lamp on.`);
}
