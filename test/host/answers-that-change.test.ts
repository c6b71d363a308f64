import { describe, expect, test } from 'vitest';
import type { HookResult, LifecycleInterceptor, PolicyDecision, PolicyEvaluator } from '../../src/contracts/index.ts';
import { hooks } from '../../src/contracts/index.ts';
import { hooksPlugin } from '../../src/runtime/index.ts';
import { bot, hostOf, notingTool, ownTool, policyOf, results, say } from './kit.ts';

// Whoever answers may keep one object and fill it in for each question: it is right at each return, and no later.

const both = [
  ['pay', { eur: 1 }],
  ['look', {}],
] as const;
const twoCalls = () => bot([{ calls: both.map(([name, args]) => [name, { ...args }]) as never }, 'done']);

/** One answer, filled in anew for each call. */
function reusing(first: PolicyDecision, others: PolicyDecision): PolicyEvaluator {
  const answer: Record<string, unknown> = {};
  return {
    evaluate({ action }) {
      for (const name of Object.keys(answer)) delete answer[name];
      return Object.assign(answer, action === 'pay' ? first : others) as PolicyDecision;
    },
  };
}

const late = hooks({ beforeTool: async () => void (await new Promise(setImmediate)) });

describe('ATK-01 a policy that answers with one object', () => {
  test.each([
    ['behind a hook', { hooks: late }, {}],
    [
      'behind the author’s own word',
      {},
      { needsApproval: () => new Promise((resolve) => setImmediate(resolve, false)) },
    ],
  ])('is held to what it said of each call: %s', async (_, options, more) => {
    const [pay, look] = [notingTool('pay', more as never), notingTool('look', more as never)];
    const policy = reusing({ outcome: 'ask', ruleId: 'money' }, { outcome: 'allow' });
    const { host } = hostOf(twoCalls(), { tools: [pay.tool, look.tool], policy, ...options });
    const session = await host.open('bot');
    await say(session, 'go');
    expect(pay.runs).toEqual([]);
    expect(look.runs).toEqual([{}]);
    expect(await session.pending()).toMatchObject([{ name: 'pay', requestId: expect.stringMatching(/#policy$/) }]);
    await host.close();
  });

  test('is held to who it said may approve', async () => {
    const approvers: { roles: string[] } = { roles: ['boss'] };
    const policy: PolicyEvaluator = { evaluate: () => ({ outcome: 'ask', approvers }) };
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 1 }]] }, 'done']), {
      tools: [pay.tool],
      policy,
      hooks: { supportedHookPoints: () => ['before_tool'], fire: () => void approvers.roles.splice(0, 1, 'clerk') },
    });
    const session = await host.open('bot');
    await say(session, 'go');
    expect(await session.pending()).toMatchObject([{ approval: { approvers: { roles: ['boss'] } } }]);
    await host.close();
  });

  test('is read once: a getter cannot answer twice', async () => {
    let reads = 0;
    const policy = {
      evaluate: () => ({
        get outcome() {
          return reads++ === 0 ? 'deny' : 'allow';
        },
      }),
    } as unknown as PolicyEvaluator;
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), { tools: [pay.tool], policy });
    await say(await host.open('bot'), 'go');
    expect(pay.runs).toEqual([]);
    await host.close();
  });
});

/** A hook with one answer. */
function oneAnswer(pay: HookResult, others: HookResult): LifecycleInterceptor['fire'] {
  const answer = {} as HookResult;
  return (_, payload) => {
    const { tool } = payload as { tool: { name: string } };
    delete answer.modifications;
    return Object.assign(answer, tool.name === 'pay' ? pay : others);
  };
}

const block: HookResult = { action: 'block', reason: 'no money today' };
const withArgs = (eur: number): HookResult => ({ action: 'proceed', modifications: { args: { eur } } });

describe('ATK-02 a hook that answers with one object', () => {
  const points = { supportedHookPoints: () => ['before_tool'] };
  const helped = (fire: LifecycleInterceptor['fire']) =>
    hooks({ beforeTool: (payload) => fire('before_tool', payload) as never });

  test.each([
    ['an interceptor', (fire: LifecycleInterceptor['fire']) => ({ ...points, fire })],
    ['handlers', helped],
  ])('blocks what it said it blocks: %s', async (_, made) => {
    const [pay, look] = [notingTool('pay'), notingTool('look')];
    const { host } = hostOf(twoCalls(), {
      tools: [pay.tool, look.tool],
      policy: policyOf({ pay: 'allow', look: 'allow' }),
      hooks: made(oneAnswer(block, { action: 'proceed' })),
    });
    const events = await say(await host.open('bot'), 'go');
    expect([pay.runs, look.runs]).toEqual([[], [{}]]);
    expect(results(events).pay).toContain('no money today');
    await host.close();
  });

  test.each([
    ['an interceptor', (fire: LifecycleInterceptor['fire']) => ({ ...points, fire })],
    ['handlers', helped],
  ])('gives each call its own arguments: %s', async (_, made) => {
    const [pay, look] = [notingTool('pay'), notingTool('look')];
    const shared = { args: { eur: 0 } };
    const { host } = hostOf(twoCalls(), {
      tools: [pay.tool, look.tool],
      policy: policyOf({ pay: 'allow', look: 'allow' }),
      hooks: made((_, payload) => {
        shared.args.eur = (payload as { tool: { name: string } }).tool.name === 'pay' ? 1 : 5000;
        return { action: 'proceed', modifications: shared };
      }),
    });
    await say(await host.open('bot'), 'go');
    expect([pay.runs, look.runs]).toEqual([[{ eur: 1 }], [{ eur: 5000 }]]);
    await host.close();
  });

  test('is held to its answer while the call is open', async () => {
    const answer = withArgs(1);
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 9 }]] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
      hooks: { ...points, fire: () => answer },
    });
    const session = await host.open('bot');
    await say(session, 'go');
    Object.assign(answer, withArgs(5000));
    const [open] = await session.pending();
    expect(open).toMatchObject({ args: { eur: 1 } });
    await session.respond(open?.requestId ?? '', { kind: 'approve' });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 1 }]);
    await host.close();
  });

  test('of the runtime gives each call its own arguments too', async () => {
    const runs: [string, unknown][] = [];
    const shared = { args: { eur: 0 } };
    const fire: LifecycleInterceptor['fire'] = (_, payload) => {
      shared.args.eur = (payload as { tool: { name: string } }).tool.name === 'pay' ? 1 : 5000;
      return { action: 'proceed', modifications: shared };
    };
    const own = (name: string) => ownTool(name, (args) => void runs.push([name, args]));
    const agent = bot([{ calls: both.map(([name, args]) => [name, { ...args }]) as never }, 'done'], {
      tools: [own('pay'), own('look')],
    });
    const { host } = hostOf(agent, {
      policy: policyOf({ pay: 'allow', look: 'allow' }),
      from: { plugins: [hooksPlugin({ ...points, fire })] },
    });
    await say(await host.open('bot'), 'go');
    expect(runs.sort()).toEqual([
      ['look', { eur: 5000 }],
      ['pay', { eur: 1 }],
    ]);
    await host.close();
  });

  test('is read once: a getter cannot change its mind', async () => {
    let reads = 0;
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'allow' }),
      hooks: {
        ...points,
        fire: () => ({
          get action() {
            return reads++ === 0 ? ('block' as const) : ('proceed' as const);
          },
        }),
      },
    });
    await say(await host.open('bot'), 'go');
    expect(pay.runs).toEqual([]);
    await host.close();
  });
});
