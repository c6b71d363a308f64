/**
 * `node bench/growth.ts [--sizes 1250,2500,5000,10000] [--kinds events,fork,memfork,turns,sessions,observers,tools,provided,host,…]`
 *
 * What events, turns, sessions, observers and tools cost while their number grows, and one answer of a model with many
 * calls (`host`, `sqlite`, `agent`, `deny`, `ask`): CPU seconds and seconds in all, the longest piece for which the event
 * loop served nobody else, and the exponent with which the CPU time grows (1: in proportion). Each size in a process of
 * its own. An answer of 10,000 calls, or a fork of 100,000 events, is played once more, and what the main thread computes at most between two rounds of
 * the loop is said, whatever else the machine does. Ends with 1 where one of these is above its limit.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { ContentPart, Model, SessionService } from '../src/index.ts';
import { allowAll, createHost, defineTool, LlmAgent } from '../src/index.ts';
import { growing } from './growing.ts';
import { cpuTime, mainCpuTime } from './measure.ts';

/** Exponent of growth that passes. */
const LIMIT = 1.1;

/** An answer of so many calls: CPU milliseconds of a piece, and seconds in all, that pass. */
const LARGE = { calls: 10_000, pieceMs: 20, seconds: 5 };

const kinds = ['host', 'sqlite', 'agent', 'deny', 'ask'] as const;
type Kind = (typeof kinds)[number];

interface Figures {
  cpu: number;
  seconds: number;
  longestMs: number;
  /** CPU of the main thread; absent: not looked at. */
  pieceMs?: number;
  mb: number;
}

const { values } = parseArgs({
  options: {
    sizes: { type: 'string' },
    kinds: { type: 'string', default: [...Object.keys(growing), ...kinds].join() },
    one: { type: 'string' },
  },
});

if (values.one) {
  const [kind, size] = values.one.split(':');
  console.log(JSON.stringify(await measure(kind ?? '', Number(size))));
} else {
  for (const kind of values.kinds.split(',')) {
    const { sizes: usual = [1250, 2500, 5000, 10000], unit = 'calls of one answer' } = growing[kind] ?? {};
    console.log(`${kind}: ${unit}`);
    const points: [number, number][] = [];
    for (const size of values.sizes?.split(',').map(Number) ?? usual) {
      const { cpu, seconds, longestMs, pieceMs, mb } = child(kind, size);
      points.push([size, cpu]);
      console.log(
        `${kind.padEnd(9)} ${String(size).padStart(6)} ${cpu.toFixed(2).padStart(7)} s CPU, ${((cpu / size) * 1e6).toFixed(0).padStart(6)} µs each, ` +
          `${seconds.toFixed(2).padStart(7)} s, longest piece ${longestMs.toFixed(0).padStart(6)} ms, ${mb.toFixed(0)} MB`,
      );
      if (pieceMs === undefined) continue;
      judge(kind, 'longest piece, CPU ms', pieceMs, growing[kind]?.pieceMs ?? LARGE.pieceMs);
      if (!growing[kind]) judge(kind, 'in all, s', seconds, LARGE.seconds);
    }
    if (points.length < 2) continue;
    judge(kind, 'grows with the power', exponent(points), LIMIT);
  }
}

function judge(kind: string, what: string, value: number, limit: number): void {
  const isMet = value <= limit;
  if (!isMet) process.exitCode = 1;
  console.log(`${kind.padEnd(9)} ${what} ${value.toFixed(2)}, ≤ ${limit}: ${isMet ? 'met' : 'missed'}`);
}

function child(kind: string, size: number): Figures {
  const { stdout } = spawnSync(process.execPath, [import.meta.filename, '--one', `${kind}:${size}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(stdout) as Figures;
}

async function measure(kind: string, size: number): Promise<Figures> {
  const own = growing[kind];
  const run = own?.run ?? ((n: number) => turn(kind as Kind, n));
  const prepare = own?.prepare ?? (async (n: number) => ({ run: () => run(n), end: async () => {} }));
  // Code that is not compiled yet would count as growth.
  const first = await prepare(own ? (own.sizes[0] ?? size) : 300);
  await first.run();
  await first.end();
  const work = await prepare(size);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  const before = cpuTime();
  await work.run();
  const cpu = (cpuTime() - before) / 1000;
  const seconds = (performance.now() - start) / 1000;
  // What has just been awaited counts with what it has held up.
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.disable();
  await work.end();
  const figures = { cpu, seconds, longestMs: delay.max / 1e6, mb: process.resourceUsage().maxRSS / 1024 };
  const isLooked = own ? own.pieceMs !== undefined && size === own.sizes.at(-1) : size >= LARGE.calls;
  if (!isLooked) return figures;
  const again = await prepare(size);
  const pieceMs = await longestPiece(again.run);
  await again.end();
  return { ...figures, pieceMs };
}

/** What the main thread computes at most, in CPU milliseconds, between two rounds of the event loop. */
async function longestPiece(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let last = mainCpuTime();
  const round = () => {
    const now = mainCpuTime();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(round);
  };
  setImmediate(round);
  await work();
  isOver = true;
  await new Promise((resolve) => setImmediate(resolve));
  return longest;
}

async function turn(kind: Kind, size: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-growth-'));
  let sessions: SessionService | undefined;
  if (kind === 'sqlite') {
    const { openSqlite } = await import('../src/adapters/stores/sql/open-sqlite.ts');
    sessions = openSqlite(join(folder, 'log.db'));
  }
  try {
    const tool = defineTool({ name: 't', description: '', inputSchema: { type: 'object' }, execute: () => 1 });
    const agent = new LlmAgent({ name: 'a', model: caller(size), ...(kind === 'agent' ? { tools: [tool] } : {}) });
    const host = createHost({
      app: 'growth',
      agents: [agent],
      tools: kind === 'agent' ? [] : [tool],
      policy: kind === 'deny' || kind === 'ask' ? { evaluate: () => ({ outcome: kind }) } : allowAll(),
      answerLimits: { calls: size },
      ...(sessions ? { store: sessions } : {}),
    });
    let answered = 0;
    let reason: unknown;
    for await (const event of (await host.open('a')).stream('go')) {
      if (event.type === 'tool_response') answered++;
      if (event.type === 'stream_end') reason = event.reason;
    }
    const isRight = kind === 'ask' ? reason === 'input_required' : answered === size && reason === 'completed';
    if (!isRight) throw new Error(`${answered} of ${size} calls were answered; the turn ended ${reason}`);
    await host.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function caller(size: number): Model {
  let asked = 0;
  return {
    name: 'caller',
    async *generate() {
      const calls = Array.from(
        { length: size },
        (_, k): ContentPart => ({ type: 'function_call', id: '', name: 't', args: { k } }),
      );
      const parts: ContentPart[] = asked++ === 0 ? calls : [{ type: 'text', text: 'done' }];
      yield { content: { role: 'model', parts }, turnComplete: true };
    },
  };
}

/** Slope of a line through the logarithms. */
function exponent(points: readonly (readonly [number, number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const mean = (k: 0 | 1) => logs.reduce((sum, log) => sum + log[k], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const sum = (f: (log: readonly [number, number]) => number) => logs.reduce((all, log) => all + f(log), 0);
  return sum(([a, b]) => (a - x) * (b - y)) / sum(([a]) => (a - x) ** 2);
}
