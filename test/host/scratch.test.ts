import { expect, test } from 'vitest';
import { LlmAgent, ScriptedModel } from './scratch-imports.ts';
import { all, bot, brief, door, endOf, firstOf, follow, hostOf, notingTool, ofType, only, policyOf, readOnly, refusal, results, say, slowTool, tool } from './kit.ts';

test('forged policy id', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'ok']), { tools: [pay.tool], policy: policyOf({ pay: 'ask_user' }) });
  const s = await host.open('bot');
  await say(s, 'go');
  const q = await only(s);
  expect((await refusal(s.respond(`${q.callId}#policy.7`, { kind: 'approve' }))).code).toBe('E_UNKNOWN_REQUEST');
});
test('expiry bypass', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'ok']), { tools: [pay.tool], policy: policyOf({ pay: { outcome: 'ask_user', expiresIn: 0.02 } }) });
  const s = await host.open('bot');
  await say(s, 'go');
  const q = await only(s);
  await new Promise((r) => setTimeout(r, 40));
  const r = await refusal(s.respond(q.requestId, { kind: 'approve', previewDigest: q.approval!.previewDigest })).catch((e) => e);
  const r2 = await refusal(s.respond(q.callId!, { kind: 'approve' })).catch((e) => e);
  const e = await say(s, { kind: 'continue' });
  expect([pay.runs, r, r2, results(e)]).toBe(0);
});
test('confirm reuse', async () => {
  let confirmed = 0;
  const pay = tool('pay', (_a, c) => { if (c.confirmation) { confirmed++; return 'paid'; } c.requestConfirmation({ hint: 'sure?' }); return undefined; });
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'ok']), { tools: [pay], policy: policyOf({ pay: 'ask_user' }) });
  const s = await host.open('bot');
  await say(s, 'go');
  const q = await only(s);
  await s.respond(q.requestId, { kind: 'approve' });
  const e = await say(s, { kind: 'continue' });
  expect([confirmed, brief(e)]).toBe(0);
});
test('abort starts queued', async () => {
  const a = slowTool('a'); const b = notingTool('b');
  const { host } = hostOf(bot([{ calls: [['a', {}], ['b', {}]] }, 'ok']), { tools: [a.tool, b.tool], policy: policyOf({}), toolConcurrency: 1 });
  const s = await host.open('bot');
  const f = follow(s, 'go');
  await a.started;
  await s.abort();
  const e = await f.ended;
  a.finish('x');
  await new Promise((r) => setTimeout(r, 20));
  expect([b.runs.length, brief(e)]).toBe(0);
});
test('abort pending call in gap', async () => {
  const a = slowTool('a'); const b = notingTool('b');
  const { host } = hostOf(bot([{ calls: [['a', {}], ['b', {}]] }, 'ok']), { tools: [a.tool, b.tool], policy: policyOf({ b: 'ask_user' }), onApproval: () => new Promise(() => {}) });
  const s = await host.open('bot');
  const f = follow(s, 'go');
  const q = await f.seen('elicitation_request');
  await a.started;
  await s.abort({ requestId: q.callId! });
  a.finish('x');
  const t = setTimeout(() => void s.abort(), 1000);
  const e = await f.ended;
  clearTimeout(t);
  expect(brief(e)).toBe(0);
});
test('onElicitation of the agents own', async () => {
  const own = tool('own', (_a, c) => { if (c.confirmation) return 'done'; c.requestConfirmation({ hint: 'sure?' }); return undefined; });
  const { host } = hostOf(bot([{ calls: [['own', {}]] }, 'ok'], { tools: [own] }), { policy: policyOf({}), onElicitation: () => ({ kind: 'elicitation', action: 'accept' }) });
  const s = await host.open('bot');
  const e = await say(s, 'go');
  expect(brief(e)).toBe(0);
});
test('usd', async () => {
  const u = { inputTokens: 1_000_000, outputTokens: 0 };
  const { host } = hostOf(bot([{ calls: [['b', {}]], usage: u }, { calls: [['b', {}]], usage: u }, { text: 'ok', usage: u }]), { tools: [notingTool('b').tool], policy: policyOf({}), limits: { usd: 1 }, prices: { scripted: { input: 1, output: 1 } } });
  const s = await host.open('bot');
  const e = await say(s, 'go');
  expect(brief(e)).toBe(0);
});
test('dispose second handle', async () => {
  const a = slowTool('a');
  const { host } = hostOf(bot([async () => { await a.started; return 'hi'; }]), {});
  const s = await host.open('bot');
  const f = follow(s, 'go');
  await f.seen('message');
  const s2 = await host.open('bot', { sessionId: s.id });
  await s2[Symbol.asyncDispose]();
  (a.tool.execute as any)({}, {});
  expect(brief(await f.ended)).toBe(0);
});
test('plan per stream', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'ok']), { tools: [pay.tool], policy: policyOf({}) });
  const s = await host.open('bot');
  expect(brief(await say(s, 'go', { permissionMode: 'plan' }))).toBe(0);
});
test('steer in gap', async () => {
  const a = slowTool('a');
  const { host } = hostOf(bot([{ calls: [['a', {}]] }, 'ok']), { tools: [a.tool], policy: policyOf({}) });
  const s = await host.open('bot');
  const f = follow(s, 'go');
  await a.started;
  const r = await s.steer({ content: 'also' });
  a.finish('x');
  expect([r, brief(await f.ended)]).toBe(0);
});
test('proceed', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'two', 'three', 'four']), { tools: [pay.tool], policy: policyOf({ pay: 'ask_user' }) });
  const s = await host.open('bot');
  await say(s, 'go');
  const q = await only(s);
  const e2 = await say(s, 'more', { whilePending: 'proceed' });
  const e3 = await say(s, { kind: 'tool_approval', requestId: q.requestId });
  expect([brief(e2), brief(e3), await s.pending(), pay.runs]).toBe(0);
});
test('proceed via decide', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'two', 'three', 'four']), { tools: [pay.tool], policy: policyOf({ pay: 'ask_user' }) });
  const s = await host.open('bot');
  await say(s, 'go');
  const q = await only(s);
  const e2 = await say(s, 'more', { whilePending: 'proceed' });
  const e3 = await host.approvals.decide(q.requestId, { kind: 'approve' }, { by: { id: 'x' } });
  await new Promise((r) => setTimeout(r, 30));
  expect([brief(e2), e3, await s.pending(), pay.runs, brief(await all(s.events()))]).toBe(0);
});
