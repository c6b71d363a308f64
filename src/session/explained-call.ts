import type { PolicyDecision, PolicyOutcome, Principal } from '../contracts/index.ts';

/** What policy says of a stored call now, and why. */
export interface CallExplanation {
  /** With what it obliges to: `approvers`, `expiresIn`, `hint`. */
  decision: PolicyDecision;
  /** Rules on the tool, in the order in which they are tried. Absent: not for this person. Empty: the policy shows none. */
  rules?: TriedRule[];
  /** No rule matches the call. */
  byDefault: boolean;
  /** The session's mode has another word than the policy alone. */
  mode?: { name: string; without: PolicyDecision };
  /** What policy is asked with, without what this person may not see. */
  args: Record<string, unknown>;
  principal?: Principal;
  agentPath: readonly string[];
  /** Why the tool does not take these arguments. */
  unfit?: string;
  /** An approval of these arguments by this person is not enough: policy wants other people, or more. */
  isForOthers?: true;
  /** The log does not say what policy was asked with: roles, source and mode are not known. */
  incomplete?: true;
}

/** How one rule takes a call. */
export interface TriedRule {
  tier: string;
  /** How messages call it, with its place in its file where it has one: `refunds (policy.yaml:12)`. */
  rule: string;
  id?: string;
  outcome: PolicyOutcome;
  /** It decides for its tier; otherwise `because` has the member whose condition does not hold, or the rule that comes first. */
  spoke: boolean;
  because?: { field: string; why: string } | { after: string };
}
