import type { AgentEvent } from '../types/index.ts';

/** Names a fault; `event` is the one to blame. */
export type ReportFault = (message: string, event?: AgentEvent) => void;

/** One rule's view of a stream. */
export interface StreamRule {
  push(event: AgentEvent, fault: ReportFault): void;
  end?(fault: ReportFault): void;
}
