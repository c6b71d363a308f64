/**
 * `node bench/http.ts`: events of a session as an event stream, beside a bare handler of `node:http` that writes the same
 * bytes. Readers and servers share one process, and read both in the same way: every event is parsed.
 */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentEvent, AgentSession, AgentSource } from '../src/contracts/index.ts';
import { serveExecutor } from '../src/host/websocket/index.ts';
import { agentStream } from '../src/session/index.ts';
import { median } from './measure.ts';

const EVENTS = 20_000;
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

/** An event of about 200 bytes. */
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
const endOf = (sessionId: string, streamId: string): AgentEvent =>
  ({
    id: `end-${streamId}`,
    type: 'stream_end',
    timestamp: '2026-01-01T00:00:00.000Z',
    sessionId,
    streamId,
    reason: 'completed',
    data: {},
  }) as AgentEvent;

let count = EVENTS;
/** As events of a model come: so many at once, then the next turn of the event loop. */
const AT_ONCE = 64;
const asModelsDo = (n: number): Promise<void> | undefined =>
  n % AT_ONCE === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined;
let turn: (n: number) => Promise<void> | undefined = asModelsDo;

/** A session that says so many deltas; nothing of it is durable, and its log is quiet until it is left. */
function talker(id: string): AgentSession {
  return {
    id,
    descriptor: descriptor as never,
    stream: (_input, options = {}) =>
      agentStream(
        async function* () {
          const streamId = options.streamId ?? '';
          for (let n = 0; n < count; n++) {
            const wait = turn(n);
            if (wait) await wait;
            yield eventOf(id, streamId, n);
          }
          yield endOf(id, streamId);
        },
        { streamId: options.streamId ?? '' },
      ),
    respond: async () => ({ status: 'settled' }),
    steer: async () => ({ steerId: '', disposition: 'next_turn' }),
    update: async () => ({ effective: 'next_step' }),
    abort: async () => {},
    events: ({ live } = {}) => (live ? quiet() : (async function* () {})()),
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

const source: AgentSource = { descriptor: descriptor as never, open: async ({ sessionId = 's' }) => talker(sessionId) };
const server = await serveExecutor(
  { app: 'bench', agents: [source] },
  { http: true, limits: { messagesPerSecond: 1e6 } },
);
const path = '/v1/agents/bot/sessions/s';
const authorization = `Bearer ${server.token ?? ''}`;

const epoch = crypto.randomUUID();
const bare = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  void (async () => {
    for (let n = 0; n < count; n++) {
      const wait = turn(n);
      if (wait) await wait;
      const text = `id: ~${epoch}~${n}\ndata: ${JSON.stringify(eventOf('s', 't', n))}\n\n`;
      if (!response.write(text)) await once(response, 'drain');
    }
    response.end(`data: ${JSON.stringify(endOf('s', 't'))}\n\n`);
  })();
});
bare.listen(0, '127.0.0.1');
await once(bare, 'listening');

/** Reads an event stream to its end. */
function read(port: number, onEvent: (event: AgentEvent) => void = () => {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { authorization, 'content-type': 'application/json', accept: 'text/event-stream' };
  const made = request({ port, host: '127.0.0.1', method: 'POST', path: `${path}/messages`, headers }, (response) => {
    let text = '';
    let seen = 0;
    response.setEncoding('utf8');
    response.on('data', (piece: string) => {
      text += piece;
      let from = 0;
      for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n', from)) {
        const data = text.indexOf('data: ', from);
        if (data >= 0 && data < at) {
          seen++;
          onEvent(JSON.parse(text.slice(data + 6, at)));
        }
        from = at + 2;
      }
      text = text.slice(from);
    });
    response.on('end', () => resolve(seen));
  });
  made.on('error', reject);
  made.end(JSON.stringify({ input: 'go' }));
  return promise;
}

async function timed(port: number): Promise<number> {
  const from = performance.now();
  const cpu = process.cpuUsage();
  const seen = await read(port);
  // What is not sent costs nothing.
  if (seen !== count + 1) throw new Error(`${seen} of ${count + 1} events came`);
  const { user, system } = process.cpuUsage(cpu);
  cpuOf.set(port, [...(cpuOf.get(port) ?? []), (user + system) / 1000]);
  return performance.now() - from;
}
const cpuOf = new Map<number, number[]>();

const { port } = bare.address() as AddressInfo;
const ours: number[] = [];
const floor: number[] = [];
for (let round = -1; round < ROUNDS; round++) {
  const [one, two] = [await timed(server.port), await timed(port)];
  if (round < 0) continue;
  ours.push(one);
  floor.push(two);
}

/** An event is asked for once the one before it has come. */
async function latency(of: number): Promise<number> {
  let go: () => void = () => {};
  count = PINGS;
  turn = () => new Promise<void>((resolve) => (go = resolve));
  const times: number[] = [];
  let from = performance.now();
  const next = () => {
    from = performance.now();
    go();
  };
  const ended = read(of, ({ type }) => {
    if (type === 'stream_end') return;
    times.push(performance.now() - from);
    setImmediate(next);
  });
  const first = setInterval(() => times.length === 0 && next(), 5);
  await ended;
  clearInterval(first);
  turn = asModelsDo;
  return median(times.slice(20));
}
const [oneEvent, bareEvent] = [await latency(server.port), await latency(port)];

const throughput = median(floor) / median(ours);
const cpuMs = (of: number) => median((cpuOf.get(of) ?? []).slice(1));
const cpu = cpuMs(port) / cpuMs(server.port);
const rows = [
  [
    'events a second',
    (EVENTS / median(ours)) * 1000,
    (EVENTS / median(floor)) * 1000,
    throughput,
    throughput >= 0.6,
    '≥ 0.6× bare',
  ],
  ['CPU of all threads, ms', cpuMs(server.port), cpuMs(port), cpu, true, 'bare ÷ ours'],
  ['one event, µs', oneEvent * 1000, bareEvent * 1000, oneEvent / bareEvent, oneEvent / bareEvent <= 2, '≤ 2× bare'],
] as const;
for (const [name, value, beside, ratio, pass, target] of rows) {
  console.log(
    `${pass ? 'ok  ' : 'MISS'} ${name.padEnd(30)} ${value.toFixed(1).padStart(12)} ${beside.toFixed(1).padStart(12)} ${ratio.toFixed(2).padStart(6)}  ${target}`,
  );
}
bare.close();
bare.closeAllConnections();
await server.close({ deadlineMs: 0 });
process.exitCode = rows.every(([, , , , pass]) => pass) ? 0 : 1;
