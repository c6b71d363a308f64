import { describe, expect, test } from 'vitest';
import type { LlmAgent, LoopAgent } from '../../src/runtime/index.ts';
import { AgentTree, CustomAgent, SequentialAgent, transferTargets } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, brief, endOf, llm, ownTool, responses, said, tool } from './kit.ts';

const to = (agent_name: string, more: object = {}) => ({
  calls: [['transfer_to_agent', { agent_name, ...more }] as const],
});

describe('S0-25 targets', () => {
  const names = (root: LlmAgent, from: LlmAgent) => transferTargets(new AgentTree(root), from).map(({ name }) => name);
  const family = (options: { disallowTransferToParent?: boolean; disallowTransferToPeers?: boolean } = {}) => {
    const a = llm('a', undefined, { ...options, subAgents: [llm('a1', undefined)] });
    return { a, root: llm('root', undefined, { subAgents: [a, llm('b', undefined), llm('c', undefined)] }) };
  };

  test('sub-agents, the parent, peers', () => {
    const { a, root } = family();
    expect([names(root, a), names(root, root)]).toEqual([
      ['a1', 'root', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
  });

  test.each([
    [{ disallowTransferToParent: true }, ['a1', 'b', 'c']],
    [{ disallowTransferToPeers: true }, ['a1', 'root']],
    [{ disallowTransferToParent: true, disallowTransferToPeers: true }, ['a1']],
  ])('%j', (options, expected) => {
    const { a, root } = family(options);
    expect(names(root, a)).toEqual(expected);
  });

  test('a tool in the place of the one that hands over is refused with the agent’s place', () => {
    const own = llm('own', undefined, { tools: [tool('transfer_to_agent', () => 1)] });
    expect(() => new AgentTree(llm('root', undefined, { subAgents: [own] }))).toThrow(
      expect.objectContaining({ code: 'E_DUPLICATE_TOOL', message: expect.stringContaining('root/own') }),
    );
  });

  test('neither parent nor peers where the parent does not converse', () => {
    const a = llm('a', undefined);
    const tree = new AgentTree(new SequentialAgent({ name: 'seq', subAgents: [a, llm('b', undefined)] }));
    expect(transferTargets(tree, a)).toEqual([]);
  });
});

describe('S0-52 transfer_to_agent', () => {
  test('sets the action, and the target answers in the same invocation', async () => {
    const model = new ScriptedModel({ byAgent: { root: [to('clerk')], clerk: ['hello'] }, strict: true });
    const { say } = bench(llm('root', model, { subAgents: [llm('clerk', undefined)] }));
    const events = await say('hi');
    expect(said(events)).toEqual([
      'user: hi',
      'root: call transfer_to_agent({"agent_name":"clerk"})',
      'root: transfer_to_agent = {"transferred_to":"clerk"}',
      'clerk: hello',
    ]);
    expect(events.find(({ actions }) => actions.transferToAgent)?.actions.transferToAgent).toBe('clerk');
    expect(new Set(events.map(({ invocationId }) => invocationId)).size).toBe(1);
    expect(endOf(events)).toBe('completed');
    expect(brief(model.requests[1]?.contents)).toEqual([
      'user: hi',
      'user: [root] called tool transfer_to_agent with {"agent_name":"clerk"}',
      'user: [root] tool transfer_to_agent returned {"transferred_to":"clerk"}',
    ]);
  });

  test('all calls of the batch have their responses first; the first transfer wins over the second and over escalate', async () => {
    const leave = ownTool('leave', (_, context) => context.escalate());
    const model = new ScriptedModel({
      byAgent: {
        root: [
          {
            calls: [
              ['leave'],
              ['look'],
              ['transfer_to_agent', { agent_name: 'b' }],
              ['transfer_to_agent', { agent_name: 'a' }],
            ],
          },
        ],
        b: ['b here'],
      },
      strict: true,
    });
    const { say } = bench(
      llm('root', model, {
        tools: [leave, tool('look', () => 1)],
        subAgents: [llm('a', undefined), llm('b', undefined)],
      }),
    );
    const events = await say('hi');
    expect(said(events).at(-1)).toBe('b: b here');
    expect(Object.keys(responses(events)).sort()).toEqual(['leave', 'look', 'transfer_to_agent']);
  });

  test('a target outside a sequence ends it and is reached at the slot that contains it', async () => {
    const model = new ScriptedModel({
      byAgent: { root: [to('seq')], one: [{ calls: [['handOver']] }], help: ['helping'] },
      strict: true,
    });
    const handOver = ownTool('handOver', (_, context) => context.transferTo('help'));
    const seq = new SequentialAgent({
      name: 'seq',
      subAgents: [llm('one', model, { tools: [handOver] }), llm('never', model)],
    });
    const { say } = bench(llm('root', model, { subAgents: [seq, llm('help', undefined)] }));
    expect(said(await say('hi')).at(-1)).toBe('help: helping');
    expect(model.requests.map(({ agent }) => agent)).toEqual(['root', 'one', 'help']);
  });

  test('a target inside a child of a sequence stays there: the next sibling follows', async () => {
    const model = new ScriptedModel({
      byAgent: { one: [to('sub')], sub: ['sub here'], two: ['two here'] },
      strict: true,
    });
    const seq = new SequentialAgent({
      name: 'seq',
      subAgents: [llm('one', model, { subAgents: [llm('sub', undefined)] }), llm('two', model)],
    });
    expect(said(await bench(seq).say('hi')).slice(-2)).toEqual(['sub: sub here', 'two: two here']);
  });
});

describe('S0-53 F30 mistakes', () => {
  test('an unknown name is an error result that lists the allowed ones; the same agent goes on', async () => {
    const model = new ScriptedModel({
      byAgent: { root: [to('Biling'), to('billing')], billing: ['here'] },
      strict: true,
    });
    const { say } = bench(llm('root', model, { subAgents: [llm('billing', undefined), llm('support', undefined)] }));
    const events = await say('hi');
    const wrong = brief(model.requests[1]?.contents).at(-1);
    expect(wrong).toMatch(/^user: transfer_to_agent = \{"error":/);
    for (const name of ['billing', 'support', 'Biling']) expect(wrong).toContain(name);
    expect(model.requests.map(({ agent }) => agent)).toEqual(['root', 'root', 'billing']);
    expect(endOf(events)).toBe('completed');
  });

  test('extra keys are ignored, missing ones are told', async () => {
    const model = new ScriptedModel({
      byAgent: { root: [{ calls: [['transfer_to_agent', {}]] }, to('billing', { message: 'hi' })], billing: ['here'] },
      strict: true,
    });
    const events = await bench(llm('root', model, { subAgents: [llm('billing', undefined)] })).say('hi');
    expect(brief(model.requests[1]?.contents).at(-1)).toContain('agent_name: is required');
    expect(said(events).at(-1)).toBe('billing: here');
  });

  test('a tool that names an agent of no tree fails its own call', async () => {
    const lost = ownTool('lost', (_, context) => context.transferTo('nobody'));
    const model = new ScriptedModel([{ calls: [['lost']] }, 'ok']);
    const events = await bench(llm('bot', model, { tools: [lost] })).say('hi');
    expect(responses(events).lost).toEqual({ error: 'there is no agent "nobody" here' });
    expect(said(events).at(-1)).toBe('bot: ok');
  });

  test('ping-pong is cut by the limit with a clear error', async () => {
    const model = new ScriptedModel({
      byAgent: { a: [to('b'), to('b'), to('b')], b: [to('a'), to('a'), to('a')] },
      strict: true,
    });
    const { say } = bench(llm('a', model, { subAgents: [llm('b', undefined)] }), { limits: { maxLlmCalls: 4 } });
    const events = await say('hi');
    expect(model.requests.map(({ agent }) => agent)).toEqual(['a', 'b', 'a', 'b']);
    expect(events.find(({ errorCode }) => errorCode)).toMatchObject({
      errorCode: 'E_MAX_LLM_CALLS',
      errorMessage: expect.stringContaining('the turn has made 4 model calls'),
    });
    expect(endOf(events)).toBe('max_turns');
  });
});

describe('S0-54 the next run', () => {
  const starts = async (root: LlmAgent | SequentialAgent | LoopAgent, turns = 2) => {
    const { say } = bench(root);
    const all = [];
    for (let n = 0; n < turns; n++) all.push((await say('hi')).flatMap(({ actions }) => actions.turn?.start ?? [])[0]);
    return all;
  };

  test('starts at the agent that was handed over to, also over several steps', async () => {
    const model = new ScriptedModel({
      byAgent: { root: [to('a')], a: [to('b')], b: ['b1', 'b2', to('a')] },
      strict: false,
    });
    const tree = llm('root', model, { subAgents: [llm('a', undefined), llm('b', undefined)] });
    expect(await starts(tree, 4)).toEqual(['root', 'b', 'b', 'a']);
  });

  test('MUT-R26 starts at the agent that was handed over to, whatever the root says of a way to its own parent', async () => {
    const model = new ScriptedModel({ byAgent: { root: [to('a')], a: ['a1', 'a2'] }, strict: true });
    const options = { disallowTransferToParent: true, subAgents: [llm('a', undefined)] };
    expect(await starts(llm('root', model, options))).toEqual(['root', 'a']);
  });

  test('starts at the root if that agent may not go back to its parent, or does not converse', async () => {
    const script = () => new ScriptedModel({ byAgent: { root: [to('a'), 'ok'], a: ['a', 'a'] } });
    const locked = llm('a', undefined, { disallowTransferToParent: true });
    expect(await starts(llm('root', script(), { subAgents: [locked] }))).toEqual(['root', 'root']);
    const own = new CustomAgent({ name: 'a', run: (context) => context.emit('a') });
    expect(await starts(llm('root', script(), { subAgents: [own] }))).toEqual(['root', 'root']);
    const model = new ScriptedModel({ strict: false });
    expect(await starts(new SequentialAgent({ name: 'seq', subAgents: [llm('x', model)] }))).toEqual(['seq', 'seq']);
  });
});
