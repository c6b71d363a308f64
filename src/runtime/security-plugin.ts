import type { PolicyEvaluator } from '../contracts/index.ts';
import { evaluatePolicy } from '../gate/index.ts';
import type { Plugin } from './plugin.ts';

/**
 * A policy over tools that the runtime runs, as a plugin: for runs without a host. Under host execution it stands
 * aside: the host's policy is the only one. (`policy` of a runner is the same thing with a `policy_decision` event.)
 */
export function securityPlugin(policy: PolicyEvaluator, name = 'security'): Plugin {
  return {
    name,
    async beforeTool(context, tool, args) {
      if (context.invocation.hostRuns) return undefined;
      const decision = await evaluatePolicy(policy, {
        action: tool.name,
        args,
        principalPath: [...context.agentPath],
        context: {
          resource: {
            type: 'tool',
            id: tool.name,
            ...(tool.kind === undefined ? {} : { kind: tool.kind }),
            ...(tool.annotations ? { annotations: tool.annotations } : {}),
          },
          session: { id: context.sessionId },
          agentPath: [...context.agentPath],
          interactive: true,
        },
      });
      if (decision.outcome === 'allow') return undefined;
      if (decision.outcome === 'deny') return { action: 'block', reason: decision.reason ?? 'denied by policy' };
      const hint = decision.hint ?? decision.reason;
      context.requestConfirmation(hint === undefined ? {} : { hint });
      return undefined;
    },
  };
}
