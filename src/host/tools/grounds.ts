import type { PolicyEvaluator, Principal } from '../../contracts/index.ts';
import type { GateRules } from '../../gate/index.ts';
import { validateArgs, withEffort } from '../../gate/index.ts';
import type { HostTool } from './tool-registry.ts';

/** On what grounds a request is decided: whose turn it is of, and in which mode. */
export interface Grounds {
  principal: Principal;
  /** With remembered answers and mode. */
  policy: PolicyEvaluator;
  permissionMode: string | undefined;
  /** Somebody can be asked. */
  interactive: boolean;
}

/** The gate's rules for one request of a host. */
export type HostRules = GateRules & Grounds;

/**
 * Checks arguments as the host tool takes them; what a tool of the agent's own takes, its executor checks. All checks
 * of one `turn` have one allowance, however many calls a model makes.
 */
export function validatorOf(hostTool: HostTool | undefined, turn?: object): HostRules['validate'] {
  if (!hostTool) return (args) => withEffort(() => validateArgs({ inputSchema: { type: 'object' } }, args), turn);
  const { descriptor, tool } = hostTool;
  const schema = { inputSchema: descriptor.inputSchema, source: tool.inputSchema ?? tool.parametersSchema };
  return (args) => withEffort(() => validateArgs(schema, args), turn);
}
