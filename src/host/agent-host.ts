import type {
  AgentDescriptor,
  PermissionMode,
  Session,
  SessionInput,
  SessionPlace,
  SessionProvider,
} from '../contracts/index.ts';
import type { AuditEntry } from '../session/index.ts';
import type { Approvals, Recovery } from './approvals/index.ts';
import type { Schedules, SubmitOptions, SubmittedTurn, Webhooks, Work, WorkOptions } from './background/index.ts';
import type { AuditOptions, OpenOptions } from './terms/index.ts';

export interface AgentHost {
  readonly agents: readonly AgentDescriptor[];
  /** Of sessions that say nothing else. */
  readonly permissionMode: PermissionMode | undefined;
  /** Open questions across sessions and processes. */
  readonly approvals: Approvals;
  /**
   * A session of an agent, under this host's control.
   * @throws CoxswainError `NOT_FOUND / E_AGENT_UNKNOWN | E_SESSION_NOT_FOUND`
   */
  open(agent: string, options?: OpenOptions): Promise<Session>;
  /**
   * What became of each call of a stored session: who asked, who decided, why, under which rule, what ran, how it
   * ended. What policies and `rules` hide from the viewer is not in it.
   * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`, `UNIMPLEMENTED / E_UNSUPPORTED`
   */
  audit(sessionId: string, options?: AuditOptions): Promise<AuditEntry[]>;
  /** Stored sessions of a user. */
  sessions(userId?: string): SessionProvider;
  /**
   * Sessions of all users that a crash has cut off: their turn has not ended, nobody runs them in any process, and what
   * comes next needs nobody's answer. Reads the store's index, and the logs of those whose turn is open.
   */
  unfinished(): Promise<SessionPlace[]>;
  /**
   * Goes on with them, some at a time, also with those whose question has expired. Resolves when they are known. For
   * the start of a program: one that another process takes meanwhile is left to it.
   */
  recover(): Promise<Recovery>;
  /**
   * Begins a turn that nobody waits for, and resolves when its message is stored. It runs here, or in whichever program
   * serves the `dispatcher`. Its outcome: `webhook`, or `open(agent, { sessionId, userId })`, then `standing()`, `events({ live: true })` and
   * `pending()`.
   * @throws CoxswainError as `open` and a stream's first event
   */
  submit(
    agent: string,
    input: string | SessionInput | readonly SessionInput[],
    options?: SubmitOptions,
  ): Promise<SubmittedTurn>;
  /**
   * From now on this program runs turns that the `dispatcher` brings, and those that nobody runs any more: whose program
   * has died, wherever it was. Resolves once it has begun.
   */
  work(options?: WorkOptions): Promise<Work>;
  /** Turns that begin by the clock. */
  readonly schedules: Schedules;
  /** Messages to webhooks that no receiver has taken. */
  readonly webhooks: Webhooks;
  /** Resolves when nothing runs that this host goes on with by itself: after `approvals.decide`, `recover` and `submit`. */
  idle(): Promise<void>;
  /** Closes all open sessions; running streams are aborted, and the host begins nothing more by itself. */
  close(): Promise<void>;
}
