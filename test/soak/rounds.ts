import { connect } from '../../src/adapters/remote/index.ts';
import type { AgentSession } from '../../src/contracts/index.ts';
import { flaky } from '../websocket/flaky.ts';
import type { Place } from './place.ts';

/** A busy machine is no fault of the server. */
const PATIENCE_MS = 60_000;

async function say(session: AgentSession, text: string): Promise<string | undefined> {
  let reason: string | undefined;
  for await (const event of session.stream(text)) if (event.type === 'stream_end') reason = event.reason;
  return reason;
}

function expectReason(reason: string | undefined, wanted: string): void {
  if (reason !== wanted) throw new Error(`a stream ended in ${reason}, not in ${wanted}`);
}

/** Two turns, and gone. */
async function talk({ server }: Place): Promise<void> {
  await using remote = await connect(server.url, { token: server.token ?? '', connectTimeoutMs: PATIENCE_MS });
  const session = await remote.open('bot');
  for (let n = 0; n < 2; n++) expectReason(await say(session, 'hello'), 'completed');
  await session[Symbol.asyncDispose]();
}

/** A socket that is cut in the midst of a stream; the client comes back, and leaves without a word. */
async function cut({ server }: Place): Promise<void> {
  const network = flaky([9]);
  const options = {
    token: server.token ?? '',
    connectTimeoutMs: PATIENCE_MS,
    WebSocket: network.WebSocket,
    minBackoffMs: 1,
    maxBackoffMs: 10,
  };
  await using remote = await connect(server.url, options);
  const session = await remote.open('bot');
  expectReason(await say(session, 'hello'), 'completed');
}

/** Somebody watches approvals, and a question that another one answers, or that is deleted with its session. */
async function ask({ server, host }: Place, isAnswered: boolean): Promise<void> {
  await using remote = await connect(server.url, { token: server.token ?? '', connectTimeoutMs: PATIENCE_MS });
  void remote.approvals.watch().next();
  const session = await remote.open('bot');
  expectReason(await say(session, 'call pay'), 'input_required');
  const [question] = await session.pending();
  if (isAnswered && question) {
    await session.respond(question.requestId, { kind: 'approve' });
    for await (const _ of session.stream({ kind: 'continue' }));
  }
  await session[Symbol.asyncDispose]();
  const { id } = session;
  // Whoever opens a session closes it, also where something fails in between: else the harness is the leak.
  await (await host.open('bot', { sessionId: id }))[Symbol.asyncDispose]();
  await host.sessions().delete(id);
}

/** A sub-agent that asks; its caller is aborted, or deleted with all that it has called. */
async function delegate({ host }: Place, isAborted: boolean): Promise<void> {
  const session = await host.open('bot');
  try {
    expectReason(await say(session, 'call clerk'), 'input_required');
    if (isAborted) await session.abort();
  } finally {
    await session[Symbol.asyncDispose]();
    await host.sessions().delete(session.id);
  }
}

/** A process of its own. */
async function child({ host }: Place): Promise<void> {
  await using session = await host.open('child');
  expectReason(await say(session, 'hello'), 'completed');
}

/** A server between. */
async function through({ front }: Place): Promise<void> {
  await using remote = await connect(front.url, { token: front.token ?? '', connectTimeoutMs: PATIENCE_MS });
  const session = await remote.open('clerk');
  expectReason(await say(session, 'hello'), 'completed');
  await session[Symbol.asyncDispose]();
}

/** An MCP client of 2025 that ends its session, or vanishes at a question. */
async function tool({ mcpUrl }: Place, vanishes: boolean): Promise<void> {
  const post = (body: object, session?: string, signal?: AbortSignal) =>
    fetch(mcpUrl, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      ...(signal ? { signal } : {}),
    });
  const clientInfo = { name: 'soak', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: { elicitation: {} }, clientInfo };
  const opened = await post({ id: 1, method: 'initialize', params });
  await opened.text();
  const id = opened.headers.get('mcp-session-id') ?? '';
  await (await post({ method: 'notifications/initialized' }, id)).text();
  const prompt = vanishes ? 'call pay' : 'hello';
  const gone = new AbortController();
  const call = await post(
    { id: 2, method: 'tools/call', params: { name: 'bot', arguments: { prompt } } },
    id,
    gone.signal,
  );
  if (vanishes) {
    await call.body?.getReader().read();
    gone.abort();
    return;
  }
  await call.text();
  await (await fetch(mcpUrl, { method: 'DELETE', headers: { 'mcp-session-id': id } })).text();
}

/** What clients do, one of each. */
export const parts: Record<string, (place: Place, n: number) => Promise<void>> = {
  talk,
  cut,
  ask: (place, n) => ask(place, n % 2 === 0),
  delegate: (place, n) => delegate(place, n % 2 === 0),
  through,
  tool: (place, n) => tool(place, n % 8 === 1),
  // A process of its own costs as much as all others.
  child: async (place, n) => (n % 8 === 0 ? child(place) : undefined),
};

/** What failed is told and goes on: a connection that is lost on a busy machine is no leak. */
export async function round(place: Place, n: number, failed: (part: string, error: unknown) => void): Promise<void> {
  const work = Object.entries(parts).map(([part, run]) => run(place, n).catch((error: unknown) => failed(part, error)));
  await Promise.all(work);
}
