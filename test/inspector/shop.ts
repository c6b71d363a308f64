import { join } from 'node:path';
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

export interface ShopOptions {
  /** Has the database. */
  folder: string;
  /** The page's. */
  files: string;
  port: number;
  /** Each run of a tool. */
  ran(name: string, args: object): void;
  /** What the tool `slow` waits for. */
  opened: Promise<void>;
  serve: Partial<ServeOptions>;
}

/** The host and the server of a shop, over what its folder has. */
export async function openShop({ folder, files, port, ran, opened, serve: options }: ShopOptions): Promise<{
  host: AgentHost;
  server: AgentServer;
  stop(): Promise<void>;
}> {
  const noting = (name: string, properties: Record<string, object>, preview?: (args: never) => object[]) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      inputSchema: { type: 'object', properties },
      ...(preview ? { preview: preview as never } : {}),
      execute: (args: object) => {
        ran(name, args);
        return `${name} has run`;
      },
    });
  const number = { type: 'number' };
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
        await opened;
        ran('slow', args);
        return 'slow has run';
      },
    }),
    { ...noting('seal', { order: number }), annotations: { fixedArgs: true } },
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
      const { mimeType = 'application/json', data } = args as { mimeType?: string; data?: string };
      await artifacts.save(first, { mimeType, data: data ?? new TextEncoder().encode(JSON.stringify(args)) });
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
    { id: 'rest', tool: ['anything', 'seal'], outcome: 'ask', approvers: { roles: ['supervisor'] } },
  ];
  const policy = rulePolicy(rules, { placeOf: (_, index) => `shop.yaml:${index + 1}` });
  const agent = new LlmAgent({
    name: 'clerk',
    description: 'Answers for the shop.',
    model: scripted,
    tools: [remember],
  });
  const store = await openSqlite(join(folder, 'shop.db'));
  const host = createHost({
    app: 'shop',
    agents: [fromAgent(agent, { services: { artifacts: new InMemoryArtifactService() } })],
    tools,
    policy,
    store,
    warn: () => {},
  });
  const server = await serve(host, {
    port,
    ui: { files, key: new Uint8Array(32).fill(3) },
    authenticate: ({ token }) => people.get(token ?? ''),
    rewind: ({ userId, sessionId }, through) => rewind(store, { app: 'shop', userId, id: sessionId }, through),
    warn: () => {},
    ...options,
  });
  const stop = async () => {
    await server.close({ deadlineMs: 0 });
    await host.close();
    await store.close();
  };
  return { host, server, stop };
}

/** The turn of somebody that ends with a question; its id. */
export async function askIn(host: AgentHost, userId: string, sessionId: string, tool: string, args: object) {
  const session = await host.open('clerk', { userId, sessionId, create: true });
  for await (const _ of session.stream(JSON.stringify([tool, args])));
  const pending = await session.pending();
  await session[Symbol.asyncDispose]();
  return pending[0]?.requestId ?? '';
}
