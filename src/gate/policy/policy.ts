import { checkMembers, checkQuestionSize, isObject, isThenable, isTimed } from '../../base/index.ts';
import type {
  ConfirmationRequest,
  PolicyDecision,
  PolicyEvaluator,
  PolicyOutcome,
  PolicyRequest,
} from '../../contracts/index.ts';
import { CoxswainError, copyJson, messageOf, policyOutcome } from '../../contracts/index.ts';
import { APPROVER_MEMBERS, faultOfObligations, isAbsentOr, isSeconds } from '../questions/index.ts';
import { asUnanswered, isUnanswered } from './denial.ts';

/** A decision that was checked: its outcome is one of the three. */
export type CheckedDecision = PolicyDecision & { outcome: PolicyOutcome };

export interface EvaluateOptions {
  /** Milliseconds an evaluator may take; 0: as long as it likes. Default 10,000. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export const POLICY_TIMEOUT_MS = 10_000;
const MAX_MESSAGE = 300;

const immediate = new WeakSet<PolicyEvaluator>();

/** Policies that answer with a value and look at no signal: none is made for them. */
export function answeringAtOnce<T extends PolicyEvaluator>(policy: T): T {
  immediate.add(policy);
  return policy;
}

export function answersAtOnce(policy: PolicyEvaluator): boolean {
  return immediate.has(policy);
}

/**
 * Asks a policy, and denies when it gives no proper answer: it threw, took too long, was aborted, or said something
 * that is no decision. The reason tells which. No policy allows. A value rather than a promise where the evaluator gives
 * one.
 */
export function evaluatePolicy(
  policy: PolicyEvaluator | undefined,
  request: PolicyRequest,
  options: EvaluateOptions = {},
): CheckedDecision | Promise<CheckedDecision> {
  if (!policy) return { outcome: 'allow' };
  const { signal } = options;
  if (signal?.aborted) return denied('The policy was not asked: the call was aborted.');
  const controller = immediate.has(policy) ? undefined : new AbortController();
  try {
    const answer: unknown = policy.evaluate(request, controller?.signal);
    if (!isThenable(answer)) return checkDecision(answer);
    return awaitAnswer(answer, controller ?? new AbortController(), options);
  } catch (error) {
    return threw(error);
  }
}

function awaitAnswer(
  answer: PromiseLike<unknown>,
  controller: AbortController,
  { timeoutMs = POLICY_TIMEOUT_MS, signal }: EvaluateOptions,
): Promise<CheckedDecision> {
  return new Promise((resolve) => {
    const settle = (decision: CheckedDecision) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(decision);
    };
    const onAbort = () => {
      settle(denied('The policy gave no answer: the call was aborted.'));
      controller.abort(signal?.reason);
    };
    const onTimeout = () => {
      settle(denied(`The policy gave no answer within ${timeoutMs} ms.`));
      controller.abort(new DOMException('The policy took too long', 'TimeoutError'));
    };
    const timer = isTimed(timeoutMs) ? setTimeout(onTimeout, timeoutMs) : undefined;
    signal?.addEventListener('abort', onAbort, { once: true });
    // The handlers stay attached after a timeout, so that a late rejection is nobody's surprise.
    Promise.resolve(answer)
      .then(checkDecision)
      .then(settle, (error: unknown) => settle(threw(error)));
  });
}

/**
 * Whoever answers may be another program: an obligation that is malformed, or misspelt, is not a weaker one. What is
 * given back is a copy: each member is read once, now, and whoever has the object can change nothing of it later.
 */
function checkDecision(value: unknown): CheckedDecision {
  if (!isObject(value)) return denied('The policy gave no decision.');
  const unknown = Object.keys(value).find((name) => !known.has(name));
  if (unknown !== undefined) return malformed(`${cut(unknown)} (there is no such member)`);
  const given: Record<string, unknown> = {};
  for (const name of members) {
    const said = value[name];
    if (said !== undefined) given[name] = typeof said === 'object' ? copyJson(said, name) : said;
    if (name === 'approvers' && isObject(said)) given[name] = withHidden(given[name] as object, said);
  }
  const outcome = policyOutcome(given.outcome);
  if (!outcome) return denied(`The policy gave an unknown outcome: ${cut(String(JSON.stringify(given.outcome)))}.`);
  const decision = given as unknown as CheckedDecision;
  decision.outcome = outcome;
  const obligations: PolicyDecision = outcome === 'deny' ? { outcome, redact: decision.redact } : decision;
  const fault = faultOfObligations(obligations, outcome);
  if (fault !== undefined) return malformed(fault);
  for (const word of words) if (!isAbsentOr('string', decision[word])) delete decision[word];
  return isUnanswered(value as PolicyDecision) ? asUnanswered(decision) : decision;
}

/** Each member is read by its name here, too: one that is not listed obliges like any other. */
function withHidden(copy: object, said: Record<string, unknown>): object {
  const whole: Record<string, unknown> = { ...copy };
  for (const name of APPROVER_MEMBERS) {
    if (!(name in whole) && said[name] !== undefined) whole[name] = copyJson(said[name], `approvers.${name}`);
  }
  return whole;
}

const words = ['reason', 'hint', 'ruleId'] as const;

const members = Object.keys({
  outcome: true,
  reason: true,
  hint: true,
  ruleId: true,
  approvers: true,
  expiresIn: true,
  redact: true,
} satisfies Record<keyof PolicyDecision, true>) as readonly (keyof PolicyDecision)[];

const known: ReadonlySet<string> = new Set(members);

const ofConfirmations = ['hint', 'payload', 'expiresIn'] satisfies (keyof ConfirmationRequest)[];

/**
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for a time that is none, or a member that is not known;
 *   `E_TOO_LARGE` for more than a person is shown
 */
export function checkConfirmation(request: ConfirmationRequest): void {
  checkMembers(request, 'requestConfirmation', ofConfirmations);
  const { hint, payload, expiresIn } = request;
  checkQuestionSize({ hint, payload }, 'requestConfirmation');
  const isText = hint === undefined || typeof hint === 'string';
  if (isText && (expiresIn === undefined || isSeconds(expiresIn))) return;
  const what = isText
    ? `requestConfirmation: expiresIn is ${expiresIn}; give seconds, above 0`
    : 'requestConfirmation: hint is no text';
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', what);
}

/** Nobody knows what a policy would have hidden that gave no answer: all of the arguments are. */
function denied(reason: string): CheckedDecision {
  return asUnanswered({ outcome: 'deny', reason, redact: [''] });
}

const malformed = (member: string) => denied(`The policy gave a decision with a malformed member: ${member}.`);

/** The decision, which hides these as well. */
export function withRedact<T extends PolicyDecision>(decision: T, redact: readonly string[] | undefined): T {
  if (!redact || redact.length === 0) return decision;
  const own = decision.redact ?? [];
  const all = [...new Set([...own, ...redact])];
  if (all.length === own.length) return decision;
  const hiding = { ...decision, redact: all };
  return isUnanswered(decision) ? asUnanswered(hiding) : hiding;
}

function threw(error: unknown): CheckedDecision {
  try {
    return denied(`The policy failed: ${cut(String(messageOf(error)))}`);
  } catch {
    // What was thrown cannot even be looked at.
    return denied('The policy failed.');
  }
}

const cut = (message: string): string =>
  message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…`.toWellFormed() : message;
