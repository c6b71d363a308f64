/**
 * `node bench/crowd-timers.ts [--sessions 2000]`
 *
 * How long a crowd of new sessions, which come all at once, holds up a timer of the same process: started at the pace of a
 * server (`limits.startMs`), as they come over a socket, and all at once, as a program may start them. The CPU time that
 * this process took between two ticks of the timer is held against 20 ms, since on a busy machine others hold it up too. It
 * is that of all threads, of those that collect and compile as well: that of the main thread alone is said beside it. No
 * timer waits for longer than the clock says, though: systems book what other threads take in lumps of some milliseconds.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { StartPace } from '../src/host/connection/stream/start-pace.ts';
import type { Model } from '../src/index.ts';
import { allowAll, createHost, LlmAgent } from '../src/index.ts';
import { cpuTime, mainCpuTime } from './measure.ts';

const LIMIT = 20;
const START_MS = 2;

const { values } = parseArgs({ options: { sessions: { type: 'string' } } });
const sessions = Number(values.sessions ?? 2000);

const model: Model = {
  name: 'm',
  async *generate() {
    yield { content: { role: 'model', parts: [{ type: 'text', text: 'word' }] }, turnComplete: true };
  },
};

async function crowd(pace: StartPace | undefined): Promise<Record<'longest' | 'main' | 'late' | 'cpu', number>> {
  const host = createHost({ app: 'crowd', agents: [new LlmAgent({ name: 'a', model })], policy: allowAll() });
  let [longest, main, late] = [0, 0, 0];
  let [cpu, mainCpu, at] = [cpuTime(), mainCpuTime(), performance.now()];
  const timer = setInterval(() => {
    const [nextCpu, nextMain, now] = [cpuTime(), mainCpuTime(), performance.now()];
    longest = Math.max(longest, Math.min(nextCpu - cpu, now - at));
    main = Math.max(main, nextMain - mainCpu);
    late = Math.max(late, now - at - 1);
    [cpu, mainCpu, at] = [nextCpu, nextMain, now];
  }, 1);
  const start = cpuTime();
  await Promise.all(
    Array.from({ length: sessions }, async () => {
      const opening = pace?.enter();
      if (opening) await opening;
      const session = await host.open('a');
      const turn = pace?.enter();
      if (turn) await turn;
      for await (const event of session.stream('go'))
        if (event.type === 'stream_end' && event.reason !== 'completed') throw new Error(JSON.stringify(event));
    }),
  );
  const whole = cpuTime() - start;
  // The tick that has waited for the last of them.
  await new Promise((resolve) => setTimeout(resolve, 5));
  clearInterval(timer);
  await host.close();
  return { longest, main, late, cpu: whole };
}

if (values.sessions === undefined) {
  // Without a crowd: what a start holds up before anything is compiled, in a process of its own.
  spawnSync(process.execPath, [import.meta.filename, '--sessions', '1'], { stdio: 'inherit' });
}
const paces: [string, StartPace | undefined][] = [['at the pace of a server', new StartPace(START_MS)]];
if (sessions > 1) paces.push(['all at once', undefined]);
for (const [name, pace] of paces) {
  const { longest, main, late, cpu } = await crowd(pace);
  const isMet = longest <= LIMIT;
  // What a program does at once is its own choice: it is shown, not judged.
  const verdict = pace ? `, ≤ ${LIMIT} ms: ${isMet ? 'met' : 'missed'}` : '';
  if (pace && !isMet) process.exitCode = 1;
  console.log(
    `${sessions} new sessions ${name.padEnd(24)} ${cpu.toFixed(0).padStart(6)} ms CPU, a timer waited for ` +
      `${longest.toFixed(1)} ms of it at most (main thread ${main.toFixed(1)}; ${late.toFixed(0)} ms late)${verdict}`,
  );
}
