import { describe, expect, test } from 'vitest';
import type { PolicyDecision } from '../../src/contracts/index.ts';
import type { GateRules, Verdict } from '../../src/gate/index.ts';
import { askHook, decide, policyAskedWith, policyRequest, validateArgs } from '../../src/gate/index.ts';
import { askedOf, gateCall, noting, pay, recordOf, refusal, rules } from './kit.ts';

const hook = (value: unknown) => async () => value;

describe('a policy decides', () => {
  test('nobody is asked: the call runs with what the model gave', () => {
    const verdict = decide(pay(), rules({ principal: { id: 'ann' } }));
    expect(verdict).toMatchObject({ kind: 'run', decision: { callId: 'c1', args: { eur: 5 } } });
    expect(recordOf(verdict as Verdict)).toEqual({ outcome: 'approved', by: 'policy', requestedBy: 'ann' });
  });

  test.each(['policy', 'beforeTool', 'needsApproval'])('%s alone is heard', async (who) => {
    const all: Partial<GateRules> = {
      policy: { evaluate: () => ({ outcome: 'deny' }) },
      beforeTool: hook({ action: 'block' }),
      needsApproval: true,
    };
    const verdict = await decide(pay(), rules({ [who]: all[who as keyof GateRules] }));
    expect(verdict.kind).toBe(who === 'needsApproval' ? 'ask' : 'refuse');
  });

  test('a yes is written down with its rule, what it hides and what it was asked with', async () => {
    const { policy } = noting({ ruleId: 'r1', redact: ['/eur'] });
    const verdict = await decide(pay(), rules({ policy, principal: { id: 'ann' }, permissionMode: 'plan' }));
    expect(recordOf(verdict)).toEqual({
      outcome: 'approved',
      by: 'policy',
      ruleId: 'r1',
      requestedBy: 'ann',
      redact: ['/eur'],
      asked: askedOf({ principal: { id: 'ann' }, permissionMode: 'plan' }),
    });
  });

  test('a no is a refusal with its reason, and hides what it hides', async () => {
    const { policy } = noting({ outcome: 'deny', reason: 'too much', ruleId: 'r2', redact: ['/eur'] });
    const verdict = await decide(pay(), rules({ policy, principal: { id: 'ann' } }));
    expect(verdict).toMatchObject(refusal('denied by policy: too much'));
    expect(recordOf(verdict)).toEqual({
      outcome: 'denied',
      by: 'policy',
      reason: 'too much',
      ruleId: 'r2',
      requestedBy: 'ann',
      redact: ['/eur'],
      asked: askedOf({ principal: { id: 'ann' } }),
    });
    expect(await decide(pay(), rules(noting({ outcome: 'deny' })))).toMatchObject(refusal('denied by policy'));
  });

  test('a record has no members of what there is not', async () => {
    const allowed = recordOf(await decide(pay(), rules(noting({ redact: [] }))));
    expect(Object.keys(allowed ?? {}).toSorted()).toEqual(['asked', 'by', 'outcome']);
    const denied = recordOf(await decide(pay(), rules(noting({ outcome: 'deny' }))));
    expect(Object.keys(denied ?? {}).toSorted()).toEqual(['asked', 'by', 'outcome', 'reason']);
    expect(Object.keys(allowed?.asked ?? {}).toSorted()).toEqual(['agentPath', 'digest', 'interactive', 'source']);
  });

  test('a question has all that the policy says of it', async () => {
    const word = {
      outcome: 'ask' as const,
      reason: 'money',
      hint: 'see the invoice',
      ruleId: 'r3',
      approvers: { roles: ['cfo'] },
      expiresIn: 60,
      redact: ['/eur'],
    };
    const { outcome: _, ...said } = word;
    const verdict = await decide(pay(), rules(noting(word)));
    expect(verdict).toEqual({ kind: 'ask', question: { args: { eur: 5 }, ...said } });
    const bare = await decide(pay(), rules(noting({ outcome: 'ask' })));
    expect(bare).toEqual({ kind: 'ask', question: { args: { eur: 5 } } });
    expect(Object.keys(bare.kind === 'ask' ? bare.question : {})).toEqual(['args']);
  });

  test('MUT-G16 what a policy was asked with is kept with who asked, and in which roles, and nothing else of them', () => {
    const principal = { id: 'ann', roles: ['staff', 'boss'], onBehalfOf: 'eve', claims: { team: 1 } };
    const asked = policyAskedWith(pay(), rules({ principal }));
    expect(asked.principal).toEqual({ id: 'ann', roles: ['staff', 'boss'], onBehalfOf: 'eve' });
    principal.roles.push('cfo');
    expect(asked.principal?.roles).toEqual(['staff', 'boss']);
    expect(policyAskedWith(pay(), rules({ principal: { id: 'ann' } })).principal).toEqual({ id: 'ann' });
  });

  test('what a policy is told of a call', () => {
    const tool = { ...gateCall().tool, kind: 'edit', annotations: { readOnly: true } };
    const call = pay({ tool, source: 'mcp:bank', digest: 'd1', agentPath: ['boss', 'bot'] });
    const principal = { id: 'ann', roles: ['staff'], onBehalfOf: 'eve', claims: { team: 1 } };
    const request = policyRequest(
      call,
      call.args,
      rules({ principal, permissionMode: 'plan', interactive: true, usage: { calls: 3, usd: 1 } }),
    );
    expect(request).toEqual({
      action: 'pay',
      args: { eur: 5 },
      principal,
      principalPath: ['ann', 'boss', 'bot'],
      context: {
        resource: {
          type: 'tool',
          id: 'pay',
          source: 'mcp:bank',
          digest: 'd1',
          kind: 'edit',
          annotations: { readOnly: true },
        },
        session: { id: 's', calls: 3, usd: 1 },
        agentPath: ['boss', 'bot'],
        permissionMode: 'plan',
        interactive: true,
      },
    });
    const frozen = [request, request.context, request.context?.resource, request.context?.session, request.principal];
    expect([...frozen, request.principalPath, request.principal?.roles].every(Object.isFrozen)).toBe(true);
  });

  test('and of one of which nothing more is known', () => {
    const request = policyRequest(gateCall(), {}, rules());
    expect(request).toStrictEqual({
      action: 'pay',
      args: {},
      principalPath: ['bot'],
      context: {
        resource: { type: 'tool', id: 'pay', source: 'host', digest: expect.any(String) },
        session: { id: 's' },
        agentPath: ['bot'],
        interactive: false,
      },
    });
  });

  test('the arguments cannot be changed by whoever looks at them', async () => {
    const args = { list: [1] };
    const { policy, asked } = noting({});
    await decide(gateCall({ args }), rules({ policy }));
    expect([Object.isFrozen(asked[0]?.args), Object.isFrozen(asked[0]?.args?.list)]).toEqual([true, true]);
  });
});

describe('a before_tool hook', () => {
  const words: [string, unknown, object][] = [
    ['nothing', undefined, { kind: 'proceed' }],
    ['null', null, { kind: 'proceed' }],
    ['proceed', { action: 'proceed' }, { kind: 'proceed' }],
    ['proceed with no change of arguments', { action: 'proceed', modifications: {} }, { kind: 'proceed' }],
    [
      'proceed with other arguments',
      { action: 'proceed', modifications: { args: { eur: 1 } } },
      { kind: 'proceed', args: { eur: 1 } },
    ],
    ['block with a reason', { action: 'block', reason: 'closed' }, { kind: 'block', reason: 'closed' }],
    ['block', { action: 'block' }, { kind: 'block', reason: 'a before_tool hook blocked the call' }],
    [
      'block with a result',
      { action: 'block', modifications: { result: undefined } },
      { kind: 'result', value: undefined, ifAllowed: false },
    ],
    [
      'block with other changes',
      { action: 'block', modifications: { args: {} } },
      { kind: 'block', reason: expect.stringContaining('blocked') },
    ],
    ['another object', { eur: 7 }, { kind: 'result', value: { eur: 7 }, ifAllowed: false }],
    ['text', 'paid', { kind: 'result', value: 'paid', ifAllowed: false }],
    [
      'changes that are none',
      { action: 'proceed', modifications: [] },
      { kind: 'block', reason: expect.stringContaining('no object') },
    ],
    ...[null, [], 'eur'].map((args): [string, unknown, object] => [
      `arguments that are ${JSON.stringify(args)}`,
      { action: 'proceed', modifications: { args } },
      { kind: 'block', reason: expect.stringContaining('not an object') },
    ]),
  ];
  test.each(words)('says %s', async (_, value, answer) => {
    expect(await askHook(hook(value), {})).toEqual(answer);
  });

  test('throws: the call is blocked', async () => {
    const thrown = async (error: unknown, signal?: AbortSignal) =>
      askHook(
        async () => {
          throw error;
        },
        {},
        signal,
      );
    expect(await thrown(new Error('away'))).toEqual({ kind: 'block', reason: 'a before_tool hook failed: away' });
    expect(await thrown(new TypeError('no such thing'))).toEqual({
      kind: 'block',
      reason: 'a before_tool hook failed: no such thing',
    });
    expect(await thrown(new Error('away'), new AbortController().signal)).toMatchObject({
      reason: expect.stringMatching(/failed: away/),
    });
    expect(await thrown(new Error('away'), AbortSignal.abort(new Error('enough')))).toEqual({
      kind: 'block',
      reason: 'aborted: enough',
    });
  });

  test.each<[string, (args: Record<string, unknown>) => void]>([
    ['sets a member', (args) => Object.assign(args, { eur: 1 })],
    ['adds one', (args) => Object.assign(args, { usd: 1 })],
    ['removes one', (args) => Reflect.deleteProperty(args, 'eur') || delete args.eur],
  ])('that %s of the arguments in place is told what to do instead', async (_, change) => {
    const verdict = await decide(pay(), rules({ beforeTool: async (args) => change(args) }));
    expect(verdict).toMatchObject(refusal(expect.stringContaining('are returned as modifications.args') as never));
    expect(recordOf(verdict)).toMatchObject({ by: 'hook' });
  });

  test('blocks: the tool does not run, and the log says who said so', async () => {
    const verdict = await decide(
      pay(),
      rules({
        ...noting({ redact: ['/eur'] }),
        principal: { id: 'ann' },
        beforeTool: hook({ action: 'block', reason: 'closed' }),
      }),
    );
    expect(verdict).toMatchObject(refusal('denied: closed'));
    expect(recordOf(verdict)).toMatchObject({ by: 'hook', reason: 'closed', requestedBy: 'ann', redact: ['/eur'] });
  });

  test('gives the result: the tool does not run', async () => {
    const verdict = await decide(
      pay(),
      rules({
        ...noting({ redact: ['/eur'] }),
        beforeTool: hook({ action: 'block', modifications: { result: 'paid' } }),
      }),
    );
    expect(verdict).toMatchObject({ kind: 'result', result: { content: [{ type: 'text', text: 'paid' }] } });
    expect(recordOf(verdict)).toMatchObject({ outcome: 'denied', by: 'hook', redact: ['/eur'] });
  });

  const changedTo = (args: unknown) => hook({ action: 'proceed', modifications: { args } });

  test('changes the arguments: policy is asked about what would run, which the record has', async () => {
    const { policy, asked } = noting({ redact: ['/a'] }, { redact: ['/b'], ruleId: 'second' });
    const verdict = await decide(pay(), rules({ policy, beforeTool: changedTo({ eur: 1 }) }));
    expect(asked.map(({ args }) => args)).toEqual([{ eur: 5 }, { eur: 1 }]);
    expect(verdict).toMatchObject({ kind: 'run', decision: { args: { eur: 1 } } });
    const { asked: with_, redact, ...record } = recordOf(verdict) ?? { outcome: 'denied', by: '' };
    expect(record).toEqual({ outcome: 'approved', by: 'policy', ruleId: 'second', args: { eur: 1 } });
    expect(redact?.toSorted()).toEqual(['/a', '/b']);
    expect(with_).toEqual(askedOf());
  });

  test('gives the same arguments again: policy is asked once, and the record repeats nothing', async () => {
    const { policy, asked } = noting({});
    const verdict = await decide(pay(), rules({ policy, beforeTool: changedTo({ eur: 5 }) }));
    expect(asked).toHaveLength(1);
    expect(recordOf(verdict)).not.toHaveProperty('args');
  });

  test.each<[string, Partial<PolicyDecision>, Partial<PolicyDecision>, string]>([
    ['a no to what would run', {}, { outcome: 'deny', ruleId: 'later' }, 'refuse'],
    ['a question about what would run', {}, { outcome: 'ask', ruleId: 'later' }, 'ask'],
    ['a question about what the model asked for', { outcome: 'ask', ruleId: 'later' }, {}, 'ask'],
  ])('the stricter word counts: %s', async (_, first, second, kind) => {
    const verdict = await decide(pay(), rules({ ...noting(first, second), beforeTool: changedTo({ eur: 1 }) }));
    expect(verdict.kind).toBe(kind);
    if (verdict.kind === 'ask') expect(verdict.question).toMatchObject({ args: { eur: 1 }, ruleId: 'later' });
    else expect(recordOf(verdict)).toMatchObject({ ruleId: 'later', asked: { args: { eur: 1 } } });
  });

  test('of two questions the later one is put: it is about what would run', async () => {
    const asks = (reason: string) => ({ outcome: 'ask' as const, reason });
    const policy = noting(asks('first'), asks('second')).policy;
    expect(await decide(pay(), rules({ policy, beforeTool: changedTo({ eur: 1 }) }))).toMatchObject({
      question: { reason: 'second' },
    });
  });

  test('gives arguments that the tool does not take', async () => {
    const inputSchema = { type: 'object', properties: { eur: { type: 'number' } } };
    const verdict = await decide(
      pay(),
      rules({ beforeTool: changedTo({ eur: 'all' }), validate: (args) => validateArgs({ inputSchema }, args) }),
    );
    expect(verdict).toMatchObject(
      refusal(expect.stringContaining("a hook's arguments do not fit: eur: expected number") as never, 'invalid_args'),
    );
    expect(recordOf(verdict)).toMatchObject({ by: 'hook' });
  });

  test('asks a question of its own', async () => {
    const { policy } = noting({ hint: 'of policy' });
    const ask = (hookAsked: object) => decide(pay(), rules({ policy, hookAsked: () => hookAsked }));
    expect(await ask({ hint: 'of hook', payload: 0 })).toEqual({
      kind: 'ask',
      question: { args: { eur: 5 }, hint: 'of hook', payload: 0 },
    });
    expect(await ask({})).toEqual({ kind: 'ask', question: { args: { eur: 5 }, hint: 'of policy' } });
  });
});
