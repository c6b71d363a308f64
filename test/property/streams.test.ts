import { expect, test } from 'vitest';
import { wires, wrongAnswer } from './streams.ts';

const seed = 20_261_129;
const TRIES = 250;

test.each(Object.entries(wires))(
  `whatever a stream of %s holds, it is an answer or an error, no call of a doubtful one runs, no count falls (seed ${seed})`,
  async (_, wire) => {
    const wrong: string[] = [];
    for (let n = 0; n < TRIES; n++) {
      const fault = await wrongAnswer(wire, seed + n);
      if (fault !== undefined) wrong.push(`seed ${seed + n}: ${fault}`);
    }
    expect(wrong).toEqual([]);
  },
);
