import type { GivenAnswer, OpenRequest, Principal, Settlement, ToolDescriptor } from '../../contracts/index.ts';
import type { AuditEntry, CallExplanation, DecidedPage } from '../../session/index.ts';
import type { ApprovalFilter, ApprovalPlace, OpenApproval } from './open-sessions.ts';

export interface DecidedFilter {
  /** Who asks: they see what they have answered, and what was answered in their own sessions. */
  by: Principal;
  /** Those of these users, too; `true`: of all. For programs, and servers that know operators. */
  everybodys?: true | readonly string[];
  /** Whose sessions. */
  userId?: string;
  /** With which the session began. */
  agent?: string;
  /** `accept` finds edited ones too, `edit` those alone; `decline`, `cancel`, `expire`. */
  action?: string;
  tool?: string;
  /** Id of somebody who has answered it, or their name where they act for others. */
  answeredBy?: string;
  /** Epoch milliseconds: answered then or later, or before. */
  since?: number;
  before?: number;
  /** In tool, session, user, rule and names of those who answered. */
  search?: string;
  /** Default 50. */
  limit?: number;
  /** As the page before has it. */
  after?: string;
}

/** Open questions across sessions and processes. */
export interface Approvals {
  /**
   * What waits for a person, oldest first. A page (`limit`, `after`) looks into no more sessions than it shows.
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for an `after` that is no cursor of a listed question
   */
  list(filter?: ApprovalFilter): Promise<OpenApproval[]>;
  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` where several sessions ask a question of this id */
  get(requestId: string, place?: ApprovalPlace): Promise<OpenApproval | undefined>;
  /** All questions of this id: what an executor numbers by itself may be open in several sessions. */
  find(requestId: string, place?: ApprovalPlace): Promise<OpenApproval[]>;
  /** Questions from now on: at once where this process asks them, a little later where another one over the store does. */
  watch(filter?: ApprovalFilter): AsyncIterableIterator<OpenApproval>;
  /**
   * Questions that this host has shown, each time one is answered or its call is over: at once where that happens in this process, a
   * little later elsewhere. `outcome` says what came of it.
   */
  changes(filter?: ApprovalFilter): AsyncIterableIterator<Required<ApprovalPlace> & { requestId: string }>;
  /**
   * What came of a question so far: the answers to its call, the decision, and the result, as far as policy lets this person see
   * them; the tool as the host knows it; while it is open the question, and why this person may not answer it. For people who may answer
   * it, has answered it, asked for the call, or owns the session. Undefined: there is none that they may know of.
   */
  outcome(
    requestId: string,
    asking: { by: Principal; agent: string; userId: string; sessionId: string },
  ): Promise<
    { isOpen: boolean; request?: OpenRequest; whyNot?: string; call?: AuditEntry; tool?: ToolDescriptor } | undefined
  >;
  /**
   * Questions that were answered, or that nobody has answered in time, newest first, with what came of their calls: of the
   * store's index. Where that keeps none, of the 500 sessions that changed last, and the page says so (`newest`): then the
   * logs of sessions are read that have changed since it was asked before.
   * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` where sessions cannot be listed over all users,
   *   `INVALID_ARGUMENT / E_BAD_INPUT` for an `after` that no page has
   */
  decided(filter: DecidedFilter): Promise<DecidedPage>;
  /**
   * What policy says now of the call that a question is about (or of a call, by its id), and why: which rules were tried, which
   * decides. `args`: of these arguments in place of the call's, also where the tool takes them and whether this person's
   * approval is enough; nothing is stored and no hook is asked. Rules, and other arguments, are for people who may
   * answer the question; who owns the session or asked for the call gets the decision alone. `everything`: all of it, whatever
   * the call is to them. Undefined: there is no such call that they may know of.
   * @throws CoxswainError `PERMISSION_DENIED / E_NOT_APPROVER` for `args` of people who may not answer
   */
  explain(
    requestId: string,
    asking: {
      by: Principal;
      agent: string;
      userId: string;
      sessionId: string;
      args?: Record<string, unknown>;
      everything?: boolean;
    },
  ): Promise<CallExplanation | undefined>;
  /**
   * Answers one question. Once it is durable the run continues, whether or not anybody watches it.
   * @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST | E_REQUEST_CLOSED`, `PERMISSION_DENIED /
   *   E_NOT_APPROVER`, `INVALID_ARGUMENT / E_BAD_INPUT` where several sessions ask a question of this id
   */
  decide(requestId: string, answer: GivenAnswer, deciding: { by: Principal } & ApprovalPlace): Promise<Settlement>;
}
