import { describe, test } from 'vitest';
import type { ConformanceTarget } from '../../src/conformance/index.ts';
import { conformanceTests } from '../../src/conformance/index.ts';
import { hosted, local } from './targets.ts';

describe.each<ConformanceTarget>([local, hosted])('$name keeps the contract', (target) => {
  for (const { id, title, run } of conformanceTests(target)) test(`${id} ${title}`, run);
});
