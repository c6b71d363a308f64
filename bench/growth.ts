/**
 * `node bench/growth.ts [--sizes 1250,2500,5000,10000] [--kinds host,sqlite,agent]`
 *
 * One answer of a model with many calls: seconds in all, the longest piece for which the event loop served nobody
 * else, and the exponent with which the time grows (1: in proportion). Each size in a process of its own.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { ContentPart, Model, SessionService } from '../src/index.ts';
import { allowAll, createHost, defineTool, LlmAgent } from '../src/index.ts';

const kinds = ['host', 'sqlite', 'agent', 'deny', 'ask'] as const;
type Kind = (typeof kinds)[number];

interface Figures {
  seconds: number;
  longestMs: number;
  mb: number;
}

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1250,2500,5000,10000' },
    kinds: { type: 'string', default: kinds.join() },
    one: { type: 'string' },
  },
});

if (values.one) {
  const [kind, size] = values.one.split(':');
  console.log(JSON.stringify(await measure(kind as Kind, Number(size))));
} else {
  const sizes = values.sizes.split(',').map(Number);
  for (const kind of values.kinds.split(',')) {
    const points: [number, number][] = [];
    for (const size of sizes) {
      const { seconds, longestMs, mb } = child(kind, size);
      points.push([size, seconds]);
      console.log(
        `${kind.padEnd(7)} ${String(size).padStart(6)} calls ${seconds.toFixed(2).padStart(7)} s, ` +
          `longest piece ${longestMs.toFixed(0).padStart(6)} ms, ${mb.toFixed(0)} MB`,
      );
    }
    if (points.length > 1) console.log(`${kind.padEnd(7)} grows with the power ${exponent(points).toFixed(2)}`);
  }
}

function child(kind: string, size: number): Figures {
  const { stdout } = spawnSync(process.execPath, [import.meta.filename, '--one', `${kind}:${size}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(stdout) as Figures;
}

async function measure(kind: Kind, size: number): Promise<Figures> {
  // Code that is not compiled yet would count as growth.
  await turn(kind, 300);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  await turn(kind, size);
  const seconds = (performance.now() - start) / 1000;
  // What has just been awaited counts with what it has held up.
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.disable();
  return { seconds, longestMs: delay.max / 1e6, mb: process.resourceUsage().maxRSS / 1024 };
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
      policy:
        kind === 'deny' || kind === 'ask'
          ? { evaluate: () => ({ outcome: kind === 'ask' ? 'ask_user' : kind }) }
          : allowAll(),
      answerLimits: { calls: size },
      ...(sessions ? { sessions } : {}),
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
