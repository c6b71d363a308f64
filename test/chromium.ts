import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, onTestFinished } from 'vitest';
import { sharedBrowser } from './chromium-of-run.ts';

export { executablePath, noBrowser as why } from './chromium-of-run.ts';

let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

interface Running {
  url: string;
  close(): Promise<void>;
}

/** An example with a store of its own, and a way to end it and start it again where it was. */
export async function application(start: (options: { port?: number; store?: string }) => Promise<Running>) {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-page-'));
  const store = join(folder, 'sessions.db');
  let app: Running | undefined = await start({ store });
  const { url } = app;
  const stop = async () => {
    const running = app;
    app = undefined;
    await running?.close();
  };
  onTestFinished(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });
  const resume = async () => {
    app = await start({ store, port: Number(new URL(url).port) });
  };
  const restart = async () => {
    await stop();
    await resume();
  };
  return { url, stop, resume, restart };
}

/** A page with cookies of its own; what goes wrong in it is added to `faults`. */
export async function open(url: string, faults: string[]): Promise<Page> {
  browser ??= sharedBrowser();
  const context = await (await browser).newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('response', (response) => {
    if (response.status() >= 400 && response.status() !== 404)
      void response.text().then(
        (text) => faults.push(`${response.status()} ${response.url()} ${text}`),
        () => {},
      );
  });
  page.setDefaultTimeout(50_000);
  await page.goto(url);
  return page;
}
