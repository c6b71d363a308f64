import { describe, expect, test } from 'vitest';
import type { ExecutionOptions, HookResult, SessionInput, TurnTerms } from '../../src/contracts/index.ts';
import type { HostedSession } from '../../src/host/hosted/hosted-session.ts';
import { passUserMessages } from '../../src/host/run/user-message.ts';
import { beginTurn, goOnWithTurn, onBehalfOf } from '../../src/host/terms/turn-terms.ts';

const ann = { id: 'ann', roles: ['staff'] };

describe('what a turn is begun with', () => {
  const tool = { name: 'f', description: 'd', inputSchema: { type: 'object' } };
  const begun = (options: ExecutionOptions, mode?: 'plan' | 'default') => beginTurn(options, ann, mode).news;

  test('is written down as far as it says something', () => {
    expect(begun({})).toStrictEqual({ principal: ann });
    expect(begun({ excludeTools: [], limits: {} })).toStrictEqual({ principal: ann });
    const options: ExecutionOptions = {
      ...{ model: 'm', permissionMode: 'plan', excludeTools: ['x'], limits: { steps: 3 } },
      ...{ tools: [tool] as never, streaming: false, principal: { id: 'eve' } },
    };
    expect(begun(options)).toEqual({
      ...{
        principal: ann,
        model: 'm',
        permissionMode: 'plan',
        excludeTools: ['x'],
        limits: { steps: 3 },
        tools: [tool],
      },
    });
    const { options: held } = beginTurn(options, ann, undefined);
    expect(held).toEqual({
      model: 'm',
      permissionMode: 'plan',
      excludeTools: ['x'],
      limits: { steps: 3 },
      tools: [tool],
      streaming: false,
    });
    expect(beginTurn({}, { ...ann, onBehalfOf: 'bob' }, undefined).news?.principal).toEqual({
      ...ann,
      onBehalfOf: 'bob',
    });
  });

  test('has the mode of a host that is stricter than most', () => {
    expect([begun({}, 'plan')?.permissionMode, begun({}, 'default')?.permissionMode]).toEqual(['plan', undefined]);
    expect(begun({ permissionMode: 'autonomous' }, 'plan')?.permissionMode).toBe('autonomous');
  });

  const known: TurnTerms = {
    principal: ann,
    model: 'm',
    limits: { steps: 5 },
    excludeTools: ['x'],
    permissionMode: 'default',
  };
  const goOn = (options: ExecutionOptions, more: { terms?: TurnTerms; isOver?: boolean } = { terms: known }) =>
    goOnWithTurn({ isOver: false, ...more } as never, options, { id: 'bob' }, undefined);

  test('holds whoever goes on with it, who may tighten it', () => {
    expect(goOn({}).news).toBeUndefined();
    expect(goOn({}).options).toEqual({
      model: 'm',
      limits: { steps: 5 },
      excludeTools: ['x'],
      permissionMode: 'default',
    });
    expect(goOn({ limits: { steps: 9, usd: 1 } }).news).toEqual({ ...known, limits: { steps: 5, usd: 1 } });
    expect(goOn({ excludeTools: ['y', 'x'] }).news).toEqual({ ...known, excludeTools: ['x', 'y'] });
    expect(goOn({ permissionMode: 'plan' }).news).toEqual({ ...known, permissionMode: 'plan' });
    expect(goOn({ permissionMode: 'autonomous' }).news).toBeUndefined();
    expect(goOn({ model: 'n' }).news).toEqual({ ...known, model: 'n' });
    expect(goOn({}, {}).news).toEqual({ principal: { id: 'bob' } });
  });

  test('is opened again with the limits that are named', () => {
    expect(goOn({ limits: { steps: 9 } }, { terms: known, isOver: true }).news).toEqual({
      ...known,
      limits: { steps: 9 },
    });
  });

  test('on behalf of two that differ in their roles, what is allowed to both is allowed', async () => {
    const policy = {
      evaluate: ({ principal }: { principal?: { roles?: string[] } }) =>
        ({ outcome: principal?.roles?.includes('staff') ? 'allow' : 'deny' }) as const,
    };
    const of = async (now: { id: string; roles?: string[] } | undefined) => {
      const { principal, policy: made } = onBehalfOf(ann, now, policy as never);
      return [principal, (await made.evaluate({ action: 'f', args: {}, principal } as never)).outcome];
    };
    expect(await of(undefined)).toEqual([ann, 'allow']);
    expect(await of({ id: 'ann2', roles: ['staff'] })).toEqual([{ id: 'ann2', roles: ['staff'] }, 'allow']);
    expect(await of({ id: 'ann', roles: ['guest'] })).toEqual([ann, 'deny']);
    expect(await of({ id: 'ann', roles: ['staff', 'more'] })).toEqual([ann, 'allow']);
  });
});

describe('the on_user_message hook', () => {
  const given: unknown[] = [];
  const passed = (said: unknown, inputs: SessionInput[], points = ['on_user_message']) => {
    given.length = 0;
    const hooks = {
      supportedHookPoints: () => points,
      fire: (point: string, payload: unknown) => {
        given.push([point, payload]);
        return said as HookResult;
      },
    };
    const session = {
      id: 's',
      descriptor: { name: 'bot' },
      frame: { options: { hooks }, userId: 'u' },
    } as unknown as HostedSession;
    return passUserMessages(session, inputs, ann, undefined);
  };
  const replaced = (replacement: unknown) => ({ action: 'proceed', modifications: { replacement } });
  const hi: SessionInput = { kind: 'message', content: 'hi' };
  const parts = [{ type: 'text' as const, text: 'parts' }];

  test('is told who said what in which session, of messages alone', async () => {
    const inputs: SessionInput[] = [hi, { kind: 'continue' }, { kind: 'message', content: parts }];
    expect(await passed(undefined, inputs)).toEqual(inputs);
    const context = { sessionId: 's', userId: 'u', principal: ann, agentPath: ['bot'] };
    expect(given).toEqual([
      ['on_user_message', { userMessage: { role: 'user', parts: [{ type: 'text', text: 'hi' }] }, context }],
      ['on_user_message', { userMessage: { role: 'user', parts }, context }],
    ]);
    expect([await passed(undefined, [hi], []), given]).toEqual([[hi], []]);
  });

  test.each<[string, unknown, unknown]>([
    ['nothing', replaced(undefined), 'hi'],
    ['null', replaced(null), 'hi'],
    ['text', replaced('bye'), 'bye'],
    ['no text', replaced(''), ''],
    ['content with parts', replaced({ role: 'user', parts }), parts],
  ])('may replace it: %s', async (_, said, content) => {
    expect(await passed(said, [hi])).toEqual([{ kind: 'message', content }]);
  });

  test.each<[string, unknown, string]>([
    ['a number', replaced(5), 'neither text nor content with parts'],
    ['content without parts', replaced({ role: 'user' }), 'neither text nor content with parts'],
    ['another word', { action: 'allow' }, 'neither proceed nor block'],
    ['a no', { action: 'block', reason: 'closed' }, 'closed'],
    ['a no without a reason', { action: 'block' }, 'a hook refused the message'],
  ])('refuses it with %s', async (_, said, message) => {
    await expect(passed(said, [hi])).rejects.toThrow(message);
  });
});
