// One workload in this process: `node bench/child.ts W1 session cold|steady [iterations]`; profile this.
import type { Plan } from './measure.ts';
import type { Subject } from './result.ts';
import type { Regime } from './workload.ts';
import { workloads } from './workloads/index.ts';

const [name = '', subject = 'session', regime = 'cold', iterations] = process.argv.slice(2);
const workload = workloads[name];
if (!workload) throw new Error(`there is no workload ${name}; there are ${Object.keys(workloads).join(', ')}`);
const planned = workload.plans[regime as Regime];
if (!planned) throw new Error(`${name} has no ${regime} plan`);
const plan: Plan =
  iterations === undefined ? planned : { warmUp: Number(iterations) - 1, iterations: Number(iterations) };
const rows = await workload.measure(subject as Subject, plan, regime as Regime);
console.log(JSON.stringify(rows.map((row) => ({ ...row, regime }))));
