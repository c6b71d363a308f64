import type { InvocationInfo } from '../hooks/index.ts';

/** A run as others of its process see it while it is under way. */
export interface RunningInvocation extends InvocationInfo {
  /** The inputs were accepted: its stream has begun. */
  readonly accepted: boolean;
  /** Nothing that comes now can reach the turn any more. */
  readonly closing: boolean;
  /** Calls whose handlers run in this process now. */
  readonly running: { has(callId: string): boolean };
  /** Something is being stored that the run must see before it closes. */
  reserve(work: Promise<unknown>): void;
  /** A branch, or an agent run as a tool, that has this thread and has not ended. */
  hasThread(threadId: string): boolean;
  /** Ends the run; resolves elsewhere (the stream's end). Idempotent. */
  abort(reason?: unknown): void;
  /** Resolves when the branch writes nothing any more; undefined if it does not run here. */
  abortBranch(threadId: string, reason: unknown): Promise<void> | undefined;
  /** Resolves when the call writes nothing any more; undefined if it does not run here. */
  abortCall(callId: string, reason: unknown): Promise<void> | undefined;
  /** A slot is being ended by itself: what it has not told is not told any more. */
  forgetWithin(slot: string): void;
  origin(): { streamId: string; invocationId: string };
}

/** What runs in a session now, in this process. */
export interface CurrentRun {
  readonly invocation: RunningInvocation;
  /** Settles when nothing more will be written. */
  readonly result: Promise<unknown>;
}
