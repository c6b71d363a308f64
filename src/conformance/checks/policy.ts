import type { PolicyEvaluator } from '../../contracts/index.ts';
import type { Requirement, RequirementCheck } from '../kit/index.ts';
import { Untestable } from '../kit/index.ts';

const cites = 'PolicyEvaluator: a throw, a timeout, an unknown outcome is a deny';

/** A call of a tool that is the executor's own comes to nothing, and the agent goes on. */
async function isDenied(check: RequirementCheck): Promise<void> {
  const probe = await check.open();
  const [tool] = probe.session.descriptor.ownTools;
  if (!tool) throw new Untestable('it has no tools of its own');
  const call = `cx: call ${tool.name} {"message":"Which way?"}\ncx: say went on`;
  const live = await probe.sayTo('completed', call, { hostToolExecution: false, tools: [] });
  const answers = live.responses.map(({ name, isError, errorType }) => [name, isError, errorType]);
  check.equal(answers, [[tool.name, true, 'denied']], 'the tool_response');
  const started = live.ofType('tool_update').filter(({ status }) => status === 'started');
  check.equal(started.length, 0, 'tools that were started');
  check.equal(live.text, 'went on', 'the words of the agent');
}

function denied(id: string, title: string, evaluate: PolicyEvaluator['evaluate']): Requirement {
  const policy: PolicyEvaluator = { evaluate, getExcluded: () => [] };
  return { id, title, tier: 'CAPABILITY', capability: 'policy', cites, policy, check: isDenied };
}

export const policies: readonly Requirement[] = [
  denied('CX-POLICY-01', 'a policy that throws denies', () => {
    throw new Error('the policy is broken');
  }),
  denied('CX-POLICY-02', 'a policy that says what nobody knows denies', () => ({ outcome: 'perhaps' }) as never),
];
