import { checkIs, having } from '../../base/index.ts';
import type { PolicyEvaluator } from '../../contracts/index.ts';
import type { Plugin } from './plugin.ts';

/**
 * A policy over tools that the runtime runs, as a plugin: for runs without a host. It is asked wherever `policy` of a
 * runner is, also about arguments that other plugins or people change, whatever its place in the list. Under host
 * execution it stands aside: the host's policy is the only one.
 */
export function securityPlugin(policy: PolicyEvaluator, name = 'security'): Plugin {
  checkIs(policy, 'securityPlugin: policy', having('evaluate'));
  return { name, policy };
}
