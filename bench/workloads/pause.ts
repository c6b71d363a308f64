import type { AgentSession, ReportedRequest } from '../../src/index.ts';
import { barePause } from '../floor.ts';
import type { Plan } from '../measure.ts';
import { cpuLoop, inTurn, timed, withCpu } from '../measure.ts';
import { caller } from '../models.ts';
import type { Row, Subject } from '../result.ts';
import { row } from '../result.ts';
import { play, sessionsOf } from '../subjects.ts';
import { adder, ask } from '../tools.ts';
import type { Workload } from '../workload.ts';

const add = ({ a, b }: { a: number; b: number }) => a + b;
const EARLIER = 50;

/** Milliseconds of a cycle, without and with earlier turns. */
const LIMITS = {
  cold: { session: { few: 0.5, many: 1 }, hosted: { few: 0.7, many: 1.5 } },
  steady: { session: { few: 0.2, many: 1 }, hosted: { few: 0.3, many: 1.5 } },
} as const;

export const pause: Workload = {
  title: `approval pause, session out to text and back into another store, yes, end; the same after ${EARLIER} turns`,
  plans: { cold: { warmUp: 8, iterations: 40 }, steady: { warmUp: 1000, iterations: 500 } },
  async measure(subject, plan, regime) {
    const long = { warmUp: Math.ceil(plan.warmUp / 8), iterations: Math.ceil(plan.iterations / 8) };
    const { few, many } = LIMITS[regime][subject];
    return [await cycle(subject, plan, 0, few), await cycle(subject, long, EARLIER, many)];
  },
};

async function cycle(subject: Subject, plan: Plan, earlier: number, limit: number): Promise<Row> {
  let calls = caller({ steps: 0 });
  const model = { name: 'caller', generate: (...args: Parameters<typeof calls.generate>) => calls.generate(...args) };
  const sessions = sessionsOf(subject, { model, tools: [adder(add)], policy: ask });
  const stored = new Map<string, string>();
  const turn = withCpu(plan, async () => {
    calls = caller({ steps: 0 });
    const session = await sessions.open();
    for (let n = 0; n < earlier; n++) await play(session, 'go');
    calls = caller({ steps: 1 });
    const start = performance.now();
    await play(session, 'go', 'input_required');
    const text = await sessions.carry(session);
    const again = await sessions.arrive(text);
    await approve(again.session);
    await play(again.session, { kind: 'continue' });
    const time = performance.now() - start;
    await again.discard();
    await sessions.discard(session);
    return time;
  });
  const bare = caller({ steps: 1 });
  const medians = await inTurn(plan, {
    loop: cpuLoop,
    floor: () => timed(() => barePause(bare, stored, add)),
    subject: turn.trial,
  });
  return row({
    workload: 'W6',
    subject,
    measure: earlier > 0 ? `pause to end after ${earlier} turns` : 'pause to end',
    unit: 'ms',
    value: medians.subject,
    floor: medians.floor,
    loop: medians.loop,
    // With earlier turns those would be most of it.
    ...(earlier > 0 ? {} : { cpu: turn.cpu() }),
    target: { limit, of: 'value' },
    samples: plan.iterations,
  });
}

async function approve(session: AgentSession): Promise<void> {
  const [request, ...others]: ReportedRequest[] = await session.pending();
  if (!request || others.length > 0) throw new Error('one request should be open');
  await session.respond(request.requestId, { kind: 'elicitation', action: 'accept' });
}
