import { expect, test } from 'vitest';
import { ensureValidator } from '../../../src/gate/index.ts';
import { judge } from '../replay/judge.ts';
import type { Life, Way } from '../replay/live.ts';
import { live, ways } from '../replay/live.ts';
import { below, randomOf } from '../replay/random.ts';
import { compactionFaults, padded, sight, squeezed } from './squeeze.ts';

const { SEED, PROPERTY_SECONDS } = process.env;
const CASES = 400;
const seconds = Number(PROPERTY_SECONDS ?? 15);
/** Lives of each tree, of which all but the first are killed. */
const VARIANTS = 3;

test('CMP-8 a turn in windows that are too small, killed anywhere, comes to what it comes to with room for all', {
  timeout: seconds * 1000 + 30_000,
}, async () => {
  await ensureValidator();
  const start = performance.now();
  const tally = { cases: 0, compactions: 0, summaries: 0, overflows: 0, deaths: 0 };
  const goesOn = (seed: number) => {
    if (SEED !== undefined) return seed === Number(SEED);
    if (PROPERTY_SECONDS === undefined && tally.cases >= CASES) return false;
    return performance.now() - start < seconds * 1000;
  };
  for (let seed = Number(SEED ?? 1); goesOn(seed); seed++) {
    for (const way of ways) {
      const reference = await roomy(seed, way);
      for (let variant = 0; variant < VARIANTS; variant++) {
        const seen = sight();
        const life = await tight(seed, way, variant, reference, seen);
        const logs = [...life.logs.values()];
        const faults = [...seen.faults, ...logs.flatMap(compactionFaults), ...judge(unread(life), reference)].filter(
          (fault) => !fault.includes('was not summed up'),
        );
        if (faults.length > 0) {
          const again = `again: SEED=${seed} npm test -- test/property/compaction`;
          expect.fail([`seed ${seed}, life ${variant}, ${way}:`, ...faults.slice(0, 10), again].join('\n'));
        }
        tally.cases++;
        tally.deaths += life.deaths;
        tally.summaries += seen.summaries;
        tally.overflows += seen.overflows;
        tally.compactions += life.log.filter(({ actions }) => actions.compacted).length;
      }
    }
  }
  if (SEED !== undefined) return;
  expect(Object.entries(tally).filter(([, count]) => count === 0)).toEqual([]);
});

function roomy(seed: number, way: Way): Promise<Life> {
  return live({ parts: padded }, { seed, variant: 0, way }, randomOf(seed * 131 + ways.indexOf(way)), () => undefined);
}

function tight(
  seed: number,
  way: Way,
  variant: number,
  reference: Life,
  seen: ReturnType<typeof sight>,
): Promise<Life> {
  const random = randomOf(seed * 131 + variant * ways.length + ways.indexOf(way));
  const span = Math.max(2, reference.log.length / 2);
  return live({ parts: squeezed(seed, seen) }, { seed, variant, way }, random, (length) => {
    if (variant === 0 || random() < 0.15) return undefined;
    return { at: length + 1 + below(random, span), stored: random() < 0.5 };
  });
}

/** Whoever has a history that was compacted is offered one tool more, and says so where a tool is not known. */
function unread(life: Life): Life {
  const log = JSON.parse(JSON.stringify(life.log).replaceAll(', read_result', '')) as Life['log'];
  return { ...life, log };
}
