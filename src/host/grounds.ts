import type { PolicyEvaluator, Principal } from '../contracts/index.ts';
import type { CheckedDecision, GateCall, GateRules } from '../gate/index.ts';
import { evaluatePolicy, policyRequest, validateArgs } from '../gate/index.ts';
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

/** Checks arguments as the host tool takes them; what a tool of the agent's own takes, its executor checks. */
export function validatorOf(hostTool: HostTool | undefined): HostRules['validate'] {
  return (args) =>
    hostTool
      ? validateArgs(
          {
            inputSchema: hostTool.descriptor.inputSchema,
            source: hostTool.tool.inputSchema ?? hostTool.tool.parametersSchema,
          },
          args,
        )
      : validateArgs({ inputSchema: { type: 'object' } }, args);
}

/** What policy says to a call with these arguments. */
export async function policyOn(
  call: GateCall,
  args: Record<string, unknown>,
  rules: GateRules,
): Promise<CheckedDecision> {
  const { policy, policyTimeoutMs: timeoutMs, signal } = rules;
  return evaluatePolicy(policy, policyRequest(call, args, rules), { timeoutMs, signal });
}
