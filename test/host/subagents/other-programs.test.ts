import { expect, test } from 'vitest';
import type { AgentHost, SessionService } from '../../../src/index.ts';
import { InMemorySessionService, LlmAgent, subagentTool } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { smallAgent } from '../../acp/kit.ts';
import { all, client, serving } from '../../websocket/kit.ts';
import { hostOf, policyOf, say } from '../kit.ts';

const anna = { id: 'anna', roles: ['supervisor'] };
const place = { agent: 'boss', userId: 'ben', sessionId: 's' };

/** A host whose agent calls a program that speaks the Agent Client Protocol, and waits in memory where it asks. */
function shopOf(store: SessionService): AgentHost {
  const model = new ScriptedModel([
    { calls: [['small', { request: 'write visa-xyz.txt\nsay all is in order' }]] },
    'done',
  ]);
  return hostOf(new LlmAgent({ name: 'boss', model }), {
    store,
    tools: [subagentTool(smallAgent().source)],
    policy: policyOf({
      'acp:edit': {
        outcome: 'ask',
        ruleId: 'files',
        approvers: { roles: ['supervisor'], notRequester: true },
        redact: ['/path', '/paths', '/changes', '/title'],
      },
    }),
  }).host;
}

/** One turn in which the program asks, and anna approves; the id of the question. */
async function approvedTurn(host: AgentHost): Promise<string> {
  const asked = host.approvals.watch({ approver: anna });
  const next = asked.next();
  const session = await host.open('boss', { userId: 'ben', sessionId: 's', create: true });
  const turn = say(session, 'go');
  const { request } = (await next).value;
  await asked.return?.();
  const { requestId, approval } = request;
  await host.approvals.decide(
    requestId,
    { kind: 'approve', previewDigest: approval?.previewDigest ?? '' },
    { by: anna, ...place },
  );
  await turn;
  // The stream may have paused before the answer came: the host continues the turn then.
  await host.idle();
  return requestId;
}

test('S3-79 who approves what an agent of another program asks below another agent sees what came of it, also under a new host', async () => {
  const store = new InMemorySessionService();
  const host = shopOf(store);
  const requestId = await approvedTurn(host);
  const outcome = {
    isOpen: false,
    call: {
      tool: 'acp:edit',
      outcome: 'completed',
      answers: [{ by: 'anna', action: 'accept' }],
      result: [{ type: 'text', text: 'wrote [redacted]' }],
    },
  };
  expect(await host.approvals.outcome(requestId, { by: anna, ...place })).toMatchObject(outcome);
  expect(await host.approvals.explain(requestId, { by: anna, ...place })).toMatchObject({
    agentPath: ['boss', 'small'],
  });
  await host.close();
  expect(await shopOf(store).approvals.outcome(requestId, { by: anna, ...place })).toMatchObject(outcome);
});

test.each([
  ['alone', false],
  ['beside another one that was opened before', true],
])(
  'ATK10-07 a turn that has paused goes to its end after a decision where such an agent waits in memory, on a handle %s',
  async (_, hasOther) => {
    const host = shopOf(new InMemorySessionService());
    const [userId, sessionId] = ['ben', 's'];
    if (hasOther) await host.open('boss', { userId, sessionId, create: true });
    const session = await host.open('boss', { userId, sessionId, create: true });
    expect((await all(session.stream('go'))).at(-1)).toMatchObject({ reason: 'input_required' });
    const [question] = await host.approvals.list({ approver: anna });
    await host.approvals.decide(question?.request.requestId ?? '', 'approve', { by: anna, ...place });
    await host.idle();
    expect(await session.pending()).toEqual([]);
    const ends = (await all(session.events())).filter(({ type }) => type === 'stream_end');
    expect(ends).toMatchObject([{ reason: 'completed' }]);
    await host.close();
  },
);

test('S3-79 an operator sees what such an agent has said, without what policy hides of its calls', async () => {
  const host = shopOf(new InMemorySessionService());
  const server = await serving(host, { operator: () => ({ content: true }) });
  await approvedTurn(host);
  const olga = await client(server, 'olga');
  if (!olga.operator) throw new Error('no operator');
  const shown = JSON.stringify(await all(olga.operator.events(place)));
  expect(shown).toContain('all is in order');
  expect(shown).not.toContain('visa-xyz');
});
