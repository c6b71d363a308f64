import { expect, test } from 'vitest';
import type { ConformanceTarget } from '../../src/conformance/index.ts';
import { isFailure, judge, requirements } from '../../src/conformance/index.ts';

/** Requirement ids and why they are not kept. */
export type Deviations = Readonly<Record<string, string>>;

/**
 * The kit over a target; a listed deviation that is none any more is a failure, too. So is, where `untested` is given, a
 * requirement that was not judged and does not stand there, and one that does and was.
 */
export function conforms(
  target: () => ConformanceTarget,
  deviations: Deviations = {},
  untested: Deviations | undefined = undefined,
): void {
  for (const requirement of requirements) {
    const { id, title } = requirement;
    const [broken, absent] = [deviations[id], untested?.[id]];
    const why = broken ? `: not kept, ${broken}` : absent ? `: not judged, ${absent}` : '';
    test(`${id} ${title}${why}`, async () => {
      const finding = await judge(requirement, target(), { deadlineMs: 5_000 });
      const { found, note, status } = finding;
      const seen = { isFailure: isFailure(finding), isUntested: untested !== undefined && status === 'untested' };
      const expected = { isFailure: broken !== undefined, isUntested: absent !== undefined };
      expect({ ...seen, found, note }).toMatchObject(expected);
    });
  }
  test('what is listed names a requirement', () => {
    const known = new Set(requirements.map(({ id }) => id));
    expect(Object.keys({ ...deviations, ...untested }).filter((id) => !known.has(id))).toEqual([]);
  });
}
