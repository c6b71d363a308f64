import { expect, test } from 'vitest';
import { longTurn } from '../../bench/long/long-turn.ts';

const window = 32_000;

test.each([
  ['of which 64 KiB stay in the log', 65_536],
  ['of which all stay in the log', undefined],
])(
  'CMP-12 150 steps with results of 1 MB, %s, end well in a window of 32,000 tokens',
  { timeout: 120_000 },
  async (_, cap) => {
    const steps = 150;
    const figures = await longTurn({ steps, result: 1_000_000, window, isCompacted: true, ...(cap ? { cap } : {}) });
    expect([figures.reason, figures.error]).toEqual(['completed', undefined]);
    expect(figures.fetched + figures.readAgain).toBe(steps);
    expect(figures.readAgain).toBeGreaterThan(10);
    const { server } = figures;
    expect(server.largest).toBeLessThan(window);
    expect(server.refused).toBe(0);
    // What comes first in a request changes seldom: most of it was sent with the one before.
    expect(server.cachedTokens / server.inputTokens).toBeGreaterThan(0.5);
    // Summaries are for what no reference makes short enough.
    expect(server.summaries).toBeLessThan(steps / 10);
  },
);
