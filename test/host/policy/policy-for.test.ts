import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { evaluatePolicy } from '../../../src/gate/index.ts';
import type { PolicyEvaluator, PolicyRequest } from '../../../src/index.ts';
import { createHost, defineTool, LlmAgent, policyFor, run } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';

const ran: string[] = [];
const tool = <const Name extends string>(name: Name) =>
  defineTool({
    name,
    description: name,
    inputSchema: z.object({ amount: z.number() }),
    execute({ amount }) {
      ran.push(`${name} ${amount}`);
      return 'ok';
    },
  });
const pay = tool('pay');
const read = tool('read');
const wipe = tool('wipe');
const tools = [pay, read, wipe];

const request = (action: string, args: object = { amount: 1 }, source?: string) =>
  ({
    action,
    args,
    context: { resource: { name: action, ...(source ? { source } : {}) } },
  }) as unknown as PolicyRequest;
const outcome = async (policy: PolicyEvaluator, asked: PolicyRequest) => (await evaluatePolicy(policy, asked)).outcome;

describe('policyFor', () => {
  const policy = policyFor(tools, {
    read: 'allow',
    wipe: 'deny',
    pay: ({ amount }) =>
      amount < 100 ? 'allow' : amount < 1_000 ? undefined : { outcome: 'deny', reason: 'too much' },
  });

  test.each([
    ['a verdict', request('read'), 'allow'],
    ['a deny', request('wipe'), 'deny'],
    ['what a function says', request('pay'), 'allow'],
    ['what it says nothing about', request('pay', { amount: 500 }), 'ask'],
    ['what it says with a reason', request('pay', { amount: 5_000 }), 'deny'],
    ['a tool that is not named', request('other'), 'ask'],
    ['a tool of a foreign server under a name of ours', request('read', {}, 'mcp:far'), 'ask'],
    ['a name of every object', request('constructor'), 'ask'],
  ])('%s', async (_, asked, wanted) => {
    expect(await outcome(policy, asked)).toBe(wanted);
  });

  test('a reason goes along, and who said it', async () => {
    const decision = await evaluatePolicy(policy, request('pay', { amount: 5_000 }));
    expect(decision).toMatchObject({ outcome: 'deny', reason: 'too much', ruleId: 'tool:pay' });
  });

  test('what is not named gets the third argument, tools of foreign servers too', async () => {
    const strict = policyFor(tools, { read: 'allow' }, 'deny');
    expect(await outcome(strict, request('pay'))).toBe('deny');
    expect(await outcome(strict, request('read', {}, 'mcp:far'))).toBe('deny');
  });

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['says what is no verdict', () => 'yes'],
    ['says null', () => null],
    ['says what is no verdict with a reason', () => ({ outcome: true, reason: 'r' })],
    ['misspells what it obliges to', () => ({ outcome: 'allow', aprovers: { roles: ['cfo'] } })],
    ['obliges to what goes with a question', async () => ({ outcome: 'allow', approvers: { roles: ['cfo'] } })],
  ])('a function that %s is a deny', async (_, verdict) => {
    expect(await outcome(policyFor(tools, { pay: verdict as never }), request('pay'))).toBe('deny');
  });

  test('an answer may be waited for', async () => {
    expect(await outcome(policyFor(tools, { pay: async () => ({ outcome: 'allow' }) }), request('pay'))).toBe('allow');
    expect(await outcome(policyFor(tools, { pay: async () => undefined }), request('pay'))).toBe('ask');
  });

  test.each<[string, () => unknown, RegExp]>([
    ['a name that no tool has', () => policyFor(tools, { pya: 'allow' } as never), /none of the tools is called "pya"/],
    [
      'a verdict that is none',
      () => policyFor(tools, { pay: 'maybe' } as never),
      /the verdict on "pay" is a function or/,
    ],
    ['no tools', () => policyFor(undefined as never, {}), /policyFor: tools/],
    ['another third argument', () => policyFor(tools, {}, 'perhaps' as never), /policyFor: otherwise/],
  ])('%s is refused at once', (_, make, message) => {
    expect(make).toThrow(message);
  });

  test('under a host: what is allowed runs, what is denied is not offered, what is asked waits', async () => {
    const model = new ScriptedModel([
      {
        calls: [
          ['pay', { amount: 1 }],
          ['pay', { amount: 500 }],
          ['wipe', { amount: 1 }],
        ],
      },
      'done',
    ]);
    const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model })], tools, policy });
    const { reason, pending } = await run(await host.open('clerk'), 'go');
    expect(reason).toBe('input_required');
    expect(ran).toEqual(['pay 1']);
    expect(pending).toMatchObject([{ name: 'pay', args: { amount: 500 } }]);
    expect(JSON.stringify(model.requests[0]?.tools)).not.toContain('wipe');
    await host.close();
  });
});
