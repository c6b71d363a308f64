import { describe, expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { PolicyDecision, PolicyRequest } from '../../src/contracts/index.ts';
import type { Plugin } from '../../src/runtime/index.ts';
import { securityPlugin } from '../../src/runtime/index.ts';
import { auditOf, run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, llm, tool } from './kit.ts';

/** Three tools, and a policy that says something else about each. */
async function opened(options: { context?: object } = {}) {
  const ran: string[] = [];
  const asked: PolicyRequest[] = [];
  const words: Record<string, PolicyDecision> = {
    pay: { outcome: 'ask', hint: 'really pay?' },
    drop: { outcome: 'deny', reason: 'nothing is dropped' },
  };
  const policy = {
    evaluate(request: PolicyRequest): PolicyDecision {
      asked.push(request);
      return words[request.action] ?? { outcome: 'allow' };
    },
  };
  const tools = ['look', 'pay', 'drop'].map((name) => tool(name, () => ran.push(name)));
  const model = new ScriptedModel([{ calls: [['look'], ['pay', { eur: 5 }], ['drop']] }, 'done']);
  const source = fromAgent(llm('bot', model, { tools }), { plugins: [securityPlugin(policy)] });
  return { ran, asked, model, session: await source.open({}, { app: 'shop', ...options.context }) };
}

test('S3-66 without a host: allowed runs, denied does not and the model hears why, the rest is asked first', async () => {
  const { ran, asked, model, session } = await opened();
  expect((await run(session, 'go')).reason).toBe('input_required');
  expect(ran).toEqual(['look']);
  expect(asked.map(({ action, args, principalPath }) => [action, args, principalPath])).toEqual([
    ['look', {}, ['bot']],
    ['pay', { eur: 5 }, ['bot']],
    ['drop', {}, ['bot']],
  ]);
  const [question] = await session.pending();
  expect(question).toMatchObject({ name: 'pay', message: 'really pay?' });
  await session.respond(String(question?.requestId), { kind: 'approve' });
  expect((await run(session, { kind: 'continue' })).reason).toBe('completed');
  expect(ran).toEqual(['look', 'pay']);
  expect(JSON.stringify(model.requests.at(-1)?.contents)).toContain('nothing is dropped');
});

test('MUT-R15 what policy hid when it asked stays hidden, whatever it says once there is a yes', async () => {
  const words: PolicyDecision[] = [{ outcome: 'ask', redact: ['/card'] }, { outcome: 'allow' }];
  const policy = { evaluate: () => words.shift() ?? { outcome: 'deny' as const } };
  const model = new ScriptedModel([{ calls: [['pay', { card: '4111' }]] }, 'done']);
  const agent = llm('bot', model, { tools: [tool('pay', () => 'paid')] });
  const session = await fromAgent(agent, { plugins: [securityPlugin(policy)] }).open({}, { app: 'shop' });
  const [question] = (await run(session, 'go')).pending;
  await session.respond(String(question?.requestId), { kind: 'approve' });
  expect((await run(session, { kind: 'continue' })).reason).toBe('completed');
  const [entry] = await auditOf(session.events());
  expect(entry).toMatchObject({ tool: 'pay', outcome: 'completed', args: { card: '[redacted]' } });
});

test('S3-66 a policy that fails lets nothing run', async () => {
  const ran: string[] = [];
  const broken = securityPlugin({ evaluate: () => Promise.reject(new Error('policy down')) });
  const agent = llm('bot', new ScriptedModel([{ calls: [['pay']] }, 'done']), {
    tools: [tool('pay', () => ran.push('pay'))],
  });
  const session = await fromAgent(agent, { plugins: [broken] }).open({}, { app: 'shop' });
  expect(await run(session, 'go')).toMatchObject({ reason: 'completed', denied: ['pay'] });
  expect(ran).toEqual([]);
});

test.each(['own', 'plugin'])(
  'MUT-R20 of a policy of the agent and one of a plugin the stricter holds: that of %s',
  async (strict) => {
    const ran: string[] = [];
    const policyOf = (place: string) => ({
      evaluate: (): PolicyDecision => ({ outcome: place === strict ? 'deny' : 'allow' }),
    });
    const agent = llm('bot', new ScriptedModel([{ calls: [['pay']] }, 'done']), {
      tools: [tool('pay', () => ran.push('pay'))],
    });
    const plugins = [securityPlugin(policyOf('plugin'))];
    const { say } = bench(agent, { policy: policyOf('own'), plugins });
    const parts = (await say('go')).flatMap(({ content }) => content?.parts ?? []);
    expect(parts).toContainEqual(expect.objectContaining({ type: 'function_response', errorType: 'denied' }));
    expect(ran).toEqual([]);
  },
);

test('S3-66 under host execution it stands aside: nothing is asked, nothing runs unasked', async () => {
  const { ran, asked, session } = await opened();
  const { pending } = await run(session, 'go', { hostToolExecution: true });
  expect([pending.map(({ name }) => name), asked, ran]).toEqual([['look', 'pay', 'drop'], [], []]);
});

describe.each(['before', 'behind'])('S3-66 a plugin that changes arguments, %s the policy', (place) => {
  const changed = async (eur: number) => {
    const ran: unknown[] = [];
    const pay = tool('pay', (args) => ran.push(args));
    const policy = {
      evaluate: ({ args }: PolicyRequest): PolicyDecision => ({ outcome: Number(args?.eur) > 10 ? 'deny' : 'allow' }),
    };
    const changer: Plugin = {
      name: 'changer',
      beforeTool: () => ({ action: 'proceed', modifications: { args: { eur } } }),
    };
    const plugins = [changer, securityPlugin(policy)];
    const model = new ScriptedModel([{ calls: [['pay', { eur: 5 }]] }, 'done']);
    const source = fromAgent(llm('bot', model, { tools: [pay] }), {
      plugins: place === 'before' ? plugins : plugins.reverse(),
    });
    await run(await source.open({}, { app: 'shop' }), 'go');
    return ran;
  };

  test('does not pass it by: what runs is what policy allowed', async () => {
    expect([await changed(6), await changed(5000)]).toEqual([[{ eur: 6 }], []]);
  });
});

test('S3-66 arguments that a person edits are asked about, too', async () => {
  const ran: unknown[] = [];
  const policy = {
    evaluate: ({ args }: PolicyRequest): PolicyDecision => ({ outcome: Number(args?.eur) > 10 ? 'deny' : 'ask' }),
  };
  const model = new ScriptedModel([{ calls: [['pay', { eur: 5 }]] }, 'done']);
  const agent = llm('bot', model, { tools: [tool('pay', (args) => ran.push(args))] });
  const session = await fromAgent(agent, { plugins: [securityPlugin(policy)] }).open({}, { app: 'shop' });
  await run(session, 'go');
  const [question] = await session.pending();
  await session.respond(String(question?.requestId), { kind: 'approve', args: { eur: 5000 } });
  expect(await run(session, { kind: 'continue' })).toMatchObject({ denied: ['pay'] });
  expect(ran).toEqual([]);
});

test.each([{ roles: ['boss'] }, { notRequester: true }, { quorum: 2 }])(
  'S3-66 without a host nobody checks who answers: approvers %o make it a no',
  async (approvers) => {
    const ran: unknown[] = [];
    const model = new ScriptedModel([{ calls: [['pay', { eur: 5 }]] }, 'done']);
    const agent = llm('bot', model, { tools: [tool('pay', (args) => ran.push(args))] });
    const policy = { evaluate: (): PolicyDecision => ({ outcome: 'ask', ruleId: 'pay', approvers }) };
    const session = await fromAgent(agent, { plugins: [securityPlugin(policy)] }).open({}, { app: 'shop' });
    const { reason, denied } = await run(session, 'go');
    expect([reason, denied, ran, await session.pending()]).toEqual(['completed', ['pay'], [], []]);
    expect(await auditOf(session.events())).toMatchObject([
      { outcome: 'denied', decisions: [{ by: 'policy', ruleId: 'pay', reason: expect.stringMatching(/host/) }] },
    ]);
  },
);
