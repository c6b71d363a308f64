import { bareTurn } from '../floor.ts';
import { cpuLoop, median, timed } from '../measure.ts';
import { talker } from '../models.ts';
import { row } from '../result.ts';
import { play, sessionsOf } from '../subjects.ts';
import type { Workload } from '../workload.ts';

const TURNS = 500;
/** Turns around the one that is looked at: one alone is at the mercy of the collector. */
const WINDOW = 10;

export const longSession: Workload = {
  title: '500 turns of 20 deltas in one session',
  // Sessions; each is 500 turns.
  plans: { cold: { warmUp: 0, iterations: 1 }, steady: { warmUp: 2, iterations: 7 } },
  async measure(subject, plan, regime) {
    const model = talker(20);
    const sessions = sessionsOf(subject, { model });
    const early: number[] = [];
    const late: number[] = [];
    const floors: number[] = [];
    const loops: number[] = [];
    for (let n = -plan.warmUp; n < plan.iterations; n++) {
      const session = await sessions.open();
      const log: unknown[] = [];
      const turns: number[] = [];
      const bare: number[] = [];
      for (let turn = 0; turn < TURNS; turn++) {
        bare.push(await timed(() => bareTurn(model, log)));
        turns.push(await timed(() => play(session, 'go')));
        if (n >= 0 && turn % 50 === 0) loops.push(cpuLoop());
      }
      await sessions.discard(session);
      if (n < 0) continue;
      early.push(median(turns.slice(10 - WINDOW / 2, 10 + WINDOW / 2)));
      late.push(median(turns.slice(-WINDOW)));
      floors.push(median(bare.slice(-WINDOW)));
    }
    const common = { workload: 'W3', subject, samples: plan.iterations } as const;
    return [
      row({
        ...common,
        measure: 'turn 500',
        unit: 'ms',
        value: median(late),
        floor: median(floors),
        loop: median(loops),
        target: { limit: regime === 'cold' && subject === 'hosted' ? 0.13 : 0.1, of: 'value' },
      }),
      row({
        ...common,
        measure: 'turn 500 / turn 10',
        unit: 'times',
        value: median(late) / median(early),
        target: { limit: 1.3, of: 'value' },
      }),
    ];
  },
};
