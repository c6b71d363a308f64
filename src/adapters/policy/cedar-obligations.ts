import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { ApproverRule } from '../../contracts/index.ts';
import { policyOutcome } from '../../contracts/index.ts';
import type { CheckedDecision } from '../../gate/index.ts';
import { PRESENT_NAMES, withPresentNames } from '../../gate/index.ts';

const known = ['id', 'outcome', 'reason', 'hint', 'roles', 'not_requester', 'quorum', 'expires_in', 'redact'];
/** For readers of the policies: obliges to nothing. */
const remarks = ['description'];
/** Annotations are spelt as Cedar's own words; also as everywhere else. */
const spellings = Object.fromEntries(Object.entries(PRESENT_NAMES).map(([snake, camel]) => [camel, snake]));
const ofAsks = ['roles', 'not_requester', 'quorum', 'expires_in'];

/**
 * What a policy comes to, by effect and annotations: `@id`, `@outcome("ask")`, `@reason`, `@hint`, `@roles("a, b")`,
 * `@not_requester`, `@quorum("2")`, `@expires_in("3600")` (seconds), `@redact("/password")`.
 * `@description` is for readers.
 * @throws Error with a readable message for other annotations, and for values that mean nothing
 */
export function cedarObligations({ effect, annotations = {} }: PolicyJson): CheckedDecision {
  const given = withPresentNames(annotations, 'the policy', spellings) as Record<string, string | null>;
  // It may be a misspelt obligation, which would oblige nobody.
  const unknown = Object.keys(given).find((name) => !known.includes(name) && !remarks.includes(name));
  if (unknown !== undefined) {
    throw new Error(`annotation @${unknown} is unknown; known are @${[...known, ...remarks].join(', @')}`);
  }
  const outcome = outcomeOf(effect, given.outcome);
  const wrong = outcome === 'ask' ? undefined : ofAsks.find((name) => given[name] !== undefined);
  if (wrong !== undefined) throw new Error(`@${wrong} goes with @outcome("ask") only`);
  const approvers = approversOf(given);
  return {
    outcome,
    ...text('ruleId', given.id),
    ...text('reason', given.reason),
    ...text('hint', given.hint),
    ...(approvers ? { approvers } : {}),
    ...(given.expires_in === undefined ? {} : { expiresIn: numberOf('expires_in', given.expires_in) }),
    ...(given.redact === undefined ? {} : { redact: pointersOf(given.redact) }),
  };
}

function outcomeOf(effect: string, word: string | null | undefined): CheckedDecision['outcome'] {
  if (effect === 'forbid') {
    if (word !== undefined && word !== 'deny') throw new Error('@outcome of a forbid can only be "deny"');
    return 'deny';
  }
  const outcome = word === undefined ? 'allow' : policyOutcome(word);
  if (outcome === 'allow' || outcome === 'ask') return outcome;
  throw new Error(`@outcome("${word ?? ''}") is unknown; a permit has "allow" or "ask"`);
}

function approversOf(given: Record<string, string | null>): ApproverRule | undefined {
  const approvers: ApproverRule = {};
  if (given.roles !== undefined) {
    approvers.roles = listOf(given.roles);
    if (approvers.roles.length === 0) throw new Error('@roles names nobody');
  }
  if (given.not_requester !== undefined) {
    const word = given.not_requester;
    if (word !== null && word !== '' && word !== 'true' && word !== 'false') {
      throw new Error('@not_requester is "true" or "false"');
    }
    approvers.notRequester = word !== 'false';
  }
  if (given.quorum !== undefined) {
    approvers.quorum = numberOf('quorum', given.quorum);
    if (!Number.isInteger(approvers.quorum)) throw new Error('@quorum is a whole number above 0');
  }
  return Object.keys(approvers).length > 0 ? approvers : undefined;
}

function text(key: 'ruleId' | 'reason' | 'hint', value: string | null | undefined) {
  return typeof value === 'string' && value !== '' ? { [key]: value } : {};
}

function numberOf(name: string, word: string | null): number {
  const value = Number(word);
  if (!/^\d+(\.\d+)?$/.test(word ?? '') || !(value > 0)) throw new Error(`@${name} is a number above 0`);
  return value;
}

function pointersOf(word: string | null): string[] {
  const pointers = listOf(word);
  if (pointers.length === 0 || !pointers.every((pointer) => pointer.startsWith('/'))) {
    throw new Error('@redact is a list of JSON pointers, as "/password, /card/number"');
  }
  return pointers;
}

function listOf(word: string | null): string[] {
  return (word ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
