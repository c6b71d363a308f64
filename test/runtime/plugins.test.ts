import { describe, expect, test } from 'vitest';
import type { LlmAgentOptions, Plugin } from '../../src/runtime/index.ts';
import { HookChain } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, callbackTracer, endOf, errorOf, llm, responses, said, text, tool, tracer } from './kit.ts';

describe('order of hooks', () => {
  test('S0-09 the trace of a run is the diagram: at every point plugins before callbacks', async () => {
    const trace: string[] = [];
    const model = new ScriptedModel([
      () => {
        trace.push('MODEL');
        return { calls: [['look', { n: 1 }]] };
      },
      () => {
        trace.push('MODEL');
        return 'done';
      },
    ]);
    const look = tool('look', () => {
      trace.push('TOOL');
      return 'seen';
    });
    const callbacks = callbackTracer('callback', trace);
    const plugins = [tracer('plugin 1', trace), tracer('plugin 2', trace)];
    const { say } = bench(llm('bot', model, { tools: [look], ...callbacks }), { plugins });
    await say('hi');

    const all = ['plugin 1', 'plugin 2', 'callback'];
    const each = (point: string, names = all) => names.map((name) => `${point} ${name}`);
    const plugin = (point: string) => each(point, ['plugin 1', 'plugin 2']);
    expect(trace).toEqual([
      ...plugin('on_user_message'),
      ...plugin('before_run'),
      ...each('before_agent'),
      ...each('before_model'),
      'MODEL',
      ...each('after_model'),
      ...plugin('on_event'), // the call
      ...each('before_tool'),
      ...plugin('on_event'), // the start
      'TOOL',
      ...each('after_tool'),
      ...plugin('on_event'), // the response
      ...each('before_model'),
      'MODEL',
      ...each('after_model'),
      ...plugin('on_event'), // the answer
      ...each('after_agent'),
      ...plugin('on_event'), // the end
      ...plugin('after_run'),
    ]);
  });

  test('S0-09 hooks fire once an activation, children inside their parents, resumes not again', async () => {
    const trace: string[] = [];
    const model = new ScriptedModel({
      byAgent: {
        root: [{ calls: [['transfer_to_agent', { agent_name: 'clerk' }]] }],
        clerk: [{ calls: [['pay']] }, 'paid'],
      },
    });
    const note = (point: string) => (context: { agentName: string }) =>
      void trace.push(`${point} ${context.agentName}`);
    const pay = tool('pay', () => void trace.push('TOOL'), { needsApproval: true });
    const root = llm('root', model, { subAgents: [llm('clerk', undefined, { tools: [pay] })] });
    const { say } = bench(root, {
      plugins: [
        {
          name: 'log',
          beforeAgent: note('before_agent'),
          afterAgent: note('after_agent'),
          beforeTool: (context, { name }) => void trace.push(`before_tool ${context.agentName} ${name}`),
          afterRun: () => void trace.push('after_run'),
        },
      ],
    });
    const asked = await say('pay');
    const requestId = String(asked.at(-1)?.actions.asks?.[0]?.requestId);
    await say({ kind: 'elicitation_response', requestId, response: { action: 'accept' } });
    expect(trace).toEqual([
      'before_agent root',
      'before_tool root transfer_to_agent',
      'after_agent root',
      'before_agent clerk',
      'before_tool clerk pay',
      'after_run',
      'TOOL',
      'after_agent clerk',
      'after_run',
    ]);
  });

  test('S0-41 a plugin has twelve optional hooks; the first that returns something ends the asking', async () => {
    const points = Object.keys(tracer('x', [])).filter((name) => name !== 'name');
    expect(points).toHaveLength(12);

    const trace: string[] = [];
    const one = (name: keyof Plugin, value: unknown): Plugin => ({
      name: `wins ${name}`,
      [name]: () => {
        trace.push(name);
        return value;
      },
    });
    const callbacks = callbackTracer('callback', trace);
    const look = tool('look', () => 'never', { annotations: { readOnly: true } });
    const agent = llm('bot', undefined, { tools: [look], ...(callbacks as Partial<LlmAgentOptions>) });
    let step = 0;
    const { say } = bench(agent, {
      plugins: [
        {
          name: 'model',
          beforeModel: () =>
            step++ === 0
              ? { content: { role: 'model', parts: [{ type: 'function_call', id: '', name: 'look', args: {} }] } }
              : { content: text('from plugin') },
        },
        one('beforeTool', { from: 'plugin' }),
        one('afterModel', undefined),
        one('afterAgent', text('last word')),
      ],
    });
    const events = await say('hi');
    expect(said(events)).toEqual([
      'user: hi',
      'bot: call look({})',
      'bot: look = {"from":"plugin"}',
      'bot: from plugin',
      'bot: last word',
    ]);
    // Neither before_model, before_tool nor after_agent of the agent was asked.
    expect(trace).toEqual([
      'before_agent callback',
      'afterModel',
      'after_model callback',
      'beforeTool',
      'afterModel',
      'after_model callback',
      'afterAgent',
    ]);
  });

  test('S0-41 without hooks nothing is asked; null counts as nothing', async () => {
    const none = new HookChain([{ name: 'empty' }], {});
    expect(none.has('beforeModel')).toBe(false);
    expect(await none.first('beforeAgent', undefined as never)).toBeUndefined();
    const chain = new HookChain([{ name: 'nil', beforeAgent: () => null as never }], { beforeAgent: () => text('x') });
    expect(await chain.first('beforeAgent', {} as never)).toEqual(text('x'));
  });
});

describe('errors', () => {
  test('S0-42 on_model_error recovers from a throw and from an error frame, plugin before callback', async () => {
    const seen: unknown[] = [];
    const model = new ScriptedModel([{ error: new Error('down') }, { errorCode: 'http_503', errorMessage: 'busy' }]);
    const { say } = bench(
      llm('bot', model, { onModelError: () => ({ content: text('from callback') }), outputKey: 'answer' }),
      {
        plugins: [
          {
            name: 'rescue',
            onModelError: (context, request, error) => {
              seen.push([context.agentName, request.model, (error as Error).message ?? error]);
              context.state.set('failures', Number(context.state.get('failures') ?? 0) + 1);
              return seen.length === 1 ? { content: text('from plugin') } : undefined;
            },
          },
        ],
      },
    );
    expect(said(await say('hi'))).toEqual(['user: hi', 'bot: from plugin']);
    const second = await say('again');
    expect(said(second)).toEqual(['user: again', 'bot: from callback']);
    expect(second[1]?.actions.stateDelta).toEqual({ failures: 2, answer: 'from callback' });
    expect(seen).toEqual([
      ['bot', 'scripted', 'down'],
      ['bot', 'scripted', { errorCode: 'http_503', errorMessage: 'busy' }],
    ]);
  });

  test('S0-42 nobody recovers: an error event, the turn fails, what hooks wrote is kept', async () => {
    const model = new ScriptedModel([{ errorCode: 'http_500', errorMessage: 'broken' }, { error: 'text' }]);
    const { say, state, warnings } = bench(llm('bot', model), {
      plugins: [
        {
          name: 'counts',
          beforeModel: (context) => context.state.set('asked', true) as undefined,
          onModelError: () => {
            throw new Error('hook down');
          },
        },
      ],
    });
    const events = await say('hi');
    expect(errorOf(events)).toEqual({ code: 'E_MODEL', message: 'broken' });
    expect(events.find(({ errorCode }) => errorCode)?.error).toMatchObject({
      fatal: true,
      details: { errorCode: 'http_500' },
    });
    expect(endOf(events)).toBe('failed');
    expect(await state()).toEqual({ asked: true });
    expect(errorOf(await say('again'))).toEqual({ code: 'E_MODEL', message: 'model scripted failed: text' });
    expect(warnings).toEqual(['an on_model_error hook failed', 'an on_model_error hook failed']);
  });

  test('S0-43 on_tool_error recovers with a map; after_tool sees it', async () => {
    const after: unknown[] = [];
    const broken = tool('broken', () => {
      throw new Error('no disk');
    });
    const { say, state } = bench(
      llm('bot', new ScriptedModel([{ calls: [['broken', { n: 1 }]] }, 'ok']), { tools: [broken] }),
      {
        plugins: [
          {
            name: 'rescue',
            onToolError: (context, { name }, args, error) => {
              context.state.set('failed', name);
              return { recovered: (error as Error).message, args };
            },
            afterTool: (_, __, ___, result) => void after.push(result.structuredContent),
          },
        ],
      },
    );
    const events = await say('hi');
    const recovered = { recovered: 'no disk', args: { n: 1 } };
    expect([responses(events).broken, after]).toEqual([recovered, [recovered]]);
    expect([await state(), endOf(events)]).toEqual([{ failed: 'broken' }, 'completed']);
  });

  test('S0-43 a failing on_tool_error leaves the error as it is; siblings and turn go on', async () => {
    const broken = tool('broken', () => Promise.reject(new Error('no disk')));
    const fine = tool('fine', () => 'fine');
    const { say, warnings } = bench(
      llm('bot', new ScriptedModel([{ calls: [['broken'], ['fine'], ['missing']] }, 'ok']), {
        tools: [broken, fine],
        onToolError: () => {
          throw new Error('hook down');
        },
      }),
    );
    const events = await say('hi');
    expect(responses(events)).toEqual({
      missing: { error: 'Tool not found: missing. Valid tools: broken, fine' },
      broken: { error: 'no disk' },
      fine: { content: 'fine' },
    });
    expect(endOf(events)).toBe('completed');
    expect(warnings).toEqual(['an on_tool_error hook failed on missing', 'an on_tool_error hook failed on broken']);
  });
});
