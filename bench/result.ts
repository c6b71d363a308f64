import { median } from './measure.ts';
import type { Regime } from './workload.ts';

/** Who does the work: an executor's own session, or the same behind a host. */
export type Subject = 'session' | 'hosted';

export interface Target {
  /** Largest value that passes. */
  limit: number;
  /** What is held against it: the value, or how many times the bare floor or the peer of the same run it is. */
  of: 'value' | 'floor' | 'peer';
}

/** One measured figure with all it is judged by. */
export interface Row {
  workload: string;
  subject: Subject;
  measure: string;
  regime: Regime;
  unit: 'ms' | 'MB' | 'times';
  /** Median. */
  value: number;
  /** The same work without any library, in the same run; null for figures that have none. */
  floor: number | null;
  /** value / floor */
  ratio: number | null;
  /** value / one calibrating CPU loop of the same run; null for what is not time. */
  loops: number | null;
  /** The same work by a comparable library, in the same rounds; null where none is run. */
  peer: number | null;
  /** CPU milliseconds of the same work, all threads; null for what is not measured. */
  cpu: number | null;
  target: Target;
  /** What is held against the target's limit. */
  judged: number;
  pass: boolean;
  samples: number;
}

export function row(
  figures: Pick<Row, 'workload' | 'subject' | 'measure' | 'unit' | 'value' | 'target' | 'samples'> & {
    floor?: number;
    /** Milliseconds of one calibrating loop. */
    loop?: number;
    peer?: number;
    cpu?: number;
  },
): Row {
  const { floor, loop, peer, cpu, ...rest } = figures;
  const ratio = floor === undefined ? null : rest.value / floor;
  const judged = {
    value: rest.value,
    floor: ratio ?? Number.NaN,
    peer: peer === undefined ? Number.NaN : rest.value / peer,
  }[rest.target.of];
  return {
    ...rest,
    // Whoever plans the process knows.
    regime: 'cold',
    floor: floor ?? null,
    ratio,
    loops: loop === undefined ? null : rest.value / loop,
    peer: peer ?? null,
    cpu: cpu ?? null,
    judged,
    pass: judged <= rest.target.limit,
  };
}

/** One row of those that several processes have measured: medians of their figures and of their ratios. */
export function combined(rows: readonly [Row, ...Row[]]): Row {
  const over = (of: (row: Row) => number | null) => {
    const values = rows.map(of).filter((value) => value !== null);
    return values.length === 0 ? null : median(values);
  };
  const [first] = rows;
  const judged = over((row) => row.judged) ?? Number.NaN;
  return {
    ...first,
    value: over((row) => row.value) ?? Number.NaN,
    floor: over((row) => row.floor),
    ratio: over((row) => row.ratio),
    loops: over((row) => row.loops),
    peer: over((row) => row.peer),
    cpu: over((row) => row.cpu),
    judged,
    pass: judged <= first.target.limit,
    samples: rows.reduce((sum, { samples }) => sum + samples, 0),
  };
}
