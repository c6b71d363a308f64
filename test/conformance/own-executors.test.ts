import { describe, expect, test } from 'vitest';
import type { ConformanceTarget, ExpectedFailures } from '../../src/conformance/index.ts';
import { describeFinding, judge, makeReport, requirements } from '../../src/conformance/index.ts';
import { dispatched, executorOverWebSocket, hosted, local, overPlainHttp, overWebSocket } from './targets.ts';

/** Deviations that are known, with their reasons. One that is mended turns its test red. */
const known: Record<string, ExpectedFailures> = {};

describe.each<ConformanceTarget>([local, hosted, dispatched, overWebSocket, overPlainHttp, executorOverWebSocket])(
  '$name keeps the contract',
  (target) => {
    test.each([...requirements])('$id $title', async (requirement) => {
      const finding = await judge(requirement, target);
      const reason = known[target.name]?.[requirement.id];
      const expected = reason === undefined ? {} : { [requirement.id]: reason };
      const { conformant } = makeReport(target.name, '', [finding], expected);
      expect(conformant, describeFinding(finding)).toBe(true);
    });
  },
);
