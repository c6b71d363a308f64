import type { AnyTool, PolicyEvaluator, PolicyRequest, ToolDescriptor } from '../../contracts/index.ts';
import { asksNobody } from '../../contracts/index.ts';
import type { CallFacts, CaseResult } from '../../host/index.ts';
import {
  describeExplanation,
  explanationOf,
  loadPolicyCases,
  policyCall,
  runPolicyCases,
  withoutValues,
} from '../../host/index.ts';
import { clean, EXIT, usageError } from '../terminal/index.ts';
import type { Overrides, StoredCall, StoreFlags } from '../workspace/index.ts';
import {
  chooseModel,
  loadAgentModule,
  moduleContext,
  moduleTools,
  openPolicy,
  policyWarning,
  readFlagFile,
  shownRequest,
  storedCall,
} from '../workspace/index.ts';

interface ToolsFlags {
  /** Module whose tools Cedar policies are checked against. */
  agent?: string;
  workspace?: string;
}

export interface TestFlags extends ToolsFlags {
  cases?: string;
}

export interface ExplainFlags extends ToolsFlags, StoreFlags {
  args?: string;
  as?: string;
  role?: string[];
  agents?: string;
  source?: string;
  kind?: string;
  mode?: string;
  readOnly?: true;
  destructive?: true;
  session?: string;
  json?: true;
}

/** `coxswain policy test`: the cases beside a policy. */
export async function testPolicy(file: string, flags: TestFlags): Promise<number> {
  const table = flags.cases ?? beside(file);
  const cases = await loadPolicyCases(readFlagFile(table, '--cases'), { file: table });
  const results = await runPolicyCases(await policyOf(file, flags), cases);
  for (const result of results) process.stdout.write(`${clean(lineOf(result, table))}\n`);
  const failed = results.filter(({ wrong }) => wrong.length > 0).length;
  process.stdout.write(`${results.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? EXIT.done : EXIT.failed;
}

function beside(file: string): string {
  if (/^https?:/.test(file)) throw usageError('a policy server has no table of cases beside it: give --cases FILE');
  return `${file.replace(/\.[^./\\]+$/, '')}.cases.yaml`;
}

function lineOf({ case: { name, line, expect }, decision, wrong }: CaseResult, file: string): string {
  if (wrong.length === 0) return `ok    ${name}`;
  const said = (value: Readonly<Record<string, unknown>>) =>
    wrong.map((member) => `${member} ${JSON.stringify(value[member])}`).join(', ');
  const by = decision.ruleId === undefined ? '' : ` (by ${decision.ruleId})`;
  return `FAIL  ${name}  ${file}:${line}: expected ${said(expect)}; got ${said({ ...decision })}${by}`;
}

/** `coxswain policy explain`: a hypothetical call, or a stored one. */
export async function explainPolicy(file: string, call: string, flags: ExplainFlags): Promise<number> {
  const facts = factsOf(flags);
  const stored =
    flags.session === undefined ? undefined : await storedCall(call, flags.session, flags, overridesOf(flags, facts));
  if (stored && flags.args !== undefined) stored.request.args = argsOf(flags.args);
  const policy = await policyOf(file, flags);
  const asked = await explanationOf(policy, stored?.request ?? policyCall(call, argsOf(flags.args), facts));
  const { entry } = stored ?? {};
  const hidden = [...(entry?.redacted ?? []), ...(stored ? (asked.decision.redact ?? []) : [])];
  const request = shownRequest(asked.request, hidden);
  const explanation = hidden.length > 0 ? withoutValues(asked, await explanationOf(policy, request)) : asked;
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ ...explanation, request, ...(entry ? { stored: entry } : {}) })}\n`);
    return EXIT.done;
  }
  for (const line of [...storedLines(stored), ...describeExplanation(explanation)]) out(line);
  out(`  asked with ${askedLine(request)}; --json prints all of it`);
  return EXIT.done;
}

function askedLine({ args, principal, context = {} }: PolicyRequest): string {
  const { resource, agentPath = [], permissionMode, session } = context;
  const roles = principal?.roles?.length ? ` (${principal.roles.join(', ')})` : '';
  const { annotations = {}, source, kind, digest } = resource ?? {};
  const parts: [name: string, value: string | undefined][] = [
    ['args', JSON.stringify(args ?? {})],
    ['as', principal && `${principal.id}${roles}`],
    ['agents', agentPath.join('/')],
    ['source', source],
    ['kind', kind],
    ['mode', permissionMode],
    ['annotations', Object.keys(annotations).length > 0 ? JSON.stringify(annotations) : undefined],
    ['digest', digest],
    ['session', session?.id === 'case' ? undefined : session?.id],
  ];
  return parts.flatMap(([name, value]) => (value ? [`${name} ${value}`] : [])).join('; ');
}

const out = (line: string) => process.stdout.write(`${clean(line)}\n`);

function storedLines(stored: StoredCall | undefined): string[] {
  if (!stored) return [];
  const decisions = stored.entry.decisions.map(({ at, outcome, by, ruleId, reason }) => {
    const rule = ruleId === undefined ? '' : `, rule ${ruleId}`;
    return `stored ${at}: ${outcome} by ${by}${rule}${reason === undefined ? '' : ` (${reason})`}`;
  });
  if (decisions.length === 0) decisions.push('stored: nothing was decided');
  if (stored.incomplete) {
    decisions.push('stored: not what policy was asked with; roles, source, path and mode are what the flags say');
  }
  return decisions;
}

/** What flags say of a stored call goes before what is stored. */
function overridesOf(
  flags: ExplainFlags,
  { as, roles, source, kind, mode, agents, annotations }: CallFacts,
): Overrides {
  return {
    ...(as === undefined ? {} : { principal: { id: as, ...(roles ? { roles: [...roles] } : {}) } }),
    ...(source === undefined ? {} : { source }),
    ...(kind === undefined ? {} : { kind }),
    ...(mode === undefined ? {} : { permissionMode: mode, interactive: !asksNobody(mode) }),
    ...(agents === undefined ? {} : { agentPath: [...agents] }),
    ...(flags.readOnly || flags.destructive ? { annotations: annotations ?? {} } : {}),
  };
}

function factsOf(flags: ExplainFlags): CallFacts {
  const annotations = {
    ...(flags.readOnly ? { readOnly: true } : {}),
    ...(flags.destructive ? { destructive: true } : {}),
  };
  const { as, role: roles, source, kind, mode } = flags;
  if (roles && as === undefined) throw usageError("--role goes with --as: roles are somebody's");
  return { as, roles, source, kind, mode, annotations, agents: flags.agents?.split('/') };
}

function argsOf(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw usageError('--args is no JSON object');
}

async function policyOf(file: string, flags: ToolsFlags): Promise<PolicyEvaluator> {
  const source = await openPolicy(file);
  if (source.kind === 'cedar' && flags.agent === undefined) {
    throw usageError('Cedar policies are checked against tools: give --agent MODULE');
  }
  const tools = flags.agent === undefined ? undefined : await toolsOf(flags);
  return source.make(tools, (line) => process.stderr.write(`${policyWarning(line)}\n`));
}

async function toolsOf({ agent = '', workspace }: ToolsFlags): Promise<readonly (AnyTool | ToolDescriptor)[]> {
  const choice = await chooseModel(undefined, process.env);
  const context = moduleContext({ workspace, interactive: false, note: () => {}, choice });
  const module = await loadAgentModule(agent, context);
  try {
    return await moduleTools(module);
  } finally {
    await module.close?.();
  }
}
