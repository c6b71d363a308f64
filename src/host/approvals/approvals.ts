import type { Principal, RequestAnswer, Settlement } from '../../contracts/index.ts';
import type { ApprovalFilter, ApprovalPlace, OpenApproval } from './open-sessions.ts';

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
   * Answers one question. Once it is durable the run continues, whether or not anybody watches it.
   * @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST | E_REQUEST_CLOSED`, `PERMISSION_DENIED /
   *   E_NOT_APPROVER`, `INVALID_ARGUMENT / E_BAD_INPUT` where several sessions ask a question of this id
   */
  decide(requestId: string, answer: RequestAnswer, deciding: { by: Principal } & ApprovalPlace): Promise<Settlement>;
}
