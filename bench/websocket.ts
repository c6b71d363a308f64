/**
 * `node bench/websocket.ts [--json]`: sessions over WebSocket beside the bare `ws` on the same loopback.
 *
 * Throughput and latency of 200-byte event frames, and what 2,000 sessions that stream at once cost beside 20.
 * Clients and server share one process, as both sides do for the bare floor.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import WebSocket, { WebSocketServer } from 'ws';
import type { AgentEvent, AgentSession, AgentSource } from '../src/contracts/index.ts';
import { serveExecutor } from '../src/host/websocket/index.ts';
import { agentStream } from '../src/session/index.ts';
import { median } from './measure.ts';

const FRAMES = 20_000;
const ROUNDS = 5;
const PINGS = 500;
const descriptor = {
  name: 'bot',
  description: 'x',
  executor: 'bench',
  inputSchema: {},
  capabilities: [],
  ownTools: [],
  requiredTools: [],
  subAgents: [],
};

/** An event whose frame has about 200 bytes of its own. */
const eventOf = (sessionId: string, streamId: string, n: number): AgentEvent =>
  ({
    id: `m~${n}`,
    type: 'message',
    timestamp: '2026-01-01T00:00:00.000Z',
    sessionId,
    streamId,
    role: 'agent',
    content: [{ type: 'text', text: 'abcdefghij' }],
    partial: true,
  }) as AgentEvent;

/** A session that says so many deltas, one after the other or one at a time. */
function talker(id: string, count: () => number, turn: () => Promise<void> | undefined): AgentSession {
  const none = async function* () {};
  return {
    id,
    descriptor: descriptor as never,
    stream: (_input, options = {}) =>
      agentStream(
        async function* () {
          const streamId = options.streamId ?? '';
          const total = count();
          for (let n = 0; n < total; n++) {
            const wait = turn();
            if (wait) await wait;
            yield eventOf(id, streamId, n);
          }
          yield {
            id: `end-${streamId}`,
            type: 'stream_end',
            timestamp: '2026-01-01T00:00:00.000Z',
            sessionId: id,
            streamId,
            reason: 'completed',
            data: {},
          } as AgentEvent;
        },
        { streamId: options.streamId ?? '' },
      ),
    respond: async () => ({ status: 'settled' }),
    steer: async () => ({ steerId: '', disposition: 'next_turn' }),
    update: async () => ({ effective: 'next_step' }),
    abort: async () => {},
    // Nothing of it is durable; the log is quiet until it is left.
    events: ({ live } = {}) => (live ? quiet() : none()),
    pending: async () => [],
    [Symbol.asyncDispose]: async () => {},
  };
}

function quiet(): AsyncIterable<AgentEvent> {
  const { promise, resolve } = Promise.withResolvers<IteratorResult<AgentEvent>>();
  const over = { value: undefined, done: true } as const;
  const leave = async () => {
    resolve(over);
    return over;
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => promise, return: leave }) };
}

/** A client that counts: it takes frames as text and acknowledges now and then, as ours does. */
class Counter {
  readonly ws: WebSocket;
  frames = 0;
  readonly #answers = new Map<number, (result: never) => void>();
  #id = 0;
  onFrame: (frame: { params: { offset: number; sessionId: string; epoch: string; event: { type: string } } }) => void =
    () => {};

  constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.method === 'session/event') {
        this.frames++;
        const { sessionId, epoch, offset } = message.params;
        if (offset % 64 === 0) this.notify('session/ack', { sessionId, epoch, offset });
        this.onFrame(message);
      } else if (message.id !== undefined) this.#answers.get(message.id)?.(message.result as never);
    });
  }

  static async open(url: string, token: string): Promise<Counter> {
    const ws = new WebSocket(url, ['coxswain.v1'], {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    });
    await new Promise((resolve) => ws.once('open', resolve));
    const counter = new Counter(ws);
    await counter.ask('initialize', { protocolVersion: '1' });
    return counter;
  }

  notify(method: string, params: object): void {
    this.ws.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  ask(method: string, params: object): Promise<Record<string, string>> {
    return new Promise((resolve) => {
      const id = ++this.#id;
      this.#answers.set(id, resolve as never);
      this.ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }
}

let count = FRAMES;
let turn: () => Promise<void> | undefined = () => undefined;
let serial = 0;
const source: AgentSource = {
  descriptor: descriptor as never,
  open: async (ref) =>
    talker(
      ref.sessionId ?? `s${serial++}`,
      () => count,
      () => turn(),
    ),
};
const limits = { messagesPerSecond: 1e6, maxSessions: 10_000, maxSessionsPerPrincipal: 10_000, maxRequests: 10_000 };
const server = await serveExecutor({ app: 'bench', agents: [source] }, { limits });
const client = await Counter.open(server.url, server.token ?? '');

async function streamed(opened: Record<string, string>): Promise<number> {
  const { sessionId, fencingToken } = opened;
  const ended = Promise.withResolvers<void>();
  client.onFrame = ({ params }) => {
    if (params.event.type === 'stream_end') ended.resolve();
  };
  const from = performance.now();
  void client.ask('session/stream', { sessionId, fencingToken, streamId: crypto.randomUUID(), input: 'go' });
  await ended.promise;
  return performance.now() - from;
}

// The floor: the same frames, made and parsed, over the bare library.
const http = createServer();
const bare = new WebSocketServer({ server: http, perMessageDeflate: false });
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
bare.on('connection', (ws) => {
  ws.on('message', (data) => {
    const total = Number(data);
    void (async () => {
      for (let n = 0; n < total; n++) {
        ws.send(
          JSON.stringify({
            jsonrpc: '2.0',
            method: 'session/event',
            params: { sessionId: 's', epoch: 'e', offset: n, event: eventOf('s', 't', n) },
          }),
        );
        // Like any server, it does not fill its socket without end.
        if (ws.bufferedAmount > 256 * 1024) await new Promise<void>((resolve) => setImmediate(resolve));
      }
    })();
  });
});
const plain = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`, { perMessageDeflate: false });
await new Promise((resolve) => plain.once('open', resolve));
async function bareRun(total: number): Promise<number> {
  let seen = 0;
  const done = Promise.withResolvers<void>();
  const look = (data: unknown) => {
    JSON.parse(String(data));
    if (++seen === total) done.resolve();
  };
  plain.on('message', look);
  const from = performance.now();
  plain.send(String(total));
  await done.promise;
  plain.off('message', look);
  return performance.now() - from;
}

const opened = await client.ask('session/open', { agent: 'bot' });
const ours: number[] = [];
const floor: number[] = [];
for (let round = -1; round < ROUNDS; round++) {
  const [one, two] = [await streamed(opened), await bareRun(FRAMES)];
  if (round < 0) continue;
  ours.push(one);
  floor.push(two);
}

// Latency: a frame is asked for once the one before it has come.
let go: () => void = () => {};
const gate = () => new Promise<void>((resolve) => (go = resolve));
async function latency(): Promise<number> {
  count = PINGS;
  turn = gate;
  const times: number[] = [];
  let from = 0;
  const ended = Promise.withResolvers<void>();
  client.onFrame = ({ params }) => {
    if (params.event.type === 'stream_end') return ended.resolve();
    times.push(performance.now() - from);
    setImmediate(() => {
      from = performance.now();
      go();
    });
  };
  const { sessionId, fencingToken } = opened;
  await Promise.race([
    client.ask('session/stream', { sessionId, fencingToken, streamId: crypto.randomUUID(), input: 'go' }),
    new Promise((resolve) => setTimeout(resolve, 20)),
  ]);
  from = performance.now();
  go();
  await ended.promise;
  turn = () => undefined;
  return median(times.slice(20));
}
async function bareLatency(): Promise<number> {
  const times: number[] = [];
  const [peer] = bare.clients;
  for (let n = 0; n < PINGS; n++) {
    const come = new Promise<void>((resolve) => {
      plain.once('message', (data) => {
        JSON.parse(String(data));
        resolve();
      });
    });
    const from = performance.now();
    peer?.send(JSON.stringify({ jsonrpc: '2.0', method: 'session/event', params: { event: eventOf('s', 't', n) } }));
    await come;
    times.push(performance.now() - from);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return median(times.slice(20));
}
const [oneFrame, bareFrame] = [await latency(), await bareLatency()];

/** So many sessions at once, each with as many frames: microseconds for a frame, bytes for a session, frames lost. */
async function crowd(sessions: number, each: number) {
  count = each;
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const all = await Promise.all(Array.from({ length: sessions }, () => client.ask('session/open', { agent: 'bot' })));
  globalThis.gc?.();
  const bytes = (process.memoryUsage().heapUsed - before) / sessions;
  const ended = Promise.withResolvers<void>();
  let left = sessions;
  client.frames = 0;
  client.onFrame = ({ params }) => {
    if (params.event.type === 'stream_end' && --left === 0) ended.resolve();
  };
  const from = performance.now();
  for (const { sessionId, fencingToken } of all) {
    void client.ask('session/stream', { sessionId, fencingToken, streamId: crypto.randomUUID(), input: 'go' });
  }
  await ended.promise;
  const took = performance.now() - from;
  const lost = sessions * (each + 1) - client.frames;
  for (const { sessionId } of all) await client.ask('session/close', { sessionId });
  return { us: (took * 1000) / (sessions * each), bytes, lost };
}
await crowd(20, 2000);
// As many frames as a ring holds, in turn, and the better of two: whatever else the machine does hits both.
const better = (a: Awaited<ReturnType<typeof crowd>>, b: typeof a) => ({
  us: Math.min(a.us, b.us),
  bytes: Math.min(a.bytes, b.bytes),
  lost: a.lost + b.lost,
});
const [few1, many1] = [await crowd(20, 4000), await crowd(2000, 100)];
const [few2, many2] = [await crowd(20, 4000), await crowd(2000, 100)];
const few = better(few1, few2);
const many = better(many1, many2);

const throughput = median(floor) / median(ours);
const rows = [
  [
    'frames a second',
    (FRAMES / median(ours)) * 1000,
    (FRAMES / median(floor)) * 1000,
    throughput,
    throughput >= 0.6,
    '≥ 0.6× bare',
  ],
  ['one frame, µs', oneFrame * 1000, bareFrame * 1000, oneFrame / bareFrame, oneFrame / bareFrame <= 2, '≤ 2× bare'],
  ['frame at 2,000 sessions, µs', many.us, few.us, many.us / few.us, many.us / few.us <= 1.3, '≤ 1.3× that at 20'],
  ['session of 2,000, bytes', many.bytes, few.bytes, many.bytes / few.bytes, true, ''],
  ['frames lost', many.lost, few.lost, 0, many.lost === 0 && few.lost === 0, 'none'],
] as const;
for (const [name, value, beside, ratio, pass, target] of rows) {
  console.log(
    `${pass ? 'ok  ' : 'MISS'} ${name.padEnd(30)} ${value.toFixed(1).padStart(12)} ${beside.toFixed(1).padStart(12)} ${ratio.toFixed(2).padStart(6)}  ${target}`,
  );
}
client.ws.terminate();
plain.terminate();
bare.close();
http.close();
await server.close({ deadlineMs: 0 });
process.exitCode = rows.every(([, , , , pass]) => pass) ? 0 : 1;
