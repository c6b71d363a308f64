import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Page,
  Request,
  ViewportSize,
} from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import type { ExecutionOptions } from '../../src/contracts/index.ts';
import type { ServeOptions } from '../../src/host/websocket/index.ts';
import { builtPage, executablePath, sharedBrowser } from '../chromium-of-run.ts';
import { askIn, openShop, tokens } from './shop.ts';

export { executablePath, noBrowser } from '../chromium-of-run.ts';

/** A shop with a page: what ran is in `runs`. */
export async function shop(options: Partial<ServeOptions> = {}) {
  const files = await builtPage();
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-inspector-'));
  const runs: { name: string; args: object }[] = [];
  const gate = Promise.withResolvers<void>();
  let port = 0;
  const start = async () => {
    const ran = (name: string, args: object) => void runs.push({ name, args });
    const open = await openShop({ folder, files, port, ran, opened: gate.promise, serve: options });
    port = open.server.port;
    return open;
  };
  let open = await start();
  const say = async (userId: string, sessionId: string, text: string, options: ExecutionOptions = {}) => {
    const session = await open.host.open('clerk', { userId, sessionId, create: true });
    for await (const _ of session.stream(text, options));
    await session[Symbol.asyncDispose]();
  };
  onTestFinished(async () => {
    await open.stop();
    rmSync(folder, { recursive: true });
  });
  return {
    runs,
    gate: { open: () => gate.resolve() },
    page: `http://127.0.0.1:${port}/ui/`,
    restart: async () => {
      await open.stop();
      open = await start();
    },
    ask: (userId: string, sessionId: string, tool: string, args: object) =>
      askIn(open.host, userId, sessionId, tool, args),
    /** A turn with so many calls that run at once. */
    calls: (userId: string, sessionId: string, count: number) =>
      say(userId, sessionId, JSON.stringify(['quick', {}, count])),
    /** A supervisor's yes to other arguments. */
    edit: async (id: string, requestId: string, args: Record<string, unknown>) => {
      const { approvals } = open.host;
      const asked = (await approvals.list()).find(({ request }) => request.requestId === requestId);
      const previewDigest = asked?.request.approval?.previewDigest ?? '';
      await approvals.decide(
        requestId,
        { kind: 'approve', args, previewDigest },
        { by: { id, roles: ['supervisor'] } },
      );
    },
    say,
  };
}

/** A shop in a process of its own, which is killed. */
export async function killableShop() {
  const files = await builtPage();
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-inspector-'));
  const answers = new Map<number, (value: unknown) => void>();
  let asked = 0;
  let port = 0;
  let child: ChildProcess;
  const start = async () => {
    child = fork(join(import.meta.dirname, 'shop-process.ts'), [folder, files, String(port)], { stdio: 'inherit' });
    const { promise, resolve } = Promise.withResolvers<number>();
    child.on('message', (message: { port: number } | { id: number; value: unknown }) => {
      if ('port' in message) resolve(message.port);
      else answers.get(message.id)?.(message.value);
    });
    port = await promise;
  };
  const kill = async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  const tell = (act: 'ask' | 'open', ...args: unknown[]) =>
    new Promise<unknown>((resolve) => {
      answers.set(++asked, resolve);
      child.send({ id: asked, act, args });
    });
  await start();
  onTestFinished(async () => {
    await kill();
    rmSync(folder, { recursive: true });
  });
  return {
    page: `http://127.0.0.1:${port}/ui/`,
    kill,
    start,
    /** Never resolves where it is killed meanwhile. */
    ask: (sessionId: string, order: number) => tell('ask', 'ben', sessionId, 'refund', { order, eur: 80 }),
    /** Orders of the questions that are open. */
    open: () => tell('open') as Promise<number[]>,
    /** Orders for which the tool ran. */
    runs: (): number[] => {
      const path = join(folder, 'runs');
      return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').map(Number) : [];
    },
  };
}

/** What a browser says while the page's server is restarted. */
const isAway = /ERR_CONNECTION_|ERR_SOCKET_|WebSocket connection to|status of (426|503)/;

/** How a page looks. */
type Look = Pick<BrowserContextOptions, 'colorScheme' | 'reducedMotion'> & { viewport?: ViewportSize };

interface Kept {
  context: BrowserContext;
  page: Page;
}

/**
 * A browser for a file of tests. Windows are kept from test to test: each test has a server at an
 * address of its own, so that nothing of another one's page is left in them.
 */
export function withBrowser() {
  vi.setConfig({ testTimeout: 90_000 });
  let browser: Browser | undefined;
  const free: Kept[] = [];
  beforeAll(async () => {
    if (executablePath === undefined) return;
    [browser] = await Promise.all([sharedBrowser(), builtPage()]);
  }, 120_000);
  afterAll(() => browser?.close());
  const fresh = async (options: BrowserContextOptions): Promise<Kept> => {
    if (!browser) throw new Error('there is no browser');
    // Each server would compress the page anew.
    const context = await browser.newContext({ extraHTTPHeaders: { 'accept-encoding': 'identity' }, ...options });
    return { context, page: await context.newPage() };
  };
  /** A page of somebody who has signed in. What goes wrong in it fails the test. */
  const open = async (
    url: string,
    who: keyof typeof tokens,
    { viewport = { width: 1280, height: 860 }, colorScheme = 'light', reducedMotion = 'no-preference' }: Look = {},
    /** Before anything is loaded; in a window that is not kept. */
    prepare?: (page: Page) => Promise<void>,
  ): Promise<Page> => {
    const kept = (prepare ? undefined : free.pop()) ?? (await fresh({ viewport }));
    const { context, page } = kept;
    const { origin } = new URL(url);
    const faults: string[] = [];
    const onPageError = (error: Error) => void faults.push(String(error));
    const onConsole = (message: ConsoleMessage) => {
      if (message.type() === 'error' && !isAway.test(message.text())) faults.push(message.text());
    };
    const onRequest = (request: Request) => {
      if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) faults.push(`asks ${request.url()}`);
    };
    page.on('pageerror', onPageError);
    page.on('console', onConsole);
    page.on('request', onRequest);
    onTestFinished(async ({ task }) => {
      if (prepare || task.result?.state === 'fail') {
        await context.close();
      } else {
        await page.goto('about:blank');
        page.off('pageerror', onPageError);
        page.off('console', onConsole);
        page.off('request', onRequest);
        await Promise.all([context.clearCookies(), context.clearPermissions()]);
        free.push(kept);
      }
      expect(faults).toEqual([]);
    });
    // As of `expect.poll`: what is waited for comes, only later where the machine has other work.
    page.setDefaultTimeout(20_000);
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion });
    await prepare?.(page);
    const signedIn = await context.request.post(`${origin}/ui/sign-in`, {
      data: { token: tokens[who] },
      headers: { origin },
    });
    expect(signedIn.status()).toBe(200);
    await page.goto(url);
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    return page;
  };
  return { open };
}
