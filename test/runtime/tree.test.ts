import { describe, expect, test } from 'vitest';
import { fromAgent } from '../../src/index.ts';
import type { Agent } from '../../src/runtime/index.ts';
import {
  AgentTree,
  agentTool,
  CustomAgent,
  DONE,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from '../../src/runtime/index.ts';
import { bench, llm, said } from './kit.ts';

const root = () => {
  const x = llm('x', undefined);
  const a = llm('a', undefined, { subAgents: [x], description: 'first' });
  const b = new SequentialAgent({ name: 'b', subAgents: [llm('y', undefined)] });
  return { x, a, b, tree: new AgentTree(llm('root', undefined, { subAgents: [a, b] })) };
};

test('S0-47 an agent is a name, a description, sub-agents and run', async () => {
  const own: Agent = {
    name: 'own',
    description: 'written by hand',
    subAgents: [],
    run: async (context) => {
      await context.emit({ content: { role: 'model', parts: [{ type: 'text', text: context.agentPath.join('/') }] } });
      return DONE;
    },
  };
  const agents = [
    new LlmAgent({ name: 'n', description: 'd' }),
    new CustomAgent({ name: 'n', description: 'd', run: () => {} }),
    new SequentialAgent({ name: 'n', description: 'd', subAgents: [] }),
    new ParallelAgent({ name: 'n', description: 'd', subAgents: [] }),
  ];
  for (const agent of agents) expect(agent).toMatchObject({ name: 'n', description: 'd', subAgents: [] });
  expect(said(await bench(new SequentialAgent({ name: 'all', subAgents: [own] })).say('hi'))).toEqual([
    'user: hi',
    'own: all/own',
  ]);
});

test('S0-47 a tree finds agents by name, and knows parents and paths', () => {
  const { x, a, b, tree } = root();
  expect([tree.find('x'), tree.find('b'), tree.find('nobody')]).toEqual([x, b, undefined]);
  expect([tree.parent(x), tree.parent(a), tree.parent(tree.root)]).toEqual([a, tree.root, undefined]);
  expect(tree.pathOf(x)).toEqual(['root', 'a', 'x']);
  expect([tree.contains(a, 'x'), tree.contains(a, 'a'), tree.contains(b, 'x'), tree.contains(b, 'nobody')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

describe('S0-10 F32 names are unique in a tree', () => {
  test('two agents of one name under different parents: refused with both places', () => {
    const tree = () =>
      new AgentTree(
        llm('root', undefined, {
          subAgents: [
            llm('a', undefined, { subAgents: [llm('x', undefined)] }),
            llm('b', undefined, { subAgents: [llm('x', undefined)] }),
          ],
        }),
      );
    expect(tree).toThrow(
      expect.objectContaining({
        status: 'INVALID_ARGUMENT',
        code: 'E_DUPLICATE_AGENT',
        message: expect.stringContaining('two agents of one name stand at root/a/x and at root/b/x'),
      }),
    );
  });

  test('one instance under two parents: refused with both places', () => {
    const x = llm('x', undefined);
    const parents = ['a', 'b'].map((name) => new SequentialAgent({ name, subAgents: [x] }));
    expect(() => new AgentTree(new ParallelAgent({ name: 'root', subAgents: parents }))).toThrow(
      /one agent stands at root\/a\/x and at root\/b\/x/,
    );
  });

  test('an agent run as a tool has a tree of its own: two callers may share it', () => {
    const expert = llm('expert', undefined, { subAgents: [llm('a', undefined)] });
    const callers = ['a', 'b'].map((name) => llm(name, undefined, { tools: [agentTool(expert)] }));
    expect(new AgentTree(llm('root', undefined, { subAgents: callers })).find('expert')).toBeUndefined();
    const twice = llm('expert', undefined, { subAgents: [llm('expert', undefined)] });
    expect(() => agentTool(twice)).toThrow(expect.objectContaining({ code: 'E_DUPLICATE_AGENT' }));
  });
});

test('a child that is not there (modules that import each other) is refused with its place', () => {
  const half = new SequentialAgent({ name: 'half', subAgents: [llm('a', undefined), undefined as never] });
  const tree = (root: unknown) => () => new AgentTree(root as Agent);
  expect(tree(llm('root', undefined, { subAgents: [half] }))).toThrow(
    expect.objectContaining({
      code: 'E_COMPOSITION',
      message: 'composition at root/half.subAgents[1]: it is undefined: do two modules import each other?',
    }),
  );
  expect(tree(undefined)).toThrow(expect.objectContaining({ code: 'E_COMPOSITION' }));
  const bare = { name: 'x', subAgents: [{ name: 'y' }], run: () => {} };
  expect(tree(bare)).toThrow(/at x\.subAgents\[0\]: it is no agent/);
  const still = { name: 'x', subAgents: [{ name: 'y', subAgents: [] }], run: () => {} };
  expect(tree(still)).toThrow(/at x\.subAgents\[0\]: it is no agent/);
});

test('S0-10 two plugins of one name are refused where the agent is made a source', () => {
  const plugins = [{ name: 'log' }, { name: 'log' }];
  expect(() => fromAgent(llm('a', undefined), { plugins })).toThrow(
    expect.objectContaining({ code: 'E_DUPLICATE_PLUGIN' }),
  );
});

test.each(['', '1st', 'user', 'a.b', 'a b', 'ü', 'a/b', 'a~b'])('the name %j is refused', (name) => {
  expect(() => llm(name, undefined)).toThrow(expect.objectContaining({ code: 'E_AGENT_NAME' }));
  expect(() => new LoopAgent({ name, subAgents: [llm('a', undefined)] })).toThrow(/is not an identifier/);
});

test.each(['my-agent', '_x', '$x', 'User', 'a1'])('the name %j is fine', (name) => {
  expect(llm(name, undefined).name).toBe(name);
});
