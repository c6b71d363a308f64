import type { StoredEvent } from '../../../src/runtime/index.ts';

/** One start of something that must not happen twice. */
export interface Effect {
  /** Names the call, whoever made it and in whichever process. */
  key: string;
  callId: string;
  /** May run again with the same call id. */
  repeatable: boolean;
}

/** What outlives every process: what the tools did, and what they saw that they should not have seen. */
export class World {
  readonly effects: Effect[] = [];
  readonly steps: string[] = [];
  readonly hooks: string[] = [];
  readonly faults: string[] = [];
  /** The store's events, as the process that runs now has them. */
  log: readonly StoredEvent[] = [];

  fault(message: string): void {
    this.faults.push(message);
  }
}
