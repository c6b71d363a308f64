import { isObject } from '../../base/index.ts';
import type { PolicyDecision } from '../../contracts/index.ts';

// What policy can tie an approval to, beside words for people: who may answer, how long, what is hidden. What each may
// be, which of two policies' words holds, and that it goes from a rule to a decision to a question.

/** Seconds; some three hundred years. Beyond it a time cannot be told. */
export const MAX_EXPIRES_IN = 1e10;

/** How policy languages spell them, and how they are called here. */
export const PRESENT_NAMES: Readonly<Record<string, string>> = {
  expires_in: 'expiresIn',
  not_requester: 'notRequester',
  rule_id: 'ruleId',
};

/**
 * The members of a rule or decision by their present names; each may be spelt both ways.
 * @throws Error for a member that is there in both spellings
 */
export function withPresentNames(
  object: Readonly<Record<string, unknown>>,
  what: string,
  names = PRESENT_NAMES,
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) {
    const name = (Object.hasOwn(names, key) ? names[key] : undefined) ?? key;
    if (Object.hasOwn(found, name)) throw new Error(`${what} says ${name} twice`);
    found[name] = value;
  }
  return found;
}

/** Those that mean something where a person is asked, and nowhere else. */
export const OBLIGATIONS_OF_ASKS = ['approvers', 'expiresIn'] as const;

/** Of a rule for those who answer. */
export const APPROVER_MEMBERS: ReadonlySet<string> = new Set(['roles', 'notRequester', 'quorum', 'also']);

export type Obligations = Pick<PolicyDecision, 'approvers' | 'expiresIn' | 'redact'>;

/** Those that something has: a rule, a decision or a question. */
export function obligationsIn({
  approvers,
  expiresIn,
  redact,
}: { readonly [K in keyof Obligations]?: Readonly<Obligations[K]> | undefined }): Obligations {
  const own: Obligations = {};
  if (approvers !== undefined) own.approvers = approvers;
  if (expiresIn !== undefined) own.expiresIn = expiresIn;
  if (redact !== undefined) own.redact = [...redact];
  return own;
}

/** What is wrong with those of a policy's answer, by the name of the member. */
export function faultOfObligations(
  { approvers, expiresIn, redact }: PolicyDecision,
  outcome: string,
): string | undefined {
  if (approvers !== undefined) {
    if (!isObject(approvers)) return 'approvers';
    if (outcome === 'allow') return 'approvers (they go with ask only)';
    // A misspelt one would name nobody who is meant, and so let anybody answer.
    const unknown = Object.keys(approvers).find((name) => !APPROVER_MEMBERS.has(name));
    if (unknown !== undefined) return `approvers.${unknown} (there is no such member)`;
    // An empty list names nobody, rather than anybody.
    const { roles } = approvers;
    if (roles !== undefined && !(isStrings(roles) && roles.length > 0)) return 'approvers.roles';
    if (!isAbsentOr('boolean', approvers.notRequester)) return 'approvers.notRequester';
    const { also } = approvers;
    if (also !== undefined && !(Array.isArray(also) && also.every((one) => isStrings(one) && one.length > 0))) {
      return 'approvers.also';
    }
    const { quorum } = approvers;
    if (quorum !== undefined && !(Number.isInteger(quorum) && quorum >= 1)) return 'approvers.quorum';
  }
  if (expiresIn !== undefined && !isSeconds(expiresIn)) return 'expiresIn';
  return redact !== undefined && !(isStrings(redact) && redact.every(isPointer)) ? 'redact' : undefined;
}

/** Of two asks: whoever answers must satisfy both. Undefined: no one approver would do. `redact` is joined elsewhere. */
export function bothObligations(
  a: PolicyDecision,
  b: PolicyDecision,
): Pick<Obligations, 'approvers' | 'expiresIn'> | undefined {
  const roles = a.approvers?.roles && b.approvers?.roles;
  const common = roles ? a.approvers?.roles?.filter((role) => b.approvers?.roles?.includes(role)) : undefined;
  if (common?.length === 0) return undefined;
  const both: Pick<Obligations, 'approvers' | 'expiresIn'> = {};
  const approvers: NonNullable<PolicyDecision['approvers']> = { ...b.approvers, ...a.approvers };
  if (common) approvers.roles = common;
  if (a.approvers?.notRequester || b.approvers?.notRequester) approvers.notRequester = true;
  const quorum = Math.max(a.approvers?.quorum ?? 1, b.approvers?.quorum ?? 1);
  if (quorum > 1) approvers.quorum = quorum;
  const also = [...(a.approvers?.also ?? []), ...(b.approvers?.also ?? [])];
  if (also.length > 0) approvers.also = also;
  if (a.approvers ?? b.approvers) both.approvers = approvers;
  const expiresIn = sooner(a.expiresIn, b.expiresIn);
  if (expiresIn !== undefined) both.expiresIn = expiresIn;
  return both;
}

/** The shorter of two times, in seconds. */
export function sooner(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

export const isAbsentOr = (type: string, value: unknown): boolean => value === undefined || typeof value === type;

export const isSeconds = (value: number): boolean => Number.isFinite(value) && value > 0 && value <= MAX_EXPIRES_IN;

/** One that is none would hide nothing. */
const isPointer = (text: string): boolean => text === '' || text.startsWith('/');

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
