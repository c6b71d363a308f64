import { requirements } from './checks/index.ts';
import type { ConformanceTarget, Finding, Requirement, RunOptions, Tier } from './kit/index.ts';
import { isFailure, judge, kitInput } from './kit/index.ts';
import { describeFinding } from './report/index.ts';

/** One requirement as a test of whatever runner: `run` throws where the executor breaks it. */
export interface ConformanceTest {
  id: string;
  title: string;
  tier: Tier;
  run(): Promise<Finding>;
}

/**
 * The requirements as tests of a target: `for (const {id, title, run} of conformanceTests(target)) test(…)`.
 * @example
 * ```ts
 * import test from 'node:test';
 * import { fromAgent, LlmAgent, type Model } from 'coxswain';
 * import { conformanceTests, targetOfSource } from 'coxswain/conformance';
 *
 * // A model that follows the fixture messages of the kit.
 * declare const model: Model;
 * const target = targetOfSource('mine', () => fromAgent(new LlmAgent({ name: 'mine', model })));
 * for (const { id, title, run } of conformanceTests(target)) test(`${id} ${title}`, async () => void (await run()));
 * ```
 */
export function conformanceTests(target: ConformanceTarget, options: RunOptions = {}): ConformanceTest[] {
  kitInput.target(target);
  kitInput.options(options);
  const needed = new Map<string, Promise<Finding>>();
  const judged = (requirement: Requirement): Promise<Finding> => {
    const known = needed.get(requirement.id);
    if (known) return known;
    const finding = judge(requirement, target, options);
    // Others need it: it is tried once for all of them.
    if (requirements.some(({ needs }) => needs?.includes(requirement.id))) needed.set(requirement.id, finding);
    return finding;
  };
  return requirements.map((requirement) => ({
    id: requirement.id,
    title: requirement.title,
    tier: requirement.tier,
    async run() {
      for (const id of requirement.needs ?? []) {
        const other = requirements.find((one) => one.id === id);
        const isHeld = !other || options.known?.includes(id) || (await judged(other)).status === 'passed';
        if (!isHeld) throw new Error(`${requirement.id} was not tested: begin with ${id}, which fails`);
      }
      const finding = await judged(requirement);
      if (isFailure(finding)) throw new Error(describeFinding(finding));
      return finding;
    },
  }));
}
