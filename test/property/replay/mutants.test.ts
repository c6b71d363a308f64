import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { search } from './property.ts';

/** Enough for each of them several times over. */
const SEEDS = 100;

test.each(Object.entries(mutants))('the replay property refuses %s', async (_, mutant) => {
  const { finding } = await search(mutant, { from: 1, goesOn: ({ seeds }) => seeds < SEEDS });
  expect(finding?.faults).toBeDefined();
});
