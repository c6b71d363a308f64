import { expect, test } from 'vitest';
import { requirements, runConformance } from '../../src/conformance/index.ts';
import { targetOf } from './broken/bend.ts';
import { broken } from './broken/index.ts';

test('there is one broken executor for each requirement', () => {
  expect(broken.map(({ id }) => id).sort()).toEqual(requirements.map(({ id }) => id).sort());
});

test.each(broken)('$id: $how, and nothing else fails', async (executor) => {
  const findings = await runConformance(requirements, targetOf(executor));
  expect(findings.filter(({ status }) => status !== 'passed').map(({ id, status }) => `${id} ${status}`)).toEqual([
    `${executor.id} failed`,
  ]);
});
