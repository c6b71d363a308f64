import { describe, expect, test } from 'vitest';
import type { LlmAgentOptions, ModelRequest, ModelResponse } from '../../src/runtime/index.ts';
import { ParallelAgent, SequentialAgent } from '../../src/runtime/index.ts';
import type { ScriptedStep } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import type { Bench } from './kit.ts';
import { bench, brief, endOf, errorOf, llm, responses, said, text, tool } from './kit.ts';

const look = (ran: unknown[] = []) =>
  tool('look', (args) => {
    ran.push(args);
    return { seen: args };
  });

function agentWith(options: Partial<LlmAgentOptions>, script: ConstructorParameters<typeof ScriptedModel>[0] = []) {
  const model = new ScriptedModel(script);
  return { model, ...bench(llm('bot', model, options)) };
}

describe('agent callbacks', () => {
  test('S0-33 before_agent content skips the agent: its words, the output key, no model, no after_agent', async () => {
    const trace: string[] = [];
    const { model, say, state } = agentWith({
      beforeAgent: () => text('cached'),
      beforeModel: () => void trace.push('before_model'),
      afterAgent: () => void trace.push('after_agent'),
      outputKey: 'answer',
    });
    const events = await say('hi');
    expect(said(events)).toEqual(['user: hi', 'bot: cached']);
    expect([trace, model.requests, await state()]).toEqual([[], [], { answer: 'cached' }]);
    expect(endOf(events)).toBe('completed');
  });

  test('S0-33 composites have it too: none of the children runs', async () => {
    for (const Composite of [SequentialAgent, ParallelAgent]) {
      const model = new ScriptedModel();
      const agent = new Composite({ name: 'all', subAgents: [llm('a', model)], beforeAgent: () => text('skipped') });
      expect(said(await bench(agent).say('hi'))).toEqual(['user: hi', 'all: skipped']);
      expect(model.requests).toEqual([]);
    }
  });

  test('S0-33 a before_agent hook that fails lets nothing run', async () => {
    const { model, say } = agentWith({ beforeAgent: () => Promise.reject(new Error('no')) });
    const events = await say('hi');
    expect(errorOf(events)).toEqual({ code: 'E_HOOK_FAILED', message: 'a before_agent hook failed: no' });
    expect([endOf(events), model.requests]).toEqual(['failed', []]);
  });

  test('S0-34 after_agent content becomes one more event: the output', async () => {
    const { say, state } = agentWith({ afterAgent: () => text('polished'), outputKey: 'answer' }, ['raw', 'raw again']);
    expect(said(await say('hi'))).toEqual(['user: hi', 'bot: raw', 'bot: polished']);
    expect(await state()).toEqual({ answer: 'polished' });
  });

  test('S0-34 composites replace what their children came to; a failing after_agent is logged only', async () => {
    const model = new ScriptedModel({ byAgent: { a: ['one'], b: ['two'] } });
    const agent = new SequentialAgent({
      name: 'all',
      subAgents: [llm('a', model, { afterAgent: () => Promise.reject(new Error('x')) }), llm('b', model)],
      afterAgent: (context) => text(`done by ${context.agentPath.join('/')}`),
    });
    const { say, warnings } = bench(agent);
    expect(said(await say('hi'))).toEqual(['user: hi', 'a: one', 'b: two', 'all: done by all']);
    expect(warnings).toEqual(['an after_agent hook of a failed']);
  });
});

describe('model callbacks', () => {
  test('S0-35 a before_model response skips the model; the request it sees is whole', async () => {
    const requests: ModelRequest[] = [];
    const { model, say } = agentWith({
      instruction: 'Be kind.',
      generateContentConfig: { temperature: 0.5 },
      tools: [look()],
      beforeModel: (_, request) => {
        requests.push(request);
        return { content: text('cached') };
      },
    });
    const events = await say('hi');
    expect(said(events)).toEqual(['user: hi', 'bot: cached']);
    expect(model.requests).toHaveLength(0);
    expect(requests[0]).toMatchObject({
      model: 'scripted',
      agent: 'bot',
      systemInstruction: 'Be kind.',
      config: { temperature: 0.5 },
    });
    expect([...(requests[0]?.tools.keys() ?? [])]).toEqual(['look']);
    expect(brief(requests[0]?.contents)).toEqual(['user: hi']);
    // Nobody was asked: the answer names no model and counts as no model call.
    expect(events[1]?.model).toBeUndefined();
  });

  test('S0-35 a before_model hook may answer where there is no model; one that fails lets nothing pass', async () => {
    const { say } = bench(llm('bot', undefined, { beforeModel: () => ({ content: text('no model needed') }) }));
    expect(said(await say('hi'))).toEqual(['user: hi', 'bot: no model needed']);
    const failing = agentWith({ beforeModel: () => Promise.reject(new Error('no')) });
    expect(errorOf(await failing.say('hi'))?.message).toBe('a before_model hook failed: no');
    expect(failing.model.requests).toEqual([]);
  });

  test('S0-36 an after_model response replaces the model’s, calls included', async () => {
    const ran: unknown[] = [];
    const seen: ModelResponse[] = [];
    let replace = true;
    const { say, log } = agentWith(
      {
        tools: [look(ran)],
        outputKey: 'answer',
        afterModel: (_, response) => {
          seen.push(response);
          return replace ? { content: text('replaced') } : undefined;
        },
      },
      [{ text: 'let me look', calls: [['look']] }, 'kept'],
    );
    const first = await say('hi');
    expect(said(first)).toEqual(['user: hi', 'bot: replaced']);
    expect(first[1]?.actions.stateDelta).toEqual({ answer: 'replaced' });
    expect(ran).toEqual([]);
    replace = false;
    await say('again');
    expect(said(await log()).at(-1)).toBe('bot: kept');
    expect(seen.map(({ content }) => content?.parts.length)).toEqual([2, 1]);
    expect(seen.some(({ partial }) => partial)).toBe(false);
  });

  test('S0-36 a failing after_model hook is logged, the answer stands', async () => {
    const { say, warnings } = agentWith({ afterModel: () => Promise.reject(new Error('x')) }, ['ok']);
    expect(said(await say('hi'))).toEqual(['user: hi', 'bot: ok']);
    expect(warnings).toEqual(['an after_model hook failed']);
  });
});

describe('tool callbacks', () => {
  const script = [{ calls: [['look', { n: 1 }] as const] }, 'ok'];

  test('S0-37 R5 a bare map of before_tool is the result: the tool does not run', async () => {
    const ran: unknown[] = [];
    const seen: unknown[] = [];
    const { say } = agentWith(
      {
        tools: [look(ran)],
        beforeTool: (context, descriptor, args) => {
          seen.push([context.callId.length > 0, descriptor.name, args]);
          return { cached: true };
        },
      },
      script,
    );
    const events = await say('hi');
    expect(responses(events)).toEqual({ look: { cached: true } });
    expect([ran, seen]).toEqual([[], [[true, 'look', { n: 1 }]]]);
    expect(events.flatMap(({ actions }) => actions.started ?? [])).toEqual([]);
  });

  test('R5 new arguments come through modifications.args only, and are checked again', async () => {
    const ran: unknown[] = [];
    const strict = tool('look', (args) => ran.push(args), {
      inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    });
    const answers = [{ n: 2 }, { n: 'many' }];
    const { say } = agentWith(
      {
        tools: [strict],
        beforeTool: () => ({ action: 'proceed', modifications: { args: answers.shift() } }),
      },
      [...script, ...script],
    );
    await say('hi');
    expect(ran).toEqual([{ n: 2 }]);
    const second = await say('again');
    expect(ran).toHaveLength(1);
    expect(responses(second).look?.error).toMatch(/a hook's arguments do not fit: n: expected integer, got "many"/);
  });

  test('S0-37 a failing or blocking before_tool hook denies that call alone', async () => {
    const ran: unknown[] = [];
    const { say } = agentWith(
      {
        tools: [look(ran)],
        beforeTool: [
          (_, __, { n }) => (n === 1 ? Promise.reject(new Error('broken')) : undefined),
          (_, __, { n }) => (n === 2 ? { action: 'block', reason: 'not today' } : undefined),
        ],
      },
      [{ calls: [1, 2, 3].map((n) => ['look', { n }] as const) }, 'ok'],
    );
    const parts = (await say('hi')).flatMap(({ content }) => content?.parts ?? []);
    const results = parts.flatMap((part) => (part.type === 'function_response' ? [part.response] : []));
    expect(results).toEqual([
      { error: 'denied: a before_tool hook failed: broken' },
      { error: 'denied: not today' },
      { seen: { n: 3 } },
    ]);
    expect(ran).toEqual([{ n: 3 }]);
  });

  test('S0-38 an after_tool map replaces the result', async () => {
    const seen: unknown[] = [];
    const { model, say } = agentWith(
      {
        tools: [look()],
        afterTool: (_, descriptor, args, result) => {
          seen.push([descriptor.name, args, result.structuredContent]);
          return { masked: true };
        },
      },
      script,
    );
    expect(responses(await say('hi'))).toEqual({ look: { masked: true } });
    expect(seen).toEqual([['look', { n: 1 }, { seen: { n: 1 } }]]);
    expect(brief(model.requests[1]?.contents).at(-1)).toBe('user: look = {"masked":true}');
  });

  test('S0-38 a failing after_tool hook is logged, the result stands', async () => {
    const { say, warnings } = agentWith({ tools: [look()], afterTool: () => Promise.reject(new Error('x')) }, script);
    expect(responses(await say('hi'))).toEqual({ look: { seen: { n: 1 } } });
    expect(warnings).toEqual(['an after_tool hook failed on look']);
  });
});

describe('chains', () => {
  test('S0-39 several of a kind: in order, the first that returns something wins, later ones are not called', async () => {
    const trace: string[] = [];
    const three = <T>(point: string, value: T) => [
      () => void trace.push(`${point} 1`),
      () => {
        trace.push(`${point} 2`);
        return value;
      },
      () => {
        trace.push(`${point} 3`);
        return value;
      },
    ];
    const broken = tool('broken', () => Promise.reject(new Error('x')));
    const runs: [Partial<LlmAgentOptions>, ScriptedStep[], string[]][] = [
      [{ beforeAgent: three('before_agent', text('x')) }, [], ['before_agent']],
      [{ beforeModel: three('before_model', { content: text('x') }) }, [], ['before_model']],
      [
        {
          beforeTool: three('before_tool', { a: 1 }),
          afterModel: three<ModelResponse | undefined>('after_model', undefined),
          afterAgent: three('after_agent', text('x')),
        },
        [{ calls: [['look']] }, { text: 'done' }],
        ['after_model', 'before_tool', 'after_model', 'after_agent'],
      ],
      [
        {
          onToolError: three('on_tool_error', { b: 1 }),
          afterTool: three('after_tool', { c: 1 }),
          onModelError: three('on_model_error', { content: text('x') }),
        },
        [{ calls: [['broken']] }, { error: new Error('down') }],
        ['on_tool_error', 'after_tool', 'on_model_error'],
      ],
    ];
    for (const [callbacks, script, points] of runs) {
      await agentWith({ tools: [look(), broken], ...callbacks }, script).say('hi');
      const asked = (point: string) => (point === 'after_model' ? [1, 2, 3] : [1, 2]).map((n) => `${point} ${n}`);
      expect(trace.splice(0)).toEqual(points.flatMap(asked));
    }
  });

  test('S0-40 state that a hook writes is kept, whatever it returns', async () => {
    const write = (name: string) => (context: { state: { set(key: string, value: unknown): void } }) =>
      context.state.set(name, true) as undefined;
    const { say, state } = agentWith(
      {
        tools: [look(), tool('broken', () => Promise.reject(new Error('x')))],
        beforeAgent: write('before_agent'),
        afterAgent: write('after_agent'),
        beforeModel: write('before_model'),
        afterModel: write('after_model'),
        beforeTool: write('before_tool'),
        afterTool: write('after_tool'),
        onToolError: write('on_tool_error'),
      },
      [{ calls: [['look'], ['broken'], ['missing']] }, 'ok'],
    );
    const events = await say('hi');
    const names = ['before_agent', 'before_model', 'after_model', 'before_tool', 'after_tool', 'on_tool_error'];
    expect(await state()).toEqual(Object.fromEntries([...names, 'after_agent'].map((name) => [name, true])));
    // The model's hooks write with the model's event.
    const spoken = events.find(({ content }) => content?.role === 'model');
    expect(spoken?.actions.stateDelta).toEqual({ before_model: true, after_model: true });
  });

  test('S0-40 what an earlier hook wrote is seen by the later ones and committed once', async () => {
    const seen: unknown[] = [];
    const { say } = agentWith(
      {
        beforeAgent: [
          (context) => context.state.set('n', 1) as undefined,
          (context) => context.state.set('n', Number(context.state.get('n')) + 1) as undefined,
          (context) => {
            seen.push(context.state.get('n'));
            return text('x');
          },
        ],
      },
      [],
    );
    const events = await say('hi');
    expect([seen, events[1]?.actions.stateDelta]).toEqual([[2], { n: 2 }]);
  });
});

test('hooks of all points can be plain arrays on any agent', async () => {
  const build = (): Bench =>
    bench(
      new SequentialAgent({
        name: 'all',
        subAgents: [llm('a', new ScriptedModel(['x']))],
        beforeAgent: [() => undefined, (context) => context.state.set('k', context.agentName) as undefined],
      }),
    );
  const { say, state } = build();
  await say('hi');
  expect(await state()).toEqual({ k: 'all' });
});
