import { describe, expect, test } from 'vitest';
import { strictestLimits } from '../../src/base/index.ts';
import type { AgentDescriptor, AgentEvent, PriceTable } from '../../src/contracts/index.ts';
import { costOf } from '../../src/contracts/index.ts';
import { Budget, budgetOf } from '../../src/host/terms/budget.ts';

const usage = (more: object) => ({ type: 'usage', ...more }) as AgentEvent & { type: 'usage' };
const prices: PriceTable = { m: { input: 1, output: 2 } } as never;
async function* log(...events: object[]) {
  yield* events as AgentEvent[];
}

test('the strictest of several limits holds, key by key', () => {
  expect(strictestLimits({ steps: 5, usd: 1 }, undefined, { steps: 3, tokens: 9 }, { minutes: 2 })).toEqual({
    ...{ steps: 3, usd: 1, tokens: 9, minutes: 2 },
  });
  expect(strictestLimits({ steps: 0 }, { steps: 3 })).toEqual({ steps: 0 });
  expect(strictestLimits({ steps: 3 }, { steps: 5 })).toEqual({ steps: 3 });
  expect(strictestLimits(undefined, {})).toEqual({});
  expect(strictestLimits()).toBe(strictestLimits({}, undefined));
});

describe('what a model call costs', () => {
  const tokens = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
  test.each<[string, object, PriceTable | undefined, number | undefined]>([
    ['is what the provider says', { ...tokens, model: 'm', cost: { usd: 7 } }, prices, 7],
    ['is nothing where the provider says so', { ...tokens, model: 'm', cost: { usd: 0 } }, prices, 0],
    ['is in the table', { ...tokens, model: 'm' }, prices, 3],
    ['is unknown without a name', tokens, prices, undefined],
    ['is unknown without a table', { ...tokens, model: 'm' }, undefined, undefined],
    ['is unknown of another model', { ...tokens, model: 'n' }, prices, undefined],
    ['is not what every object has', { ...tokens, model: 'constructor' }, prices, undefined],
  ])('%s', (_, event, table, usd) => {
    expect(costOf(usage(event), table)).toBe(usd);
  });
});

describe('a budget in USD', () => {
  test('is used up by the calls of the turn, and of those below it', () => {
    const budget = new Budget({ usd: 3 }, prices, false);
    expect(budget.exceeded()).toBeUndefined();
    budget.see(usage({ model: 'm', inputTokens: 1_000_000 }));
    budget.see({ type: 'message', cost: { usd: 9 } } as never);
    budget.see(usage({ cost: { usd: 1.5 } }), true);
    expect(budget.exceeded()).toBeUndefined();
    budget.see(usage({ cost: { usd: 0.5 } }));
    expect(budget.exceeded()).toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      code: 'E_MAX_BUDGET',
      message: expect.stringContaining('3.0000 of its 3 USD'),
    });
  });

  test('cannot be kept where nobody knows a price: that is said, with the model', () => {
    const budget = new Budget({ usd: 3 }, prices, false);
    budget.see(usage({ model: 'n' }));
    expect(budget.exceeded()).toMatchObject({ code: 'E_NO_PRICE', message: expect.stringContaining('a price for n') });
    const nameless = new Budget({ usd: 3 }, prices, false);
    nameless.see(usage({}));
    expect(nameless.exceeded()?.message).toContain('a model without a name');
    const none = new Budget({ tokens: 3 }, undefined, false);
    none.see(usage({ model: 'n' }));
    expect(none.exceeded()).toBeUndefined();
  });

  test('is refused without any price, unless the models tell their cost', () => {
    for (const table of [undefined, {}]) {
      expect(() => new Budget({ usd: 3 }, table, false)).toThrow(expect.objectContaining({ code: 'E_NO_PRICE' }));
      expect(new Budget({ usd: 3 }, table, true).limits).toEqual({ usd: 3 });
      expect(new Budget({ steps: 3 }, table, false).limits).toEqual({ steps: 3 });
    }
    expect(new Budget({ usd: 3 }, prices, false).exceeded()).toBeUndefined();
  });
});

describe('a budget of tokens', () => {
  test('leaves the agent what those below it have not used, and each of those what the others have not', () => {
    const budget = new Budget({ tokens: 100, steps: 5 }, undefined, false);
    budget.see(usage({ inputTokens: 10, outputTokens: 5 }));
    budget.see(usage({ inputTokens: 20 }), true);
    budget.see(usage({ outputTokens: 5 }), true);
    expect(budget.ofAgent()).toEqual({ tokens: 75, steps: 5 });
    expect(budget.ofSubagent({ inputTokens: 20 })).toEqual({ tokens: 80, steps: 5 });
    expect(budget.ofSubagent({})).toEqual({ tokens: 60, steps: 5 });
    budget.see(usage({ inputTokens: 500 }), true);
    // None at all would be no limit.
    expect([budget.ofAgent().tokens, budget.ofSubagent({}).tokens]).toEqual([1, 1]);
    const without = new Budget({ steps: 5 }, undefined, false);
    without.see(usage({ inputTokens: 10 }), true);
    expect(without.ofAgent()).toEqual({ steps: 5 });
  });

  test('counts what was used before where that matters', () => {
    const counts = (limits: object, withSubagents: boolean) => new Budget(limits, prices, false).counts(withSubagents);
    expect([counts({ usd: 1 }, false), counts({ usd: 1 }, true)]).toEqual([true, true]);
    expect([counts({ tokens: 1 }, false), counts({ tokens: 1 }, true)]).toEqual([false, true]);
    expect([counts({ steps: 1 }, false), counts({ steps: 1 }, true)]).toEqual([false, false]);
  });
});

describe('what a turn has cost before', () => {
  const cost = (usd: number) => ({ type: 'usage', cost: { usd } });
  const message = (more: object = {}) => ({ type: 'message', role: 'user', ...more });
  const exceeded = async (usd: number, ...events: object[]) => {
    const budget = new Budget({ usd }, undefined, true);
    await budget.seeTurn(log(...events));
    return budget.exceeded() !== undefined;
  };

  test('counts since its message, its last end or its beginning', async () => {
    expect(await exceeded(5, message(), cost(3), cost(2))).toBe(true);
    expect(await exceeded(5.1, message(), cost(3), cost(2))).toBe(false);
    expect(await exceeded(5, cost(3), message(), cost(2))).toBe(false);
    expect(await exceeded(5, message(), cost(3), { type: 'stream_end' }, cost(2))).toBe(false);
    // Neither words of the agent nor those that are added to a turn begin one.
    expect(await exceeded(5, message(), cost(3), { type: 'message', role: 'agent' }, cost(2))).toBe(true);
    expect(await exceeded(5, message(), cost(3), message({ _meta: { steer: true } }), cost(2))).toBe(true);
    expect(await exceeded(5, message(), cost(3), message({ _meta: {} }), cost(2))).toBe(false);
  });

  test('counts that of sub-agents with them', async () => {
    const below = (data: object) => ({ type: 'custom', kind: 'policy_decision', data: { callId: 'c', ...data } });
    expect(await exceeded(5, message(), cost(3), below({ usage: { cost: { usd: 2 } } }))).toBe(true);
    expect(await exceeded(5, message(), cost(3), below({}))).toBe(false);
    const budget = new Budget({ tokens: 100 }, undefined, false);
    await budget.seeTurn(
      log(usage({ inputTokens: 10 }), below({ usage: { inputTokens: 20 } }), { type: 'usage', outputTokens: 1 }),
    );
    expect([budget.ofAgent().tokens, budget.ofSubagent({}).tokens]).toEqual([80, 69]);
  });
});

test('the agent’s own limits are among those that hold', () => {
  const of = (more: object, host: object = {}, callers?: object) =>
    budgetOf(more as AgentDescriptor, host as never, callers as never).limits;
  expect(of({ constraints: { maxTimeMinutes: 5, maxBudgetUsd: 2 } }, { prices })).toEqual({ minutes: 5, usd: 2 });
  expect(of({ constraints: { maxTimeMinutes: 5 } }, { limits: { minutes: 3 } }, { minutes: 4, steps: 1 })).toEqual({
    ...{ minutes: 3, steps: 1 },
  });
  expect(of({})).toEqual({});
  expect(of({ constraints: {} })).toEqual({});
  expect(() => of({ constraints: { maxBudgetUsd: 2 } })).toThrow('a price');
  expect(of({ constraints: { maxBudgetUsd: 2 }, metadata: { reportsCost: true } })).toEqual({ usd: 2 });
  expect(() => of({ constraints: { maxBudgetUsd: 2 }, metadata: { reportsCost: 'yes' } })).toThrow('a price');
});
