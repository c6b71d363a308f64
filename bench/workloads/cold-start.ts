import { inChild } from '../children.ts';
import { cpuLoop, median } from '../measure.ts';
import { row } from '../result.ts';
import type { Workload } from '../workload.ts';

interface Cold {
  ms: number;
  mb: number;
}

export const coldStart: Workload = {
  title: 'fresh process: import, build an agent with a JSON Schema tool, first turn, in which it is called',
  // Processes.
  plan: { warmUp: 2, iterations: 21 },
  async measure(subject, plan) {
    const floors: Cold[] = [];
    const colds: Cold[] = [];
    const loops: number[] = [];
    for (let n = -plan.warmUp; n < plan.iterations; n++) {
      const floor = await inChild<Cold>('cold', ['floor']);
      const cold = await inChild<Cold>('cold', [subject]);
      const loop = cpuLoop();
      if (n < 0) continue;
      floors.push(floor);
      colds.push(cold);
      loops.push(loop);
    }
    const common = { workload: 'W0', subject, samples: plan.iterations } as const;
    return [
      row({
        ...common,
        measure: 'import to end of turn',
        unit: 'ms',
        value: median(colds.map(({ ms }) => ms)),
        floor: median(floors.map(({ ms }) => ms)),
        loop: median(loops),
        peer: '195 ms',
        target: { limit: 100, of: 'value' },
      }),
      row({
        ...common,
        measure: 'peak RSS',
        unit: 'MB',
        value: median(colds.map(({ mb }) => mb)),
        floor: median(floors.map(({ mb }) => mb)),
        peer: '73 MB',
        target: { limit: 75, of: 'value' },
      }),
    ];
  },
};
