import { inChild } from '../children.ts';
import { cpuLoop, median } from '../measure.ts';
import { row } from '../result.ts';
import type { Workload } from '../workload.ts';

interface Cold {
  ms: number;
  mb: number;
}

export const coldStart: Workload = {
  title: 'fresh process: import, build an agent with a JSON Schema tool, first turn; the same with a call of the tool',
  // Processes.
  plans: { cold: { warmUp: 2, iterations: 9 } },
  async measure(subject, plan) {
    const floors: Cold[] = [];
    const texts: Cold[] = [];
    const calls: Cold[] = [];
    const loops: number[] = [];
    for (let n = -plan.warmUp; n < plan.iterations; n++) {
      const floor = await inChild<Cold>('cold', ['floor']);
      const text = await inChild<Cold>('cold', [subject, 'text']);
      const call = await inChild<Cold>('cold', [subject, 'call']);
      const loop = cpuLoop();
      if (n < 0) continue;
      floors.push(floor);
      texts.push(text);
      calls.push(call);
      loops.push(loop);
    }
    const time = {
      workload: 'W0',
      subject,
      unit: 'ms',
      floor: median(floors.map(({ ms }) => ms)),
      loop: median(loops),
      samples: plan.iterations,
    } as const;
    const memory = {
      workload: 'W0',
      subject,
      unit: 'MB',
      floor: median(floors.map(({ mb }) => mb)),
      samples: plan.iterations,
      target: { limit: 60, of: 'value' },
    } as const;
    return [
      row({
        ...time,
        measure: 'first turn',
        value: median(texts.map(({ ms }) => ms)),
        target: { limit: 90, of: 'value' },
      }),
      row({ ...memory, measure: 'peak RSS', value: median(texts.map(({ mb }) => mb)) }),
      // Loading and priming the validator comes on top, once.
      row({
        ...time,
        measure: 'with a tool call',
        value: median(calls.map(({ ms }) => ms)),
        target: { limit: 90, of: 'value' },
      }),
      row({ ...memory, measure: 'peak RSS with a call', value: median(calls.map(({ mb }) => mb)) }),
    ];
  },
};
