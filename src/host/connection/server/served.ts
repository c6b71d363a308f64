import type {
  AgentDescriptor,
  AgentSession,
  AuditVerdict,
  ExecutionOptions,
  PermissionMode,
  Principal,
  RequestAnswer,
  SessionInput,
  SessionProvider,
  SessionRef,
  SessionUpdate,
  Settlement,
  SteerData,
} from '../../../contracts/index.ts';
import type { ApprovalPlace, Approvals, OpenApproval } from '../../approvals/index.ts';
import type { OperatorView } from '../../operator/index.ts';
import type { Channel } from '../stream/index.ts';

export interface OpenSessionParams extends SessionRef {
  permissionMode?: PermissionMode;
}

/** Questions to people who hold no session. */
export interface ServedApprovals {
  list(who: Principal, sessionId?: string): Promise<OpenApproval[]>;
  /** What waits for others in their own sessions, and why it is not theirs to answer. */
  own(who: Principal, sessionId?: string): Promise<(OpenApproval & { whyNot: string })[]>;
  watch(who: Principal, sessionId?: string): AsyncIterableIterator<OpenApproval>;
  changes(who: Principal, sessionId?: string): ReturnType<Approvals['changes']>;
  /** @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST` for one that they may not know of, too */
  outcome(
    who: Principal,
    requestId: string,
    place: Required<Record<keyof ApprovalPlace, string>>,
  ): Promise<NonNullable<Awaited<ReturnType<Approvals['outcome']>>>>;
  decided(
    who: Principal,
    filter: Omit<Parameters<Approvals['decided']>[0], 'by' | 'everybodys'>,
  ): ReturnType<Approvals['decided']>;
  /** @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST` for one that they may not know of, too */
  explain(
    who: Principal,
    requestId: string,
    place: Required<Record<keyof ApprovalPlace, string>>,
    args: Record<string, unknown> | undefined,
  ): Promise<NonNullable<Awaited<ReturnType<Approvals['explain']>>>>;
  /** `hold` is the session's channel, opened if it is not: whoever watches sees the run go on. */
  decide(
    who: Principal,
    requestId: string,
    place: ApprovalPlace,
    answer: RequestAnswer,
    hold: (agent: string, userId: string, sessionId: string) => Promise<{ channel: Channel; release: () => void }>,
    /** Throws where they may not any more; asked last. */
    assertCurrent: () => void,
  ): Promise<Settlement>;
}

/** Checks the stored log of one session. */
export type Verify = (place: { userId: string; sessionId: string }) => Promise<AuditVerdict>;

/** Takes one session back: what follows the event of this `seq` no longer counts. */
export type Rewind = (place: { userId: string; sessionId: string }, through: number) => Promise<unknown>;

/** Whose session it is: {@link nameOfPrincipal} of theirs. */
export interface SessionOwner {
  readonly userId: string;
  /** Absent: they are not here, and whoever its turn was begun for stays who that was. */
  readonly principal?: Principal;
}

/** What a server serves: hosted sessions, or bare executors. What a client may ask is decided here. */
export interface Served {
  readonly kind: 'host' | 'executor';
  readonly agents: readonly AgentDescriptor[];
  readonly approvals?: ServedApprovals;
  /** Absent: nobody looks at sessions of others. */
  readonly operator?: OperatorView;
  /** Checks the stored log of a session. Absent: it cannot be checked here. */
  readonly verify?: Verify;
  /** Takes a session that is open here back. Absent: nothing is taken back here. @throws CoxswainError `E_CEILING` */
  readonly rewind?: (session: AgentSession, userId: string, through: number) => Promise<void>;
  /** The store answers. Rejects where it does not. */
  ready(): Promise<void>;
  open(agent: string, request: OpenSessionParams, whose: SessionOwner): Promise<AgentSession>;
  /** Somebody joins a session that is open here. @throws CoxswainError `E_CEILING` */
  join(session: AgentSession, request: OpenSessionParams, who: Principal): Promise<void>;
  /** @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` */
  sessions(who: Principal, agent?: string): SessionProvider;
  /** What a client's words come to; the server's options are a ceiling. @throws CoxswainError `E_CEILING` */
  input(input: string | SessionInput | SessionInput[], who: Principal): string | SessionInput | SessionInput[];
  options(options: ExecutionOptions, who: Principal): ExecutionOptions;
  update(config: SessionUpdate): SessionUpdate;
  answer(answer: RequestAnswer, who: Principal): RequestAnswer;
  /** Words for a turn are of whoever the connection says. */
  steer(session: AgentSession, data: SteerData, who: Principal): ReturnType<AgentSession['steer']>;
  /** The calls are of the client's own tools. @throws CoxswainError `FAILED_PRECONDITION / E_WRONG_ANSWER` */
  assertResults(session: AgentSession, callIds: readonly string[]): Promise<void>;
  /** The same, before it is deleted. */
  assertRemovable(sessionId: string, who: Principal): Promise<void>;
}
