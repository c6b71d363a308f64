import { expect, test } from 'vitest';
import type { SessionInput } from '../../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent, LlmAgent, rulePolicy, run, subagentTool } from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { brief, endOf, notingTool, ofType, policyOf, results, say } from '../kit.ts';
import { askExpert, team } from './kit.ts';

test('S3-56 an agent of a host is the tool of another: its words are the result, its events a thread of their own', async () => {
  const { host, boss, expert } = team({
    boss: [askExpert, 'the expert has spoken'],
    expert: ['forty-two'],
    host: { policy: allowAll() },
  });
  const session = await host.open('boss', { sessionId: 's', create: true });
  const events = await say(session, 'what is it?', { streaming: false });
  expect(results(events)).toEqual({ expert: 'forty-two' });
  const [call] = ofType(events, 'tool_request');
  const threads = events.filter(({ threadId }) => threadId !== undefined);
  expect(brief(threads)).toEqual(['user: go', 'agent: forty-two']);
  expect(new Set(threads.map(({ threadId, sessionId }) => `${sessionId} ${threadId}`))).toEqual(
    new Set([`s /${call?.requestId}`]),
  );
  expect(threads.every(({ seq, cursor }) => seq === undefined && cursor === undefined)).toBe(true);
  expect(boss.requests.at(-1)?.contents.at(-1)?.parts[0]).toMatchObject({ type: 'function_response', name: 'expert' });
  // A history of its own.
  expect(JSON.stringify(expert.requests[0]?.contents)).not.toContain('what is it?');
});

test('IOP-M1 the caller of a sub-agent whose answer was cut is told so', async () => {
  const { host, boss } = team({
    boss: [askExpert, 'so it goes', askExpert, 'so it goes'],
    expert: [{ text: 'forty', finishReason: 'length' }, 'forty-two'],
    host: { policy: allowAll() },
  });
  const session = await host.open('boss', { sessionId: 's', create: true });
  const answer = () => JSON.stringify(boss.requests.at(-1)?.contents.at(-1)?.parts[0]);
  await say(session, 'what is it?');
  expect(answer()).toContain("cut at the model's output limit");
  await say(session, 'and now?');
  expect(answer()).not.toContain('output limit');
});

test('S3-56 S3-65 what a sub-agent does passes the same policy, with the whole path of agents', async () => {
  const pay = notingTool('pay');
  const policy = policyOf({});
  const { host } = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay', { n: 1 }]] }, 'paid'],
    tools: [pay.tool],
    host: { policy },
  });
  const events = await say(await host.open('boss'), 'pay');
  expect(results(events)).toMatchObject({ pay: 'pay done', expert: 'paid' });
  expect(pay.runs).toEqual([{ n: 1 }]);
  expect(policy.asked.map(({ action, principalPath }) => [action, principalPath])).toEqual([
    ['expert', ['local', 'boss']],
    ['pay', ['local', 'boss', 'expert']],
  ]);
});

test('S3-56 its question is the caller’s: the call stays open, an answer goes on with both', async () => {
  const pay = notingTool('pay');
  const { host } = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay', { n: 1 }]] }, 'paid'],
    tools: [pay.tool],
    host: { policy: policyOf({ pay: 'ask' }) },
  });
  const session = await host.open('boss');
  const first = await say(session, 'pay');
  expect(endOf(first)).toMatchObject({ reason: 'input_required', data: { pending: [{ name: 'pay' }] } });
  const [question] = await session.pending();
  expect(question).toMatchObject({ sessionId: session.id, agentPath: ['boss', 'expert'], name: 'pay' });
  expect(pay.runs).toEqual([]);
  expect(await session.respond(String(question?.requestId), { kind: 'approve' })).toMatchObject({ status: 'settled' });
  const second = await say(session, { kind: 'continue' });
  expect(endOf(second).reason).toBe('completed');
  expect(results(second)).toMatchObject({ expert: 'paid' });
  expect(pay.runs).toEqual([{ n: 1 }]);
  expect(await session.pending()).toEqual([]);
});

test('S3-56 it is found across sessions, with its caller, and goes on when it is decided', async () => {
  const pay = notingTool('pay');
  const { host, store } = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay', { n: 1 }]] }, 'paid'],
    tools: [pay.tool],
    host: { policy: policyOf({ pay: 'ask' }) },
  });
  const session = await host.open('boss', { sessionId: 's', create: true });
  await say(session, 'pay');
  const open = await host.approvals.list();
  expect(open.map(({ agent, request }) => [agent, request.sessionId, request.agentPath])).toEqual([
    ['boss', 's', ['boss', 'expert']],
  ]);
  const ended = (async () => {
    for await (const event of session.events({ live: true })) if (event.type === 'stream_end') return event.reason;
    return undefined;
  })();
  const id = String(open[0]?.request.requestId);
  expect(await host.approvals.decide(id, { kind: 'approve' }, { by: { id: 'local' } })).toMatchObject({
    status: 'settled',
  });
  expect(await ended).toBe('completed');
  expect(pay.runs).toHaveLength(1);
  expect(await store.openCalls({ app: 'shop' })).toEqual([]);
});

test('S3-56 usage of a sub-agent is its caller’s too', async () => {
  const { host } = team({
    boss: [
      { ...askExpert, usage: { inputTokens: 1 } },
      { text: 'done', usage: { inputTokens: 10 } },
    ],
    expert: [{ text: 'x', usage: { inputTokens: 100, outputTokens: 7 } }],
    host: { policy: allowAll() },
  });
  const result = await run(await host.open('boss'), 'hi');
  expect(result.usage).toMatchObject({ inputTokens: 111, outputTokens: 7 });
});

test.each<[string, (requestId: string) => SessionInput, string]>([
  [
    'an answer of another kind',
    (requestId) => ({ kind: 'tool_result', requestId, result: { content: [] } }),
    'E_WRONG_ANSWER',
  ],
  [
    'a request that nobody made',
    () => ({ kind: 'tool_result', requestId: 'nobody', result: { content: [] } }),
    'E_UNKNOWN_REQUEST',
  ],
])(
  'S3-56 answers in one input are taken together or not at all: %s refuses a sub-agent’s, too',
  async (_, bad, code) => {
    const pay = notingTool('pay');
    const { host } = team({
      boss: [
        {
          calls: [
            ['expert', { request: 'go' }],
            ['pay', { n: 2 }],
          ],
        },
        'done',
      ],
      expert: [{ calls: [['pay', { n: 1 }]] }, 'paid'],
      tools: [pay.tool],
      host: { policy: policyOf({ pay: 'ask' }) },
    });
    const session = await host.open('boss');
    await say(session, 'pay');
    const open = await session.pending();
    const idOf = (below: boolean) => String(open.find(({ agentPath }) => agentPath.length > 1 === below)?.requestId);
    const inner: SessionInput = { kind: 'tool_approval', requestId: idOf(true) };
    await expect(say(session, [inner, bad(idOf(false))])).rejects.toMatchObject({ code });
    expect((await session.pending()).map(({ requestId }) => requestId).sort()).toEqual(
      open.map(({ requestId }) => requestId).sort(),
    );
    expect(pay.runs).toEqual([]);
    const events = await say(session, [inner, { kind: 'tool_approval', requestId: idOf(false) }]);
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
    expect(pay.runs).toHaveLength(2);
  },
);

test('a question of a sub-agent whose sessions are in no index of the host is found by its id alone', async () => {
  const pay = notingTool('pay');
  const model = (...said: Script[]) => new ScriptedModel(said);
  const expert = new LlmAgent({ name: 'expert', model: model({ calls: [['pay', { n: 1 }]] }, 'paid') });
  const host = createHost({
    app: 'shop',
    agents: [new LlmAgent({ name: 'boss', model: model(askExpert, 'done') })],
    tools: [pay.tool, subagentTool(fromAgent(expert))],
    policy: rulePolicy([{ tool: 'expert', outcome: 'allow' }]),
  });
  const session = await host.open('boss');
  await run(session, 'pay');
  const [listed] = await host.approvals.list();
  const requestId = listed?.request.requestId ?? '';
  expect(await host.approvals.get(requestId)).toEqual(listed);
  expect(await host.approvals.get('nobody#policy')).toBeUndefined();
  const settlement = await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' } });
  expect(settlement).toMatchObject({ status: 'settled' });
  await host.idle();
  expect(pay.runs).toEqual([{ n: 1 }]);
});

test('MUT-H9 a question of a sub-agent is explained with the rules and what was said always in its caller’s session', async () => {
  const pay = notingTool('pay');
  const { host } = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay', { n: 1 }]] }, 'paid'],
    tools: [pay.tool],
    host: {
      policy: rulePolicy([
        { tool: 'expert', outcome: 'allow' },
        { id: 'money', tool: 'pay', outcome: 'ask', overridable: true },
      ]),
    },
  });
  const session = await host.open('boss', { sessionId: 's', create: true });
  await run(session, 'pay');
  const place = { by: { id: 'program' }, agent: 'boss', userId: 'local', sessionId: 's', everything: true };
  const [question] = await session.pending();
  const requestId = question?.requestId ?? '';
  expect(await host.approvals.explain(requestId, place)).toMatchObject({
    decision: { outcome: 'ask', ruleId: 'money' },
    rules: [{ tier: 'org', id: 'money', spoke: true }],
    agentPath: ['boss', 'expert'],
  });
  const remember = question?.approval?.remember.findIndex(({ scope }) => scope === 'session') ?? -1;
  await session.respond(requestId, { kind: 'approve', remember });
  await run(session, { kind: 'continue' });
  expect(await host.approvals.explain(requestId, place)).toMatchObject({
    decision: { outcome: 'allow' },
    rules: expect.arrayContaining([expect.objectContaining({ tier: 'session', spoke: true })]),
  });
});
