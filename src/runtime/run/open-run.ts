import type { begins, JoiningOptions, joined, unlessSince } from '../../session/index.ts';
import type { Engine, InvocationOptions, Run } from '../agent/index.ts';
import type { Plugin } from '../hooks/index.ts';
import type { CallState, CompletedRecord, EventInit, StoredEvent } from '../log/index.ts';

/** A run as the parts of it see it: beginning, slots, end. */
export interface OpenRun extends Run {
  readonly engine: Engine;
  readonly options: InvocationOptions & Pick<JoiningOptions, typeof joined | typeof begins | typeof unlessSince>;
  /** Those that see what is stored. */
  readonly eventHooks: readonly Plugin[];
  /** Nothing that comes now can reach the turn any more. */
  closing: boolean;
  /** Id of the turn's end, where that is stored with the answer before it. */
  readonly endId: string | undefined;
  /** A slot has ended: recorded with the next event. */
  completed(record: CompletedRecord): void;
  /** An event of the turn, of no agent's place. */
  rootEvent(init: EventInit): StoredEvent;
  /** Stores events and shows them as they are. */
  commit(events: StoredEvent[]): Promise<void>;
  /** What closes calls that nobody will answer. */
  settle(calls: Iterable<CallState>, why: string): StoredEvent[];
}
