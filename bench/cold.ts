// A fresh process from before the import to the end of the first turn: `node bench/cold.ts session|hosted|floor text|call`.
// No static import but types: everything that is loaded counts.
import type { Subject } from './result.ts';

const start = performance.now();
const [subject, kind = 'text'] = process.argv.slice(2);
await (subject === 'floor' ? bare() : first(subject as Subject));
const ms = performance.now() - start;
console.log(JSON.stringify({ ms, mb: process.resourceUsage().maxRSS / 1024 }));

async function first(subject: Subject): Promise<void> {
  const { firstTurn } = await import('./first-turn.ts');
  await firstTurn(subject, kind);
}

async function* words(): AsyncGenerator<string> {
  yield 'one ';
  yield 'two';
}

async function bare(): Promise<void> {
  const log: unknown[] = [];
  for await (const word of words()) log.push(word);
}
