import type {
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentSource,
  ArtifactShown,
  AuditVerdict,
  Compaction,
  GivenAnswer,
  OpenRequest,
  Principal,
  SessionProvider,
  SessionStanding,
  SessionSummary,
  Settlement,
  ToolDescriptor,
} from '../../contracts/index.ts';
import type { AuditEntry, CallExplanation, DecidedPage } from '../../session/index.ts';
import type { LinkState, RemoteOpenOptions } from './options.ts';

/** A server, as its client sees it. */
export interface RemoteHost extends AsyncDisposable {
  readonly state: LinkState;
  readonly serves: 'host' | 'executor';
  readonly principal: Principal;
  /** Whose sessions this principal has on the server: its id, or where it acts for somebody `gateway~1anna`. */
  readonly userId: string;
  readonly agents: readonly AgentDescriptor[];
  /** Agents of the server for a host that runs here: it keeps policy, hooks and tools. */
  readonly sources: readonly AgentSource[];
  readonly approvals: RemoteApprovals;
  /** Sessions of others; undefined: not for this principal. */
  readonly operator: RemoteOperator | undefined;
  /** A new session, or the one of `sessionId`. */
  open(agent: string, options?: RemoteOpenOptions): Promise<RemoteSession>;
  sessions(agent?: string): SessionProvider;
  /**
   * Own sessions, newest first, which match all of what is given. `search`: in id and title. With `after` of an answer the next one
   * continues; a page may have fewer than `limit`, or none.
   * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` of a server that does not know it
   */
  findSessions(query?: SessionQuery): Promise<FoundSessions>;
  /** Calls back at each change of `state`, until the function that it returns is called. */
  onState(changed: (state: LinkState, reason?: string) => void): () => void;
  /** What watches ends; a stream that runs is shown lost, and continues at the server. */
  close(): Promise<void>;
}

/** What sessions are looked for by. */
export interface SessionQuery {
  agent?: string;
  state?: 'waits' | 'runs' | 'rests';
  /** Name of a tool that was called. */
  tool?: string;
  /** ISO 8601: it changed then or later, or before. */
  since?: string;
  before?: string;
  search?: string;
  limit?: number;
  after?: string;
}

export interface FoundSessions {
  sessions: SessionSummary[];
  after?: string;
  /** Of a search by tool: sessions that were passed by since their store does not say, or not yet, what was called in them. */
  unknown?: number;
}

/** What an operator sees of sessions of others. Nothing can be changed by it. */
export interface RemoteOperator {
  /**
   * Sessions of all users, newest first, which match all of what is given. `search`: in id and user, and in the title where this
   * principal sees content. With `after` of an answer the next one goes on; a page may have fewer than `limit`, or none.
   */
  sessions(query?: SessionQuery & { user?: string }): Promise<FoundSessions>;
  /**
   * Stored events, as far as this principal may see them: what is left out of one is marked by `_meta.redacted`.
   * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND` for one that is not in their scope, too
   */
  events(
    place: { agent: string; userId: string; sessionId: string },
    options?: { after?: string; limit?: number },
  ): AsyncIterable<AgentEvent>;
  /**
   * What an agent has kept; for principals who see content, and where policy hides nothing of the session.
   * @throws CoxswainError `PERMISSION_DENIED / E_FORBIDDEN`, `NOT_FOUND / E_SESSION_NOT_FOUND`
   */
  artifact(
    place: { agent: string; userId: string; sessionId: string },
    name: string,
    version?: number,
  ): Promise<ArtifactShown>;
}

/** A session on a server, as if it were here: a lost connection is made again and costs nothing. */
export interface RemoteSession extends AgentSession {
  /** Whether this client may change the session. */
  readonly controls: boolean;
  /** A stream of the session runs, of any client, as far as the server has said. */
  readonly isRunning: boolean;
  pending(): Promise<OpenRequest[]>;
  /** As {@link AgentSession.respond}; a plain yes or no may be its word: `respond(requestId, 'deny')`. */
  respond(requestId: string, answer: GivenAnswer): Promise<Settlement>;
  /** Of an executor that is served; a server of hosted sessions sees to it itself. */
  standing(): Promise<SessionStanding>;
  compact(): Promise<Compaction>;
  /**
   * Takes the session back to where a turn began: what follows the event of this `seq` no longer counts. Its tools have run all the same.
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` (no turn begins there), `ABORTED / E_SESSION_BUSY` while it runs,
   *   `UNIMPLEMENTED / E_UNSUPPORTED` where the server takes no sessions back
   */
  rewind(through: number): Promise<void>;
  /** Its state as it is stored. None of its events are sent for it. */
  state(): Promise<Record<string, unknown>>;
  /**
   * Whether the stored log is as it was written.
   * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` where the server does not check logs
   */
  verify(): Promise<AuditVerdict>;
  /**
   * What an agent has kept in the session under this name; without `version` the newest.
   * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` where the server or the agent shows none
   */
  artifact(name: string, version?: number): Promise<ArtifactShown>;
  /**
   * The newest stored events, oldest first: at most `limit` (1 to 1,000), and as many as one message may have. `more`: there are older
   * ones. Of a long log nothing else is sent; `events()` has all of it.
   * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` where the server gives the first ones alone
   */
  newest(limit: number): Promise<{ events: AgentEvent[]; more: boolean }>;
  /** Everything that happens from now on, partial messages included, by any client. */
  watch(): AsyncIterableIterator<AgentEvent>;
  /** Control, also if another client has it now. */
  takeControl(): Promise<void>;
}

/** A question of a server's that somebody may answer who holds no session. */
export interface RemoteApproval {
  agent: string;
  userId: string;
  request: OpenRequest;
  /** Policy denies the call since: no answer lets it run, and each stores that. */
  denied?: { by: 'policy'; reason?: string; ruleId?: string };
  /** It was too large for a message: parts of what an approval is bound to are not here. */
  cut?: true;
  /** Of one that waits for others: why this principal may not answer it. */
  whyNot?: string;
}

/** Questions of a server's sessions that this principal may decide on. */
export interface RemoteApprovals {
  /** What waits for this principal, oldest first. `own`: what waits for others in the principal's own sessions. */
  list(filter?: { sessionId?: string; own?: boolean }): Promise<RemoteApproval[]>;
  /**
   * What waits for this principal, then questions as they come; after a lost connection, those that are open come again.
   * Leaving informs the server, too. Ends where this side closes the connection.
   */
  watch(): AsyncIterableIterator<RemoteApproval>;
  /**
   * Questions that were told to this principal and have changed: each time one is answered or its call is over. Over the connection that
   * `watch()` keeps; it ends with it.
   */
  changes(): AsyncIterableIterator<{ requestId: string; sessionId: string; userId: string; agent: string }>;
  /** Whether the server says what `changes()` gives: known once `watch()` has begun. Older servers do not. */
  readonly tellsChanges: boolean;
  /**
   * What came of a question so far: answers, decision and result as far as this principal may see them, and the tool as the server
   * knows it; while it is open the question, and why this principal may not answer it.
   * @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST` for one that they may not know of, too
   */
  outcome(
    requestId: string,
    place: { sessionId: string; userId: string; agent: string },
  ): Promise<{ isOpen: boolean; request?: OpenRequest; whyNot?: string; call?: AuditEntry; tool?: ToolDescriptor }>;
  /**
   * Questions that this principal has answered, or that were answered in sessions of theirs (for an operator: of their scope), newest
   * first, with what came of their calls. `action`: `accept` finds edited ones too, `edit` those alone, `expire` those that nobody has
   * answered in time. `after`: as the page before has it.
   */
  decided(query?: {
    user?: string;
    agent?: string;
    action?: 'accept' | 'edit' | 'decline' | 'cancel' | 'expire';
    tool?: string;
    /** Who has answered it. */
    by?: string;
    /** ISO 8601: answered then or later, or before. */
    since?: string;
    before?: string;
    search?: string;
    limit?: number;
    after?: string;
  }): Promise<DecidedPage>;
  /**
   * What policy says now of the call that a question is about (or of a call, by its id), and why. `args`: of these in place of the
   * call's, with `unfit` and `isForOthers`; nothing is stored. Rules, and other arguments, are for people who may answer.
   * @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST`, `PERMISSION_DENIED / E_NOT_APPROVER`
   */
  explain(
    requestId: string,
    place: { sessionId: string; userId: string; agent: string },
    args?: Record<string, unknown>,
  ): Promise<CallExplanation>;
  /**
   * Answers one question; the run continues, whether or not anybody watches. `place` says which, where several sessions ask one of this
   * id.
   * @throws CoxswainError `PERMISSION_DENIED / E_NOT_APPROVER`, `FAILED_PRECONDITION / E_UNKNOWN_REQUEST`,
   *   `INVALID_ARGUMENT / E_BAD_INPUT`
   */
  decide(
    requestId: string,
    answer: GivenAnswer,
    place?: { sessionId?: string; userId?: string; agent?: string },
  ): Promise<Settlement>;
}
