/**
 * `node bench/long-run.ts [--steps 2000] [--result 1000000] [--window 32000] [--cap 65536 | --cap 0] [--plain 20]`
 *
 * One turn of so many steps with results of so many characters, against a model server on this machine that counts tokens and refuses
 * what is above its window: the turn has to come to its end. Beside it what the same turn costs without compaction in a window without
 * end, whose requests grow by the same with each step: the first `--plain` steps are run and the rest is added up. `--cap` bounds what of a
 * result stays in the log, in bytes; 0: as a host has it by default. Ends with 1 where the turn does not end well.
 */
import { parseArgs } from 'node:util';
import type { LongTurnFigures } from './long/long-turn.ts';
import { longTurn } from './long/long-turn.ts';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '2000' },
    result: { type: 'string', default: '1000000' },
    window: { type: 'string', default: '32000' },
    cap: { type: 'string', default: '65536' },
    plain: { type: 'string', default: '20' },
  },
});
const [steps, result, window, cap, plain] = [values.steps, values.result, values.window, values.cap, values.plain].map(
  Number,
) as [number, number, number, number, number];

const bound = cap > 0 ? { cap } : {};
const short = await longTurn({ steps, result, window, ...bound, isCompacted: true });
show(`compacted, window ${window}`, short);
console.log(
  `  ${short.compactions} compactions, ${short.server.summaries} summaries, ${short.server.refused} requests refused as too long, the largest of ${short.server.largest} tokens; ` +
    `${short.fetched} results, ${short.readAgain} read again; ${((process.resourceUsage().maxRSS ?? 0) / 1024).toFixed(0)} MB`,
);
const whole = await longTurn({
  steps: Math.min(plain, steps),
  result,
  window: Number.MAX_SAFE_INTEGER,
  ...bound,
  isCompacted: false,
});
const tokens = addedUp(whole.server.steps, steps);
console.log(`without compaction, any window: ${millions(tokens)} input tokens in ${steps} steps (${plain} were run)`);
console.log(`compaction sends ${(tokens / short.server.inputTokens).toFixed(1)} times fewer`);
const isWell = short.reason === 'completed' && short.fetched + short.readAgain === steps;
console.log(`ends well: ${isWell ? 'met' : `missed (${short.reason}, ${short.error ?? 'no error'})`}`);
if (!isWell) process.exitCode = 1;

function show(what: string, { server, seconds }: LongTurnFigures): void {
  const cached = ((100 * server.cachedTokens) / Math.max(1, server.inputTokens)).toFixed(0);
  console.log(
    `${what}: ${millions(server.inputTokens)} input tokens, ${cached} % of them as the request before began; ${server.requests} requests in ${seconds.toFixed(1)} s`,
  );
}

function millions(count: number): string {
  return `${(count / 1e6).toFixed(2)} M`;
}

/** Each request is longer than the one before by the same. */
function addedUp(some: readonly number[], all: number): number {
  const [first = 0, last = 0] = [some[0], some.at(-1)];
  const more = some.length > 1 ? (last - first) / (some.length - 1) : 0;
  return (all + 1) * first + (more * all * (all + 1)) / 2;
}
