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
  unit: 'ms' | 'MB' | 'times';
  /** Median. */
  value: number;
  /** The same work without any library, in the same run; null for figures that have none. */
  floor: number | null;
  /** value / floor */
  ratio: number | null;
  /** value / one calibrating CPU loop of the same run; null for what is not time. */
  loops: number | null;
  /** Best comparable library, as measured for this workload; null where there is no figure. */
  peer: string | null;
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
    /** As measured elsewhere, in words; a number: in this run. */
    peer?: string | number;
  },
): Row {
  const { floor, loop, peer, ...rest } = figures;
  const ratio = floor === undefined ? null : rest.value / floor;
  const judged = {
    value: rest.value,
    floor: ratio ?? Number.NaN,
    peer: typeof peer === 'number' ? rest.value / peer : Number.NaN,
  }[rest.target.of];
  return {
    ...rest,
    floor: floor ?? null,
    ratio,
    loops: loop === undefined ? null : rest.value / loop,
    peer: typeof peer === 'number' ? `${peer.toPrecision(3)} ${rest.unit}` : (peer ?? null),
    judged,
    pass: judged <= rest.target.limit,
  };
}
