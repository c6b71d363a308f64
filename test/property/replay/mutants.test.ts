import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { search } from './property.ts';

/** Each mutant is found within the first ten seeds. */
const SEEDS = 100;

test.each(mutants)('the replay property refuses $name', async ({ trial, sign }) => {
  const { finding } = await search(trial, { from: 1, goesOn: ({ seeds }) => seeds < SEEDS });
  expect(finding?.faults).toContainEqual(expect.stringMatching(sign));
});
