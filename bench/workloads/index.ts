import type { Workload } from '../workload.ts';
import { coldStart } from './cold-start.ts';
import { crowd } from './crowd.ts';
import { deltas } from './deltas.ts';
import { longSession } from './long-session.ts';
import { parallelTools } from './parallel-tools.ts';
import { pause } from './pause.ts';
import { toolSteps } from './tool-steps.ts';

export const workloads: Readonly<Record<string, Workload>> = {
  W0: coldStart,
  W1: deltas,
  W2: toolSteps,
  W3: longSession,
  W4: parallelTools,
  W5: crowd,
  W6: pause,
};
