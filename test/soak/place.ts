import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import { connect } from '../../src/adapters/remote/index.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { serveMcpHttp } from '../../src/host/mcp/index.ts';
import { serve, serveExecutor } from '../../src/host/websocket/index.ts';
import type { Model } from '../../src/index.ts';
import { createHost, defineTool, fromAgent, LlmAgent, rulePolicy, subagentTool } from '../../src/index.ts';
import type { Figures } from './measure.ts';

/** Says hi; calls the tool that its prompt names; says what came of it. */
const model: Model = {
  name: 'soak',
  async *generate({ contents }) {
    const last = contents.at(-1)?.parts.at(-1);
    const say = (part: object) => ({ content: { role: 'model' as const, parts: [part as never] }, turnComplete: true });
    const text = last?.type === 'text' ? last.text : '';
    const [verb, name] = text.split(' ');
    if (verb === 'call') {
      const args = name === 'clerk' ? { request: 'call pay' } : {};
      yield say({ type: 'function_call', id: '', name, args });
      return;
    }
    for (const delta of ['h', 'i'])
      yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: delta }] } };
    yield say({ type: 'text', text: 'hi' });
  },
};

/** An agent of its own process, and a child of that which it never looks after. */
const acpAgent = `
require('node:child_process').spawn('sleep', ['600'], { stdio: 'ignore' }).unref();
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === 'session/new') say({ id, result: { sessionId: 's' } });
  if (method === 'session/prompt') say({ id, result: { stopReason: 'end_turn' } });
}).on('close', () => process.exit(0));`;

const IDLE_MS = 1_000;

/** A server of each kind over one store, as a program would have them. */
export async function openPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-soak-'));
  const file = join(folder, 'soak.db');
  const store = openSqlite(file);
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' } as const,
    execute: (_: unknown, context) => (context.confirmation ? 'paid' : context.requestConfirmation({ hint: 'Sure?' })),
  });
  const clerk = fromAgent(new LlmAgent({ name: 'clerk', description: 'Pays.', model }));
  const host = createHost({
    app: 'soak',
    store: store,
    agents: [
      fromAgent(new LlmAgent({ name: 'bot', description: 'Talks.', model })),
      fromAcp({ name: 'child', command: process.execPath, args: ['-e', acpAgent] }),
    ],
    tools: [pay, subagentTool(clerk)],
    policy: rulePolicy([
      { id: 'pay', tool: 'pay', outcome: 'ask' },
      { id: 'clerk', tool: 'clerk', outcome: 'allow' },
    ]),
  });
  // Keys are given back before it is quiet, as all else.
  const limits = { idleMs: IDLE_MS, keyMs: IDLE_MS, maxSessionsPerPrincipal: 10_000 };
  const server = await serve(host, { limits });
  const mcp = await serveMcpHttp(host, { sessionIdleMs: IDLE_MS, answerMs: IDLE_MS, agents: ['bot'] });
  const back = await serveExecutor({ app: 'back', agents: [clerk], store: store }, { limits });
  const upstream = await connect(back.url, { token: back.token ?? '' });
  const front = await serve(createHost({ app: 'front', agents: upstream.sources, store: store }), { limits });
  return {
    host,
    server,
    front,
    mcpUrl: mcp.url,
    /** Resolves once all clients are gone and what they left idle is closed. */
    async quiet(): Promise<void> {
      const deadline = Date.now() + 30_000;
      const isQuiet = async () => {
        const open = await Promise.all([server, front, back].map((one) => figure(one.url, 'sessions_open')));
        return server.connections + front.connections === 0 && open.every((count) => count === 0);
      };
      while (!(await isQuiet()) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 200));
      // Sessions of MCP clients, which no figure counts.
      await new Promise((resolve) => setTimeout(resolve, 2 * IDLE_MS));
    },
    /** What the store holds of sessions that nobody wants any more: each round deletes its own. */
    async rows(): Promise<Figures> {
      const apps = ['soak', 'back'];
      const sessions = await Promise.all(apps.map((app) => store.list({ app }, { limit: 100_000 })));
      const calls = await Promise.all(apps.map((app) => store.openCalls({ app })));
      const counts = { 'rows: sessions': sessions.flat().length, 'rows: open calls': calls.flat().length };
      return { ...counts, 'rows: notes': rowsOf(file, 'adk_journals') };
    },
    /** Whoever comes last has left sessions behind: those of MCP conversations, and of clients that were cut off. */
    async prune(): Promise<void> {
      await store.deleteOlderThan({}, Date.now() + 1);
    },
    async close(): Promise<void> {
      await front.close({ deadlineMs: 0 });
      await upstream.close();
      await back.close({ deadlineMs: 0 });
      await mcp.close();
      await server.close({ deadlineMs: 0 });
      await host.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Past the store, as whoever looks after the database would count them. */
function rowsOf(file: string, table: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  } finally {
    database.close();
  }
}

export type Place = Awaited<ReturnType<typeof openPlace>>;

async function figure(url: string, name: string): Promise<number> {
  const text = await (await fetch(url.replace('ws', 'http').replace('/v1', '/metrics'))).text();
  return Number(new RegExp(`^coxswain_${name} (\\d+)$`, 'm').exec(text)?.[1]);
}
