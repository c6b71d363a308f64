import { describe, expect, test } from 'vitest';
import type { AgentEvent, AgentSession, AnyAgentTool, AnyTool, PolicyDecision } from '../../src/contracts/index.ts';
import { auditOf, fromAgent, LlmAgent, subagentTool } from '../../src/index.ts';
import { agentTool, securityPlugin } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { all, bot, hostOf, notingTool, ofType, policyOf, readOnly, say, tool } from '../host/kit.ts';

const expert = () => new LlmAgent({ name: 'do', description: 'does', model: new ScriptedModel(['done', 'done']) });

/** Makes the tool `do`, wherever it runs. */
const own: Record<string, () => AnyAgentTool> = {
  'a tool of its own': () => notingTool('do').tool,
  'one that may run again': () => notingTool('do', readOnly).tool,
  'an agent': () => agentTool(expert()),
  'an agent that may run again': () => agentTool(expert(), readOnly),
};
const hosts: Record<string, () => AnyTool[]> = {
  'a host tool': () => [notingTool('do').tool],
  'one with tail calls': () => [
    tool('do', () => ({ content: [], tailCalls: [{ name: 'tail', args: {} }] }), { makesTailCalls: true }),
    notingTool('tail').tool,
  ],
  'a sub-agent': () => [subagentTool(fromAgent(expert()))],
};

const request = { request: 'go' };
const words: Record<string, { word: PolicyDecision['outcome']; answer?: 'approve' | 'edit' | 'deny'; by: string }> = {
  'policy allows': { word: 'allow', by: 'policy' },
  'policy denies': { word: 'deny', by: 'policy' },
  'a person allows': { word: 'ask', answer: 'approve', by: 'user:bob' },
  'a person edits': { word: 'ask', answer: 'edit', by: 'user:bob' },
  'a person denies': { word: 'ask', answer: 'deny', by: 'user:bob' },
};

async function answer(session: AgentSession, kind: 'approve' | 'edit' | 'deny'): Promise<void> {
  const [open] = await session.pending();
  const by = { id: 'bob' };
  const args = kind === 'edit' ? { args: { request: 'stop' } } : {};
  await session.respond(
    String(open?.requestId),
    kind === 'deny' ? { kind, by } : { kind: 'approve', ...args, by, reason: 'Well.' },
  );
  await say(session, { kind: 'continue' });
}

async function decisionsOf(session: AgentSession) {
  const log = await all(session.events());
  const stored = ofType(log, 'custom').filter(({ kind }) => kind === 'policy_decision');
  return { stored, entries: await auditOf(log) };
}

const asIs = (by: string, word: string) => [{ outcome: /denies/.test(word) ? 'denied' : 'approved', by }];

describe.each(Object.entries(words))(
  'APP-B6 where %s, one decision is in the record',
  (name, { word, answer: said, by }) => {
    test.each(Object.keys(own))('on %s', async (kind) => {
      const agent = bot([{ calls: [['do', request]] }, 'end'], { tools: [own[kind]?.() as AnyAgentTool] });
      const session = await hostOf(agent, { policy: policyOf({ do: word }) }).host.open('bot');
      await say(session, 'go');
      if (said) await answer(session, said);
      const { stored, entries } = await decisionsOf(session);
      expect(stored).toHaveLength(1);
      expect(entries).toMatchObject([{ requestedBy: expect.any(String), decisions: asIs(by, name) }]);
      expect(entries[0]?.decisions).toHaveLength(1);
      if (said === 'edit') expect(entries[0]?.argsRun).toEqual({ request: 'stop' });
    });

    test.each(Object.keys(own))('on %s, without a host', async (kind) => {
      const agent = bot([{ calls: [['do', request]] }, 'end'], { tools: [own[kind]?.() as AnyAgentTool] });
      const session = await fromAgent(agent, { plugins: [securityPlugin(policyOf({ do: word }))] }).open(
        { create: true },
        {
          app: 'shop',
        },
      );
      await say(session, 'go');
      if (said) await answer(session, said);
      const { stored, entries } = await decisionsOf(session);
      expect(stored.length).toBeLessThanOrEqual(1);
      if (said !== 'deny') expect(stored).toHaveLength(1);
      expect(entries[0]?.decisions).toHaveLength(stored.length);
    });

    test.each(Object.keys(hosts))('on %s', async (kind) => {
      const agent = bot([{ calls: [['do', request]] }, 'end']);
      const tools = hosts[kind]?.() ?? [];
      const session = await hostOf(agent, { tools, policy: policyOf({ do: word }) }).host.open('bot');
      await say(session, 'go');
      if (said) await answer(session, said);
      const { entries } = await decisionsOf(session);
      expect(entries).toMatchObject([{ decisions: asIs(by, name) }]);
      expect(entries[0]?.decisions).toHaveLength(1);
    });
  },
);

test('APP-B6 a second run after a yes to it is a second decision', async () => {
  let runs = 0;
  const pay = tool('pay', (_, context) => {
    const { toolConfirmation, requestConfirmation } = context as never as {
      toolConfirmation?: unknown;
      requestConfirmation(asked: { hint: string }): void;
    };
    runs++;
    if (!toolConfirmation) requestConfirmation.call(context, { hint: 'Sure?' });
    return 'paid';
  });
  const agent = bot([{ calls: [['pay']] }, 'end'], { tools: [pay] });
  const session = await hostOf(agent, { policy: policyOf({ pay: 'ask' }) }).host.open('bot');
  await say(session, 'go');
  await answer(session, 'approve');
  await answer(session, 'approve');
  const { entries } = await decisionsOf(session);
  expect([runs, entries[0]?.decisions.map(({ by }) => by)]).toEqual([2, ['user:bob', 'user:bob']]);
});

test.each(['c1', 'c#1', '#'])(
  'APP-B6 sibling: who has answered about a call stands with it, whatever its id: %s',
  async (id) => {
    const about = { sessionId: 's', streamId: 'x', timestamp: '2026-11-29T00:00:00.000Z' };
    const events = [
      { ...about, id: 'e1', type: 'tool_request', requestId: id, name: 'pay', args: {} },
      { ...about, id: 'e2', type: 'elicitation_response', requestId: `${id}#policy`, action: 'accept', by: 'ann' },
    ] as never as AgentEvent[];
    expect(await auditOf(events)).toMatchObject([{ callId: id, answers: [{ action: 'accept', by: 'ann' }] }]);
  },
);
