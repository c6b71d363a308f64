import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as wasm from '@cedar-policy/cedar-wasm/nodejs';
import { describe, expect, test } from 'vitest';
import type { CedarEngine } from '../../src/adapters/policy/cedar.ts';
import { cedarPolicy } from '../../src/adapters/policy/cedar.ts';
import type { AnyTool, PolicyRequest } from '../../src/contracts/index.ts';
import { refusal } from '../host/kit.ts';
import { policySuite, teamToolList } from '../suites/policy.ts';

const file = join(import.meta.dirname, 'team.cedar');
const teamPolicies = readFileSync(file, 'utf8');

/** The engine, but for its answers. */
const answering = (statefulIsAuthorized: CedarEngine['statefulIsAuthorized']): CedarEngine => ({
  ...wasm,
  statefulIsAuthorized,
});

policySuite('Cedar', {
  team: async () => ({
    policy: await cedarPolicy({
      policies: teamPolicies,
      file: 'team.cedar',
      tools: teamToolList,
      defaultOutcome: 'ask',
    }),
  }),
  async broken(failure) {
    const engines = {
      down: answering(() => {
        throw new Error('unreachable');
      }),
      slow: answering(() => new Promise(() => {})),
      rubbish: answering(() => ({ type: 'success', response: { decision: 'sure' } }) as never),
    };
    const policy = await cedarPolicy({
      policies: 'permit(principal, action, resource);',
      tools: teamToolList,
      engine: engines[failure],
    });
    return { policy, ...(failure === 'slow' ? { timeoutMs: 50 } : {}) };
  },
});

const tool = (name: string, properties: object, required: string[] = []): AnyTool => ({
  name,
  description: '',
  inputSchema: { type: 'object', properties, required } as never,
});

const tools = [
  tool(
    'pay',
    {
      amount: { type: 'number' },
      note: { type: ['string', 'null'] },
      tags: { type: 'array', items: { type: 'string' } },
      card: { type: 'object', properties: { number: { type: 'string' }, __entity: { type: 'string' } } },
      anything: {},
    },
    ['amount'],
  ),
  tool('look', {}),
];

const ask = async (policies: string, request: Partial<PolicyRequest> & { action: string }, options = {}) =>
  (await cedarPolicy({ policies, tools, ...options })).evaluate({ args: {}, ...request });

describe('Cedar policies', () => {
  test('are checked against the tools: file, line and reason of what does not fit', async () => {
    const broken: [string, RegExp][] = [
      ['// é\n\npermit(principal, action == Action::"apy", resource);', /^team\.cedar:3: unrecognized action .*"pay"/],
      ['permit(principal,action,resource);\npermit(princpal, action, resource);', /^team\.cedar:2: .*princpal/],
      [
        'permit(principal, action == Action::"pay", resource)\nwhen { context.args.amuont == 1 };',
        /^team\.cedar:2: .*amuont/,
      ],
      [
        'permit(principal, action == Action::"pay", resource) when { context.args.note == "x" };',
        /^team\.cedar:1: .*note/,
      ],
      ['permit(principal, action == Action::"pay", resource) when { context.args.anything == 1 };', /anything/],
      ['permit(principal, action, resource)', /^team\.cedar:1: unexpected end/],
      [
        '\n@roles("a")\npermit(principal, action, resource);',
        /^team\.cedar:2: @roles goes with @outcome\("ask"\) only$/,
      ],
      ['@outcome("aks")\npermit(principal, action, resource);', /^team\.cedar:1: @outcome\("aks"\) is unknown/],
      ['@outcome("ask")\nforbid(principal, action, resource);', /can only be "deny"/],
      ['@outcome("ask") @expires_in("soon")\npermit(principal, action, resource);', /@expires_in is a number/],
      [
        '@id("a") permit(principal,action,resource);\n@id("a") forbid(principal,action,resource);',
        /^team\.cedar:2: .*taken by the policy at team\.cedar:1/,
      ],
    ];
    for (const [policies, message] of broken) {
      const error = await refusal(cedarPolicy({ policies, tools, file: 'team.cedar' }));
      expect([error.code, error.message]).toEqual(['E_POLICY_FILE', expect.stringMatching(message)]);
    }
  });

  test('of several files: the fault is told with its own file', async () => {
    const policies = [
      { file: 'a.cedar', text: 'permit(principal, action, resource);' },
      { file: 'b.cedar', text: '\nforbid(principal, action == Action::"nope", resource);' },
    ];
    expect((await refusal(cedarPolicy({ policies, tools }))).message).toMatch(/^b\.cedar:2: /);
  });

  test('that can never apply are warned about', async () => {
    const { warnings } = await cedarPolicy({
      tools,
      file: 'p.cedar',
      policies: `permit(principal, action, resource);
@description("For readers.")
permit(principal, action, resource) when { resource is User };`,
    });
    expect(warnings).toEqual(['p.cedar:2: this policy can never apply']);
  });

  test.each(['aprovers', 'reduct', 'Redact', 'role', 'expires', 'id_', 'quorums'])(
    'a misspelt obligation @%s is an error with its place, not an obligation that nobody has',
    async (name) => {
      const policies = `permit(principal, action, resource);\n\n@${name}("/card")\npermit(principal, action, resource);`;
      const error = await refusal(cedarPolicy({ policies, tools, file: 'p.cedar' }));
      expect(error.code).toBe('E_POLICY_FILE');
      expect(error.message).toMatch(new RegExp(`^p\\.cedar:3: annotation @${name} is unknown; known are @id, `));
    },
  );

  test('of an editor that marks its files and ends lines its own way: the place is right', async () => {
    const text = (annotation: string) =>
      `\ufeffpermit(principal, action, resource);\r\n@${annotation}("x")\r\npermit(principal, action, resource);`;
    expect((await cedarPolicy({ policies: text('id'), tools })).warnings).toEqual([]);
    const error = await refusal(cedarPolicy({ policies: text('aprovers'), tools, file: 'p.cedar' }));
    expect(error.message).toMatch(/^p\.cedar:2: annotation @aprovers/);
  });

  test('without names may stand in one line, and are told apart', async () => {
    const one = 'permit(principal, action == Action::"pay", resource);';
    const policy = await cedarPolicy({
      policies: `${one} forbid(principal in Role::"x", action, resource);`,
      tools,
      file: 'p.cedar',
    });
    const ruleOf = async (roles: string[]) =>
      (await policy.evaluate({ action: 'pay', args: { amount: 1 }, principal: { id: 'ann', roles } })).ruleId;
    expect([await ruleOf([]), await ruleOf(['x'])]).toEqual(['p.cedar:1', `p.cedar:1:${one.length + 2}`]);
    const named = await refusal(cedarPolicy({ policies: `@id("a") ${one} @id("a") ${one}`, tools, file: 'p.cedar' }));
    expect(named.message).toMatch(/^p\.cedar:1: @id\("a"\) is taken/);
  });

  test('what permits and forbids on a call hide is hidden where it is denied: the engine does not say which permits held', async () => {
    const policies = `@redact("/card/number") permit(principal, action == Action::"pay", resource);
@redact("/other") permit(principal, action == Action::"look", resource);
@redact("/note") forbid(principal, action in [Action::"pay", Action::"look"], resource) when { principal in Role::"x" };
@reason("Never.") forbid(principal, action in Action::"any tool", resource) when { principal in Role::"x" };`;
    const policy = await cedarPolicy({ policies, tools });
    const said = await policy.evaluate({ action: 'pay', args: { amount: 1 }, principal: { id: 'ann', roles: ['x'] } });
    expect(said).toMatchObject({ outcome: 'deny', reason: 'Never.' });
    expect(said.redact?.toSorted()).toEqual(['/card/number', '/note']);
    expect((await policy.evaluate({ action: 'pay', args: { amount: 1 } })).redact).toEqual(['/card/number']);
    expect(
      (await policy.evaluate({ action: 'unknown', args: {}, principal: { id: 'ann', roles: ['x'] } })).redact,
    ).toBe(undefined);
  });

  test('more than ten of them keep their names', async () => {
    const policies = Array.from(
      { length: 12 },
      (_, n) =>
        `permit(principal, action == Action::"pay", resource) when { context.args.amount == decimal("${n}.0") };`,
    ).join('\n');
    const policy = await cedarPolicy({ policies, tools, file: 'p' });
    for (const n of [0, 2, 10, 11]) {
      expect(await policy.evaluate({ action: 'pay', args: { amount: n } })).toEqual({
        outcome: 'allow',
        ruleId: `p:${n + 1}`,
      });
    }
  });

  test('a forbid that fails on a call denies it, though the engine would skip it', async () => {
    const policies = `permit(principal, action, resource);
@id("sum") forbid(principal, action, resource) when { context.session has calls && context.session.calls + 1 > 5 };`;
    const session = { id: 's', calls: Number.MAX_SAFE_INTEGER };
    expect((await ask(policies, { action: 'look', context: { session } })).outcome).toBe('deny');
    const overflow = policies.replace('+ 1 >', '* 9007199254740991 >');
    const answer = await ask(overflow, { action: 'look', context: { session } });
    expect(answer).toMatchObject({ outcome: 'deny', ruleId: 'sum', reason: expect.stringMatching(/overflow/) });
    expect(answer.reason).not.toMatch(/\d/);
  });

  test('a number that Cedar cannot hold denies the call rather than slip under a limit', async () => {
    const policies = `permit(principal, action, resource);
forbid(principal, action == Action::"pay", resource) when { context.args.amount.greaterThan(decimal("10.0")) };`;
    const outcomes: string[] = [];
    for (const amount of [10, 10.5, 10.00001, 1e300, -0.25]) {
      outcomes.push((await ask(policies, { action: 'pay', args: { amount } })).outcome);
    }
    expect(outcomes).toEqual(['allow', 'deny', 'deny', 'deny', 'allow']);
  });

  test('arguments are told as their schema says: no member passes for an entity', async () => {
    const policies = `permit(principal, action == Action::"pay", resource)
when { context.args has card && context.args.card has number && context.args.card.number == "1" };`;
    const card = { number: '1', __entity: { type: 'User', id: 'root' }, __extn: { fn: 'ip', arg: '::' } };
    expect((await ask(policies, { action: 'pay', args: { amount: 1, card } })).outcome).toBe('allow');
    expect((await ask(policies, { action: 'pay', args: { amount: 1, note: null } })).outcome).toBe('deny');
    expect((await ask(policies, { action: 'pay', args: { amount: '1', card } })).reason).toMatch(/amount/);
  });

  test('a tool that is not listed is action "unlisted tool": nothing that names tools speaks about it', async () => {
    const policies = `permit(principal, action == Action::"unlisted tool", resource) when { resource.source == "mcp:weather" };`;
    const from = (source: string) => ({
      action: 'forecast',
      context: { resource: { type: 'tool', id: 'forecast', source } },
    });
    expect((await ask(policies, from('mcp:weather'))).outcome).toBe('allow');
    expect((await ask(policies, from('host'))).outcome).toBe('deny');
    expect((await ask(policies, { action: 'any tool' })).outcome).toBe('deny');
  });

  test('several permits: the strictest counts, their obligations are joined', async () => {
    const policies = `@id("any") permit(principal, action, resource);
@id("pay") @outcome("ask") @roles("a, b") @expires_in("60") @reason("Money.") permit(principal, action == Action::"pay", resource);
@id("big") @outcome("ask") @roles("b, c") @not_requester @quorum("2") @redact("/card/number") permit(principal, action == Action::"pay", resource);`;
    expect(await ask(policies, { action: 'pay', args: { amount: 1 } })).toEqual({
      outcome: 'ask',
      ruleId: 'pay',
      reason: 'Money.',
      approvers: { roles: ['b'], notRequester: true, quorum: 2 },
      expiresIn: 60,
      redact: ['/card/number'],
    });
    expect((await ask(policies, { action: 'look' })).outcome).toBe('allow');
  });

  test('NEW-P5 obligations may be spelt as elsewhere, and not twice', async () => {
    const policies = (words: string) =>
      `@outcome("ask") ${words} permit(principal, action == Action::"pay", resource);`;
    const asked = { outcome: 'ask', approvers: { notRequester: true }, expiresIn: 60 };
    for (const words of ['@not_requester @expires_in("60")', '@notRequester @expiresIn("60")']) {
      const policy = await cedarPolicy({ policies: policies(words), tools });
      expect(await policy.evaluate({ action: 'pay', args: { amount: 1 } })).toMatchObject(asked);
    }
    const twice = cedarPolicy({ policies: policies('@expires_in("60") @expiresIn("60")'), tools });
    await expect(twice).rejects.toThrow('the policy says expires_in twice');
  });

  test('roles are parents of the user; nobody is nobody', async () => {
    const policies = `permit(principal in Role::"ops", action, resource);
permit(principal == User::"ann", action, resource);`;
    const outcomes = [{ id: 'bob', roles: ['ops'] }, { id: 'ann' }, { id: 'eve', roles: ['ann'] }, undefined].map(
      async (principal) => (await ask(policies, { action: 'look', ...(principal ? { principal } : {}) })).outcome,
    );
    expect(await Promise.all(outcomes)).toEqual(['allow', 'allow', 'deny', 'deny']);
  });

  test('an engine that says allow without a reason, or names a policy that is not there, denies', async () => {
    for (const response of [
      { decision: 'allow', diagnostics: { reason: [], errors: [] } },
      { decision: 'allow', diagnostics: { reason: ['policy7'], errors: [] } },
      { decision: 'deny', diagnostics: { reason: ['policy0'], errors: [] } },
    ] as const) {
      const engine = answering(() => ({ type: 'success', response, warnings: [] }) as never);
      expect((await ask('permit(principal, action, resource);', { action: 'look' }, { engine })).outcome).toBe('deny');
    }
  });
});
