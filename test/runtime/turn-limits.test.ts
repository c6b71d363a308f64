import { describe, expect, test } from 'vitest';
import type { TurnLimits } from '../../src/runtime/agent/turn-limits.ts';
import { exceeded, strictest } from '../../src/runtime/agent/turn-limits.ts';
import type { Activation } from '../../src/runtime/log/activation.ts';
import { newActivation } from '../../src/runtime/log/activation.ts';
import type { Fold } from '../../src/runtime/log/fold.ts';

const usage = { inputTokens: 60, outputTokens: 40, totalTokens: 100, cost: { usd: 2 } };
const turn = { llmCalls: 10, usage, activeMs: 120_000 };
const fold = (more: object = {}) => ({ turn: { ...turn, ...more } }) as unknown as Fold;
const activation = (more: Partial<Activation> = {}): Activation => ({ ...newActivation(), ...more });

interface Given {
  limits?: TurnLimits;
  steps?: number;
  base?: number;
  maxIterations?: number;
  underWay?: number;
}
const reached = ({ limits = {}, steps = 10, base = 0, maxIterations, underWay = 0 }: Given) => {
  const failure = exceeded(limits, fold(), activation({ steps, base }), maxIterations, underWay);
  return failure && [failure.reason, failure.code];
};

describe('the next model call', () => {
  test.each<[string, Given, unknown]>([
    ['nothing is set', {}, undefined],
    ['500 calls by default', { underWay: 489 }, undefined],
    ['and no more', { underWay: 490 }, ['max_turns', 'E_MAX_LLM_CALLS']],
    ['calls below their cap', { limits: { maxLlmCalls: 11 } }, undefined],
    ['calls at their cap', { limits: { maxLlmCalls: 10 } }, ['max_turns', 'E_MAX_LLM_CALLS']],
    ['those that are under way', { limits: { maxLlmCalls: 11 }, underWay: 1 }, ['max_turns', 'E_MAX_LLM_CALLS']],
    ['no cap', { limits: { maxLlmCalls: 0 }, underWay: 5000 }, undefined],
    ['steps below', { limits: { steps: 11 } }, undefined],
    ['steps at', { limits: { steps: 10 } }, ['max_turns', 'E_MAX_LLM_CALLS']],
    ['25 iterations by default', { steps: 24 }, undefined],
    ['and no more iterations', { steps: 25 }, ['max_turns', 'E_MAX_ITERATIONS']],
    ['counted since it was opened again', { steps: 30, base: 6 }, undefined],
    ['and at its end', { steps: 30, base: 5 }, ['max_turns', 'E_MAX_ITERATIONS']],
    ['iterations that were set', { steps: 3, maxIterations: 3 }, ['max_turns', 'E_MAX_ITERATIONS']],
    ['a larger cap of calls lifts the default', { steps: 25, limits: { maxLlmCalls: 26 } }, undefined],
    ['a larger cap of steps does so too', { steps: 25, limits: { steps: 26 } }, undefined],
    [
      'but not what was set',
      { steps: 25, maxIterations: 25, limits: { steps: 30 } },
      ['max_turns', 'E_MAX_ITERATIONS'],
    ],
    ['a smaller cap does not lower it', { steps: 24, limits: { maxLlmCalls: 11 } }, undefined],
    ['tokens below', { limits: { tokens: 101 } }, undefined],
    ['tokens at', { limits: { tokens: 100 } }, ['max_budget', 'E_MAX_BUDGET']],
    ['money below', { limits: { usd: 2.1 } }, undefined],
    ['money at', { limits: { usd: 2 } }, ['max_budget', 'E_MAX_BUDGET']],
    ['minutes below', { limits: { minutes: 2.1 } }, undefined],
    ['minutes at', { limits: { minutes: 2 } }, ['max_time', 'E_MAX_TIME']],
  ])('%s', (_, given, expected) => {
    expect(reached(given)).toEqual(expected);
  });

  test('says what was used up, and how to go on', () => {
    const of = (limits: TurnLimits, goOn?: string) => exceeded(limits, fold(), activation(), 5, 0, goOn);
    expect(of({ maxLlmCalls: 7 })).toMatchObject({
      message: 'the turn has made 7 model calls; continue the session to proceed',
      fatal: false,
      retryable: false,
    });
    expect(of({ usd: 1 }, 'ask again')?.message).toBe('the turn has used its 1 USD; ask again to proceed');
  });

  test('costs nothing where nothing was told of it, and is not limited without a turn', () => {
    const free = exceeded({ usd: 1 }, fold({ usage: { ...usage, cost: undefined } }), activation(), undefined, 0);
    expect(free).toBeUndefined();
    expect(exceeded({ usd: 0 }, fold({ usage: {} }), activation(), undefined, 0)?.code).toBe('E_MAX_BUDGET');
    expect(exceeded({ steps: 0 }, {} as Fold, activation(), undefined, 0)).toBeUndefined();
  });
});

test.each<[readonly (TurnLimits | undefined)[], TurnLimits]>([
  [[], {}],
  [[undefined, {}], {}],
  [[{ usd: 1 }, undefined, { usd: 2, steps: 3 }], { usd: 1, steps: 3 }],
  [[{ tokens: 5 }, { tokens: 4 }, { minutes: 1 }], { tokens: 4, minutes: 1 }],
  [[{ maxLlmCalls: 0 }], { maxLlmCalls: Infinity }],
  [[{ maxLlmCalls: -1 }, { maxLlmCalls: 9 }], { maxLlmCalls: 9 }],
  [[{ steps: 0 }, { steps: 5 }], { steps: 0 }],
])('of %j the strictest are %j', (sets, expected) => {
  expect(strictest(...sets)).toEqual(expected);
});
