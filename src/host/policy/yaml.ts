import { isObject } from '../../base/index.ts';
import type { PolicyOutcome } from '../../contracts/index.ts';
import { messageOf, policyOutcome } from '../../contracts/index.ts';

import type { Shape } from '../../session/index.ts';
import { checkIs, checkOptions, flag, fn, having, text as isText } from '../../session/index.ts';
import { isRuleError } from './compile.ts';
import type { PolicyRule, PolicyTier } from './rule.ts';
import { POLICY_TIERS } from './rule.ts';
import type { RulePolicy, RulePolicyOptions } from './rules.ts';
import { rulePolicy } from './rules.ts';
import { presentRule, speltIn } from './spelling.ts';
import { YamlFile } from './yaml-file.ts';

export interface LoadPolicyOptions extends Omit<RulePolicyOptions, 'defaultOutcome'> {
  /** Named in errors. Default `policy`. */
  file?: string | undefined;
}

/**
 * Reads a policy file, YAML 1.2 or JSON:
 *
 * ```yaml
 * version: 1
 * default: ask                 # what no rule speaks about; goes before `fallback`
 * rules:                       # the org tier; or one list for each tier:
 * tiers: { org: [], user: [], session: [] }
 * ```
 *
 * Rules are as {@link PolicyRule} says. Unknown members are errors.
 * @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_FILE`: `file:line: reason`; `details` has file and line
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { loadPolicy } from 'coxswain/policy';
 *
 * const policy = await loadPolicy(await readFile('policy.yaml', 'utf8'), { file: 'policy.yaml' });
 * console.log(policy.warnings);
 * ```
 */
export async function loadPolicy(text: string, options: LoadPolicyOptions = {}): Promise<RulePolicy> {
  checkIs(text, 'loadPolicy: text', isText);
  checkOptions<LoadPolicyOptions>(options, 'loadPolicy: options', loadShape);
  const { file = 'policy', ...rest } = options;
  const yaml = await YamlFile.parse(text, file);
  const content = parse(yaml.content, yaml);
  const path = (tier: string, index: number) => [...(content.isFlat ? ['rules'] : ['tiers', tier]), index];
  try {
    return rulePolicy(content.tiers, {
      ...rest,
      placeOf: (tier, index) => `${file}:${yaml.lineAt(path(tier, index))}`,
      ...(content.outcome && { defaultOutcome: content.outcome, fallback: undefined }),
    });
  } catch (error) {
    if (!isRuleError(error)) throw yaml.fault([], messageOf(error), error);
    const { tier, index, field, id, fault } = error.details as unknown as RuleFault;
    const name = id === undefined ? '' : `rule "${id}": `;
    throw yaml.fault(
      [...path(tier, index), ...(field === undefined ? [] : [speltIn(content.written[tier]?.[index], field)])],
      `${name}${fault}`,
      error,
    );
  }
}

interface RuleFault {
  tier: PolicyTier;
  index: number;
  field?: string;
  id?: string;
  fault: string;
}

const loadShape: Shape<LoadPolicyOptions> = {
  file: isText,
  fallback: having('evaluate'),
  trustAnnotations: flag,
  placeOf: fn,
};

interface PolicyFile {
  tiers: Partial<Record<PolicyTier, PolicyRule[]>>;
  outcome?: PolicyOutcome;
  /** As the file spells them. */
  written: Readonly<Record<string, readonly unknown[] | undefined>>;
  /** One list, the org tier's. */
  isFlat: boolean;
}

function parse(content: unknown, yaml: YamlFile): PolicyFile {
  if (!isObject(content)) throw yaml.fault([], 'a policy is an object with version, default, rules or tiers');
  yaml.onlyKnown(content, ['version', 'default', 'rules', 'tiers'], []);
  if (content.version !== 1) throw yaml.fault(['version'], '"version" must be 1');
  if (content.rules !== undefined && content.tiers !== undefined) {
    throw yaml.fault(['rules'], '"rules" and "tiers" exclude one another; rules are the org tier');
  }
  const tiers = content.tiers ?? { org: content.rules ?? [] };
  if (!isObject(tiers)) throw yaml.fault(['tiers'], '"tiers" must be an object');
  yaml.onlyKnown(tiers, POLICY_TIERS, ['tiers']);
  for (const [tier, rules] of Object.entries(tiers)) {
    if (Array.isArray(rules)) continue;
    throw content.tiers === undefined
      ? yaml.fault(['rules'], '"rules" must be a list')
      : yaml.fault(['tiers', tier], `"${tier}" must be a list of rules`);
  }
  const isFlat = content.tiers === undefined;
  // What the lists hold is checked rule by rule.
  const checked = Object.fromEntries(
    Object.entries(tiers).map(([tier, rules]) => [
      tier,
      (rules as unknown[]).map((rule, index) =>
        presentRule(rule, (fault) => yaml.fault([...(isFlat ? ['rules'] : ['tiers', tier]), index], fault)),
      ),
    ]),
  ) as Partial<Record<PolicyTier, PolicyRule[]>>;
  const written = tiers as PolicyFile['written'];
  if (content.default === undefined) return { tiers: checked, written, isFlat };
  const outcome = policyOutcome(content.default);
  if (outcome === undefined) throw yaml.fault(['default'], '"default" must be allow, deny or ask');
  return { tiers: checked, written, outcome, isFlat };
}
