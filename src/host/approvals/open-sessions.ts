import type {
  DecidedPage,
  DecidedQuery,
  OpenRequest,
  Principal,
  SessionPlace,
  SessionSummary,
  StoredDecision,
} from '../../contracts/index.ts';
import type { DeniedSince, HostedSession } from '../hosted/index.ts';

/** A question that somebody may answer who holds no session. */
export interface OpenApproval {
  agent: string;
  userId: string;
  request: OpenRequest;
  /** Policy denies the call since: no answer lets it run, and each stores that. */
  denied?: DeniedSince;
  /** Its place in a list that is asked for page by page. */
  cursor?: string;
}

export interface ApprovalFilter {
  /** At most so many. Default: all. */
  limit?: number;
  /** `cursor` of the last one that was seen; it may have been answered since. */
  after?: string;
  /** Only what this person may decide: where policy names nobody, the owner of the session and whoever asked. */
  approver?: Principal;
  sessionId?: string;
  /** Only in sessions of this user. */
  userId?: string;
}

/** Where a question is asked: its id is unique in its session, not beyond. */
export interface ApprovalPlace {
  agent?: string | undefined;
  userId?: string | undefined;
  sessionId?: string | undefined;
}

/** A session with open calls. */
export interface WaitingSession extends SessionPlace {
  /** Ids of the open calls, where the provider knows them. */
  calls?: string[];
  /** Names of their tools. */
  tools?: string[];
  /** Epoch milliseconds: when the first of them came into the index. */
  since?: number;
  /** seq of its newest event, where the provider knows it. */
  lastSeq?: number;
}

/** A session for a moment: disposed of, it is closed unless somebody else holds it, too. */
export interface BorrowedSession extends AsyncDisposable {
  readonly session: HostedSession;
}

/** What approvals need of a host. */
export interface ApprovalHost {
  /** Sessions with open calls, over all users and processes, those that have waited longest first. */
  openSessions(scope?: { userId?: string; sessionId?: string }): Promise<WaitingSession[]>;
  /** Sessions whose newest turn has not ended, over all users. */
  openTurns(): Promise<(SessionPlace & { running: boolean })[]>;
  /**
   * `toRun`: something may run on it, and ends with nobody who has opened the session.
   * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND` for one that was deleted since
   */
  borrow(agent: string, userId: string, sessionId: string, toRun?: boolean): Promise<BorrowedSession>;
  /**
   * Sessions of all users, newest first.
   * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED`
   */
  allSessions(page: { limit: number; after?: string }): Promise<SessionSummary[]>;
  /**
   * A page of what the store's index says was decided; undefined: there is none.
   * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED`
   */
  storedDecisions(query: DecidedQuery): Promise<DecidedPage<StoredDecision> | undefined>;
  /** An agent whose store `allSessions` and `storedDecisions` look into; undefined: there is no agent. */
  readonly storeAgent: string | undefined;
  /** Names of tools that are agents: what they ask may be in sessions of which no index tells. */
  readonly agentTools: ReadonlySet<string>;
  warn(message: string, error?: unknown): void;
  /** A run that nobody holds is on its way: whoever closes the host, or waits for it, knows of it. */
  during(work: Promise<void>): void;
  /** Brings somebody to go on with a session, where that is not left to whoever has answered. */
  readonly wake?: ((place: SessionPlace) => Promise<void>) | undefined;
}
