// One workload in this process: `node bench/child.ts W1 session [iterations]`; profile this.
import type { Plan } from './measure.ts';
import type { Subject } from './result.ts';
import { workloads } from './workloads/index.ts';

const [name = '', subject = 'session', iterations] = process.argv.slice(2);
const workload = workloads[name];
if (!workload) throw new Error(`there is no workload ${name}; there are ${Object.keys(workloads).join(', ')}`);
const plan: Plan =
  iterations === undefined ? workload.plan : { warmUp: Number(iterations) - 1, iterations: Number(iterations) };
console.log(JSON.stringify(await workload.measure(subject as Subject, plan)));
