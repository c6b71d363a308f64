import type { Document, LineCounter, Node } from 'yaml';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { PolicyOutcome } from '../../gate/index.ts';
import { isRuleError } from './compile.ts';
import type { PolicyRule, PolicyTier } from './rule.ts';
import { isObject, POLICY_TIERS } from './rule.ts';
import type { RulePolicy, RulePolicyOptions } from './rules.ts';
import { rulePolicy } from './rules.ts';

type Yaml = typeof import('yaml');
type Path = readonly (string | number)[];

export interface LoadPolicyOptions extends Omit<RulePolicyOptions, 'defaultOutcome'> {
  /** Named in errors. Default `policy`. */
  file?: string | undefined;
}

/** A fault of the file, at a place in it. */
class Fault extends Error {
  readonly path: Path;
  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/**
 * Reads a policy file, YAML 1.2 or JSON:
 *
 * ```yaml
 * version: 1
 * default: ask_user            # what no rule speaks about; goes before `fallback`
 * rules:                       # the org tier; or one list for each tier:
 * tiers: { org: [], user: [], session: [] }
 * ```
 *
 * Rules are as {@link PolicyRule} says. Unknown members are errors.
 * @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_FILE`: `file:line: reason`; `details` has file and line
 */
export async function loadPolicy(text: string, options: LoadPolicyOptions = {}): Promise<RulePolicy> {
  const { file = 'policy', ...rest } = options;
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fail = (line: number, reason: string, cause?: unknown) =>
    new CoxswainError('INVALID_ARGUMENT', 'E_POLICY_FILE', `${file}:${line}: ${reason}`, {
      details: { file, line },
      cause,
    });
  // A tag that nobody knows is a warning there, and a misunderstanding here.
  const broken = document.errors[0] ?? document.warnings[0];
  if (broken) throw fail(lines.linePos(broken.pos[0]).line, broken.message, broken);
  try {
    const content = parse(document.toJS({ maxAliasCount: 100 }));
    return rulePolicy(content.tiers, {
      ...rest,
      ...(content.outcome && { defaultOutcome: content.outcome, fallback: undefined }),
    });
  } catch (error) {
    const { path, message } = placeOf(error, document, yaml);
    throw fail(lineAt(path, document, lines, yaml), message, error);
  }
}

function parse(content: unknown): { tiers: Partial<Record<PolicyTier, PolicyRule[]>>; outcome?: PolicyOutcome } {
  if (!isObject(content)) throw new Fault([], 'a policy is an object with version, default, rules or tiers');
  onlyKnown(content, ['version', 'default', 'rules', 'tiers'], []);
  if (content.version !== 1) throw new Fault(['version'], '"version" must be 1');
  if (content.rules !== undefined && content.tiers !== undefined) {
    throw new Fault(['rules'], '"rules" and "tiers" exclude one another; rules are the org tier');
  }
  const tiers = content.tiers ?? { org: content.rules ?? [] };
  if (!isObject(tiers)) throw new Fault(['tiers'], '"tiers" must be an object');
  onlyKnown(tiers, POLICY_TIERS, ['tiers']);
  for (const [tier, rules] of Object.entries(tiers)) {
    if (Array.isArray(rules)) continue;
    throw content.tiers === undefined
      ? new Fault(['rules'], '"rules" must be a list')
      : new Fault(['tiers', tier], `"${tier}" must be a list of rules`);
  }
  // What the lists hold is checked rule by rule.
  const checked = tiers as Partial<Record<PolicyTier, PolicyRule[]>>;
  if (content.default === undefined) return { tiers: checked };
  const outcome = content.default === 'ask' ? 'ask_user' : content.default;
  if (outcome !== 'allow' && outcome !== 'deny' && outcome !== 'ask_user') {
    throw new Fault(['default'], '"default" must be allow, deny or ask_user');
  }
  return { tiers: checked, outcome };
}

function onlyKnown(object: Record<string, unknown>, known: readonly string[], path: Path): void {
  const name = Object.keys(object).find((key) => !known.includes(key));
  if (name !== undefined) throw new Fault([...path, name], `"${name}" is unknown; known are ${known.join(', ')}`);
}

function placeOf(error: unknown, document: Document, yaml: Yaml): { path: Path; message: string } {
  const message = messageOf(error);
  if (error instanceof Fault) return { path: error.path, message };
  if (!isRuleError(error)) return { path: [], message };
  const { tier, index, field } = error.details as { tier: string; index: number; field?: string };
  const isFlat = yaml.isMap(document.contents) && !document.contents.has('tiers');
  const path: (string | number)[] = isFlat ? ['rules', index] : ['tiers', tier, index];
  return { path: field === undefined ? path : [...path, field], message };
}

/** The line of the last step of a path that is in the file. */
function lineAt(path: Path, document: Document, lines: LineCounter, yaml: Yaml): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    if (yaml.isAlias(node)) node = node.resolve(document);
    if (yaml.isMap(node)) {
      const pair = node.items.find(({ key }) => (yaml.isScalar(key) ? key.value : key) === step);
      if (!pair) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (yaml.isSeq(node)) {
      node = node.items[Number(step)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else break;
  }
  return lines.linePos(offset).line;
}
