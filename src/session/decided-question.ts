import type { SessionPlace } from '../contracts/index.ts';

/** A question that was answered, without what it was about: `outcome` says that. */
export interface DecidedQuestion extends SessionPlace {
  requestId: string;
  /** Absent: an agent's own question. */
  tool?: string;
  /** Of the newest answer: `accept`, `decline` or `cancel`. */
  action: string;
  /** Name of the principal. Absent: nobody is named. */
  by?: string;
  /** When it was answered, ISO. */
  at: string;
  /** Of its call; absent: it is not decided, as more people must answer. */
  outcome?: 'approved' | 'denied';
  ruleId?: string;
}
