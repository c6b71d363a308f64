/**
 * What a host asks about a call: whether it may run, whether it may run again after an unknown outcome, or what its
 * handler wants to know while it runs.
 */
export type QuestionKind = 'policy' | 'rerun' | 'asked';

// Every id of a question is written and read in this file: `<callId>#<kind>` or `<callId>#<kind>.<n>` for a host's,
// `<callId>#<n>` for an agent's own.
const MARK = '#';
const hosts = /#(policy|rerun|asked)(?:\.\d+)?$/;

/**
 * The id of the host's nth question about a call, from 0. Derived from the call, as only the answers are stored: every
 * process that reads the log gives the same question the same id.
 */
export function questionId(callId: string, kind: QuestionKind, n: number): string {
  return `${callId}${MARK}${kind}${n === 0 ? '' : `.${n}`}`;
}

/** The id of an agent's own nth question about a call, from 0. */
export function agentQuestionId(callId: string, n: number): string {
  return `${callId}${MARK}${n}`;
}

/** The id is that of a question, whoever asks it, and not of a call. */
export function isQuestion(requestId: string): boolean {
  return requestId.includes(MARK);
}

/** The call that a question is about, whoever asks it. The id of a call is its own. */
export function callIdOf(requestId: string): string {
  const mark = requestId.lastIndexOf(MARK);
  return mark < 0 ? requestId : requestId.slice(0, mark);
}

/** A question that a host asks, not the agent's own: numbered when it is asked again. */
export function isHostQuestion(requestId: string): boolean {
  return hosts.test(requestId);
}

/** A host's question that is derived from the log and stands nowhere in it until it is answered. */
export function isDerivedQuestion(requestId: string): boolean {
  const kind = kindOfQuestion(requestId);
  return kind === 'policy' || kind === 'rerun';
}

export function isAskedByRun(requestId: string): boolean {
  return kindOfQuestion(requestId) === 'asked';
}

export function isPolicyQuestion(requestId: string): boolean {
  return kindOfQuestion(requestId) === 'policy';
}

/** Which of the host's questions of its kind about the call it is, from 0. */
export function questionNumber(requestId: string): number {
  return Number(/\.(\d+)$/.exec(requestId)?.[1] ?? 0);
}

/** Of a host's question; undefined for any other id. */
export function kindOfQuestion(requestId: string): string | undefined {
  return hosts.exec(requestId)?.[1];
}
