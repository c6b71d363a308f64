import type { Plan } from './measure.ts';
import type { Row, Subject } from './result.ts';

/**
 * How long a process has run: `cold`, as users meet it, after a few repetitions in each of several fresh processes;
 * `steady` after at least a thousand, in one.
 */
export type Regime = 'cold' | 'steady';

export interface Workload {
  title: string;
  /** Without `steady`: each measurement is a process of its own. */
  plans: { cold: Plan; steady?: Plan };
  /** What was asked of a steady process before cold ones were measured is still asked of it. */
  measure(subject: Subject, plan: Plan, regime: Regime): Promise<Row[]>;
}
