import type { TurnTerms, Usage } from '../../contracts/index.ts';
import type { CallState } from './call-state.ts';
import { stillCall } from './call-state.ts';

/** What one turn has come to, and what it has used of its limits. */
export interface TurnState {
  readonly id: string;
  /** Agent that entered the root slot. */
  readonly start: string;
  /** seq of the event that opened it. */
  readonly seq: number;
  llmCalls: number;
  usage: Usage;
  /** Milliseconds in streams and tools. */
  activeMs: number;
  ended?: string;
  /** W3C trace context of whoever began it. */
  trace?: Record<string, string>;
}

/** A turn and what is open, at one moment. */
export interface Standing {
  readonly turn: Readonly<TurnState> | undefined;
  readonly open: ReadonlyMap<string, CallState>;
  /** Of the turns of open calls. */
  readonly terms: ReadonlyMap<string, TurnTerms>;
}

const nothing = new Map<string, never>();

/** A moment of what goes on changing. */
export function stillOf({ turn, open, terms }: Standing): Standing {
  const still = turn && { ...turn };
  if (open.size === 0) return { turn: still, open: nothing, terms: nothing };
  return { turn: still, open: new Map([...open].map(([id, call]) => [id, stillCall(call)])), terms: new Map(terms) };
}
