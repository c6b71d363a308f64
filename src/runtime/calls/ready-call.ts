import type { DecisionRecord } from '../../contracts/index.ts';
import { canonicalJson } from '../../contracts/index.ts';
import type { Decision } from '../../gate/index.ts';
import type { ResolvedTool } from '../agent/index.ts';
import type { CallSignals } from '../hooks/index.ts';
import type { CallState } from '../log/index.ts';
import { callTurns } from '../log/index.ts';

/** A call that may run now. */
export interface ReadyCall {
  call: CallState;
  resolved: ResolvedTool;
  decision: Decision;
  confirmation?: { confirmed: boolean; payload?: unknown };
  /** Of the hooks before it. */
  signals?: CallSignals;
}

/** The decisions that let these calls run, by call id, without those that the log has already. */
export function newDecisions(calls: readonly ReadyCall[]): { decisions?: Record<string, DecisionRecord> } {
  const fresh = calls.filter((ready) => !isStored(ready));
  if (fresh.length === 0) return {};
  return { decisions: Object.fromEntries(fresh.map(({ call, decision }) => [call.id, decision.record])) };
}

/** A host has stored it before its agent's gate looked at the call, or the call has stored it as its agent began. */
function isStored({ call, decision: { record } }: ReadyCall): boolean {
  const { decision: stored, decidedAt } = call;
  if (!stored || decidedAt !== callTurns(call)) return false;
  const isSame = (name: keyof DecisionRecord) => canonicalJson(stored[name]) === canonicalJson(record[name]);
  const adds = (name: keyof DecisionRecord) => record[name] !== undefined && stored[name] === undefined;
  return words.every(isSame) && !facts.some(adds);
}

const words = ['outcome', 'by', 'ruleId', 'reason', 'args'] as const;
const facts = ['requestedBy', 'redact', 'asked'] as const;
