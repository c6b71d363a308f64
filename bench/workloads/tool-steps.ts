import { bareTurn } from '../floor.ts';
import type { Plan } from '../measure.ts';
import { cpuLoop, inTurn, median, timed } from '../measure.ts';
import { caller } from '../models.ts';
import type { Row, Subject } from '../result.ts';
import { row } from '../result.ts';
import { freshTurn, play, sessionsOf } from '../subjects.ts';
import { adder, allow } from '../tools.ts';
import type { Workload } from '../workload.ts';

const STEPS = 20;
const MANY = 200;
const add = ({ a, b }: { a: number; b: number }) => a + b;

/** Milliseconds of a step. */
const LIMITS = { cold: { session: 0.1, hosted: 0.2 }, steady: { session: 0.04, hosted: 0.08 } } as const;

export const toolSteps: Workload = {
  title: '20 tool calls one after another; growth over 200 steps',
  plans: { cold: { warmUp: 8, iterations: 30 }, steady: { warmUp: 1000, iterations: 500 } },
  async measure(subject, plan, regime) {
    return [await costOfStep(subject, plan, LIMITS[regime][subject]), await growth(subject, plan)];
  },
};

async function costOfStep(subject: Subject, plan: Plan, limit: number): Promise<Row> {
  const model = caller({ steps: STEPS });
  const sessions = sessionsOf(subject, { model, tools: [adder(add)], policy: allow });
  const turn = freshTurn(sessions, plan);
  const medians = await inTurn(plan, {
    loop: cpuLoop,
    floor: () => timed(() => bareTurn(model, [], add)),
    subject: turn.trial,
  });
  return row({
    workload: 'W2',
    subject,
    measure: 'a step',
    unit: 'ms',
    value: medians.subject / STEPS,
    floor: medians.floor / STEPS,
    loop: medians.loop,
    cpu: turn.cpu() / STEPS,
    target: { limit, of: 'value' },
    samples: plan.iterations,
  });
}

/** Steps of one long turn, from one question to the model to the next: the last ten against the first ten. */
async function growth(subject: Subject, plan: Plan): Promise<Row> {
  let marks: number[] = [];
  const model = caller({ steps: MANY, onStep: () => marks.push(performance.now()) });
  const sessions = sessionsOf(subject, { model, tools: [adder(add)], policy: allow, maxIterations: MANY + 1 });
  const first: number[] = [];
  const last: number[] = [];
  const turns = Math.ceil(plan.iterations / 10);
  for (let n = -Math.ceil(plan.warmUp / 10); n < turns; n++) {
    marks = [];
    const session = await sessions.open();
    await play(session, 'go');
    await sessions.discard(session);
    if (n < 0) continue;
    const steps = marks.slice(1).map((mark, index) => mark - marks[index]!);
    first.push(median(steps.slice(0, 10)));
    last.push(median(steps.slice(-10)));
  }
  return row({
    workload: 'W2',
    subject,
    measure: 'steps 191–200 / 1–10',
    unit: 'times',
    value: median(last) / median(first),
    target: { limit: 1.3, of: 'value' },
    samples: turns,
  });
}
