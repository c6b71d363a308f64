import type { DecisionRecord } from '../../contracts/index.ts';
import { deepFreeze } from '../../contracts/index.ts';

let mint: (callId: string, args: Record<string, unknown>, record: DecisionRecord) => Decision;
const key = Symbol('decision');

/**
 * Leave to run one call with these arguments. Only the gate makes them: from a policy's word or from an approval in
 * the log. The one function that reaches a tool's handler takes one.
 */
export class Decision {
  readonly callId: string;
  readonly args: Record<string, unknown>;
  /** What is written into the log. */
  readonly record: DecisionRecord;
  readonly #genuine = true;

  private constructor(callId: string, args: Record<string, unknown>, record: DecisionRecord, made: symbol) {
    if (made !== key) throw new TypeError('decisions are made by the gate only');
    this.callId = callId;
    this.args = args;
    this.record = record;
  }

  static isGenuine(value: unknown): value is Decision {
    return typeof value === 'object' && value !== null && #genuine in value && value.#genuine;
  }

  static {
    mint = (callId, args, record) => new Decision(callId, args, record, key);
  }
}

/** Policy alone has let it run: nobody was asked. */
export const isByPolicy = ({ record }: Decision): boolean => record.by === 'policy';

/** For the gate's own use: not exported from the folder. */
export function mintDecision(callId: string, args: Record<string, unknown>, record: DecisionRecord): Decision {
  // They may stand in the record, too, which is stored when the call has ended.
  return mint(callId, deepFreeze(args), record);
}
