import { describe, expect, test } from 'vitest';
import type { ShadowDecision } from '../../../src/gate/index.ts';
import { denyOverrides, evaluatePolicy, shadow } from '../../../src/gate/index.ts';
import { denyAll, rulePolicy } from '../../../src/host/index.ts';
import { bot, door, hostOf, notingTool, policyOf, results, say } from '../kit.ts';

const live = rulePolicy([{ id: 'live', tool: 'pay', outcome: 'allow' }]);

/** A shadow, and the first thing that it says. */
function watched(policy = denyAll('Not any more.')) {
  const { opened, open } = door<ShadowDecision>();
  return { policy: shadow(policy, open), said: opened };
}

describe('a policy on trial', () => {
  test('changes nothing behind a real host, and says what it would have said', async () => {
    const trial = watched();
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }, 'done']), {
      tools: [pay.tool],
      policy: denyOverrides(live, trial.policy),
    });
    const session = await host.open('bot', { principal: { id: 'ann' } });
    expect(results(await say(session, 'go')).pay).toBe('pay done');
    expect(await trial.said).toMatchObject({
      request: { action: 'pay', args: { eur: 5 }, principal: { id: 'ann' } },
      decision: { outcome: 'deny', reason: 'Not any more.' },
      live: { outcome: 'allow', ruleId: 'live' },
      differs: true,
    });
    const [entry] = await host.audit(session.id);
    expect(entry?.decisions).toMatchObject([{ outcome: 'approved', ruleId: 'live' }]);
  });

  test('is told of calls that the others deny at once', async () => {
    const trial = watched(policyOf({}));
    const both = denyOverrides(denyAll(), trial.policy);
    expect(await both.evaluate({ action: 'x' })).toMatchObject({ outcome: 'deny' });
    expect(await trial.said).toMatchObject({
      decision: { outcome: 'allow' },
      live: { outcome: 'deny' },
      differs: true,
    });
  });

  test('holds nobody up, and no failure of it is felt', async () => {
    const never = { evaluate: () => new Promise<never>(() => {}) };
    const broken = {
      evaluate(): never {
        throw new Error('new and broken');
      },
    };
    const trial = watched(broken as never);
    const decision = denyOverrides(
      live,
      shadow(never, () => {}),
      trial.policy,
    ).evaluate({ action: 'pay' });
    expect(decision).toMatchObject({ outcome: 'allow' });
    expect((await trial.said).decision).toMatchObject({ outcome: 'deny', reason: 'The policy failed: new and broken' });
  });

  test('a listener that fails is told of, and nothing else happens', async () => {
    const { opened, open } = door<unknown>();
    const failing = shadow(
      live,
      () => {
        throw new Error('full');
      },
      { onError: open },
    );
    expect(denyOverrides(live, failing).evaluate({ action: 'pay' })).toMatchObject({ outcome: 'allow' });
    expect(await opened).toMatchObject({ message: 'full' });
  });

  test('is no policy by itself: alone, or with others of its kind, it denies', async () => {
    const trial = shadow(live, () => {});
    for (const policy of [
      trial,
      denyOverrides(trial),
      denyOverrides(
        trial,
        shadow(live, () => {}),
      ),
    ]) {
      expect((await evaluatePolicy(policy, { action: 'pay' })).outcome).toBe('deny');
    }
  });

  test('excludes nothing', async () => {
    const trial = shadow(rulePolicy([{ tool: 'pay', outcome: 'deny' }]), () => {});
    expect(await denyOverrides(live, trial).getExcluded?.()).toEqual([]);
  });
});
