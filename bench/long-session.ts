/**
 * `node bench/long-session.ts [--turns 5000] [--window 8000]`
 *
 * One session of so many turns, whose history is compacted and whose log lies in a file of SQLite: what a turn costs at the beginning and at the
 * end, in CPU time and memory, with the exponents by which both grow with the number of turns (1: each turn costs the same). Ends
 * with 1 where one of these is above its limit.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openSqlite } from '../src/adapters/stores/sqlite.ts';
import type { Model } from '../src/index.ts';
import { allowAll, createHost, defineTool, LlmAgent } from '../src/index.ts';
import { cpuTime } from './measure.ts';

/** Exponent of growth that passes. */
const LIMIT = 1.1;
/** Turns before the first that counts: code that is not compiled yet would count as growth. */
const WARM_UP = 300;

const { values } = parseArgs({
  options: { turns: { type: 'string', default: '5000' }, window: { type: 'string', default: '8000' } },
});
const [turns, window] = [Number(values.turns), Number(values.window)];

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let largest = 0;
let summaries = 0;

/** Calls a tool, then answers; counts four characters as a token. */
const model: Model = {
  name: 'counting',
  async *generate({ contents, purpose }) {
    const inputTokens = Math.ceil(JSON.stringify(contents).length / 4);
    largest = Math.max(largest, inputTokens);
    const usage = { inputTokens, outputTokens: 50 };
    if (purpose === 'compaction') {
      summaries++;
      yield {
        content: { role: 'model', parts: [{ type: 'text', text: 'They went on.' }] },
        finishReason: 'stop',
        usage,
      };
      return;
    }
    const isAnswered = contents.at(-1)?.parts.some(({ type }) => type === 'function_response');
    const text = { type: 'text' as const, text: 'An answer of some words. '.repeat(8) };
    const call = { type: 'function_call' as const, id: '', name: 'look', args: {} };
    yield {
      content: { role: 'model', parts: isAnswered ? [text] : [call] },
      finishReason: isAnswered ? 'stop' : 'tool_calls',
      usage,
    };
  },
};
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
  execute: () => 'A result of some words. '.repeat(60),
});

const folder = mkdtempSync(join(tmpdir(), 'coxswain-session-'));
const store = openSqlite(join(folder, 'log.db'));
const agent = new LlmAgent({ name: 'a', model, tools: [look], compaction: { window } });
const host = createHost({ app: 'long', agents: [agent], store, policy: allowAll() });

async function play(session: Awaited<ReturnType<typeof host.open>>, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    for await (const event of session.stream('And now?')) {
      if (event.type === 'stream_end' && event.reason !== 'completed') throw new Error(JSON.stringify(event));
    }
  }
}

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed / 1024;
}

await play(await host.open('a'), WARM_UP);
const session = await host.open('a');
const marks = [1 / 8, 1 / 4, 1 / 2, 1].map((share) => Math.round(turns * share));
const [cpus, heaps]: [number[][], number[][]] = [[], []];
const base = heap();
let [done, cpu] = [0, 0];
for (const mark of marks) {
  const [from, before] = [done, cpuTime()];
  await play(session, mark - done);
  const spent = cpuTime() - before;
  [done, cpu] = [mark, cpu + spent];
  const held = heap() - base;
  cpus.push([done, cpu]);
  heaps.push([done, held]);
  console.log(
    `turns ${String(from + 1).padStart(5)} to ${String(done).padStart(5)}: ${(spent / (done - from)).toFixed(2)} ms CPU each; ${(held / done).toFixed(1)} KiB of heap for each turn so far`,
  );
}
await host.close();
await store.close();
rmSync(folder, { recursive: true, force: true });
console.log(`largest request ${largest} tokens in a window of ${window}; ${summaries} summaries`);
judge('CPU time grows with the power', exponent(cpus));
judge('memory grows with the power', exponent(heaps));

function judge(what: string, value: number): void {
  const isMet = value <= LIMIT;
  if (!isMet) process.exitCode = 1;
  console.log(`${what} ${value.toFixed(2)}, ≤ ${LIMIT}: ${isMet ? 'met' : 'missed'}`);
}

/** Slope of a line through the logarithms. */
function exponent(points: readonly (readonly number[])[]): number {
  const logs = points.map(([x = 1, y = 1]) => [Math.log(x), Math.log(Math.max(1, y))] as const);
  const mean = (k: 0 | 1) => logs.reduce((sum, log) => sum + log[k], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const sum = (f: (log: readonly [number, number]) => number) => logs.reduce((all, log) => all + f(log), 0);
  return sum(([a, b]) => (a - x) * (b - y)) / sum(([a]) => (a - x) ** 2);
}
