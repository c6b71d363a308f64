import type { Principal } from '../../contracts/index.ts';

/** What somebody may see of sessions that are not theirs. */
export interface OperatorScope {
  /** Whose sessions. Absent: everybody's. */
  users?: readonly string[];
  /**
   * What was said, asked for and returned, too, without what policy hides. Default false: which sessions there are, what
   * happened in them and when, by whom and under which rule.
   */
  content?: boolean;
}

/** Who is an operator, and for what; undefined: they see their own sessions alone. */
export type OperatorOf = (principal: Principal) => OperatorScope | undefined;
