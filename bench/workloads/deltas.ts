import { bareTurn } from '../floor.ts';
import { cpuLoop, inTurn, timed } from '../measure.ts';
import { talker } from '../models.ts';
import { row } from '../result.ts';
import { freshTurn, sessionsOf } from '../subjects.ts';
import type { Workload } from '../workload.ts';

export const deltas: Workload = {
  title: 'fresh session, one turn of 200 text deltas',
  plans: { cold: { warmUp: 10, iterations: 100 }, steady: { warmUp: 1000, iterations: 2000 } },
  async measure(subject, plan) {
    const model = talker(200);
    const sessions = sessionsOf(subject, { model });
    const turn = freshTurn(sessions, plan);
    const medians = await inTurn(plan, {
      loop: cpuLoop,
      floor: () => timed(() => bareTurn(model, [])),
      subject: turn.trial,
    });
    return [
      row({
        workload: 'W1',
        subject,
        measure: 'turn',
        unit: 'ms',
        value: medians.subject,
        floor: medians.floor,
        loop: medians.loop,
        cpu: turn.cpu(),
        target: { limit: subject === 'hosted' ? 4 : 3.5, of: 'floor' },
        samples: plan.iterations,
      }),
    ];
  },
};
