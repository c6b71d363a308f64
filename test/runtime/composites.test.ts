import { describe, expect, test } from 'vitest';
import { CustomAgent, LoopAgent, ParallelAgent, SequentialAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, brief, endOf, errorOf, gate, llm, ownTool, responses, said, tool } from './kit.ts';

const leave = ownTool('leave', (_, context) => {
  context.escalate();
  return 'left';
});

describe('S0-49 loops', () => {
  test('run their children over and over, up to maxIterations', async () => {
    const model = new ScriptedModel(Array.from({ length: 6 }, (_, n) => `t${n}`));
    const loop = new LoopAgent({ name: 'loop', maxIterations: 3, subAgents: [llm('a', model), llm('b', model)] });
    const events = await bench(loop).say('hi');
    expect(said(events).slice(1)).toEqual(['a: t0', 'b: t1', 'a: t2', 'b: t3', 'a: t4', 'b: t5']);
    expect(endOf(events)).toBe('completed');
  });

  test('end when a child escalates, at once: its siblings do not run, what follows the loop does', async () => {
    const model = new ScriptedModel({
      byAgent: { a: ['one', { calls: [['leave']] }], b: ['two'], after: ['done'] },
      strict: true,
    });
    const agent = new SequentialAgent({
      name: 'all',
      subAgents: [
        new LoopAgent({
          name: 'loop',
          maxIterations: 0,
          subAgents: [llm('a', model, { tools: [leave] }), llm('b', model)],
        }),
        llm('after', model),
      ],
    });
    const events = await bench(agent).say('hi');
    expect(said(events).slice(1)).toEqual([
      'a: one',
      'b: two',
      'a: call leave({})',
      'a: leave = {"content":"left"}',
      'after: done',
    ]);
    expect(endOf(events)).toBe('completed');
    expect(() => model.assertUsedUp()).not.toThrow();
  });

  test('0 is no cap', async () => {
    let n = 0;
    const count = new CustomAgent({ name: 'count', run: (context) => (++n === 40 ? context.escalate() : undefined) });
    const loop = new LoopAgent({ name: 'loop', maxIterations: 0, subAgents: [count] });
    expect(endOf(await bench(loop).say('hi'))).toBe('completed');
    expect(n).toBe(40);
  });

  test('end when a child hands over', async () => {
    const model = new ScriptedModel({
      byAgent: { a: [{ calls: [['transfer_to_agent', { agent_name: 'help' }]] }], help: ['helping'] },
      strict: true,
    });
    const handing = ownTool('transfer_to_agent', ({ agent_name }, context) => context.transferTo(String(agent_name)));
    const loop = new LoopAgent({ name: 'loop', maxIterations: 5, subAgents: [llm('a', model, { tools: [handing] })] });
    const root = llm('root', model, {
      subAgents: [loop, llm('help', undefined)],
      beforeModel: () => ({
        content: {
          role: 'model',
          parts: [{ type: 'function_call', id: '', name: 'transfer_to_agent', args: { agent_name: 'loop' } }],
        },
      }),
    });
    const events = await bench(root).say('hi');
    expect(said(events).at(-1)).toBe('help: helping');
    expect(model.requests.map(({ agent }) => agent)).toEqual(['a', 'help']);
  });

  test('a loop that can never end is refused', () => {
    for (const options of [
      { maxIterations: -1, subAgents: [llm('a', undefined)] },
      { maxIterations: 1.5, subAgents: [llm('a', undefined)] },
      { maxIterations: Number.POSITIVE_INFINITY, subAgents: [llm('a', undefined)] },
      { maxIterations: 0, subAgents: [] },
    ]) {
      const why = options.subAgents.length === 0 ? 'no children' : `a maxIterations of ${options.maxIterations}`;
      expect(() => new LoopAgent({ name: 'loop', ...options })).toThrow(
        expect.objectContaining({ code: 'E_LOOP_UNBOUNDED', message: expect.stringContaining(why) }),
      );
    }
  });

  test('F31 a nested loop’s escalate ends that loop only', async () => {
    const model = new ScriptedModel({
      byAgent: { a: [{ calls: [['leave']] }, { calls: [['leave']] }], c: ['c1', 'c2'] },
      strict: true,
    });
    const inner = new LoopAgent({ name: 'inner', subAgents: [llm('a', model, { tools: [leave] })] });
    const outer = new LoopAgent({ name: 'outer', maxIterations: 2, subAgents: [inner, llm('c', model)] });
    const events = await bench(outer).say('hi');
    expect(said(events).filter((line) => line.startsWith('c'))).toEqual(['c: c1', 'c: c2']);
  });
});

describe('S0-50 sequences', () => {
  test('one after the other; each sees the words and the state of those before', async () => {
    const model = new ScriptedModel({ byAgent: { a: [{ calls: [['set']] }, 'a'], b: ['b'] } });
    const set = ownTool('set', (_, { state }) => state.set('k', 'from a'));
    const agent = new SequentialAgent({
      name: 'all',
      subAgents: [llm('a', model, { tools: [set] }), llm('b', model, { instruction: '{k}' })],
    });
    const events = await bench(agent).say('hi');
    expect(said(events).at(-1)).toBe('b: b');
    expect(model.requests.at(-1)?.systemInstruction).toBe('from a');
    expect(brief(model.requests.at(-1)?.contents)).toContain('user: [a] a');
  });

  test('escalate stops later siblings, and goes on up to the nearest loop', async () => {
    const model = new ScriptedModel({ byAgent: { a: [{ calls: [['leave']] }] }, strict: true });
    const sequence = new SequentialAgent({
      name: 'seq',
      subAgents: [llm('a', model, { tools: [leave] }), llm('b', model)],
    });
    const loop = new LoopAgent({ name: 'loop', maxIterations: 5, subAgents: [sequence, llm('c', model)] });
    expect(endOf(await bench(loop).say('hi'))).toBe('completed');
    expect(model.requests.map(({ agent }) => agent)).toEqual(['a']);
  });

  test('a failing child ends it', async () => {
    const model = new ScriptedModel({ byAgent: { a: [{ error: new Error('down') }] }, strict: true });
    const events = await bench(new SequentialAgent({ name: 'seq', subAgents: [llm('a', model), llm('b', model)] })).say(
      'hi',
    );
    expect([errorOf(events)?.code, endOf(events), model.requests.length]).toEqual(['E_MODEL', 'failed', 1]);
  });
});

describe('S0-51 in parallel', () => {
  test('children overlap, each on its branch; peers are invisible, all events are shown', async () => {
    const both = gate();
    let asked = 0;
    const meet = async () => {
      if (++asked === 2) both.open();
      await both.opened;
      return { deltas: ['x', 'y'] };
    };
    const model = new ScriptedModel({ byAgent: { a: [meet, 'a2'], b: [meet, 'b2'] } });
    const par = new ParallelAgent({ name: 'par', subAgents: [llm('a', model), llm('b', model)] });
    const loop = new LoopAgent({ name: 'loop', maxIterations: 2, subAgents: [par] });
    const { frames } = bench(loop);
    const events = await frames('hi');
    for (const name of ['a', 'b']) {
      const own = events.filter(({ author }) => author === name);
      expect(own.filter(({ partial }) => !partial && said(own).length > 0).map(({ branch }) => branch)).toEqual([
        `par.${name}`,
        `par.${name}`,
      ]);
      expect(own.filter(({ partial }) => partial).length).toBeGreaterThanOrEqual(2);
      const requests = model.requests.filter(({ agent }) => agent === name).map(({ contents }) => brief(contents));
      expect(requests).toEqual([['user: hi'], ['user: hi', 'model: xy']]);
    }
  });

  test('tools of branches run side by side too; results of all are there for what follows', async () => {
    const both = gate();
    let running = 0;
    const meet = tool('meet', async () => {
      if (++running === 2) both.open();
      await both.opened;
      return running;
    });
    const model = new ScriptedModel({
      byAgent: { a: [{ calls: [['meet']] }, 'a'], b: [{ calls: [['meet']] }, 'b'], sum: ['ok'] },
    });
    const agent = new SequentialAgent({
      name: 'all',
      subAgents: [
        new ParallelAgent({
          name: 'par',
          subAgents: [
            llm('a', model, { tools: [meet], outputKey: 'a' }),
            llm('b', model, { tools: [meet], outputKey: 'b' }),
          ],
        }),
        llm('sum', model, { instruction: '{a}+{b}' }),
      ],
    });
    expect(endOf(await bench(agent).say('hi'))).toBe('completed');
    expect(model.requests.at(-1)?.systemInstruction).toBe('a+b');
  });

  test('escalate of one is the whole’s, after all have ended', async () => {
    const model = new ScriptedModel({
      byAgent: { a: [{ calls: [['leave']] }], b: [{ calls: [['look']] }, 'b'] },
      strict: true,
    });
    const par = new ParallelAgent({
      name: 'par',
      subAgents: [llm('a', model, { tools: [leave] }), llm('b', model, { tools: [tool('look', () => 1)] })],
    });
    const loop = new LoopAgent({ name: 'loop', maxIterations: 3, subAgents: [par] });
    const events = await bench(loop).say('hi');
    expect(said(events)).toContain('b: b');
    expect(() => model.assertUsedUp()).not.toThrow();
  });

  const stuck = (signals: AbortSignal[], started: () => void) =>
    tool('wait', (_, context) => {
      signals.push(context.signal);
      started();
      return new Promise(() => {});
    });

  test.each(['an error of the model', 'an agent that throws', 'a missing instruction key'])(
    'a branch that fails by %s stops the others and fails the turn; open calls are settled',
    async (how) => {
      const signals: AbortSignal[] = [];
      const running = gate();
      const script = async () => {
        await running.opened;
        return how === 'an error of the model' ? { error: new Error('down') } : { calls: [['go'] as const] };
      };
      const model = new ScriptedModel({ byAgent: { bad: [script], good: [{ calls: [['wait']] }] }, strict: true });
      const bad =
        how === 'an agent that throws'
          ? new CustomAgent({
              name: 'bad',
              run: async () => {
                await running.opened;
                throw new Error('broken');
              },
            })
          : llm('bad', model, {
              instruction: async ({ state }) => {
                if (how !== 'a missing instruction key' || !state.has('went')) return '';
                throw new Error('no key');
              },
              tools: [ownTool('go', (_, { state }) => state.set('went', true))],
            });
      const good = llm('good', model, { tools: [stuck(signals, () => running.open())] });
      const events = await bench(new ParallelAgent({ name: 'par', subAgents: [bad, good] })).say('hi');
      expect(endOf(events)).toBe('failed');
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      expect(responses(events).wait?.error).toContain('it was started, its effects are unknown');
      expect(errorOf(events)?.code).toBe(
        { 'an error of the model': 'E_MODEL', 'an agent that throws': 'E_INTERNAL' }[how] ?? 'E_HOOK_FAILED',
      );
    },
  );
});
