import type { Decision } from '../gate/index.ts';
import type { CallState } from './call-state.ts';
import type { CallSignals } from './callback-context.ts';
import type { ResolvedTool } from './tools.ts';

/** A call that may run now. */
export interface ReadyCall {
  call: CallState;
  resolved: ResolvedTool;
  decision: Decision;
  confirmation?: { confirmed: boolean; payload?: unknown };
  /** Of the hooks before it. */
  signals?: CallSignals;
}
