/**
 * `node bench/busy.ts [--sessions 100] [--steps 10]`
 *
 * Hosted sessions whose host runs a tool in each step, all at once, beside something else that holds the event loop for
 * a while in each of its turns. What the sessions take without that time is held against what they take alone: at most
 * 1.5 times as much. Each case in a process of its own.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import type { ContentPart, Model } from '../src/index.ts';
import { allowAll, createHost, defineTool, LlmAgent } from '../src/index.ts';

/** Milliseconds of each turn of the loop. */
const BUSY = [0, 1, 5, 20];
const ROUNDS = 5;
const LIMIT = 1.5;

interface Figures {
  ms: number;
  turns: number;
  /** Milliseconds for which the other work held the loop. */
  others: number;
}

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '100' },
    steps: { type: 'string', default: '10' },
    one: { type: 'string' },
  },
});
const sessions = Number(values.sessions);
const steps = Number(values.steps);

if (values.one !== undefined) console.log(JSON.stringify(await measure(Number(values.one))));
else {
  const rounds = Array.from({ length: ROUNDS }, () => BUSY.map(child));
  const own = (busy: number) => median(rounds.map((round) => ownOf(round[busy])));
  const alone = own(0);
  let isMissed = false;
  for (const [at, busy] of BUSY.entries()) {
    const wall = median(rounds.map((round) => round[at]?.ms ?? Number.NaN));
    const turns = median(rounds.map((round) => round[at]?.turns ?? Number.NaN));
    const ratio = own(at) / alone;
    if (!(ratio <= LIMIT)) isMissed = true;
    console.log(
      `busy ${String(busy).padStart(2)} ms a turn: ${wall.toFixed(0).padStart(6)} ms in all, ${turns} turns of the loop, ` +
        `${own(at).toFixed(0)} ms without the others, ${ratio.toFixed(2)}×${ratio <= LIMIT ? '' : ' missed'}`,
    );
  }
  if (isMissed) process.exitCode = 1;
}

function ownOf(figures: Figures | undefined): number {
  return figures ? figures.ms - figures.others : Number.NaN;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function child(busy: number): Figures {
  const args = ['--one', String(busy), '--sessions', String(sessions), '--steps', String(steps)];
  const { stdout } = spawnSync(process.execPath, [import.meta.filename, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(stdout) as Figures;
}

async function measure(busy: number): Promise<Figures> {
  const tool = defineTool({ name: 't', description: '', inputSchema: { type: 'object' }, execute: () => 1 });
  const agent = new LlmAgent({ name: 'a', model: caller() });
  const host = createHost({ app: 'busy', agents: [agent], tools: [tool], policy: allowAll() });
  const opened = await Promise.all(Array.from({ length: sessions }, () => host.open('a')));
  const others = { turns: 0, ms: 0, isOver: false };
  const turn = () => {
    if (others.isOver) return;
    others.turns++;
    const start = performance.now();
    while (performance.now() - start < busy);
    others.ms += performance.now() - start;
    setImmediate(turn);
  };
  setImmediate(turn);
  const start = performance.now();
  await Promise.all(
    opened.map(async (session) => {
      for await (const event of session.stream('go')) {
        if (event.type === 'stream_end' && event.reason !== 'completed') throw new Error(JSON.stringify(event));
      }
    }),
  );
  const ms = performance.now() - start;
  others.isOver = true;
  await host.close();
  return { ms, turns: others.turns, others: others.ms };
}

/** Calls the tool in every step but the last; its answer comes with a later turn of the loop, as from a socket. */
function caller(): Model {
  return {
    name: 'caller',
    async *generate({ contents }) {
      await new Promise(setImmediate);
      const made = contents.filter(({ role }) => role === 'model').length;
      const part: ContentPart =
        made < steps
          ? { type: 'function_call', id: `call-${made}`, name: 't', args: {} }
          : { type: 'text', text: 'done' };
      yield { content: { role: 'model', parts: [part] }, turnComplete: true };
    },
  };
}
