import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { isBuiltin } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { executablePath, noBrowser, sharedBrowser } from '../chromium-of-run.ts';
import { bot, hostOf, readOnly, slowTool } from '../host/kit.ts';
import { built } from '../packed.ts';
import { durable, idsOf, serving } from './kit.ts';

interface PageEvent {
  id: string;
  type: string;
  cursor?: string;
  partial?: boolean;
  content?: { text: string }[];
}

/** The client as a page gets it; what it imports on the way. */
async function bundle(): Promise<{ code: string; builtins: string[] }> {
  const builtins: string[] = [];
  const made = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      lib: { entry: join(import.meta.dirname, '../../src/adapters/remote/index.ts'), formats: ['es'] },
    },
    plugins: [
      {
        name: 'no-node',
        enforce: 'pre',
        resolveId(id) {
          if (isBuiltin(id)) builtins.push(id);
          return null;
        },
      },
    ],
  });
  const [output] = [made].flat() as { output: { code?: string }[] }[];
  return { code: output?.output[0]?.code ?? '', builtins };
}

describe('the client in a browser', () => {
  test('imports nothing of Node, no zod, and is small', async () => {
    const { code, builtins } = await bundle();
    expect(builtins).toEqual([]);
    expect(code).not.toMatch(/node:|ZodType|process\.|Buffer\b/);
    expect(code).toContain('session/attach');
    expect(Buffer.byteLength(code)).toBeLessThan(64 * 1024);
  });

  test.skipIf(executablePath === undefined)(
    `NEW-R4 the page of the documentation runs on the built files without a bundler${noBrowser}`,
    async () => {
      const { host } = hostOf(bot([{ deltas: ['It is ', 'paid.'] }]));
      const dist = dirname(built('cli.js'));
      const read: string[] = [];
      let page = '';
      const pages = createServer((request, response) => {
        const [, file] = /^\/coxswain\/([\w/.-]+\.js)$/.exec(request.url ?? '') ?? [];
        if (file !== undefined) read.push(file);
        response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript');
        response.end(file === undefined ? page : readFileSync(join(dist, file)));
      });
      await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
      const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
      const server = await serving(host, { allowedOrigins: [origin] });
      const text = readFileSync(join(import.meta.dirname, '../../docs/websocket.md'), 'utf8');
      page = (/```html\n([\s\S]*?)```/.exec(text)?.[1] ?? '')
        .replace('ws://127.0.0.1:4747/v1', server.url)
        .replace('anna-8f3c1d5e9b27', 'anna')
        .replace("open('clerk'", "open('bot'");
      const chrome = await sharedBrowser();
      onTestFinished(async () => {
        await chrome.close();
        pages.close();
      });
      const tab = await chrome.newPage();
      await tab.goto(origin);
      await tab.waitForFunction(`document.querySelector('#answer').textContent === 'It is paid.'`);
      expect(read[0]).toBe('entries/client.js');
      expect(read).toHaveLength(5);
    },
  );

  test.skipIf(executablePath === undefined)(
    `streams, loses its connection, comes back and sees all${noBrowser}`,
    async () => {
      const slow = slowTool('slow', readOnly);
      const { host } = hostOf(bot([{ deltas: ['Hel', 'lo '], calls: [['slow', {}]] }, { deltas: ['from ', 'afar'] }]), {
        tools: [slow.tool],
      });
      const { code } = await bundle();
      const pages = createServer((request, response) => {
        const isScript = request.url === '/client.js';
        response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
        response.end(isScript ? code : '<!doctype html><title>page</title>');
      });
      await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
      const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
      const server = await serving(host, { allowedOrigins: [origin] });
      const sockets: Socket[] = [];
      server.http.on('upgrade', (_, socket) => sockets.push(socket as Socket));
      const chrome = await sharedBrowser();
      onTestFinished(async () => {
        await chrome.close();
        pages.close();
      });
      const page = await chrome.newPage();
      await page.goto(origin);
      // As text: what the test runner makes of a function would not run in a page.
      const running = page.evaluate(`(async () => {
      const { connect } = await import(${JSON.stringify(`${origin}/client.js`)});
      const states = [];
      const onState = (state) => states.push(state);
      const remote = await connect(${JSON.stringify(server.url)}, { token: 'anna', minBackoffMs: 10, onState });
      const session = await remote.open('bot', { sessionId: 's', create: true });
      const events = [];
      for await (const event of session.stream('hi')) events.push(event);
      const log = [];
      for await (const event of session.events()) log.push(event.id);
      await remote.close();
      return { states, events, log };
    })()`) as Promise<{ states: string[]; events: PageEvent[]; log: string[] }>;
      running.catch(() => {});
      await slow.started;
      for (const socket of sockets) socket.destroy();
      slow.finish('ok');
      const { states, events, log } = await running;
      expect(states).toContain('waiting');
      expect(idsOf(durable(events as never))).toEqual(log);
      const deltas = events.filter(({ partial }) => partial);
      expect(deltas.map(({ content }) => content?.[0]?.text).join('')).toBe('Hello from afar');
      expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    },
  );
});
