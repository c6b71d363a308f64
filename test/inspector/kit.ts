import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { buildInspector } from '../../scripts/build-inspector.ts';
import { rewind } from '../../src/entries/stores.ts';
import { openSqlite } from '../../src/entries/stores-sqlite.ts';
import type { AgentServer, ServeOptions } from '../../src/host/websocket/index.ts';
import { serve } from '../../src/host/websocket/index.ts';
import type { AgentHost, Model, PolicyRule } from '../../src/index.ts';
import {
  createHost,
  defineAgentTool,
  defineTool,
  fromAgent,
  LlmAgent,
  rulePolicy,
  subagentTool,
} from '../../src/index.ts';
import { InMemoryArtifactService } from '../../src/runtime/index.ts';

export const executablePath = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));
export const noBrowser = executablePath === undefined ? ' (skipped: no chromium here; install it or set CHROMIUM)' : '';

/** Tokens of people. */
export const tokens = {
  anna: 'token-of-anna-the-supervisor',
  bert: 'token-of-bert-the-supervisor',
  ben: 'token-of-ben-the-clerk-12345',
  eve: 'token-of-eve-of-another-team',
  gateway: 'token-of-a-program-for-ben-1',
};
const people = new Map([
  [tokens.anna, { id: 'anna', roles: ['supervisor'] }],
  [tokens.bert, { id: 'bert', roles: ['supervisor'] }],
  [tokens.ben, { id: 'ben', roles: ['clerk'] }],
  [tokens.eve, { id: 'eve', roles: ['clerk'] }],
  [tokens.gateway, { id: 'gateway', onBehalfOf: 'ben', roles: ['clerk'] }],
]);

/** Calls the tool that the message names, as JSON: `["refund", {…}]`, so many times; any other message is answered in pieces. */
export const scripted: Model = {
  name: 'scripted',
  async *generate({ contents }) {
    const newest = contents.at(-1)?.parts.at(-1);
    const text = newest?.type === 'text' ? newest.text : '';
    const words =
      newest?.type !== 'function_response' ? 'I look it up.' : newest.isError ? 'Then I leave it.' : 'It is done.';
    const [name, args, count = 1] = text.startsWith('[')
      ? (JSON.parse(text) as [string, Record<string, unknown>, number?])
      : [];
    const calls = Array.from({ length: name ? count : 0 }, () => ({
      type: 'function_call' as const,
      id: crypto.randomUUID(),
      name: name ?? '',
      args: args ?? {},
    }));
    yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: words.slice(0, 6) }] } };
    yield {
      content: { role: 'model', parts: [{ type: 'text', text: words }, ...calls] },
      turnComplete: true,
      finishReason: name ? 'tool_calls' : 'stop',
      usage: { inputTokens: 120, outputTokens: 12 },
    };
  },
};

/** A shop with a page: what ran is in `runs`. */
export async function shop(files: string, options: Partial<ServeOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-inspector-'));
  const runs: { name: string; args: object }[] = [];
  const noting = (name: string, properties: Record<string, object>, preview?: (args: never) => object[]) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      inputSchema: { type: 'object', properties },
      ...(preview ? { preview: preview as never } : {}),
      execute: (args: object) => {
        runs.push({ name, args });
        return `${name} has run`;
      },
    });
  const number = { type: 'number' };
  const gate = Promise.withResolvers<void>();
  const tools = [
    noting('refund', { order: number, eur: { type: 'number', minimum: 1 } }, ({ eur }: { eur: number }) => [
      { type: 'text', text: `Refund of ${eur} EUR to card 4242` },
    ]),
    noting(
      'write_file',
      { path: { type: 'string' }, text: { type: 'string' } },
      (args: { path: string; text: string }) => [
        { type: 'diff', path: args.path, oldText: 'a\nb\n', newText: args.text },
      ],
    ),
    noting('quick', {}),
    noting('pay_card', { eur: number, card: { type: 'string' } }),
    defineTool({
      name: 'slow',
      description: 'Runs until the gate is open.',
      inputSchema: { type: 'object' },
      execute: async (args: object) => {
        await gate.promise;
        runs.push({ name: 'slow', args });
        return 'slow has run';
      },
    }),
    noting('anything', {}, ({ preview = [] }: { preview?: object[] }) => preview),
    subagentTool(fromAgent(new LlmAgent({ name: 'expert', description: 'Knows refunds.', model: scripted }))),
  ];
  // What the agent itself keeps: each argument in its state, and the first one as an artifact.
  const remember = defineAgentTool({
    name: 'remember',
    description: 'Keeps what it is given.',
    inputSchema: { type: 'object' },
    execute: async (args: Record<string, unknown>, { state, artifacts }) => {
      for (const [key, value] of Object.entries(args)) state.set(key, value);
      const [first = 'note'] = Object.keys(args);
      await artifacts.save(first, {
        mimeType: 'application/json',
        data: new TextEncoder().encode(JSON.stringify(args)),
      });
      return 'kept';
    },
  });
  const rules: PolicyRule[] = [
    { id: 'never', tool: 'refund', args: { '/eur': { minimum: 5000 } }, outcome: 'deny', reason: 'nobody pays that' },
    {
      id: 'over-50',
      tool: 'refund',
      outcome: 'ask',
      reason: 'over 50 needs a supervisor',
      approvers: { roles: ['supervisor'], notRequester: true },
    },
    { id: 'files', tool: 'write_file', outcome: 'ask', approvers: { roles: ['supervisor'], quorum: 2 } },
    { id: 'free', tool: ['quick', 'slow', 'remember', 'expert'], outcome: 'allow' },
    {
      id: 'cards',
      tool: 'pay_card',
      outcome: 'allow',
      redact: ['/card'],
      args: { '/card': { pattern: '^visa' } },
    },
    { id: 'rest', tool: 'anything', outcome: 'ask', approvers: { roles: ['supervisor'] } },
  ];
  const policy = rulePolicy(rules, { placeOf: (_, index) => `shop.yaml:${index + 1}` });
  const key = new Uint8Array(32).fill(3);
  let host: AgentHost;
  let server: AgentServer;
  let port = 0;
  const start = async () => {
    const agent = new LlmAgent({
      name: 'clerk',
      description: 'Answers for the shop.',
      model: scripted,
      tools: [remember],
    });
    const store = await openSqlite(join(folder, 'shop.db'));
    host = createHost({
      app: 'shop',
      agents: [fromAgent(agent, { services: { artifacts: new InMemoryArtifactService() } })],
      tools,
      policy,
      store,
      warn: () => {},
    });
    server = await serve(host, {
      port,
      ui: { files, key },
      authenticate: ({ token }) => people.get(token ?? ''),
      rewind: ({ userId, sessionId }, through) => rewind(store, { app: 'shop', userId, id: sessionId }, through),
      warn: () => {},
      ...options,
    });
    port = server.port;
    return async () => {
      await server.close({ deadlineMs: 0 });
      await host.close();
      await store.close();
    };
  };
  const say = async (userId: string, sessionId: string, text: string) => {
    const session = await host.open('clerk', { userId, sessionId, create: true });
    for await (const _ of session.stream(text));
    await session[Symbol.asyncDispose]();
  };
  let stop = await start();
  onTestFinished(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });
  return {
    runs,
    gate: { open: () => gate.resolve() },
    page: `http://127.0.0.1:${port}/ui/`,
    restart: async () => {
      await stop();
      stop = await start();
    },
    /** The turn of somebody that ends with a question. */
    ask: async (userId: string, sessionId: string, tool: string, args: object) => {
      const session = await host.open('clerk', { userId, sessionId, create: true });
      for await (const _ of session.stream(JSON.stringify([tool, args])));
      const pending = await session.pending();
      await session[Symbol.asyncDispose]();
      return pending[0]?.requestId ?? '';
    },
    /** A turn with so many calls that run at once. */
    calls: (userId: string, sessionId: string, count: number) =>
      say(userId, sessionId, JSON.stringify(['quick', {}, count])),
    /** A supervisor's yes to other arguments. */
    edit: async (id: string, requestId: string, args: Record<string, unknown>) => {
      const open = (await host.approvals.list()).find(({ request }) => request.requestId === requestId);
      const previewDigest = open?.request.approval?.previewDigest ?? '';
      await host.approvals.decide(
        requestId,
        { kind: 'approve', args, previewDigest },
        { by: { id, roles: ['supervisor'] } },
      );
    },
    say,
  };
}

/** What a browser says while the page's server is restarted. */
const isAway = /ERR_CONNECTION_|ERR_SOCKET_|WebSocket connection to|status of (426|503)/;

/** The page's files and a browser, for a file of tests. */
export function withBrowser() {
  const files = mkdtempSync(join(tmpdir(), 'coxswain-page-'));
  const made: { browser?: Browser } = {};
  beforeAll(async () => {
    if (executablePath === undefined) return;
    await buildInspector(files);
    made.browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  }, 120_000);
  afterAll(async () => {
    await made.browser?.close();
    rmSync(files, { recursive: true });
  });
  /** A page of somebody who has signed in. What goes wrong in it fails the test. */
  const open = async (
    url: string,
    who: keyof typeof tokens,
    options: BrowserContextOptions = {},
    /** Before anything is loaded. */
    prepare: (page: Page) => Promise<void> = async () => {},
  ): Promise<Page> => {
    const context = await made.browser!.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !isAway.test(message.text())) faults.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith('data:'))
        faults.push(`asks ${request.url()}`);
    });
    onTestFinished(async () => {
      await context.close();
      expect(faults).toEqual([]);
    });
    page.setDefaultTimeout(15_000);
    await prepare(page);
    await page.goto(url);
    await page.getByLabel('Your token').fill(tokens[who]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    return page;
  };
  return { files, open };
}
