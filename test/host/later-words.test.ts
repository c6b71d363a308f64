import { expect, test } from 'vitest';
import type { CallInfo, ReportedRequest } from '../../src/contracts/index.ts';
import { isUnrecorded } from '../../src/host/run/call-starts.ts';
import { allowAll } from '../../src/index.ts';
import { brief, call, hosted, judgeOf } from './judge-kit.ts';
import { bot, hostOf, notingTool, policyOf, say, tool, whole } from './kit.ts';

const of = (more: object) => call(more as Partial<ReportedRequest>);

test('MUT-H59 a yes is held to what later questions about the same call were put with, and to no other', async () => {
  const { judge } = judgeOf(policyOf({ pay: 'ask' }));
  const pay = hosted(tool('pay', () => 1));
  const first = await judge.step(call(), pay, undefined);
  const digest = first.kind === 'ask' ? first.question.approval.previewDigest : '';
  const answers = [{ requestId: 'c#policy', action: 'accept', by: { id: 'bob' }, digest }];
  const stepWith = async (requestId: string) => {
    const questions = [{ requestId: 'c#policy' }, { requestId, approvers: { roles: ['boss'] } }];
    return brief(await judge.step(of({ answers, questions }), pay, undefined));
  };
  expect(await stepWith('c#policy.1')).not.toBe('run');
  for (const other of ['d#policy.1', 'c#rerun.1', 'c#asked.1']) expect(await stepWith(other)).toBe('run');
});

test('MUT-H60 a call needs no start in the log where it may run twice, or its agent is found again', () => {
  const readOnly = hosted(tool('look', () => 1, { annotations: { readOnly: true } }));
  const pay = hosted(tool('pay', () => 1));
  expect([isUnrecorded(of({}), readOnly, undefined), isUnrecorded(of({}), pay, undefined)]).toEqual([true, false]);
  expect(isUnrecorded(of({}), undefined, undefined)).toBe(false);
  expect(isUnrecorded(of({ handledBy: 'agent' }), readOnly, undefined)).toBe(false);
  expect(isUnrecorded(of({ decision: { tails: true } }), readOnly, undefined)).toBe(false);
  expect([true, false].map((isResumable) => isUnrecorded(of({}), readOnly, { isResumable }))).toEqual([true, false]);
  expect(isUnrecorded(of({}), pay, { isResumable: true })).toBe(true);
});

test('MUT-H61 a tool that another one’s result calls is said which call it is, before it runs', async () => {
  const seen: [unknown, CallInfo | undefined][] = [];
  const log = notingTool('log', {
    needsApproval: (args: unknown, info: CallInfo) => {
      seen.push([args, info]);
      return false;
    },
  });
  const main = tool('main', () => ({ content: [], tailCalls: [{ name: 'log', args: { n: 1 } }] }), {
    makesTailCalls: true,
  });
  const { host } = hostOf(bot([{ calls: [['main', {}]] }, 'done']), { tools: [main, log.tool], policy: allowAll() });
  const session = await host.open('bot', { sessionId: 's', create: true, userId: 'ann' });
  await say(session, 'go');
  expect(log.runs).toEqual([{ n: 1 }]);
  expect(seen).toHaveLength(1);
  const [args, info] = seen[0] ?? [];
  expect([args, info?.sessionId, info?.userId, info?.principal.id]).toEqual([{ n: 1 }, 's', 'ann', 'ann']);
  expect(info?.callId).toMatch(/!0$/);
});

test.each<[string, object]>([
  ['principal', { principal: { id: 1 } }],
  ['approvers', { approvers: { role: 'boss' } }],
  ['admission', { admission: { turns: 'many' } }],
  ['admission', { admission: { turn: 1 } }],
  ['hooks', { hooks: {} }],
  ['limits', { limits: { step: 1 } }],
  ['answerLimits', { answerLimits: { call: 1 } }],
])('MUT-H62 a host whose %s are not what they are meant to be is not made: %j', (name, options) => {
  const make = () => hostOf(bot(['hi']), options as Parameters<typeof hostOf>[1]);
  expect(make).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT', message: expect.stringContaining(name) }));
});

test('MUT-H63 a session that is opened by somebody who is none is not open', async () => {
  const { host } = hostOf(bot(['hi']), { permissionMode: 'default' });
  await expect(host.open('bot', { principal: { id: '' } })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
  const session = whole(await host.open('bot', { principal: { id: 'ann', roles: ['boss'] } }));
  expect(session.frame.principal).toEqual({ id: 'ann', roles: ['boss'] });
  await host.close();
});
