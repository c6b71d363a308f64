import { expect, test } from 'vitest';
import { cedarPolicy } from '../../src/adapters/policy/cedar.ts';
import { opaPolicy } from '../../src/adapters/policy/opa.ts';
import type { PolicyEvaluator, PolicyRequest } from '../../src/contracts/index.ts';
import { policyDecision } from '../../src/contracts/schemas/index.ts';
import type { ShadowDecision } from '../../src/gate/index.ts';
import { denyOverrides, evaluatePolicy, shadow } from '../../src/gate/index.ts';
import type { PolicyRule } from '../../src/host/policy/index.ts';
import { applyMode, loadPolicy, loadPolicyCases, policyFor, rulePolicy } from '../../src/host/policy/index.ts';
import { defineTool } from '../../src/index.ts';
import { opaServer } from './opa-server.ts';

const pay = defineTool({ name: 'pay', description: '', inputSchema: { type: 'object' }, execute: () => 'paid' });
const request: PolicyRequest = { action: 'pay', args: {}, context: { resource: { type: 'tool', id: 'pay' } } };

const says = (outcome: string): PolicyEvaluator => ({ evaluate: () => ({ outcome }) });
const rule = (outcome: string) => [{ tool: 'pay', outcome }] as unknown as readonly PolicyRule[];
const outcomeOf = async (policy: PolicyEvaluator | Promise<PolicyEvaluator>): Promise<string> =>
  (await (await policy).evaluate(request)).outcome;

async function seenBy(live: PolicyEvaluator): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<ShadowDecision>();
  await denyOverrides(live, shadow(says('ask_user'), resolve)).evaluate(request);
  const seen = await promise;
  expect([seen.decision.outcome, seen.differs]).toEqual(['ask', false]);
  return seen.live.outcome;
}

async function ofOpa(outcome: string): Promise<string> {
  const server = await opaServer({ 'coxswain/decision': () => ({ outcome }) });
  try {
    return await outcomeOf(opaPolicy({ url: server.url }));
  } finally {
    await server.close();
  }
}

const permit = (outcome: string) => `@outcome("${outcome}") permit(principal, action, resource);`;

/** Every place where an outcome comes from outside, and what is given out for it. */
const doors: Record<string, (word: string) => string | Promise<string>> = {
  'the schema of decisions': (word) => policyDecision.parse({ outcome: word }).outcome,
  'a policy in code, as the gate asks it': async (word) => (await evaluatePolicy(says(word), request)).outcome,
  'several policies': (word) => outcomeOf(denyOverrides(says(word), says('allow'))),
  'a policy on trial': (word) => seenBy(says(word)),
  'a policy under a mode': (word) => outcomeOf(applyMode(says(word), 'default')),
  'a rule': (word) => outcomeOf(rulePolicy(rule(word))),
  'the default of rules': (word) => outcomeOf(rulePolicy([], { defaultOutcome: word as 'ask' })),
  'the policy after the rules': (word) => outcomeOf(rulePolicy([], { fallback: says(word) })),
  'an explanation': async (word) => {
    const { rules, decision } = await rulePolicy(rule(word)).explain(request);
    expect(rules[0]?.outcome).toBe(decision.outcome);
    return decision.outcome;
  },
  'a rule of a file': (word) => outcomeOf(loadPolicy(`{version: 1, rules: [{tool: pay, outcome: ${word}}]}`)),
  'the default of a file': (word) => outcomeOf(loadPolicy(`{version: 1, default: ${word}}`)),
  'a case': async (word) =>
    (await loadPolicyCases(`{version: 1, cases: [{name: one, call: pay, expect: ${word}}]}`))[0]?.expect.outcome ?? '',
  'an outcome for a tool': (word) => outcomeOf(policyFor([pay], { pay: word as 'ask' })),
  'a function for a tool': (word) => outcomeOf(policyFor([pay], { pay: () => word as 'ask' })),
  'an outcome with its reason': (word) => outcomeOf(policyFor([pay], { pay: () => ({ outcome: word as 'ask' }) })),
  'for what no tool is named': (word) => outcomeOf(policyFor([pay], {}, word as 'ask')),
  'an annotation of Cedar': (word) => outcomeOf(cedarPolicy({ policies: permit(word), tools: [pay] })),
  'the default of Cedar': (word) =>
    outcomeOf(cedarPolicy({ policies: [], tools: [pay], defaultOutcome: word as 'ask' })),
  'a result of OPA': ofOpa,
};

const every = Object.entries(doors).flatMap(([door, read]) =>
  ['ask', 'ask_user'].map((word) => ({ door, word, read })),
);

test.each(every)('S3-62 $door: $word is taken, and ask is given out', async ({ word, read }) => {
  expect(await read(word)).toBe('ask');
});

test.each(['ASK', 'ask_User', 'askuser', ' ask'])('S3-62 %j is neither: it denies', async (word) => {
  expect((await evaluatePolicy(says(word), request)).outcome).toBe('deny');
  expect(() => rulePolicy(rule(word))).toThrow(/must be allow, deny or ask/);
});
