import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { application, executablePath, open, why } from '../chromium.ts';
import { installInto, npm, ofUsers } from './packing.ts';

const root = join(import.meta.dirname, '../..');
const { dependencies, devDependencies } = JSON.parse(
  readFileSync(join(root, 'examples/next/package.json'), 'utf8'),
) as Record<'dependencies' | 'devDependencies', Record<string, string>>;

let home: string;
let fault = '';
beforeAll(() => {
  if (executablePath === undefined) return;
  home = mkdtempSync(join(tmpdir(), 'coxswain-next-'));
  const others = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => name !== 'coxswain');
  ({ fault } = installInto(
    home,
    others.map(([name, range]) => `${name}@${range}`),
  ));
  if (fault !== '') return;
  cpSync(join(home, 'node_modules/coxswain/examples/next'), join(home, 'next'), { recursive: true });
  const built = npm(join(home, 'next'), 'exec', '--', 'next', 'build');
  if (built.status !== 0) throw new Error(built.said);
}, 600_000);
afterAll(() => home && rmSync(home, { recursive: true, force: true }), 120_000);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** The application as `npm start` runs it, on a port and with a store of its own. `close` kills it: nothing is finished. */
async function start({ port, store = '' }: { port?: number; store?: string }) {
  const at = port ?? (await freePort());
  const url = `http://127.0.0.1:${at}`;
  const child = spawn(
    process.execPath,
    [join(home, 'node_modules/next/dist/bin/next'), 'start', '-H', '127.0.0.1', '-p', String(at)],
    {
      cwd: join(home, 'next'),
      env: { ...ofUsers(), ORIGIN: url, STORE: store, NEXT_TELEMETRY_DISABLED: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const left = once(child, 'exit');
  for await (const piece of child.stdout.setEncoding('utf8')) if (/Ready in/.test(piece)) break;
  const close = async () => {
    child.kill('SIGKILL');
    await left;
  };
  return { url, close };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}
const idle = (page: Page) => page.getByRole('button', { name: 'Send' }).waitFor();
const help = /^I look orders up[\s\S]*order 8 is such a one\.$/;

describe.skipIf(executablePath === undefined)(`the chat of Next.js in Chromium${why}`, () => {
  test('text that streams is whole after a reload in its middle, in a second tab, and after a kill', async ({
    skip,
  }) => {
    if (fault !== '') skip(`the registry is not reachable (${fault})`);
    const { url, restart } = await application(start);
    const faults: string[] = [];
    const page = await open(url, faults);
    await say(page, 'what can you do?');
    await page.getByText('I look orders').waitFor();
    const second = await page.context().newPage();
    await Promise.all([page.reload(), second.goto(page.url())]);
    for (const tab of [page, second]) {
      await tab.getByText(help).waitFor();
      expect(await tab.getByText('what can you do?').count()).toBe(1);
      expect(await tab.getByText('I look orders up').count()).toBe(1);
    }
    await idle(page);
    // Killed while it speaks: what was said before stands, and the chat takes the next message.
    await say(page, 'and what else?');
    await expect.poll(() => page.getByText('I look orders').count()).toBe(2);
    await restart();
    await page.reload();
    await page.getByText('and what else?').waitFor();
    expect(await page.getByText(help).first().textContent()).toMatch(help);
    await say(page, 'pay order 7 back');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('a tool, a question after reload and restart, an edit in another tab; the call runs once', async ({ skip }) => {
    if (fault !== '') skip(`the registry is not reachable (${fault})`);
    const { url, restart } = await application(start);
    const faults: string[] = [];
    const page = await open(url, faults);
    await say(page, 'pay order 7 back');
    await page.getByText('order 7: 30 EUR', { exact: true }).waitFor();
    await page.getByText('Pays 30 EUR back for order 7.').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await restart();
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    const second = await page.context().newPage();
    await second.goto(page.url());
    await second.getByRole('button', { name: 'Edit' }).click();
    await second.getByLabel('Arguments').fill('{ "order": 7, "eur": 20 }');
    await second.getByRole('button', { name: 'Approve these arguments' }).click();
    await second.getByText('20 EUR are paid back for order 7', { exact: true }).waitFor();
    await second.getByText('It is done.').waitFor();
    // Answered meanwhile: an answer from the first tab changes nothing.
    await page.getByRole('button', { name: 'Approve' }).click();
    await idle(page);
    await page.reload();
    await page.getByText('It is done.').waitFor();
    expect(await page.getByText('20 EUR are paid back for order 7', { exact: true }).count()).toBe(1);
    expect(await page.getByText('30 EUR are paid back').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('an approval runs the call, a denial does not, and a supervisor decides where policy says so', async ({
    skip,
  }) => {
    if (fault !== '') skip(`the registry is not reachable (${fault})`);
    const { url } = await application(start);
    const faults: string[] = [];
    const page = await open(url, faults);
    await say(page, 'pay order 7 back');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Denied.').waitFor();
    await page.getByText('Then I leave it as it is.').waitFor();
    await idle(page);
    await say(page, 'pay order 7 back, please');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('30 EUR are paid back for order 7', { exact: true }).waitFor();
    await page.getByText('It is done.').waitFor();
    await idle(page);
    await say(page, 'pay order 8 back');
    await page.getByText('Waits for a supervisor.').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    // Another origin's page has no say, whatever cookies it sends.
    const forged = await fetch(`${url}/agents/v1/agents/clerk/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://evil.example', cookie: 'person=bert' },
      body: '{}',
    });
    expect(forged.status).toBe(403);
    expect(faults).toEqual([]);
  });
});
