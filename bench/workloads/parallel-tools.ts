import { setTimeout as sleep } from 'node:timers/promises';
import { bareTurn } from '../floor.ts';
import { cpuLoop, inTurn, timed } from '../measure.ts';
import { caller } from '../models.ts';
import { row } from '../result.ts';
import { play, sessionsOf } from '../subjects.ts';
import { adder, allow } from '../tools.ts';
import type { Workload } from '../workload.ts';

export const parallelTools: Workload = {
  title: '50 parallel tools of 10 ms',
  plans: { cold: { warmUp: 6, iterations: 30 }, steady: { warmUp: 1000, iterations: 100 } },
  async measure(subject, plan) {
    const slowAdd = async ({ a, b }: { a: number; b: number }) => {
      await sleep(10);
      return a + b;
    };
    const model = caller({ steps: 1, width: 50 });
    const sessions = sessionsOf(subject, { model, tools: [adder(slowAdd)], policy: allow });
    const medians = await inTurn(plan, {
      loop: cpuLoop,
      floor: () => timed(() => bareTurn(model, [], slowAdd)),
      async subject() {
        const session = await sessions.open();
        const time = await timed(() => play(session, 'go'));
        await sessions.discard(session);
        return time;
      },
    });
    return [
      row({
        workload: 'W4',
        subject,
        measure: 'turn',
        unit: 'ms',
        value: medians.subject,
        floor: medians.floor,
        loop: medians.loop,
        target: { limit: 12.5, of: 'value' },
        samples: plan.iterations,
      }),
    ];
  },
};
