import { readFileSync } from 'node:fs';
import { fromAgent } from '../../adapters/adk/index.ts';
import type { AgentDescriptor, AnyTool, PolicyEvaluator, ToolDescriptor } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { AgentModule } from '../../embed/index.ts';
import { clean, paint } from '../terminal/index.ts';

type Tools = readonly (AnyTool | ToolDescriptor)[];

/** A policy as a command names it; it is made once the tools are known, or without them. */
export interface PolicySource {
  readonly kind: 'rules' | 'cedar' | 'opa';
  make(tools: Tools | undefined, warn: (line: string) => void): Promise<PolicyEvaluator>;
}

/** Where the token of a policy server is looked for. */
export const OPA_TOKEN = 'COXSWAIN_OPA_TOKEN';

/**
 * A rule file (YAML or JSON), Cedar policies (`.cedar`), or the address of a policy server (`http://host:8181`, with
 * `/v1/data/<path>` where the rule is not `coxswain/decision`).
 * @throws CoxswainError `NOT_FOUND | INVALID_ARGUMENT / E_POLICY_FILE`, `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export async function openPolicy(from: string): Promise<PolicySource> {
  if (/^https?:\/\//.test(from)) return opaSource(from);
  const text = readFlagFile(from);
  if (from.endsWith('.cedar')) return cedarSource(text, from);
  const { loadPolicy, presetPolicy } = await import('../../host/index.ts');
  const policy = await loadPolicy(text, { file: from, fallback: presetPolicy() });
  return {
    kind: 'rules',
    async make(tools, warn) {
      for (const warning of [...policy.warnings, ...(tools ? policy.warningsFor(tools) : [])]) warn(warning);
      return policy;
    },
  };
}

function cedarSource(text: string, file: string): PolicySource {
  return {
    kind: 'cedar',
    async make(tools = [], warn) {
      const { cedarPolicy } = await import('../../adapters/policy/cedar.ts');
      const policy = await cedarPolicy({ policies: text, file, tools });
      for (const warning of policy.warnings) warn(warning);
      return policy;
    },
  };
}

async function opaSource(address: string): Promise<PolicySource> {
  const { opaPolicy } = await import('../../adapters/policy/opa.ts');
  const [url = '', path] = address.split('/v1/data/');
  const token = process.env[OPA_TOKEN];
  const policy = opaPolicy({
    url,
    ...(path === undefined ? {} : { path }),
    ...(token === undefined || token === '' ? {} : { token }),
  });
  return { kind: 'opa', make: async () => policy };
}

export function readFlagFile(file: string, flag = '--policy'): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CoxswainError('NOT_FOUND', 'E_POLICY_FILE', `${flag}: ${file} cannot be read (${messageOf(error)})`);
  }
}

/** A warning about a policy, on stderr. */
export const policyWarning = (line: string): string => `${paint('yellow', 'coxswain:')} ${clean(line)}`;

/** All tools of a module that a policy can be asked about: the host's, its providers', the agents' own. */
export async function moduleTools(module: AgentModule): Promise<Tools> {
  const { descriptor } = 'descriptor' in module.agent ? module.agent : fromAgent(module.agent);
  const tools = new Map<string, AnyTool | ToolDescriptor>();
  for (const tool of [...(module.tools ?? []), ...ownTools(descriptor)]) tools.set(tool.name, tool);
  for (const provider of module.toolProviders ?? []) {
    for (const tool of await provider.getToolsForAgent(descriptor.name)) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

function ownTools({ ownTools: own = [], subAgents = [] }: AgentDescriptor): ToolDescriptor[] {
  return [...own, ...subAgents.flatMap(ownTools)];
}
