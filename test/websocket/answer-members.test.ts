import { describe, expect, test } from 'vitest';
import type { RequestAnswer, SessionInput } from '../../src/contracts/index.ts';
import { bot, hostOf, notingTool, only, policyOf, refusal, say } from '../host/kit.ts';
import { client, logOf, serving } from './kit.ts';
import { Raw } from './raw.ts';

const anna = { id: 'anna' };

/** A call of `pay` that waits for a yes, in a session that is open here and served. */
async function waiting(onApproval?: () => RequestAnswer) {
  const pay = notingTool('pay');
  const { host, warnings } = hostOf(bot([{ calls: [['pay', { eur: 100 }]] }, 'done']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
    ...(onApproval ? { onApproval } : {}),
  });
  const session = await host.open('bot', { sessionId: 's', create: true, userId: 'anna' });
  await say(session, 'go');
  const { requestId } = await only(session);
  const before = await logOf(session);
  const unchanged = async () => {
    expect(await only(session)).toMatchObject({ requestId });
    expect(await logOf(session)).toEqual(before);
    expect(pay.runs).toEqual([]);
  };
  return { host, session, requestId, pay, warnings, unchanged };
}

const misspelt: [string, object, string][] = [
  ['arguments', { kind: 'approve', arg: { eur: 5 } }, 'answer.arg is not known; write args'],
  ['a word that would be a no', { kind: 'approve', approved: false }, 'answer.approved is not known; give nothing but'],
  ['a digest', { kind: 'approve', preview_digest: 'x' }, 'answer.preview_digest is not known; write previewDigest'],
  ['content', { kind: 'approve', content: { eur: 5 } }, 'answer.content is not known; give nothing but kind, args'],
  ['arguments of a form', { kind: 'elicitation', action: 'accept', args: { eur: 5 } }, 'answer.args is not known'],
  ['a reason', { kind: 'deny', raeson: 'no' }, 'answer.raeson is not known; write reason'],
  ['a time', { kind: 'approve', expiresIn: 60 }, 'answer.expiresIn is not known; give nothing but'],
];

describe('a member of an answer that is not known', () => {
  test.each(misspelt)('ATK-L1 %s: respond() refuses it and stores nothing', async (_, given, message) => {
    const { session, requestId, unchanged } = await waiting();
    const answer = given as RequestAnswer;
    expect(await refusal(session.respond(requestId, answer))).toMatchObject({
      code: 'E_BAD_INPUT',
      message: expect.stringContaining(message),
    });
    await unchanged();
  });

  test.each(misspelt)('ATK-L1 %s: approvals.decide() refuses it', async (_, given, message) => {
    const { host, requestId, unchanged } = await waiting();
    const deciding = host.approvals.decide(requestId, given as RequestAnswer, { by: anna });
    expect(await refusal(deciding)).toMatchObject({ code: 'E_BAD_INPUT', message: expect.stringContaining(message) });
    await unchanged();
  });

  test.each(misspelt)('ATK-L1 %s: a server refuses it, whatever its client has checked', async (_, answer, message) => {
    const { host, requestId, unchanged } = await waiting();
    const { url } = await serving(host);
    const raw = await Raw.ready(url);
    const { fencingToken } = await raw.ask('session/open', { agent: 'bot', sessionId: 's' });
    for (const [method, more] of [
      ['session/respond', { sessionId: 's', fencingToken }],
      ['approvals/decide', {}],
    ] as const) {
      const { error } = await raw.request(method, { ...more, requestId, answer });
      expect(error).toMatchObject({ message: expect.stringContaining(message), data: { code: 'E_BAD_INPUT' } });
    }
    await unchanged();
  });

  test('ATK-L1 a client refuses it before it sends it', async () => {
    const { host, requestId, unchanged } = await waiting();
    const remote = await client(await serving(host));
    const session = await remote.open('bot', { sessionId: 's' });
    const answer = { kind: 'approve', arg: { eur: 5 } } as RequestAnswer;
    for (const answering of [
      () => session.respond(requestId, answer),
      () => remote.approvals.decide(requestId, answer),
    ]) {
      expect(await refusal(answering())).toMatchObject({ code: 'E_BAD_INPUT' });
    }
    await unchanged();
  });

  test.each<[string, object, string]>([
    ['an approval', { kind: 'tool_approval', approved: false }, 'input 0.approved is not known'],
    ['its arguments', { kind: 'tool_approval', arg: { eur: 5 } }, 'input 0.arg is not known; write args'],
    [
      'a reply',
      { kind: 'elicitation_response', response: { action: 'accept', args: { eur: 5 } } },
      'input 0.response.args is not known; give nothing but action, content',
    ],
  ])('ATK-L1 %s as an input of a stream is refused', async (_, given, message) => {
    const { session, requestId, unchanged } = await waiting();
    const input = { ...given, requestId } as unknown as SessionInput;
    expect(await refusal(say(session, input))).toMatchObject({
      code: 'E_BAD_INPUT',
      message: expect.stringContaining(message),
    });
    await unchanged();
  });

  test('ATK-L1 of what a handler answers leaves the question open, and is told', async () => {
    const { warnings, unchanged } = await waiting(() => ({ kind: 'approve', arg: { eur: 5 } }) as RequestAnswer);
    expect(warnings).toEqual([expect.stringContaining('was not taken; it stays open')]);
    await unchanged();
  });
});

test.each<[string, object]>([
  ['_meta', { kind: 'approve', args: { eur: 5 }, _meta: { 'app.example/window': 3 } }],
  ['a member that has no value', { kind: 'approve', args: { eur: 5 }, arg: undefined }],
])('ATK-L1 %s takes no part in an answer', async (_, answer) => {
  const { session, requestId, pay } = await waiting();
  await session.respond(requestId, answer as RequestAnswer);
  await say(session, { kind: 'continue' });
  expect(pay.runs).toEqual([{ eur: 5 }]);
});

test.each<object>([
  { kind: 'deny', previewDigest: 'x', args: {} },
  { kind: 'elicitation', action: 'decline', previewDigest: 'x' },
])('ATK-L1 a no may have what a yes has: %j', async (answer) => {
  const { session, requestId, pay } = await waiting();
  expect(await session.respond(requestId, answer as RequestAnswer)).toMatchObject({ status: 'settled' });
  await say(session, { kind: 'continue' });
  expect(pay.runs).toEqual([]);
});

test('ATK-L1 a message may have members that are not known, but none that is nearly one that is', async () => {
  const { host } = hostOf(bot(['one', 'two']));
  const session = await host.open('bot');
  await say(session, { kind: 'message', content: 'hello', priority: 1 } as SessionInput);
  const input = { kind: 'message', content: 'hello', rol: 'developer' } as SessionInput;
  expect(await refusal(say(session, input))).toMatchObject({
    code: 'E_BAD_INPUT',
    message: expect.stringContaining('input 0.rol is not known; write role'),
  });
});

test.each<[string, object, string]>([
  ['modification', { action: 'proceed', modification: { args: { eur: 5 } } }, 'write modifications'],
  ['args', { action: 'proceed', args: { eur: 5 } }, 'give nothing but action, reason, modifications'],
  ['modifications.arg', { action: 'proceed', modifications: { arg: { eur: 5 } } }, 'write args'],
])('ATK-L1 a before_tool hook with %s denies the call and says why', async (_, word, message) => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', { eur: 100 }]] }, 'done']), {
    tools: [pay.tool],
    policy: policyOf({}),
    hooks: { supportedHookPoints: () => ['before_tool'], fire: () => word as never },
  });
  const session = await host.open('bot');
  const events = await say(session, 'go');
  expect(pay.runs).toEqual([]);
  expect(events.find(({ type }) => type === 'tool_response')).toMatchObject({
    errorType: 'denied',
    content: [{ type: 'text', text: expect.stringContaining(message) }],
  });
});
