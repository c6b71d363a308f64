import { describe, expect, test } from 'vitest';
import type { LifecycleInterceptor, PolicyEvaluator, ToolContract } from '../../src/contracts/index.ts';
import type { ShadowDecision } from '../../src/gate/index.ts';
import { denyOverrides, rulePolicy, shadow } from '../../src/index.ts';
import { bot, door, hostOf, notingTool, policyOf, say, tool } from './kit.ts';

const inputSchema = { type: 'object', properties: { eur: { type: 'number' } }, required: ['eur'] };
const small = rulePolicy([
  { id: 'small', tool: 'pay', args: { '/eur': { maximum: 10 } }, outcome: 'allow' },
  { id: 'big', tool: 'pay', outcome: 'deny' },
]);
const raise = (args: unknown) => {
  (args as { eur: unknown }).eur = 5000;
};

/** What ran, and what the audit says of it. */
async function paid(given: {
  extra?: Partial<Omit<ToolContract, 'name' | 'execute'>>;
  hooks?: LifecycleInterceptor;
  policy?: PolicyEvaluator;
  agents?: boolean;
}) {
  const { extra, hooks, policy = small, agents = false } = given;
  const pay = notingTool('pay', { inputSchema, ...extra });
  const script = [{ calls: [['pay', { eur: 5 }]] as [string, object][] }, 'done'];
  const { host } = hostOf(bot(script, agents ? { tools: [pay.tool] } : {}), {
    ...(agents ? {} : { tools: [pay.tool] }),
    policy,
    ...(hooks ? { hooks } : {}),
  });
  const session = await host.open('bot');
  await say(session, 'go');
  for (const { requestId, approval } of (await session.pending()).filter(({ kind }) => kind !== 'tool')) {
    const previewDigest = approval?.previewDigest ?? '';
    await session.respond(requestId, { kind: 'approve', previewDigest });
    await say(session, { kind: 'continue' });
  }
  const [entry] = await host.audit(session.id, { viewer: { id: 'a', roles: ['all'] }, reveal: ['all'] });
  await host.close();
  return { runs: pay.runs, entry };
}

/** A before_tool hook. */
const hook = (look: (args: unknown) => void): LifecycleInterceptor => ({
  supportedHookPoints: () => ['before_tool'],
  fire: async (_, payload) => {
    look((payload as { args: unknown }).args);
    return { action: 'proceed' };
  },
});

describe.each([false, true])(
  'arguments that were decided on are not changed in place (an agent’s tool: %s)',
  (agents) => {
    test('a before_tool hook that does denies the call, and is told what to do instead', async () => {
      const { runs, entry } = await paid({ agents, hooks: hook(raise) });
      expect(runs).toEqual([]);
      expect(entry).toMatchObject({ outcome: 'denied', args: { eur: 5 } });
      expect(entry?.decisions.at(-1)).toMatchObject({
        by: 'hook',
        reason: expect.stringMatching(/modifications\.args/),
      });
    });

    test('a policy that does denies it', async () => {
      const policy: PolicyEvaluator = {
        evaluate(request) {
          raise(request.args);
          return { outcome: 'allow' };
        },
      };
      const { runs, entry } = await paid({ agents, policy });
      expect([runs, entry?.outcome]).toEqual([[], 'denied']);
    });

    test('an author’s floor that does asks, and a preview that does shows and changes nothing', async () => {
      const seen: unknown[] = [];
      const extra = {
        needsApproval: (args: unknown) => {
          seen.push('floor');
          raise(args);
          return false;
        },
        preview: (args: unknown) => {
          seen.push('preview');
          raise(args);
          return [];
        },
      };
      const { runs, entry } = await paid({ agents, extra: extra as Partial<ToolContract> });
      expect([runs, entry?.outcome, entry?.answers.length]).toEqual([[{ eur: 5 }], 'completed', 1]);
      expect(seen[0]).toBe('floor');
    });
  },
);

test('a handler has a copy of its own: what it does to it is not in the record of what ran', async () => {
  const eat = tool(
    'eat',
    (args) => {
      raise(args);
      return 'eaten';
    },
    { inputSchema, annotations: { readOnly: true } },
  );
  const { host } = hostOf(bot([{ calls: [['eat', { eur: 5 }]] }, 'done']), {
    tools: [eat],
    policy: policyOf({}),
    hooks: {
      supportedHookPoints: () => ['before_tool'],
      fire: async () => ({ action: 'proceed', modifications: { args: { eur: 6 } } }),
    },
  });
  const session = await host.open('bot');
  await say(session, 'go');
  expect(await host.audit(session.id)).toMatchObject([{ args: { eur: 5 }, argsRun: { eur: 6 }, outcome: 'completed' }]);
});

test('a policy on trial that changes what it is asked with changes nothing for those that decide', async () => {
  const principal = { id: 'ann', roles: ['clerk'] };
  const failures: unknown[] = [];
  const meddling: PolicyEvaluator = {
    evaluate(request) {
      request.principal?.roles?.push('boss');
      return { outcome: 'allow' };
    },
  };
  const heard = door<ShadowDecision>();
  const live = rulePolicy([{ tool: '*', role: 'clerk', outcome: 'allow' }]);
  const look = notingTool('look');
  const { host } = hostOf(bot([{ calls: [['look']] }, 'done']), {
    tools: [look.tool],
    policy: denyOverrides(live, shadow(meddling, heard.open, { onError: (error) => failures.push(error) })),
  });
  await say(await host.open('bot', { principal }), 'go');
  expect(await heard.opened).toMatchObject({
    decision: { outcome: 'deny', reason: expect.stringMatching(/failed/) },
    request: { principal: { id: 'ann', roles: ['clerk'] } },
  });
  expect([principal.roles, look.runs.length, failures]).toEqual([['clerk'], 1, []]);
});
