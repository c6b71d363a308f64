import type { ReportedRequest } from '../../contracts/index.ts';
import { keepNewest } from '../../session/index.ts';

/** Calls of a turn that are known as looked at: one that was forgotten takes of the turn's effort again. */
const MOST_LOOKED_AT = 100_000;

/** The effort that the checks of one turn's calls may take together. */
export class CheckAllowance {
  #turn: { id: string | undefined; calls: Set<string> } = { id: undefined, calls: new Set() };

  /** For the checks of a call, the first time that it is looked at: how often somebody looks is not the model's doing. */
  of({ turnId, callId: own, requestId }: ReportedRequest, callId = own ?? requestId): object | undefined {
    if (this.#turn.id !== turnId) this.#turn = { id: turnId, calls: new Set() };
    if (this.#turn.calls.has(callId)) return undefined;
    this.#turn.calls.add(callId);
    keepNewest(this.#turn.calls, MOST_LOOKED_AT);
    return this.#turn;
  }
}
