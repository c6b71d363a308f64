import { once } from 'node:events';
import { serve } from '@hono/node-server';
import { createHost } from 'coxswain';
import { createHttp } from 'coxswain/server/http';
import { openSqlite } from 'coxswain/stores/sqlite';
import { Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { rolldown } from 'rolldown';
import { agent, policy, tools } from './agent.ts';

/** Who a page may be of. An application has its login here. */
const people = new Map([
  ['anna', { id: 'anna' }],
  ['bert', { id: 'bert', roles: ['supervisor'] }],
]);

/** Starts the application; `port` 0 takes a free one. Sessions are kept in the file `store`. */
export async function start({ port = 0, store = 'chat.db' }: { port?: number; store?: string } = {}) {
  const host = createHost({ app: 'shop', agents: [agent], tools, policy, store: await openSqlite(store) });
  const page = await bundled();
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
  app.get('/', (c) => c.html(html));
  app.get('/page.js', (c) => c.body(page, 200, { 'content-type': 'text/javascript' }));
  app.get('/as/:person', (c) => {
    c.header('set-cookie', `person=${encodeURIComponent(c.req.param('person'))}; Path=/; HttpOnly; SameSite=Lax`);
    return c.redirect('/');
  });
  app.get('/me', (c) => c.json({ id: getCookie(c, 'person') ?? 'anna' }));
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
async function bundled(): Promise<string> {
  const build = await rolldown({
    input: `${import.meta.dirname}/page.tsx`,
    platform: 'browser',
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  return output[0].code;
}

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Refund desk</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: color-mix(in srgb, currentColor 18%, transparent); }
  body { margin: 0 auto; max-width: 44rem; padding: 1rem; display: flex; flex-direction: column; min-height: calc(100vh - 2rem); }
  #root { display: contents; }
  header { display: flex; gap: 1rem; align-items: baseline; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
  header h1 { font-size: 1.1rem; margin: 0 auto 0.5rem 0; }
  ol { list-style: none; padding: 0; margin: 0; flex: 1; display: grid; gap: 0.75rem; align-content: start; }
  li { padding: 0.6rem 0.9rem; border-radius: 0.8rem; border: 1px solid var(--line); max-width: 36rem; overflow-wrap: anywhere; }
  li.user { justify-self: end; background: color-mix(in srgb, #2563eb 16%, transparent); border-color: transparent; }
  li p { margin: 0.3rem 0; }
  .call { border-left: 3px solid #2563eb; padding: 0.3rem 0.7rem; margin: 0.4rem 0; font-size: 0.9rem; }
  .call code { font-size: 0.85rem; }
  .error { color: #b91c1c; }
  form { display: flex; gap: 0.5rem; position: sticky; bottom: 0; padding: 1rem 0; background: Canvas; }
  input { flex: 1; }
  input, button { font: inherit; padding: 0.45rem 0.8rem; border-radius: 0.6rem; border: 1px solid var(--line); background: transparent; color: inherit; }
  button { cursor: pointer; }
  button.primary { background: #2563eb; border-color: #2563eb; color: #fff; }
</style>
<div id="root"></div>
<script type="module" src="/page.js"></script>
</html>`;

if (import.meta.main) {
  const { url } = await start({ port: Number(process.env.PORT ?? 3000) });
  console.log(`Open ${url} and write: pay order 7 back.`);
}
