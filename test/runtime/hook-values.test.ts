import { describe, expect, test } from 'vitest';
import type { HookPoint, LifecycleInterceptor } from '../../src/contracts/index.ts';
import type { Plugin } from '../../src/runtime/index.ts';
import { hooksPlugin } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, said, text, tool } from './kit.ts';

function interceptor(point: HookPoint, word: unknown): LifecycleInterceptor {
  return { fire: async () => word as never, supportedHookPoints: () => [point] };
}

function setting(plugin: Plugin, fails = false) {
  const runs: unknown[] = [];
  const model = new ScriptedModel([{ calls: [['look']] }, fails ? { error: new Error('down') } : 'model says']);
  const look = tool('look', () => void runs.push(1), { annotations: { readOnly: true } });
  return { model, runs, ...bench(llm('bot', model, { tools: [look] }), { plugins: [plugin] }) };
}

const words = text('from the hook');
const forms: [string, unknown][] = [
  ['text', 'from the hook'],
  ['content', words],
];

describe('S3-60 what an interceptor gives instead, as text or content', () => {
  test.each(
    (['before_run', 'before_agent', 'before_model'] as const).flatMap((point) =>
      [...forms, ...(point === 'before_model' ? [['a response', { content: words }] as [string, unknown]] : [])].map(
        ([form, value]) => [point, form, value] as const,
      ),
    ),
  )('%s: %s', async (point, _, value) => {
    const { say, model } = setting(
      hooksPlugin(interceptor(point, { action: 'block', modifications: { result: value } })),
    );
    expect(said(await say('hi'))).toEqual(['user: hi', 'bot: from the hook']);
    expect(model.requests).toEqual([]);
  });

  test.each(
    (['on_user_message', 'after_model', 'on_model_error', 'after_agent'] as const).flatMap((point) =>
      forms.map(([form, value]) => [point, form, value] as const),
    ),
  )('%s: %s', async (point, _, value) => {
    const { say } = setting(
      hooksPlugin(interceptor(point, { action: 'proceed', modifications: { replacement: value } })),
      point === 'on_model_error',
    );
    const events = await say('hi');
    expect(endOf(events)).toBe('completed');
    expect(said(events).some((line) => /^(?:user|bot): from the hook$/.test(line))).toBe(true);
  });
});

describe('S3-60 a word that is not known is no yes', () => {
  const odd: unknown[] = [{ action: 'deny' }, { block: true }, 'no', false, { action: 'block', modifications: 'x' }];

  test.each(
    (['on_user_message', 'before_run', 'before_agent', 'before_model'] as const).flatMap((point) =>
      odd.map((word) => [point, word] as const),
    ),
  )('%s: %j', async (point, word) => {
    const { say, runs, model } = setting(hooksPlugin(interceptor(point, word)));
    const code =
      point === 'on_user_message' ? say('hi').then(undefined, (error) => error.code) : say('hi').then(errorOf);
    expect(await code).toEqual(
      point === 'on_user_message' ? 'E_HOOK_FAILED' : expect.objectContaining({ code: 'E_HOOK_FAILED' }),
    );
    expect([runs, model.requests]).toEqual([[], []]);
  });

  test('before_tool: the call does not run, the turn goes on', async () => {
    for (const word of odd) {
      const { say, runs } = setting(hooksPlugin(interceptor('before_tool', word)));
      expect([endOf(await say('hi')), runs]).toEqual(['completed', []]);
    }
  });
});

test('S0-03 what a hook makes of a message is checked like a message: it answers no calls', async () => {
  const parts = [{ type: 'function_response' as const, id: 'x', name: 'look', response: {} }];
  const { say, model } = setting({ name: 'odd', onUserMessage: () => ({ role: 'user', parts }) });
  await expect(say('hi')).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
  expect(model.requests).toEqual([]);
});

describe('S0-41 what a plugin gives that is of no use', () => {
  test.each(['beforeRun', 'beforeAgent', 'beforeModel'] as const)('%s fails closed', async (point) => {
    const { say, runs } = setting({ name: 'odd', [point]: () => ({ words: 'none' }) });
    const events = await say('hi');
    expect([errorOf(events)?.code, runs]).toEqual(['E_HOOK_FAILED', []]);
  });

  test.each(['afterModel', 'afterAgent'] as const)('%s changes nothing and is told of', async (point) => {
    const { say, warnings } = setting({ name: 'odd', [point]: () => ({ words: 'none' }) });
    const events = await say('hi');
    expect(said(events).at(-1)).toBe('bot: model says');
    expect([endOf(events), new Set(warnings).size]).toEqual(['completed', 1]);
  });
});
