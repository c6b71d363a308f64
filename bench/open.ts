/**
 * `node --expose-gc bench/open.ts [EVENTS]`, default 100,000
 *
 * A stored session of so many events in a SQLite file: opened by a process that reads all of its log, then by one that
 * finds a checkpoint, and what follows. Each in a process of its own. Targets: at the checkpoint at most 150 ms of CPU; again
 * at most 2 ms. The longest piece is the longest time for which the event loop served nobody, other processes included.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSqlite } from '../src/adapters/stores/sqlite.ts';
import type { Model } from '../src/index.ts';
import { allowAll, createHost, LlmAgent } from '../src/index.ts';
import { eventOf } from './log.ts';
import { cpuTime } from './measure.ts';

const BATCH = 1000;
const LIMITS: Readonly<Record<string, number>> = { 'open at a checkpoint': 150, 'open again': 2 };
const key = { app: 'open', userId: 'local', id: 's' };
const [given = '100000', file, how] = process.argv.slice(2);
const count = Number(given);

if (file) await look(file, how === 'whole');
else {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-open-'));
  try {
    const path = join(folder, 'log.db');
    await write(path);
    for (const kind of ['first', 'none', 'whole']) {
      const args = ['--expose-gc', import.meta.filename, given, path, kind];
      const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
      if (status !== 0) process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function write(path: string): Promise<void> {
  const store = openSqlite(path);
  await store.create(key);
  for (let at = 0; at < count; at += BATCH) {
    const size = Math.min(BATCH, count - at);
    await store.append(
      key,
      Array.from({ length: size }, (_, n) => eventOf(at + n)),
    );
  }
  await store.close();
}

async function look(path: string, isWhole: boolean): Promise<void> {
  const store = openSqlite(path);
  const model: Model = {
    name: 'm',
    async *generate() {
      yield { content: { role: 'model', parts: [{ type: 'text', text: 'word' }] }, turnComplete: true };
    },
  };
  const agent = new LlmAgent({ name: 'a', model, ...(isWhole ? {} : { includeContents: 'none' }) });
  const host = createHost({ app: key.app, agents: [agent], policy: allowAll(), store: store });
  const open = () => host.open('a', { sessionId: key.id });
  const isAtCheckpoint = (await store.checkpoints.newest(key)) !== undefined;
  const session = await measure(isAtCheckpoint ? 'open at a checkpoint' : 'open, all of the log', open);
  await measure('open again', open);
  for (const which of ['first', 'second']) {
    await measure(`${which} turn${isWhole ? ', whole history' : ''}`, async () => {
      for await (const event of session.stream('go'))
        if (event.type === 'stream_end' && event.reason !== 'completed') throw new Error(JSON.stringify(event));
    });
  }
  await host.close();
  await store.close();
}

async function measure<T>(what: string, work: () => Promise<T>): Promise<T> {
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  const before = cpuTime();
  const result = await work();
  const [cpu, ms] = [cpuTime() - before, performance.now() - start];
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.disable();
  globalThis.gc?.();
  const mb = (process.memoryUsage().heapUsed - heap) / 1e6;
  const limit = LIMITS[what];
  const verdict = limit === undefined ? '' : `, ≤ ${limit} ms: ${cpu <= limit ? 'met' : 'missed'}`;
  if (limit !== undefined && !(cpu <= limit)) process.exitCode = 1;
  console.log(
    `${what.padEnd(28)} ${cpu.toFixed(1).padStart(8)} ms CPU, ${ms.toFixed(1).padStart(8)} ms, ` +
      `longest piece ${(delay.max / 1e6).toFixed(1).padStart(6)} ms, heap +${mb.toFixed(1)} MB${verdict}`,
  );
  return result;
}
