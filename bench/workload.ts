import type { Plan } from './measure.ts';
import type { Row, Subject } from './result.ts';

export interface Workload {
  title: string;
  /** Enough for a stable median on a busy machine. */
  plan: Plan;
  measure(subject: Subject, plan: Plan): Promise<Row[]>;
}
