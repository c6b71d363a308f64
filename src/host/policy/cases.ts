import { isObject } from '../../base/index.ts';
import type { PolicyDecision, PolicyEvaluator, PolicyRequest } from '../../contracts/index.ts';
import { asksNobody, CoxswainError, canonicalJson, messageOf, policyOutcome } from '../../contracts/index.ts';
import type { AskedWith, CheckedDecision } from '../../gate/index.ts';
import { evaluatePolicy, requestOf } from '../../gate/index.ts';
import type { Check } from '../../session/index.ts';
import { checkIs, checkOptions, having, text as isText, listOf, object } from '../../session/index.ts';
import { underMode } from './presets.ts';
import { faultOfAnnotations } from './rule.ts';
import { presentCase } from './spelling.ts';
import { YamlFile } from './yaml-file.ts';

/** A call that a policy is tried on, and what must become of it. */
export interface PolicyCase {
  name: string;
  /** Line in its file. */
  line: number;
  request: PolicyRequest;
  /** Every member that is given must be so, at every depth; lists must be the same. */
  expect: Partial<CheckedDecision> & { outcome: string };
}

export interface CaseResult {
  case: PolicyCase;
  decision: CheckedDecision;
  /** Members of `expect` that are otherwise. */
  wrong: string[];
}

const members = [
  'name',
  'call',
  'args',
  'as',
  'roles',
  'agents',
  'source',
  'digest',
  'kind',
  'annotations',
  'mode',
  'expect',
];
const expected = ['outcome', 'rule', 'reason', 'hint', 'approvers', 'expiresIn', 'redact'];

/**
 * Reads a table of cases, YAML or JSON:
 *
 * ```yaml
 * version: 1
 * cases:
 *   - { call: read_file, annotations: { readOnly: true }, expect: allow }
 *   - name: clerks ask for payments
 *     call: pay
 *     args: { amount: 5 }
 *     as: ann                  # the principal; roles: [clerk]; agents: [lead, intern]
 *     expect: { outcome: ask, rule: payments, approvers: { roles: [finance] } }
 * ```
 * @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_FILE`: `file:line: reason`
 */
export async function loadPolicyCases(text: string, options: { file?: string } = {}): Promise<PolicyCase[]> {
  checkIs(text, 'loadPolicyCases: text', isText);
  checkOptions<typeof options>(options, 'loadPolicyCases: options', { file: isText });
  const yaml = await YamlFile.parse(text, options.file ?? 'cases');
  const content = yaml.content;
  if (!isObject(content)) throw yaml.fault([], 'a table of cases is an object with version and cases');
  yaml.onlyKnown(content, ['version', 'cases'], []);
  if (content.version !== 1) throw yaml.fault(['version'], '"version" must be 1');
  const { cases } = content;
  if (!Array.isArray(cases) || cases.length === 0) throw yaml.fault(['cases'], '"cases" must be a list, not empty');
  return cases.map((value, index) => readCase(value, index, yaml));
}

function readCase(written: unknown, index: number, yaml: YamlFile): PolicyCase {
  const path = ['cases', index];
  const value = presentCase(written, (fault) => yaml.fault(path, fault));
  if (!isObject(value)) throw yaml.fault(path, 'a case is an object with call and expect');
  yaml.onlyKnown(value, members, path);
  const { name, call, args = {}, expect } = value;
  if (typeof call !== 'string' || call === '') throw yaml.fault([...path, 'call'], '"call" must name a tool');
  if (!isObject(args)) throw yaml.fault([...path, 'args'], '"args" must be an object');
  return {
    name: typeof name === 'string' ? name : `${call} ${canonicalJson(args)}`,
    line: yaml.lineAt(path),
    request: readRequest(call, args, value, path, yaml),
    expect: readExpectation(expect, [...path, 'expect'], yaml),
  };
}

function readRequest(
  call: string,
  args: Record<string, unknown>,
  { as, roles, agents, source, digest, kind, annotations, mode }: Record<string, unknown>,
  path: readonly (string | number)[],
  yaml: YamlFile,
): PolicyRequest {
  const text = (field: string, value: unknown): string | undefined => {
    if (value === undefined || typeof value === 'string') return value;
    throw yaml.fault([...path, field], `"${field}" must be a text`);
  };
  const list = (field: string, value: unknown): string[] | undefined => {
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    if (value === undefined || isList) return value as string[] | undefined;
    throw yaml.fault([...path, field], `"${field}" must be a list of texts`);
  };
  if (annotations !== undefined && !isObject(annotations)) {
    throw yaml.fault([...path, 'annotations'], '"annotations" must be an object');
  }
  const misspelt = annotations && faultOfAnnotations(annotations);
  if (misspelt !== undefined) throw yaml.fault([...path, 'annotations'], `"annotations" ${misspelt}`);
  if (roles !== undefined && as === undefined)
    throw yaml.fault([...path, 'roles'], '"roles" are of somebody: give "as"');
  return policyCall(call, args, {
    as: text('as', as),
    roles: list('roles', roles),
    agents: list('agents', agents),
    source: text('source', source),
    digest: text('digest', digest),
    kind: text('kind', kind),
    mode: text('mode', mode),
    annotations,
  });
}

/** The facts of a hypothetical call, all of them optional. */
export interface CallFacts {
  as?: string | undefined;
  roles?: readonly string[] | undefined;
  agents?: readonly string[] | undefined;
  source?: string | undefined;
  digest?: string | undefined;
  kind?: string | undefined;
  mode?: string | undefined;
  annotations?: Record<string, unknown> | undefined;
}

/** What a host would ask a policy about a call. */
export function policyCall(name: string, args: Record<string, unknown>, facts: CallFacts = {}): PolicyRequest {
  const { as, roles, agents = ['agent'], source = 'host', digest, kind, mode, annotations } = facts;
  const asked = {
    source,
    agentPath: [...agents],
    interactive: !asksNobody(mode),
    usage: { calls: 0 },
    ...(as === undefined ? {} : { principal: { id: as, ...(roles ? { roles: [...roles] } : {}) } }),
    ...(digest === undefined ? {} : { digest }),
    ...(kind === undefined ? {} : { kind }),
    ...(annotations ? { annotations } : {}),
    ...(mode === undefined ? {} : { permissionMode: mode }),
  } as AskedWith;
  return requestOf(name, args, asked, 'case');
}

function readExpectation(value: unknown, path: readonly (string | number)[], yaml: YamlFile): PolicyCase['expect'] {
  const { outcome: word, rule, ...rest } = typeof value === 'string' ? { outcome: value } : asObject(value, path, yaml);
  const outcome = policyOutcome(word);
  if (outcome === undefined) {
    throw yaml.fault(path, '"expect" must be allow, deny or ask, or an object with such an outcome');
  }
  return { outcome, ...rest, ...(rule === undefined ? {} : { ruleId: String(rule) }) };
}

function asObject(value: unknown, path: readonly (string | number)[], yaml: YamlFile): Record<string, unknown> {
  if (!isObject(value)) throw yaml.fault(path, '"expect" must be allow, deny or ask, or an object with an outcome');
  yaml.onlyKnown(value, expected, path);
  return value;
}

const aCase: Check = {
  needs: 'a case of loadPolicyCases()',
  fits: (value) =>
    object.fits(value) && object.fits((value as PolicyCase).request) && object.fits((value as PolicyCase).expect),
};

/**
 * Tries a policy on cases, in order, each under its mode. A policy that fails denies, as it does behind a host.
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { loadPolicy, loadPolicyCases, runPolicyCases } from 'coxswain/policy';
 *
 * const policy = await loadPolicy(await readFile('team.yaml', 'utf8'), { file: 'team.yaml' });
 * const cases = await loadPolicyCases(await readFile('team.cases.yaml', 'utf8'), { file: 'team.cases.yaml' });
 * for (const { case: one, wrong } of await runPolicyCases(policy, cases)) console.log(one.name, wrong.length === 0);
 * ```
 */
export async function runPolicyCases(policy: PolicyEvaluator, cases: readonly PolicyCase[]): Promise<CaseResult[]> {
  checkIs(policy, 'runPolicyCases: policy', having('evaluate'));
  checkIs(cases, 'runPolicyCases: cases', listOf(aCase));
  const results: CaseResult[] = [];
  for (const one of cases) {
    const decision = await evaluatePolicy(underMode(policy, one.request.context?.permissionMode), one.request);
    const wrong = Object.entries(one.expect).flatMap(([name, value]) =>
      isAsWanted(decision[name as keyof PolicyDecision], value) ? [] : [name],
    );
    results.push({ case: one, decision, wrong });
  }
  return results;
}

/** Of an object only the members that are given count. */
function isAsWanted(actual: unknown, wanted: unknown): boolean {
  if (!isObject(wanted) || !isObject(actual)) return isSame(actual, wanted);
  return Object.entries(wanted).every(([name, value]) => isAsWanted(actual[name], value));
}

function isSame(actual: unknown, wanted: unknown): boolean {
  try {
    return canonicalJson(actual) === canonicalJson(wanted);
  } catch (error) {
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `a policy's decision is no JSON: ${messageOf(error)}`);
  }
}
