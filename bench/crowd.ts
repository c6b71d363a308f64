// Many sessions at once in a process of its own: `node bench/crowd.ts session|hosted|floor`.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Model, ModelResponse } from '../src/index.ts';
import { DELTAS, SESSIONS } from './crowd-size.ts';
import type { Subject } from './result.ts';

const whole: ModelResponse = {
  content: { role: 'model', parts: [{ type: 'text', text: 'word '.repeat(DELTAS) }] },
  turnComplete: true,
};
const model: Model = {
  name: 'slow talker',
  async *generate() {
    for (let n = 0; n < DELTAS; n++) {
      await sleep(1);
      yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'word ' }] } };
    }
    yield whole;
  },
};

const [subject] = process.argv.slice(2);
const one = await (subject === 'floor' ? bare() : full(subject as Subject));
const start = performance.now();
await Promise.all(Array.from({ length: SESSIONS }, one));
const ms = performance.now() - start;
console.log(JSON.stringify({ ms, mb: process.resourceUsage().maxRSS / 1024 }));

// Imported on demand, so that the floor's process is as small as it can be.

async function full(subject: Subject): Promise<() => Promise<void>> {
  const { play, sessionsOf } = await import('./subjects.ts');
  const sessions = sessionsOf(subject, { model });
  return async () => play(await sessions.open(), 'go');
}

async function bare(): Promise<() => Promise<void>> {
  const { bareTurn } = await import('./floor.ts');
  return () => bareTurn(model, []);
}
