/**
 * `node bench/inspector.ts [--events 50000] [--sessions 1000] [--seconds 30]`
 *
 * The inspector's page in a real browser, against a server in a process of its own: how long a session of so many events
 * takes to open (its end, and all of it, and the CPU time of that), the longest frame while it is scrolled, the same of a list of so many
 * sessions, and how much the heaps of three pages grow while 100 deltas a second come. Ends with 1 where a target is missed.
 */
import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { buildInspector } from '../scripts/build-inspector.ts';
import { openSqlite } from '../src/adapters/stores/sqlite.ts';
import { serve } from '../src/host/websocket/index.ts';
import type { Model } from '../src/index.ts';
import { allowAll, createHost, defineTool, LlmAgent } from '../src/index.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '50000' },
    sessions: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '30' },
    child: { type: 'string' },
  },
});
const [events, sessions, seconds] = [Number(values.events), Number(values.sessions), Number(values.seconds)];
const TOKEN = 'token-of-anna-the-supervisor';
const DELTAS_A_SECOND = 100;
const targets = { openMs: 2000, frameMs: 50, grownKiB: 1024 };

if (values.child === undefined) process.exitCode = await main();
else await server(values.child);

async function server(folder: string): Promise<void> {
  /** As many calls as a message says, or that many deltas. */
  const model: Model = {
    name: 'scripted',
    async *generate({ contents }) {
      const newest = contents.at(-1)?.parts.at(-1);
      const [what, count = 0] = newest?.type === 'text' ? (newest.text.split(' ') as [string, number?]) : ['done'];
      const answer = (text: string, calls: object[] = []) => ({
        content: { role: 'model' as const, parts: [{ type: 'text' as const, text }, ...calls] as never },
        turnComplete: true,
        finishReason: calls.length > 0 ? ('tool_calls' as const) : ('stop' as const),
        usage: { inputTokens: 120, outputTokens: 12 },
      });
      if (what === 'calls') {
        const call = () => ({ type: 'function_call', id: crypto.randomUUID(), name: 'quick', args: { order: 7 } });
        yield answer('I look it up.', Array.from({ length: Number(count) }, call));
      } else if (what === 'deltas') {
        let text = '';
        for (let at = 0; at < Number(count); at++) {
          const piece = `word${at % 10} `;
          text += piece;
          yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: piece }] } };
          await new Promise((resolve) => setTimeout(resolve, 1000 / DELTAS_A_SECOND));
        }
        yield answer(text);
      } else yield answer('It is done.');
    },
  };
  const store = await openSqlite(join(folder, 'bench.db'));
  const quick = defineTool({
    name: 'quick',
    description: 'Looks an order up.',
    inputSchema: { type: 'object' },
    execute: () => 'quick has run',
  });
  const agent = new LlmAgent({ name: 'clerk', description: 'Answers.', model });
  const host = createHost({ app: 'shop', agents: [agent], tools: [quick], policy: allowAll(), store, warn: () => {} });
  const say = async (sessionId: string, words: string) => {
    await using session = await host.open('clerk', { userId: 'anna', sessionId, create: true });
    for await (const _ of session.stream(words));
  };
  const count = async (sessionId: string) => {
    await using session = await host.open('clerk', { userId: 'anna', sessionId });
    let found = 0;
    for await (const _ of session.events()) found++;
    return found;
  };
  let made = 0;
  while (made < events) {
    await say('long', 'calls 900');
    made = await count('long');
  }
  for (let at = 0; at < sessions; at++) await say(`session-${at}`, 'hello');
  await say('streams', 'hello');
  const listening = await serve(host, {
    port: 0,
    ui: { files: join(folder, 'page') },
    authenticate: ({ token }) => (token === TOKEN ? { id: 'anna' } : undefined),
    warn: () => {},
  });
  process.on('message', (message) => {
    if (message === 'end') process.exit(0);
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMs: (user + system) / 1000 });
  });
  process.send?.({ port: listening.port, events: made });
}

async function main(): Promise<number> {
  const executablePath = ['/usr/bin/chromium', process.env.CHROMIUM ?? '', '/usr/bin/google-chrome'].find(existsSync);
  if (executablePath === undefined) {
    console.error('no chromium here; install it or set CHROMIUM');
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
  await buildInspector(join(folder, 'page'));
  const child = fork(import.meta.filename, [...process.argv.slice(2), '--child', folder], { stdio: 'inherit' });
  const { port, events: made } = await new Promise<{ port: number; events: number }>((resolve) =>
    child.once('message', (message) => resolve(message as { port: number; events: number })),
  );
  /** CPU time of all threads of the server so far. */
  const ofServer = () =>
    new Promise<number>((resolve) => {
      child.once('message', (message) => resolve((message as { cpuMs: number }).cpuMs));
      child.send('cpu');
    });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--enable-precise-memory-info'] });
  const url = `http://127.0.0.1:${port}/ui/`;
  const missed: string[] = [];
  const tell = (name: string, figure: number, unit: string, most?: number) => {
    const verdict = most === undefined ? '' : figure <= most ? ` (≤ ${most}: met)` : ` (≤ ${most}: MISSED)`;
    if (most !== undefined && figure > most) missed.push(name);
    console.log(`${name}: ${Math.round(figure).toLocaleString('en')} ${unit}${verdict}`);
  };
  try {
    const page = await signedIn(browser, url);
    const ofPage = await mainThreadOf(page);
    for (let round = 1; round <= 3; round++) {
      await page.goto(`${url}#/inbox`);
      await page.getByText('Nothing waits for you.').waitFor();
      const before = [await ofPage(), await ofServer()] as const;
      const from = performance.now();
      await page.goto(`${url}#/sessions/clerk/anna/long`);
      await page.locator('.talk').getByText('It is done.').last().waitFor();
      tell(`${made} events, the end of it, round ${round}`, performance.now() - from, 'ms', targets.openMs);
      await page.locator('button:enabled', { hasText: 'Export' }).waitFor({ timeout: 60_000 });
      tell(`${made} events, all of them, round ${round}`, performance.now() - from, 'ms', targets.openMs);
      tell('  CPU of the main thread of the page for that', (await ofPage()) - before[0], 'ms');
      tell('  CPU of the server for that', (await ofServer()) - before[1], 'ms');
    }
    const scroll = async (name: string, selector: string) => {
      const { frame, work } = await scrolled(browser, page, selector);
      tell(`${name}, longest frame`, frame, 'ms', targets.frameMs);
      tell(`${name}, longest piece of work, CPU`, work, 'ms');
    };
    await scroll('conversation', '.talk');
    for (const name of ['Events', 'Timeline']) {
      await page.getByRole('button', { name, exact: true }).click();
      const box = name === 'Events' ? '.event-list' : '.lines.timeline';
      await page.locator(box).waitFor();
      await scroll(name, box);
    }
    const from = performance.now();
    await page.goto(`${url}#/sessions`);
    await page.locator('tbody tr').first().waitFor();
    tell(`list of ${sessions} sessions, first`, performance.now() - from, 'ms', targets.openMs);
    await scroll('list of sessions', '.page');
    await page.context().close();
    const pages = await Promise.all([1, 2, 3].map(() => signedIn(browser, url)));
    for (const one of pages) await one.goto(`${url}#/sessions/clerk/anna/streams`);
    await pages[0]?.getByRole('textbox', { name: 'Message' }).fill(`deltas ${seconds * DELTAS_A_SECOND}`);
    await pages[0]?.getByRole('button', { name: 'Send' }).click();
    await pages[2]?.getByText('streams, not stored yet').waitFor();
    await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / 3));
    const before = await Promise.all(pages.map(heapOf));
    await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / 2));
    const after = await Promise.all(pages.map(heapOf));
    for (const [at, bytes] of after.entries())
      tell(
        `page ${at + 1}, heap grown in ${seconds / 2} s of deltas`,
        (bytes - (before[at] ?? 0)) / 1024,
        'KiB',
        targets.grownKiB,
      );
  } finally {
    await browser.close();
    child.send('end');
    rmSync(folder, { recursive: true, force: true });
  }
  if (missed.length > 0) console.log(`missed: ${missed.join('; ')}`);
  return missed.length === 0 ? 0 : 1;
}

async function signedIn(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage();
  await page.goto(url);
  await page.getByLabel('Your token').fill(TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  return page;
}

/** Milliseconds between two frames while a box is scrolled through, a screen at a time. */
function longestFrame(page: Page, selector: string): Promise<number> {
  return page.evaluate(
    `new Promise((resolve) => {
      const box = document.querySelector(${JSON.stringify(selector)});
      const step = Math.max(box.clientHeight, box.scrollHeight / 200);
      let longest = 0;
      let last;
      box.scrollTop = 0;
      const next = (now) => {
        if (last !== undefined) longest = Math.max(longest, now - last);
        last = now;
        const at = box.scrollTop;
        box.scrollTop = at + step;
        if (box.scrollTop === at) resolve(longest);
        else requestAnimationFrame(next);
      };
      requestAnimationFrame(() => requestAnimationFrame(next));
    })`,
  ) as Promise<number>;
}

/** The same with the longest piece of work of the page's main thread meanwhile, in CPU time: that of others does not count. */
async function scrolled(browser: Browser, page: Page, selector: string): Promise<{ frame: number; work: number }> {
  await browser.startTracing(page, {
    categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'],
  });
  const frame = await longestFrame(page, selector);
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: { name: string; pid: number; tid: number; tdur?: number; args?: { name?: string } }[];
  };
  const main = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const pieces = trace.traceEvents.filter(
    ({ name, pid, tid, tdur }) => /RunTask$/.test(name) && tdur !== undefined && main.has(`${pid} ${tid}`),
  );
  return { frame, work: Math.max(0, ...pieces.map(({ tdur = 0 }) => tdur)) / 1000 };
}

/** Tells how many milliseconds of CPU the main thread of a page has used since. */
async function mainThreadOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'ThreadTime')?.value ?? 0) * 1000;
  };
}

/** Bytes that a page holds once what nobody needs is gone. */
async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
