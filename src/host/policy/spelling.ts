import { isObject } from '../../base/index.ts';
import { messageOf } from '../../contracts/index.ts';
import { PRESENT_NAMES, withPresentNames } from '../../gate/index.ts';

// Files may spell obligations as policy languages do (`not_requester`), and a role as one or as several.

const ofRules = { ...PRESENT_NAMES, roles: 'role' };
const ofCases = { ...PRESENT_NAMES, role: 'roles' };

type Fault = (message: string) => Error;

function respelt(value: unknown, what: string, fault: Fault, names: Readonly<Record<string, string>>): unknown {
  if (!isObject(value)) return value;
  try {
    const own = withPresentNames(value, what, names);
    if (isObject(own.approvers)) own.approvers = withPresentNames(own.approvers, 'approvers');
    return own;
  } catch (error) {
    throw fault(messageOf(error));
  }
}

/** A rule of a file with the names that {@link PolicyRule} has. */
export const presentRule = (rule: unknown, fault: Fault): unknown => respelt(rule, 'the rule', fault, ofRules);

/** A case, and what is expected of it, with the names that are used here. */
export function presentCase(value: unknown, fault: Fault): unknown {
  const own = respelt(value, 'the case', fault, ofCases);
  if (!isObject(own)) return own;
  const roles = typeof own.roles === 'string' ? [own.roles] : own.roles;
  const expect = respelt(own.expect, 'expect', fault, { ...PRESENT_NAMES, rule_id: 'rule', ruleId: 'rule' });
  return { ...own, ...(roles === undefined ? {} : { roles }), ...(own.expect === undefined ? {} : { expect }) };
}

/** How a rule of a file spells a member. */
export function speltIn(rule: unknown, name: string): string {
  const given = isObject(rule) ? Object.keys(rule) : [];
  return (
    given.find((key) => (Object.hasOwn(ofRules, key) ? ofRules[key as keyof typeof ofRules] : key) === name) ?? name
  );
}
