import type { Usage } from '../../contracts/index.ts';

/**
 * What the fold of a log has come to where the next event begins a turn and no call is open: of calls and places in the
 * tree nothing is left then. What lets a call run is read from the log alone.
 */
export interface FoldState {
  readonly seq: number;
  /** Id of the first event of the log. */
  readonly first: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly answers: number;
  readonly totalUsage: Usage;
  readonly totalCalls: number;
  readonly cutIds: readonly string[];
  readonly lastTime: number;
  readonly lastStream: string;
}
