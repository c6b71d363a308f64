import type { SessionPlace } from './nodes.ts';

/** How a call has ended; `not_run`: its handler was not begun, `unknown`: it was, and nobody knows what it has done. */
export type CallResult = 'succeeded' | 'failed' | 'not_run' | 'unknown';

/** A question that was answered, without what it was about: `approvals.outcome` says that. */
export interface DecidedQuestion extends SessionPlace {
  requestId: string;
  /** Of a sub-agent: where it was asked and answered, by the same user. Absent: in its session, or that is not known. */
  askedIn?: { agent: string; sessionId: string };
  /** The call that it was about. */
  callId?: string;
  /** Absent: an agent's own question. */
  tool?: string;
  /** Of a host's question `policy`, `rerun` or `asked`; of an agent's own its kind. */
  kind?: string;
  /** When it was asked, ISO. Absent: its store does not say. */
  askedAt?: string;
  /** So many different people had to say yes. Absent: one. */
  quorum?: number;
  /** Of the newest answer: `accept`, `decline` or `cancel`; `expire`: nobody answered in time. */
  action: string;
  /** It was accepted with other arguments. */
  edited?: boolean;
  /** Id of the principal. Absent: nobody is named. */
  by?: string;
  /** When it was answered, ISO. */
  at: string;
  /** Of its call; absent: it is not decided, as more people must answer. */
  outcome?: 'approved' | 'denied';
  /** The rule of policy that decided on the call, or else that has asked. */
  ruleId?: string;
  /** Of its call; absent: it has not ended. */
  result?: CallResult;
  /** When the call has ended, ISO. */
  endedAt?: string;
}

/** The same with who has answered: what it takes to find it, and to know whose it is. */
export interface StoredDecision extends DecidedQuestion {
  /** Names of the principals who have answered, votes among the answers. */
  answerers: readonly string[];
  /** Their ids. */
  people: readonly string[];
}

/** Which decided questions are looked for. */
export interface DecidedQuery {
  /** Asked in sessions of these users, or answered by `orBy`. Absent: of all. */
  users?: readonly string[];
  /** Name of a principal: what they have answered too, whose session ever it is. */
  orBy?: string;
  /** Whose sessions. */
  userId?: string;
  agent?: string;
  tool?: string;
  /** `accept` finds edited ones too, `edit` those alone. */
  action?: string;
  /** Id of somebody who has answered it, or their name where they act for others. */
  answeredBy?: string;
  /** Epoch milliseconds: answered then or later, or before. */
  since?: number;
  before?: number;
  /** In tool, session, user, rule and ids of those who answered; capitals count as small letters. */
  search?: string;
  limit: number;
  /** As the page before has it. */
  after?: string;
}

/** Newest first. */
export interface DecidedPage<T = DecidedQuestion> {
  decided: T[];
  /** With it the next page continues; there may be nothing on that. Absent: there is no more. */
  after?: string;
  /** Sessions of older versions whose logs were not looked through yet: each look takes in some more of them. */
  unread?: number;
  /** Nothing is stored of answers: it was looked for in so many sessions at most, those that have changed last. */
  newest?: number;
}
