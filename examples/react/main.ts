import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { serve } from '@hono/node-server';
import { createHost } from 'coxswain';
import { createHttp } from 'coxswain/server/http';
import { openSqlite } from 'coxswain/stores/sqlite';
import { Hono } from 'hono';
import { rolldown } from 'rolldown';
import { agent, policy, tools } from './agent.ts';

/** Who a page may be of. An application has its login here. */
const people = new Map([
  ['anna', { id: 'anna' }],
  ['bert', { id: 'bert', roles: ['editor'] }],
]);

interface StartOptions {
  /** 0 takes a free one. */
  port?: number;
  /** The file in which sessions are kept. */
  store?: string;
  /** A `tsconfig.json` whose `paths` the imports of the page follow. */
  tsconfig?: string;
}

/** Starts the application. */
export async function start({ port = 0, store = 'letters.db', tsconfig }: StartOptions = {}) {
  const host = createHost({ app: 'letters', agents: [agent], tools, policy, store: await openSqlite(store) });
  const [page, program] = await Promise.all([readFile(`${import.meta.dirname}/page.html`, 'utf8'), bundled(tsconfig)]);
  const app = new Hono();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port });
  await once(server, 'listening');
  // From here on nothing is waited for: a page of before may come at once.
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`;
  const handler = createHttp(host, {
    basePath: '/agents',
    authenticate: ({ headers }) => people.get(/(?:^|; )person=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? 'anna'),
    allowedOrigins: [url],
  });
  app.all('/agents/*', (c) => handler(c.req.raw));
  app.get('/', (c) => c.html(page));
  app.get('/page.js', (c) => c.body(program, 200, { 'content-type': 'text/javascript' }));
  app.get('/as/:person', (c) => {
    c.header('set-cookie', `person=${encodeURIComponent(c.req.param('person'))}; Path=/; HttpOnly; SameSite=Lax`);
    return c.redirect('/');
  });
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

/** The page's program, as one file. */
async function bundled(tsconfig?: string): Promise<string> {
  const build = await rolldown({
    input: `${import.meta.dirname}/page.tsx`,
    platform: 'browser',
    logLevel: 'silent',
    ...(tsconfig === undefined ? {} : { tsconfig }),
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  return output[0].code;
}

if (import.meta.main) {
  const { url } = await start({ port: Number(process.env.PORT ?? 3000) });
  console.log(`Open ${url} and write: tell Bo that lunch is at 12.`);
}
