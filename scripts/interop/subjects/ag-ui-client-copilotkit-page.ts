import { once } from 'node:events';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { serve as listen } from '@hono/node-server';
import type { Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { rolldown } from 'rolldown';
import { openSqlite } from '../../../src/entries/stores-sqlite.ts';
import { createHttp } from '../../../src/host/http/index.ts';
import { deskOf } from '../desk.ts';
import { subject } from '../subject.ts';
import { hold } from '../under-gate.ts';

interface AgUiAgent {
  run(input: object): object;
}
interface Client {
  HttpAgent: new (config: { url: string; fetch?: typeof fetch }) => AgUiAgent;
}
interface Copilot {
  CopilotRuntime: new (options: object) => object;
  InMemoryAgentRunner: new () => object;
  createCopilotEndpoint(options: object): { fetch(request: Request): Response | Promise<Response> };
}

const html =
  '<!doctype html><meta charset="utf-8"><title>desk</title><div id="root"></div><script type="module" src="/page.js"></script>';
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

async function bundled(folder: string): Promise<string> {
  const input = join(folder, 'page.jsx');
  copyFileSync(join(import.meta.dirname, '../copilotkit-page.jsx'), input);
  const build = await rolldown({
    input,
    platform: 'browser',
    logLevel: 'silent',
    moduleTypes: { '.css': 'empty' },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  return output[0].code;
}

export default subject({
  name: 'CopilotKit page',
  role: 'AG-UI client',
  packages: {
    '@copilotkit/runtime': '1.74.0',
    '@copilotkit/react-core': '1.74.0',
    react: '19.3.1',
    'react-dom': '19.3.1',
    zod: '3.25.76',
  },
  async run({ check, file, folder }) {
    process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
    process.env.DO_NOT_TRACK = '1';
    hold(executablePath !== undefined, 'there is no Chromium on this machine');
    const { HttpAgent } = (await import(file('@ag-ui/client/dist/index.mjs'))) as Client;
    const copilot = (await import(file('@copilotkit/runtime/dist/v2/index.mjs'))) as Copilot;
    const code = await bundled(folder);
    const desk = deskOf();

    /** Our handler, CopilotKit's runtime and the page, in one server. `keeps`: who remembers a thread, when a page is loaded. */
    const start = async (keeps: 'session' | 'runtime', port = 0) => {
      const host = desk.host(await openSqlite(join(folder, 'desk.db')));
      const handler = createHttp(host, { authenticate: () => ({ id: 'anna' }) });
      const url = 'http://127.0.0.1/v1/agents/clerk/ag-ui';
      const agent = () => new HttpAgent({ url, fetch: (input, init) => handler(new Request(input, init)) });
      class OfSessions extends copilot.InMemoryAgentRunner {
        connect({ threadId }: { threadId: string }) {
          const runId = crypto.randomUUID();
          return agent().run({ threadId, runId, messages: [], tools: [], context: [], state: {}, forwardedProps: {} });
        }
      }
      const runner = keeps === 'session' ? new OfSessions() : new copilot.InMemoryAgentRunner();
      const runtime = new copilot.CopilotRuntime({ agents: { clerk: agent() }, runner });
      const app = copilot.createCopilotEndpoint({ runtime, basePath: '/api' });
      const server = listen({
        port,
        hostname: '127.0.0.1',
        fetch: (request: Request) => {
          const { pathname } = new URL(request.url);
          if (pathname.startsWith('/api')) return app.fetch(request);
          const [body, type] = pathname === '/page.js' ? [code, 'text/javascript'] : [html, 'text/html'];
          return new Response(body, { headers: { 'content-type': type } });
        },
      });
      await once(server, 'listening');
      const address = server.address();
      const stop = async () => {
        await handler.close({ deadlineMs: 0 });
        const closed = once(server, 'close');
        server.close();
        if ('closeAllConnections' in server) server.closeAllConnections();
        await closed;
        await host.close();
      };
      /** Without CopilotKit, as another process would. */
      const said = async (threadId: string, content: string) => {
        const messages = [{ id: crypto.randomUUID(), role: 'user', content }];
        const body = JSON.stringify({ threadId, runId: crypto.randomUUID(), messages });
        const headers = { 'content-type': 'application/json' };
        await (await handler(new Request(url, { method: 'POST', headers, body }))).text();
      };
      return { port: typeof address === 'object' && address ? address.port : 0, stop, say: said };
    };

    let app = await start('session');
    const browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
    const restart = async (keeps: 'session' | 'runtime' = 'session') => {
      await app.stop();
      app = await start(keeps, app.port);
    };
    const open = async (thread: string) => {
      const page = await browser.newPage();
      page.setDefaultTimeout(15_000);
      page.on('pageerror', (error) => console.log('    page:', String(error).slice(0, 300)));
      await page.goto(`http://127.0.0.1:${app.port}/?thread=${thread}`);
      return page;
    };
    const say = async (page: Page, text: string) => {
      await page.getByTestId('copilot-chat-textarea').fill(text);
      await page.getByTestId('copilot-send-button').click();
    };
    const words = (page: Page, text: string) =>
      page.getByTestId('copilot-assistant-message').getByText(text, { exact: true });
    const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
    const paidFor = () => desk.paid.join();

    await check('text is shown as it streams', async () => {
      const page = await open('text');
      await say(page, 'hold');
      await words(page, 'first').waitFor();
      desk.release();
      await words(page, 'first second').waitFor();
      return '';
    });
    await check('a tool that needs no approval, with its result', async () => {
      const page = await open('tool');
      await say(page, 'find 7');
      await page.getByTestId('call').getByText('order 7: 30').waitFor();
      await words(page, 'settled').waitFor();
      return (await page.getByTestId('call').textContent()) ?? '';
    });
    await check('a payment waits for an approval, and runs once after it', async () => {
      const page = await open('approve');
      await say(page, 'pay 5');
      await button(page, 'Approve').waitFor();
      hold(paidFor() === '', `paid: ${paidFor()}`);
      await button(page, 'Approve').click();
      await words(page, 'settled').waitFor();
      hold(paidFor() === '5', `paid: ${paidFor()}`);
      return '';
    });
    await check('a denied payment does not run, nor one whose question is cancelled', async () => {
      const page = await open('deny');
      await say(page, 'pay 6');
      await button(page, 'Deny').click();
      await words(page, 'settled').waitFor();
      await say(page, 'pay 6');
      await button(page, 'Cancel').click();
      await words(page, 'settled').nth(1).waitFor();
      hold(paidFor() === '5', `paid: ${paidFor()}`);
      return '';
    });
    await check('an edited payment runs as edited', async () => {
      const page = await open('edit');
      await say(page, 'pay 7');
      await page.getByLabel('Arguments').fill('{"amount":8}');
      await button(page, 'Approve these').click();
      await words(page, 'settled').waitFor();
      hold(paidFor() === '5,8', `paid: ${paidFor()}`);
      return '';
    });
    await check('a reload while the agent speaks', async () => {
      const page = await open('reload');
      await say(page, 'hold');
      await words(page, 'first').waitFor();
      await page.reload();
      await words(page, 'first').waitFor();
      desk.release();
      await words(page, 'first second').waitFor();
      hold((await words(page, 'first second').count()) === 1, 'shown twice');
      return '';
    });
    await check('a reload at a question, and a second tab that answers it', async () => {
      const page = await open('tabs');
      await say(page, 'pay 9');
      await button(page, 'Approve').waitFor();
      await page.reload();
      await button(page, 'Approve').waitFor();
      const second = await open('tabs');
      await button(second, 'Approve').click();
      await words(second, 'settled').waitFor();
      // Answered meanwhile: an answer of the first tab changes nothing.
      await button(page, 'Approve').click();
      await words(page, 'settled').waitFor();
      hold(paidFor() === '5,8,9', `paid: ${paidFor()}`);
      return '';
    });
    await check('a question after the servers were restarted', async () => {
      const page = await open('restart');
      await say(page, 'pay 10');
      await button(page, 'Approve').waitFor();
      await restart();
      await page.reload();
      await page.getByTestId('copilot-user-message').getByText('pay 10').waitFor();
      await button(page, 'Approve').click();
      await words(page, 'settled').waitFor();
      hold(paidFor() === '5,8,9,10', `paid: ${paidFor()}`);
      return '';
    });
    await check('with the runtime’s own memory of threads, a reload at a question', async () => {
      await restart('runtime');
      const page = await open('memory');
      await say(page, 'pay 11');
      await button(page, 'Approve').waitFor();
      await page.reload();
      await button(page, 'Approve').click();
      await words(page, 'settled').waitFor();
      hold(paidFor() === '5,8,9,10,11', `paid: ${paidFor()}`);
      return '';
    });
    await check(
      'a thread that the runtime has not seen: its own memory shows nothing of it, the session all',
      async () => {
        await app.say('elsewhere', 'pay 12');
        const page = await open('text');
        const connected = page.waitForResponse((response) => response.url().endsWith('/connect'));
        await page.goto(page.url().replace('text', 'elsewhere'));
        await (await connected).finished();
        hold((await page.getByTestId('copilot-user-message').count()) === 0, 'the runtime knows of it');
        await restart();
        await page.reload();
        await button(page, 'Approve').waitFor();
        return '';
      },
    );
    await browser.close();
    await app.stop();
  },
});
