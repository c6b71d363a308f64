import { describe, expect, test } from 'vitest';
import { cacheToolResults } from '../../src/adapters/auto-tools/index.ts';
import type { AnyTool } from '../../src/contracts/index.ts';
import { agentTool, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, brief, hostOf, only, policyOf, readOnly, results, say, tool } from './kit.ts';

const call = (name: string, args: Record<string, unknown>) => ({ calls: [[name, args] as const] });

function counted(name: string) {
  const runs: unknown[] = [];
  const made = tool(name, (args) => `${name} ${runs.push(args)}`, readOnly);
  return { made, runs };
}

describe.each(['session', 'shared'] as const)('ATK3-05 of one tool of the host, scope %s', (scope) => {
  test('another agent that calls it gets a run of its own; the same agent once more does not', async () => {
    const stock = counted('stock');
    const member = (name: string) =>
      new LlmAgent({
        name,
        description: name,
        model: new ScriptedModel([call('stock', { of: 'tea' }), 'said', call('stock', { of: 'tea' }), 'said']),
      });
    const team = [agentTool(member('buyer')), agentTool(member('seller'))];
    const turns = ['buyer', 'seller', 'buyer'].map((name) => call(name, { request: 'how much?' }));
    const { host } = hostOf(bot([...turns, 'done'], { tools: team }), {
      tools: [stock.made],
      policy: policyOf({}),
      hooks: cacheToolResults({ scope }),
    });
    const events = await say(await host.open('bot'), 'go');
    expect(brief(events).filter((line) => line.startsWith('stock ='))).toEqual([
      'stock = stock 1',
      'stock = stock 2',
      'stock = stock 1',
    ]);
    expect(stock.runs).toHaveLength(2);
    await host.close();
  });
});

describe.each(['session', 'shared'] as const)('ATK3-16 scope %s', (scope) => {
  test.each(['hooks', 'share'] as const)(
    'what a person let run is no result for a call that nobody is asked about (%s), nor the other way round',
    async (way) => {
      const wage = counted('wage');
      let outcome: 'allow' | 'ask' = 'ask';
      const cache = cacheToolResults({ scope });
      const { host } = hostOf(bot(Array.from({ length: 3 }, () => [call('wage', { of: 'carl' }), 'done']).flat()), {
        tools: [way === 'share' ? (cache.share(wage.made) as AnyTool) : wage.made],
        policy: policyOf({ wage: () => ({ outcome }) }),
        ...(way === 'hooks' ? { hooks: cache } : {}),
      });
      const session = await host.open('bot');
      const asked = async (runs: number) => {
        expect(brief(await say(session, 'go')).at(-1)).toBe('end input_required');
        await session.respond((await only(session)).requestId, { kind: 'approve' });
        expect(results(await say(session, { kind: 'continue' }))).toEqual({ wage: `wage ${runs}` });
      };
      await asked(1);
      outcome = 'allow';
      expect(results(await say(session, 'go'))).toEqual({ wage: 'wage 2' });
      outcome = 'ask';
      await asked(3);
      await host.close();
    },
  );
});
