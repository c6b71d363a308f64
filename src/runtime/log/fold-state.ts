import type { TurnTerms, Usage } from '../../contracts/index.ts';
import type { CallState } from './call-state.ts';

/** What the fold of a log has come to where the next event begins a turn: of places in the tree nothing is left then. */
export interface FoldState {
  readonly seq: number;
  readonly state: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  /** Calls without a response, oldest first. */
  readonly open: readonly Omit<CallState, 'cutIds'>[];
  /** Of the turns of open calls. */
  readonly terms: readonly (readonly [turnId: string, terms: TurnTerms])[];
  readonly answers: number;
  readonly totalUsage: Usage;
  readonly totalCalls: number;
  readonly cutIds: readonly string[];
  readonly lastTime: number;
  readonly lastStream: string;
}
