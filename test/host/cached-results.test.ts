import { describe, expect, test } from 'vitest';
import { cacheToolResults } from '../../src/adapters/auto-tools/index.ts';
import type { AnyTool, Principal } from '../../src/contracts/index.ts';
import { agentTool, LlmAgent } from '../../src/index.ts';
import { hooksPlugin } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, brief, hostOf, only, ownTool, policyOf, readOnly, results, say, tool } from './kit.ts';

const boss: Principal = { id: 'bert', roles: ['boss'] };
const twice = (name: string) => [{ calls: [[name, {}] as const] }, 'done', { calls: [[name, {}] as const] }, 'done'];

function noting(name: string) {
  const runs: string[] = [];
  const made = tool(
    name,
    (_, { callId }) => {
      runs.push(callId);
      return `${name} ${runs.length}`;
    },
    readOnly,
  );
  return { tool: made, runs };
}

describe('ATK3-16 no kept result stands in for a question', () => {
  test.each(['session', 'shared'] as const)(
    'scope %s: a boss is asked about each call, and each runs',
    async (scope) => {
      const salary = noting('salary');
      const policy = policyOf({ salary: { outcome: 'ask', approvers: { roles: ['boss'] } } });
      const { host } = hostOf(bot([...twice('salary'), ...twice('salary')]), {
        tools: [salary.tool],
        policy,
        hooks: cacheToolResults({ scope }),
      });
      const anna = await host.open('bot', { userId: 'anna', sessionId: 'x', create: true });
      const other =
        scope === 'shared' ? await host.open('bot', { userId: 'mallory', sessionId: 'y', create: true }) : anna;
      for (const [session, runs] of [
        [anna, 1],
        [other, 2],
      ] as const) {
        expect(brief(await say(session, 'go')).at(-1)).toBe('end input_required');
        expect(salary.runs).toHaveLength(runs - 1);
        await session.respond((await only(session)).requestId, { kind: 'approve', by: boss });
        expect(results(await say(session, { kind: 'continue' }))).toMatchObject({ salary: `salary ${runs}` });
      }
      await host.close();
    },
  );

  test('what policy lets run is kept, and is no answer once policy or the author asks', async () => {
    const salary = noting('salary');
    let outcome: 'allow' | 'ask' = 'allow';
    let floor = false;
    const policy = policyOf({ salary: () => ({ outcome }) });
    const { host } = hostOf(bot([...twice('salary'), ...twice('salary')]), {
      tools: [{ ...salary.tool, needsApproval: () => floor }],
      policy,
      hooks: cacheToolResults(),
    });
    const session = await host.open('bot');
    for (let time = 0; time < 2; time++)
      expect(results(await say(session, 'go'))).toMatchObject({ salary: 'salary 1' });
    floor = true;
    expect(brief(await say(session, 'go')).at(-1)).toBe('end input_required');
    await session.respond((await only(session)).requestId, { kind: 'deny' });
    await say(session, { kind: 'continue' });
    floor = false;
    outcome = 'ask';
    expect(brief(await say(session, 'go')).at(-1)).toBe('end input_required');
    expect(salary.runs).toHaveLength(1);
    await host.close();
  });

  test('a yes to edited arguments runs those, whose result is kept from a call that nobody was asked about', async () => {
    const ran: unknown[] = [];
    const look = tool('look', (args) => void ran.push(args), readOnly);
    const policy = policyOf({
      look: ({ args }) => ({ outcome: args?.q === 2 ? 'ask' : 'allow' }),
    });
    const calls = [{ calls: [['look', { q: 1 }] as const] }, 'done', { calls: [['look', { q: 2 }] as const] }, 'done'];
    const { host } = hostOf(bot(calls), { tools: [look], policy, hooks: cacheToolResults() });
    const session = await host.open('bot');
    await say(session, 'go');
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve', args: { q: 1 } });
    await say(session, { kind: 'continue' });
    expect(ran).toEqual([{ q: 1 }, { q: 1 }]);
    await host.close();
  });

  test('what a handler has asked a person is asked of the next call, too', async () => {
    const asked: string[] = [];
    const mail = tool(
      'mail',
      async (_, context) => {
        asked.push(`${(await context.elicit?.({ message: 'Which folder?' }))?.action}`);
        return 'mails';
      },
      readOnly,
    );
    const { host } = hostOf(bot(twice('mail')), {
      tools: [mail],
      policy: policyOf({}),
      hooks: cacheToolResults(),
      onElicitation: () => ({ kind: 'elicitation', action: 'accept', content: {} }),
    });
    const session = await host.open('bot');
    for (let time = 0; time < 2; time++) await say(session, 'go');
    expect(asked).toEqual(['accept', 'accept']);
    await host.close();
  });

  test('among the plugins of an agent it answers nothing that its host has not decided on', async () => {
    const runs: string[] = [];
    const salary = ownTool('salary', (_, { callId }) => void runs.push(callId), readOnly);
    let outcome: 'allow' | 'ask' = 'allow';
    const { host } = hostOf(bot(twice('salary'), { tools: [salary] }), {
      policy: policyOf({ salary: () => ({ outcome }) }),
      from: { plugins: [hooksPlugin(cacheToolResults())] },
    });
    const session = await host.open('bot');
    await say(session, 'go');
    outcome = 'ask';
    expect(brief(await say(session, 'go')).at(-1)).toBe('end input_required');
    expect(runs).toHaveLength(1);
    await host.close();
  });
});

describe('ATK3-05 a kept result is of the same tool of the same agent', () => {
  test.each(['session', 'shared'] as const)('scope %s: not of another agent’s tool of that name', async (scope) => {
    const read = (of: string) => ownTool('read', () => `${of}: 42`, readOnly);
    const member = (name: string) =>
      new LlmAgent({
        name,
        description: name,
        tools: [read(name)],
        model: new ScriptedModel([{ calls: [['read', { path: 'a.txt' }]] }, 'read']),
      });
    const team = [agentTool(member('payroll')), agentTool(member('notes'))];
    const calls = ['payroll', 'notes'].map((name) => ({ calls: [[name, { request: 'go' }] as const] }));
    const { host } = hostOf(bot([...calls, 'done'], { tools: team }), {
      policy: policyOf({}),
      hooks: cacheToolResults({ scope }),
    });
    const events = await say(await host.open('bot'), 'go');
    expect(brief(events).filter((line) => line.startsWith('read'))).toEqual(['read = payroll: 42', 'read = notes: 42']);
    await host.close();
  });

  test('nor of the tool as it was defined before, or comes from elsewhere', async () => {
    const runs: string[] = [];
    const made = (description: string) => tool('look', () => void runs.push(description), { ...readOnly, description });
    const hooks = cacheToolResults({ scope: 'shared' });
    const provider = (description: string) => ({
      name: 'files',
      getToolsForAgent: () => [{ name: 'look', description, inputSchema: { type: 'object' }, ...readOnly }],
      execute: async () => {
        runs.push(`files: ${description}`);
        return { content: [] };
      },
    });
    for (const given of [
      { tools: [made('one')] },
      { tools: [made('one')] },
      { tools: [made('two')] },
      { toolProviders: [provider('one')] },
    ]) {
      const { host } = hostOf(bot([{ calls: [['look', {}]] }, 'done']), { ...given, policy: policyOf({}), hooks });
      await say(await host.open('bot'), 'go');
      await host.close();
    }
    expect(runs).toEqual(['one', 'two', 'files: one']);
  });

  test('nor do two tools of one name share a run', async () => {
    const cache = cacheToolResults({ scope: 'shared' });
    const runs: string[] = [];
    for (const from of ['a', 'b']) {
      const shared = cache.share(tool('look', () => void runs.push(from), readOnly)) as AnyTool;
      const { host } = hostOf(bot([{ calls: [['look', {}]] }, 'done']), { tools: [shared], policy: policyOf({}) });
      await say(await host.open('bot'), 'go');
      await host.close();
    }
    expect(runs).toEqual(['a', 'b']);
  });
});
