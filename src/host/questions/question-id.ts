export { callIdOf, isHostQuestion } from '../../session/index.ts';

/**
 * What the host asks about a call: whether it may run, whether it may run again after an unknown outcome, or what its
 * handler wants to know while it runs.
 */
export type QuestionKind = 'policy' | 'rerun' | 'asked';

/**
 * The id of the host's nth question about a call. Derived from the call, as only the answers are stored: every process
 * that reads the log gives the same question the same id.
 */
export function questionId(callId: string, kind: QuestionKind, n: number): string {
  return `${callId}#${kind}${n === 0 ? '' : `.${n}`}`;
}

export function isAskedByRun(requestId: string): boolean {
  return /#asked(?:\.\d+)?$/.test(requestId);
}

export function isPolicyQuestion(requestId: string): boolean {
  return /#policy(?:\.\d+)?$/.test(requestId);
}

/** Which of the host's questions of its kind about the call it is, from 0. */
export function questionNumber(requestId: string): number {
  return Number(/\.(\d+)$/.exec(requestId)?.[1] ?? 0);
}
