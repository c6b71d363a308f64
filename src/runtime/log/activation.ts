import type { CallState } from './call-state.ts';
import type { StoredEvent } from './event.ts';
import type { Outcome } from './outcome.ts';

/** What is known of one activation of an agent (a place in the tree of this turn). */
export interface Activation {
  /** Model events so far. */
  steps: number;
  /** Steps at the time when the turn was opened again. */
  base: number;
  /** Calls of the newest model event. */
  batch: CallState[];
  /** The newest model event asks for nothing. */
  final: boolean;
  /** Own events in order, for agents that are re-executed from the top. */
  own: StoredEvent[];
  entered: boolean;
  exited: boolean;
  /** A before_agent hook has given the answer: the agent does not run. */
  replaced: boolean;
  /** An agent run as a tool has been given its input. */
  input: boolean;
  /** Its beginning has been told: whose, and in which thread. */
  began?: { agent: string; thread: string };
  /** Newest iteration that was told, for a loop. */
  iteration?: number;
  /** Recorded when the slot ended. */
  completed?: { agent: string; outcome: Outcome };
}

export function newActivation(): Activation {
  return {
    steps: 0,
    base: 0,
    batch: [],
    final: false,
    own: [],
    entered: false,
    exited: false,
    replaced: false,
    input: false,
  };
}
