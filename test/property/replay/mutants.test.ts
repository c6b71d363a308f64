import { expect, test } from 'vitest';
import { ways } from './live.ts';
import { mutants } from './mutants.ts';
import { search } from './property.ts';

/** Each mutant is found within the first ten seeds, in each way. */
const SEEDS = 100;

const cases = mutants.flatMap((mutant) => ways.map((way) => ({ ...mutant, way })));

test.each(cases)('the replay property refuses $name, $way', async ({ trial, sign, way }) => {
  const { finding } = await search(trial, { from: 1, goesOn: ({ seeds }) => seeds < SEEDS, ways: [way] });
  expect(finding?.faults).toContainEqual(expect.stringMatching(sign));
});
