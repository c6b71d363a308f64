import { expect, test } from 'vitest';
import type { ConformanceTarget } from '../../src/conformance/index.ts';
import { isFailure, judge, requirements } from '../../src/conformance/index.ts';

/** Requirement ids and why they are not kept. */
export type Deviations = Readonly<Record<string, string>>;

/** The kit over a target; a listed deviation that is none any more is a failure, too. */
export function conforms(target: () => ConformanceTarget, deviations: Deviations = {}): void {
  for (const requirement of requirements) {
    const { id, title } = requirement;
    const why = deviations[id];
    test(why === undefined ? `${id} ${title}` : `${id} ${title}: not kept, ${why}`, async () => {
      const finding = await judge(requirement, target(), { deadlineMs: 5_000 });
      expect({ isFailure: isFailure(finding), found: finding.found }).toMatchObject({ isFailure: why !== undefined });
    });
  }
  test('every listed deviation names a requirement', () => {
    const known = new Set(requirements.map(({ id }) => id));
    expect(Object.keys(deviations).filter((id) => !known.has(id))).toEqual([]);
  });
}
