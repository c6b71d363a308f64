/**
 * The first five minutes with approvals, played in a real browser: an agent asks for a refund; who asked for it may not
 * approve it; the server is killed and started again; a supervisor pays back less and approves; the tool runs once; the
 * audit verifies. Then the agent of another company, a program that speaks the Agent Client Protocol, wants to refund: the same
 * rules deny one and ask about the other, in the same inbox, and the same supervisor approves it.
 * `node scripts/demonstration/play.ts [folder]` plays it and leaves pictures, by default in `tmp/pictures`; `docs/images` has
 * four of them.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { connect, isCoxswainError } from '../../src/entries/client.ts';

export interface PlayOptions {
  /** Arguments of Node that run the command line: `['dist/cli.js']`. */
  cli: readonly string[];
  browser: Browser;
  /** Folder for pictures; absent: none are made. */
  pictures?: string;
}

export interface Played {
  /** What the requester was answered to an approval of their own. */
  refusal: string;
  /** Lines that the tool has written: one for each time that it ran. */
  refunds: string[];
  /** Output and exit code of `coxswain audit verify`. */
  audit: { code: number | null; output: string };
  /** The same of the other company's agent. */
  payway: Pick<Played, 'refusal' | 'refunds' | 'audit'>;
  /** What went wrong in a page. */
  faults: string[];
}

const MESSAGE = 'Please refund order 1007: the shoes do not fit.';
const OF_PAYWAY = 'Please have PayWay refund order 1008, which never came.';
const people = {
  // A supervisor too: it is the rule that refuses, not a role that is missing.
  ben: { token: 'token-of-ben-for-this-demonstration', roles: ['clerk', 'supervisor'] },
  anna: { token: 'token-of-anna-for-this-demonstration', roles: ['supervisor'] },
};
/** What a browser says while its server is away. */
const isAway = /ERR_CONNECTION_|ERR_SOCKET_|WebSocket connection to|status of (426|503)/;

/** Plays it in a folder of its own, which is removed. */
export async function play(options: PlayOptions): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-demonstration-'));
  for (const name of ['agent.ts', 'payway.ts', 'policy.yaml'])
    cpSync(join(import.meta.dirname, name), join(folder, name));
  // The other company's agent is made with the official SDK.
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'), 'junction');
  const known = Object.entries(people).map(([id, person]) => ({ id, ...person }));
  writeFileSync(join(folder, 'people.json'), JSON.stringify(known), { mode: 0o600 });
  const stage = new Stage(options, folder);
  try {
    return await scenes(stage);
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function scenes(stage: Stage): Promise<Played> {
  const { url, ui } = await stage.start();
  const ben = await stage.open(ui, 'ben');
  const session = await ask(ben, MESSAGE);
  await openQuestion(ben, 'refund');
  await ben.getByText('You asked for this yourself').waitFor();
  await stage.picture(ben, 'not-by-who-asked');
  const refusal = await ownApproval(url);

  const anna = await stage.open(ui, 'anna');
  await openQuestion(anna, 'refund');
  await stage.kill();
  await anna.getByText('not connected: trying again').waitFor();
  await stage.start();
  await anna.getByRole('status').filter({ hasText: 'live' }).waitFor();

  await anna.getByRole('button', { name: 'Edit…' }).click();
  await anna.getByLabel('eur').fill('60');
  const approve = anna.getByRole('button', { name: /Approve refund as edited.*eur 60/ });
  await approve.and(anna.locator('[aria-disabled="false"]')).waitFor();
  await anna.getByText('Your approval is enough').waitFor();
  await anna.getByRole('heading', { name: 'refund' }).scrollIntoViewIfNeeded();
  await stage.picture(anna, 'inspector-inbox');
  await approve.click();
  await anna.getByText('refunded 60.00 EUR of order 1007').waitFor();
  await stage.picture(anna, 'outcome');

  await ben.goto(session);
  await said(ben, 'The refund is on its way.');
  await ben.getByRole('region', { name: 'Time of each turn' }).getByText('refund: anna').waitFor();
  await verified(ben);
  await stage.picture(ben, 'inspector-session');
  return {
    refusal,
    refunds: stage.lines('refunds.txt'),
    audit: stage.audit(idOf(session)),
    payway: await otherCompany(stage, { url, ben, anna }),
    faults: stage.faults,
  };
}

/** The last scene: what the agent of another company wants to do passes the same rules, inbox and log. */
async function otherCompany(
  stage: Stage,
  { url, ben, anna }: { url: string; ben: Page; anna: Page },
): Promise<Played['payway']> {
  const session = await ask(ben, OF_PAYWAY);
  await openQuestion(ben, 'acp:refund');
  await ben.getByText('You asked for this yourself').waitFor();
  const refusal = await ownApproval(url);

  await anna.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Inbox' }).click();
  await openQuestion(anna, 'acp:refund');
  const approve = anna.getByRole('button', { name: /Approve acp:refund.*eur 45/ });
  await approve.and(anna.locator('[aria-disabled="false"]')).waitFor();
  await stage.picture(anna, 'inspector-other-agent');
  await approve.click();
  await anna.getByText('PayWay has refunded 45.00 EUR of order 1008').waitFor();
  await stage.picture(anna, 'other-agent-outcome');

  await ben.goto(session);
  await said(ben, 'Their agent says: Not everything is refunded: 45.00 EUR of order 1008.');
  await verified(ben);
  await ben.getByRole('button', { name: 'Agents', exact: true }).click();
  await ben.getByRole('list', { name: 'Sessions of agents that it has called' }).getByRole('link').click();
  await said(ben, 'Not everything is refunded');
  await verified(ben);
  await stage.picture(ben, 'inspector-other-agent-session');
  return { refusal, refunds: stage.lines('payway.txt'), audit: stage.audit(idOf(ben.url())) };
}

/** A new session with this message, which comes to a question; its address. */
async function ask(page: Page, message: string): Promise<string> {
  const screens = page.getByRole('navigation', { name: 'Screens' });
  await screens.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('button', { name: 'New session' }).click();
  await page.getByRole('textbox', { name: 'Message' }).fill(message);
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.getByText('waits for an answer').waitFor();
  const session = page.url();
  await screens.getByRole('link', { name: 'Inbox' }).click();
  return session;
}

const idOf = (address: string) => address.split('/').at(-1) ?? '';

async function openQuestion(page: Page, tool: string): Promise<void> {
  await page.getByRole('link').filter({ hasText: tool }).click();
}

async function said(page: Page, words: string): Promise<void> {
  await page.getByRole('region', { name: 'Conversation' }).getByText(words).waitFor();
}

async function verified(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Verify the log' }).click();
  await page.getByText('✓ as written').waitFor();
}

/** The page has no button for it; the server refuses it as well. */
async function ownApproval(url: string): Promise<string> {
  const host = await connect(url, { token: people.ben.token });
  try {
    const [question] = await host.approvals.list({ own: true });
    if (!question) throw new Error('the agent asks for nothing');
    const { requestId, approval } = question.request;
    const answer = { kind: 'approve' as const, previewDigest: approval?.previewDigest ?? '' };
    return await host.approvals.decide(requestId, answer).then(
      ({ status }): string => status,
      (error: unknown) => (isCoxswainError(error) ? error.code : String(error)),
    );
  } finally {
    await host.close();
  }
}

interface Listening {
  url: string;
  ui: string;
}

/** The server, as a process, and the browser in front of it. */
class Stage {
  readonly faults: string[] = [];
  readonly #options: PlayOptions;
  readonly #folder: string;
  #server: ChildProcess | undefined;
  #port = '0';

  constructor(options: PlayOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
  }

  /** At the address where it was before. */
  async start(): Promise<Listening> {
    const flags = ['--ui', '--port', this.#port, '--people', 'people.json', '--policy', 'policy.yaml'];
    const args = [...this.#options.cli, 'serve', 'agent.ts', ...flags, ...this.#store];
    const server = spawn(process.execPath, args, { cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#server = server;
    let said = '';
    server.stderr.on('data', (chunk) => (said += String(chunk)));
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: server.stdout }).once('line', resolve);
      server.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    });
    const listening = JSON.parse(line) as Listening;
    this.#port = new URL(listening.url).port;
    return listening;
  }

  /** Without a chance to tidy up. */
  kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server || server.exitCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      server.once('exit', () => resolve());
      server.kill('SIGKILL');
    });
  }

  async open(ui: string, who: keyof typeof people): Promise<Page> {
    const context = await this.#options.browser.newContext({
      viewport: { width: 1120, height: 860 },
      colorScheme: 'light',
    });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !isAway.test(message.text())) this.faults.push(message.text());
    });
    await page.goto(ui);
    await page.getByLabel('Your token').fill(people[who].token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    return page;
  }

  async picture(page: Page, name: string): Promise<void> {
    const { pictures } = this.#options;
    if (pictures === undefined) return;
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
  }

  lines(name: string): string[] {
    const file = join(this.#folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  audit(session: string): Played['audit'] {
    const args = [...this.#options.cli, 'audit', 'verify', session, '--user', 'ben', ...this.#store];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: this.#folder, encoding: 'utf8' });
    return { code: status, output: `${stdout}${stderr}` };
  }

  async close(): Promise<void> {
    await Promise.all(this.#options.browser.contexts().map((context) => context.close()));
    await this.kill();
  }

  get #store(): string[] {
    return ['--store', 'sqlite:shop.db', '--app', 'shop'];
  }
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..');
  const source = ['--import', join(root, 'scripts/from-source.ts'), join(root, 'src/cli.ts')];
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const pictures = process.argv[2] ?? join(root, 'tmp/pictures');
  // The page as its sources are.
  const { buildInspector } = await import('../build-inspector.ts');
  await buildInspector();
  try {
    console.log(await play({ cli: source, browser, pictures }));
  } finally {
    await browser.close();
  }
}
