import { requirements } from './checks/index.ts';
import type { ConformanceTarget, Finding, RunOptions, Tier } from './kit/index.ts';
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
  return requirements.map((requirement) => ({
    id: requirement.id,
    title: requirement.title,
    tier: requirement.tier,
    async run() {
      const finding = await judge(requirement, target, options);
      if (isFailure(finding)) throw new Error(describeFinding(finding));
      return finding;
    },
  }));
}
