import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserServer } from 'playwright-core';
import { chromium } from 'playwright-core';
import type { Shared } from './chromium-of-run.ts';
import { executablePath, SHARED } from './chromium-of-run.ts';

/**
 * One Chromium and one build of the inspector's page for all files of a run. Neither is made before a test file asks for it.
 */
export default async function setup(): Promise<() => Promise<void>> {
  // Each project of the configuration comes here: the first one serves them all.
  if (process.env[SHARED] !== undefined) return async () => {};
  let chromiums: Promise<BrowserServer> | undefined;
  let pages: Promise<string> | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-page-'));
  const build = async () => {
    const { buildInspector } = await import('../scripts/build-inspector.ts');
    await buildInspector(folder);
    return folder;
  };
  const made: Record<keyof Shared, () => Promise<string>> = {
    browser: async () => {
      chromiums ??= chromium.launchServer({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
      return (await chromiums).wsEndpoint();
    },
    page: () => (pages ??= build()),
  };
  const server = createServer((request, response) => {
    const make = made[(request.url ?? '').slice(1) as keyof Shared];
    if (!make) return void response.writeHead(404).end();
    make().then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env[SHARED] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    delete process.env[SHARED];
    server.close();
    await (await chromiums)?.close();
    await pages;
    rmSync(folder, { recursive: true, force: true });
  };
}
