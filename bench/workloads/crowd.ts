import { inChild } from '../children.ts';
import { cpuLoop, median } from '../measure.ts';
import { row } from '../result.ts';
import type { Workload } from '../workload.ts';

/** Variable with the entry point of @google/adk, where it is installed. */
export const ADK = 'BENCH_GOOGLE_ADK';

interface Crowd {
  ms: number;
  mb: number;
}

export const crowd: Workload = {
  title: '2,000 sessions at once, 20 deltas 1 ms apart, in a fresh process',
  // Processes.
  plans: { cold: { warmUp: 1, iterations: 5 } },
  async measure(subject, plan) {
    const adk = process.env[ADK];
    const peers: Crowd[] = [];
    const floors: Crowd[] = [];
    const crowds: Crowd[] = [];
    const loops: number[] = [];
    for (let n = -plan.warmUp; n < plan.iterations; n++) {
      const floor = await inChild<Crowd>('crowd', ['floor']);
      const full = await inChild<Crowd>('crowd', [subject]);
      const peer = adk ? await inChild<Crowd>('peer-crowd', [adk]) : undefined;
      const loop = cpuLoop();
      if (n < 0) continue;
      if (peer) peers.push(peer);
      floors.push(floor);
      crowds.push(full);
      loops.push(loop);
    }
    const common = { workload: 'W5', subject, samples: plan.iterations } as const;
    return [
      row({
        ...common,
        measure: 'wall',
        unit: 'ms',
        value: median(crowds.map(({ ms }) => ms)),
        floor: median(floors.map(({ ms }) => ms)),
        loop: median(loops),
        ...(adk ? { peer: median(peers.map(({ ms }) => ms)) } : {}),
        target: { limit: 2.3, of: 'floor' },
      }),
      row({
        ...common,
        measure: 'peak RSS',
        unit: 'MB',
        value: median(crowds.map(({ mb }) => mb)),
        floor: median(floors.map(({ mb }) => mb)),
        ...(adk ? { peer: median(peers.map(({ mb }) => mb)) } : {}),
        target: { limit: 180, of: 'value' },
      }),
    ];
  },
};
