/**
 * `node bench/telemetry.ts`: what measuring costs where nobody listens. The cost of one operation that nobody hears,
 * times the operations of a turn, as a share of the turn, on the turns of W1 and W2. Ends with 1 above 3 %.
 */
import { fromAgent, InMemorySessionService, LlmAgent, run } from '../src/index.ts';
import type { Telemetry } from '../src/runtime/index.ts';
import { Operation } from '../src/runtime/index.ts';
import { inTurn, median } from './measure.ts';
import { caller, talker } from './models.ts';
import { adder } from './tools.ts';

const LIMIT = 0.03;
const ROUNDS = 100_000;
const add = adder(({ a, b }) => a + b);
const turns = {
  W1: () => new LlmAgent({ name: 'agent', model: talker(200) }),
  W2: () => new LlmAgent({ name: 'agent', model: caller({ steps: 20 }), tools: [add] }),
};

/** Nanoseconds of an operation that nobody hears. */
function unheard(): number {
  const attributes = { 'gen_ai.operation.name': 'chat' };
  let heard = 0;
  const start = performance.now();
  for (let n = 0; n < ROUNDS; n++) {
    const operation = Operation.start('llm', 'chat model', undefined, undefined, () => attributes);
    if (operation) heard++;
    operation?.end();
  }
  const time = performance.now() - start;
  if (heard > 0) throw new Error('somebody listens');
  return (time * 1e6) / ROUNDS;
}

async function turn(agent: LlmAgent, telemetry?: Telemetry): Promise<number> {
  const sessions = new InMemorySessionService();
  const session = await fromAgent(agent, { store: sessions, ...(telemetry ? { telemetry } : {}) }).open(
    {},
    { app: 'bench' },
  );
  const start = performance.now();
  await run(session, 'go');
  return performance.now() - start;
}

let worst = 0;
const nanoseconds = median(Array.from({ length: 21 }, unheard));
for (const [name, make] of Object.entries(turns)) {
  let operations = 0;
  const counting: Telemetry = {
    startSpan() {
      operations++;
      return { end() {} };
    },
  };
  await turn(make(), counting);
  const { milliseconds } = await inTurn({ warmUp: 100, iterations: 300 }, { milliseconds: () => turn(make()) });
  const share = (operations * nanoseconds) / (milliseconds * 1e6);
  worst = Math.max(worst, share);
  const cost = `${operations} operations × ${nanoseconds.toFixed(1)} ns`;
  console.log(`${name}  ${milliseconds.toFixed(3)} ms a turn, ${cost} = ${(share * 100).toFixed(3)} % (limit 3 %)`);
}
process.exitCode = worst > LIMIT ? 1 : 0;
