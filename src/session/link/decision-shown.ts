import type { DecisionRecord, ReportedRequest, RunDecisionRecord } from '../../contracts/index.ts';

/** What an open request says of the approval of its call, which is on record. */
export function decisionShown(decision: DecisionRecord): NonNullable<ReportedRequest['decision']> {
  const { args, by, ruleId, reason, tailCalls }: RunDecisionRecord = decision;
  return {
    by,
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(reason === undefined ? {} : { reason }),
    ...(args ? { args } : {}),
    ...(tailCalls ? { tails: true } : {}),
  };
}
