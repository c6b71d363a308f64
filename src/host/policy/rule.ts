import { isObject, nearest } from '../../base/index.ts';
import type { ApproverRule, PolicyOutcome, ToolAnnotations } from '../../contracts/index.ts';
import { policyOutcome } from '../../contracts/index.ts';

import { MAX_EXPIRES_IN, OBLIGATIONS_OF_ASKS } from '../../gate/index.ts';
import { permissionMode } from '../../session/index.ts';

/** Who wrote a rule. What a higher tier says, a lower one may tighten: org > user > session. */
export type PolicyTier = 'org' | 'user' | 'session';
export const POLICY_TIERS: readonly PolicyTier[] = ['org', 'user', 'session'];

/**
 * A condition on a call's arguments: a JSON Schema that they fit, or a map from JSON pointers (`/path/to/member`) to
 * a regular expression (found anywhere in the value; numbers and booleans are read as their text) or to a JSON
 * Schema. All pointers must hold; one that points at nothing does not.
 *
 * In an `allow` rule a keyword implies its type and `properties` that its members are there, at every depth: `maximum`
 * fits no text. In other rules it fits what it says nothing of, too.
 *
 * Patterns are tested in time that is linear in the text; one that refers to its own groups cannot be, and is refused.
 * Strings above 10,000 characters, lists and objects are not matched against patterns, and all conditions together take
 * a bounded number of steps: where it cannot be told whether an `allow` rule applies it does not, any other rule does.
 */
export type ArgsCondition = Record<string, unknown>;

/** When all its conditions hold, `outcome` is what it says. */
export interface PolicyRule {
  /** Appears as `ruleId` in decisions and logs; unique in its tier. */
  id?: string | undefined;
  /** Names of tools: globs with `*` and `?`. */
  tool: string | readonly string[];
  args?: ArgsCondition | undefined;
  /** Globs on the principal's id. */
  principal?: string | readonly string[] | undefined;
  /** The principal has one of these roles. */
  role?: string | readonly string[] | undefined;
  kind?: string | readonly string[] | undefined;
  /** Globs on where the tool comes from: `host`, `agent:NAME` (its own), `provider:NAME`, `mcp:SERVER`. */
  source?: string | readonly string[] | undefined;
  /** Digests of the tool, as `policy explain` and decisions in the log show them: a changed tool is another one. */
  digest?: string | readonly string[] | undefined;
  /**
   * Values of the tool's annotations. Those of foreign tools (source `mcp:…`) are claims: unless the policy trusts
   * them, `allow` rules with this condition do not apply to such tools, and other rules do.
   */
  annotations?: Record<string, boolean | string | number> | undefined;
  /** Permission modes. */
  mode?: string | readonly string[] | undefined;
  /** Globs on the agent's path (`root/child`), or on its own name. */
  agent?: string | readonly string[] | undefined;
  outcome: PolicyOutcome;
  /** For people and models. */
  reason?: string | undefined;
  /** Who may say yes; `ask` only. */
  approvers?: ApproverRule | undefined;
  /** Seconds until an unanswered question becomes a no; `ask` only. */
  expiresIn?: number | undefined;
  /** JSON pointers into the arguments that audits hide. */
  redact?: readonly string[] | undefined;
  /** Within a tier the higher goes first; default 0. Equal ones go in their order. */
  priority?: number | undefined;
  /** Lower tiers may loosen it too. */
  overridable?: boolean | undefined;
}

/** A rule's members checked: the first fault, as the member's name and what is wrong with it. */
export function faultOfRule(rule: unknown): { field?: string; fault: string } | undefined {
  if (!isObject(rule)) return { fault: 'is not an object' };
  for (const field of Object.keys(rule)) {
    if (!Object.hasOwn(fields, field))
      return { field, fault: `is unknown; known are ${Object.keys(fields).join(', ')}` };
  }
  for (const [field, check] of Object.entries(fields)) {
    const value = rule[field];
    const fault = value === undefined ? (isRequired(field) ? 'is missing' : undefined) : check(value);
    if (fault !== undefined) return { field, fault };
  }
  if (policyOutcome(rule.outcome) !== 'ask') {
    const field = OBLIGATIONS_OF_ASKS.find((name) => rule[name] !== undefined);
    if (field !== undefined) return { field, fault: 'goes with outcome ask only' };
  }
  return undefined;
}

type Check = (value: unknown) => string | undefined;

const isRequired = (field: string): boolean => field === 'tool' || field === 'outcome';

const strings: Check = (value) => {
  const list = typeof value === 'string' ? [value] : value;
  const isList =
    Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === 'string' && item !== '');
  return isList ? undefined : 'must be a string or a list of strings, not empty';
};

const fields: Record<keyof PolicyRule, Check> = {
  id: (value) => {
    if (typeof value !== 'string' || value === '') return 'must be a string, not empty';
    return value.startsWith('preset:') ? 'must not begin with "preset:"' : undefined;
  },
  tool: strings,
  // What an argument condition holds is checked by compiling it.
  args: (value) => (isObject(value) && Object.keys(value).length > 0 ? undefined : 'must be an object, not empty'),
  principal: strings,
  role: strings,
  kind: strings,
  source: strings,
  digest: strings,
  annotations: (value) => {
    const isFlat =
      isObject(value) && Object.values(value).every((v) => ['boolean', 'string', 'number'].includes(typeof v));
    return isFlat && Object.keys(value).length > 0
      ? faultOfAnnotations(value)
      : 'must be an object of plain values, not empty';
  },
  mode: (value) => {
    const fault = strings(value);
    if (fault !== undefined) return fault;
    const slip = [value].flat().find((mode) => !permissionMode.fits(mode));
    return slip === undefined
      ? undefined
      : `${JSON.stringify(slip)} is nearly a known mode; write ${permissionMode.needs}`;
  },
  agent: strings,
  outcome: (value) => (policyOutcome(value) === undefined ? 'must be allow, deny or ask' : undefined),
  reason: (value) => (typeof value === 'string' ? undefined : 'must be a string'),
  approvers: faultOfApprovers,
  expiresIn: (value) =>
    typeof value === 'number' && value > 0 && value <= MAX_EXPIRES_IN
      ? undefined
      : `must be seconds above 0, ${MAX_EXPIRES_IN} at most`,
  redact: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && /^(\/|$)/.test(item))
      ? undefined
      : 'must be a list of JSON pointers, not empty',
  priority: (value) => (typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a number'),
  overridable: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
};

const known: readonly (keyof ToolAnnotations)[] = [
  'readOnly',
  'destructive',
  'idempotent',
  'longRunning',
  'exclusive',
  'fixedArgs',
  'after',
  'category',
];

/** Tools may have annotations of their own; one that is nearly a known one, or MCP's word for it, would never match. */
export function faultOfAnnotations(annotations: Record<string, unknown>): string | undefined {
  for (const name of Object.keys(annotations)) {
    if ((known as readonly string[]).includes(name)) continue;
    const meant = nearest(name.replace(/_?hint$/i, ''), known);
    if (meant !== undefined) return `has an unknown key "${name}"; did you mean ${meant}?`;
  }
  return undefined;
}

function faultOfApprovers(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object';
  const { roles, notRequester, quorum, ...unknown } = value;
  const [name] = Object.keys(unknown);
  if (name !== undefined) return `has an unknown member "${name}"`;
  if (roles !== undefined && (!Array.isArray(roles) || strings(roles) !== undefined))
    return 'needs a list of strings as roles';
  if (notRequester !== undefined && typeof notRequester !== 'boolean') return 'needs true or false as notRequester';
  if (quorum !== undefined && !(Number.isInteger(quorum) && Number(quorum) >= 1))
    return 'needs a whole number above 0 as quorum';
  return undefined;
}
