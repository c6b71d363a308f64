import { describe, expect, test } from 'vitest';
import { describeAgent, fromAgent } from '../../src/adapters/adk/index.ts';
import type { AgentEvent, CompositionConfig } from '../../src/contracts/index.ts';
import { checkStream, hooks } from '../../src/contracts/index.ts';
import type { CompositionNode } from '../../src/runtime/index.ts';
import {
  AgentTree,
  composeAgent,
  exitLoopTool,
  hooksPlugin,
  InMemorySessionService,
  LoopAgent,
  ParallelAgent,
} from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, gate, llm, said, tool } from './kit.ts';

function node(composition: CompositionConfig, ...subAgents: (CompositionNode | string)[]): CompositionNode {
  return {
    name: 'all',
    composition,
    subAgents: subAgents.map((child) => (typeof child === 'string' ? { name: child } : child)),
  };
}

const two = ['a', 'b'];

describe('S3-72 a composition becomes the runtime’s agents', () => {
  test('sequential and parallel run their children, loop runs them until one is done', async () => {
    const model = new ScriptedModel({ byAgent: { a: ['a1', 'a2'], b: ['b1', { calls: [['exit_loop']] }, 'bye'] } });
    const parts = () => ({ model, tools: [exitLoopTool()] });
    const kinds = ['sequential', 'parallel'].map((pattern) =>
      composeAgent(node({ pattern, children: two }, ...two), parts),
    );
    expect(kinds.map((agent) => describeAgent(agent).composition)).toEqual([
      { pattern: 'sequential', children: two },
      { pattern: 'parallel', children: two },
    ]);
    const loop = composeAgent(node({ pattern: 'loop', children: two, maxIterations: 5 }, ...two), parts);
    const events = await bench(loop).say('hi');
    expect(said(events).filter((line) => /: [ab]\d$/.test(line))).toEqual(['a: a1', 'b: b1', 'a: a2']);
    expect(endOf(events)).toBe('completed');
  });

  test('transfer: a coordinator hands over, to nobody but its targets', async () => {
    const model = new ScriptedModel({
      byAgent: { all: [{ calls: [['transfer_to_agent', { agent_name: 'b' }]] }], b: ['b answers'] },
    });
    const agent = composeAgent(node({ pattern: 'transfer', children: two, transferTargets: ['b'] }, ...two), () => ({
      model,
    }));
    expect(said(await bench(agent).say('hi')).at(-1)).toBe('b: b answers');
    expect(model.requests[0]?.systemInstruction).not.toContain('agent a');
    expect(describeAgent(agent).composition).toEqual({ pattern: 'transfer', children: two, transferTargets: ['b'] });
  });

  test('hierarchical: the parent asks its children as tools', async () => {
    const model = new ScriptedModel({
      byAgent: { all: [{ calls: [['b', { request: 'x' }]] }, 'done'], b: ['b answers'] },
    });
    const agent = composeAgent(node({ pattern: 'hierarchical', children: two }, ...two), () => ({ model }));
    const events = await bench(agent).say('hi');
    expect(said(events).at(-2)).toBe('all: b = {"result":"b answers"}');
    expect(model.requests[0]?.tools).toEqual(['a', 'b']);
  });

  test('compositions within compositions; the order is that of children, who is not named takes no part', async () => {
    const model = new ScriptedModel({ byAgent: { a: ['a'], b: ['b'], c: ['c'] }, strict: true });
    const inner: CompositionNode = { ...node({ pattern: 'parallel', children: ['a'] }, 'a'), name: 'inner' };
    const agent = composeAgent(node({ pattern: 'sequential', children: ['c', 'inner'] }, inner, 'c', 'b'), () => ({
      model,
    }));
    expect(said(await bench(agent).say('hi'))).toEqual(['user: hi', 'c: c', 'a: a']);
  });

  test.each<[string, () => unknown, string, RegExp]>([
    [
      'an unknown child',
      () => compose({ pattern: 'sequential', children: ['x'] }),
      'E_AGENT_UNKNOWN',
      /at all: .*"x"; there are: a, b/,
    ],
    [
      'an unknown pattern',
      () => compose({ pattern: 'ring', children: two }),
      'E_COMPOSITION',
      /at all: pattern "ring"/,
    ],
    [
      'no children',
      () => compose({ pattern: 'parallel', children: [] }),
      'E_COMPOSITION',
      /at all: it has no children/,
    ],
    [
      'one child twice',
      () => compose({ pattern: 'parallel', children: ['a', 'a'] }),
      'E_DUPLICATE_AGENT',
      /at all\/a and at all\/a/,
    ],
    [
      'too deep',
      () => compose({ pattern: 'parallel', children: two, maxDepth: 0 }),
      'E_COMPOSITION',
      /at all: it is 1 levels deep/,
    ],
    [
      'an unknown target',
      () => compose({ pattern: 'transfer', children: two, transferTargets: ['z'] }),
      'E_TRANSFER',
      /agent all is to hand over to z, which is not in the tree/,
    ],
    [
      'a loop without end',
      () => compose({ pattern: 'loop', children: two, maxIterations: 0 }),
      'E_LOOP_UNBOUNDED',
      /loop all has no cap, and none of all\/a, all\/b/,
    ],
    [
      'a whole agent as coordinator',
      () => composeAgent(node({ pattern: 'transfer', children: two }, ...two), ({ name }) => llm(name, undefined)),
      'E_COMPOSITION',
      /at all: transfer needs the parts/,
    ],
    [
      'an agent of another name',
      () => composeAgent(node({ pattern: 'loop', children: ['a'] }, 'a'), () => llm('z', undefined)),
      'E_COMPOSITION',
      /at all\/a: the agent for it is named z/,
    ],
  ])('%s is refused, with its path', (_, make, code, message) => {
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });

  function compose(composition: CompositionConfig) {
    return composeAgent(node(composition, ...two), () => ({}));
  }
});

describe('trees that cannot work are refused with the place', () => {
  test('an agent within itself, two of one name side by side, sub-agents that nobody puts to work', () => {
    const ring: CompositionNode & { subAgents: CompositionNode[] } = {
      name: 'ring',
      subAgents: [],
      composition: { pattern: 'sequential', children: ['arc'] },
    };
    ring.subAgents.push({ name: 'arc', subAgents: [ring], composition: { pattern: 'loop', children: ['ring'] } });
    expect(() => composeAgent(ring, () => ({}))).toThrow(
      expect.objectContaining({ code: 'E_COMPOSITION', message: expect.stringContaining('ring/arc/ring') }),
    );
    const twins: CompositionNode = {
      name: 'team',
      subAgents: [
        { name: 'a', description: 'one' },
        { name: 'a', description: 'other' },
      ],
      composition: { pattern: 'sequential', children: ['a'] },
    };
    expect(() => composeAgent(twins, () => ({}))).toThrow(
      expect.objectContaining({ code: 'E_DUPLICATE_AGENT', message: expect.stringContaining('team/a') }),
    );
    const idle: CompositionNode = { name: 'boss', subAgents: [{ name: 'a' }] };
    expect(() => composeAgent(idle, () => ({}))).toThrow(
      expect.objectContaining({
        code: 'E_COMPOSITION',
        message: expect.stringMatching(/at boss: .*\(a\).*no composition/),
      }),
    );
    const whole = llm('boss', undefined, { subAgents: [llm('a', undefined)] });
    expect(composeAgent(idle, () => whole)).toBe(whole);
  });

  test('a loop deep down with neither cap nor exit; with an exit anywhere below it is fine', () => {
    const endless = (tools: Parameters<typeof llm>[2]) =>
      new AgentTree(
        llm('root', undefined, {
          subAgents: [new LoopAgent({ name: 'loop', maxIterations: 0, subAgents: [llm('a', undefined, tools)] })],
        }),
      );
    expect(() => endless({})).toThrow(
      expect.objectContaining({ code: 'E_LOOP_UNBOUNDED', message: expect.stringContaining('root/loop') }),
    );
    // Another loop keeps what its children say to itself, and tools that a host runs cannot say it.
    expect(() => endless({ tools: [tool('hosts', undefined)] })).toThrow(/root\/loop/);
    expect(() => endless({ tools: [exitLoopTool()] })).not.toThrow();
    const nested = new LoopAgent({ name: 'inner', subAgents: [llm('a', undefined, { tools: [exitLoopTool()] })] });
    expect(() => new AgentTree(new LoopAgent({ name: 'outer', maxIterations: 0, subAgents: [nested] }))).toThrow(
      /loop outer/,
    );
  });

  test('a transfer target out of reach', () => {
    const far = llm('far', undefined, { transferTargets: ['a'] });
    const root = llm('root', undefined, {
      subAgents: [llm('b', undefined, { subAgents: [far] }), llm('a', undefined)],
    });
    expect(() => new AgentTree(root)).toThrow(
      expect.objectContaining({
        code: 'E_TRANSFER',
        message: expect.stringMatching(/root\/b\/far is to hand over to a, which is neither/),
      }),
    );
  });
});

test('S3-73 parallel branches are threads of their own, they interleave, results are there when all have ended', async () => {
  const first = gate();
  const second = gate();
  const model = new ScriptedModel({
    byAgent: {
      left: [{ calls: [['wait']] }, 'left says'],
      right: [{ calls: [['let']] }, 'right says'],
      after: [
        ({ contents }) =>
          JSON.stringify(contents)
            .match(/(left|right) says/g)
            ?.sort()
            .join() ?? 'nothing',
      ],
    },
  });
  const wait = tool('wait', async () => {
    first.open();
    await second.opened;
    return 1;
  });
  const let_ = tool('let', async () => {
    await first.opened;
    second.open();
    return 2;
  });
  const agent = composeAgent(
    {
      name: 'all',
      composition: { pattern: 'sequential', children: ['both', 'after'] },
      subAgents: [
        {
          name: 'both',
          composition: { pattern: 'parallel', children: ['left', 'right'] },
          subAgents: [{ name: 'left' }, { name: 'right' }],
        },
        { name: 'after' },
      ],
    },
    ({ name }) => ({ model, tools: name === 'left' ? [wait] : name === 'right' ? [let_] : [] }),
  );
  const events: AgentEvent[] = [];
  const session = await fromAgent(agent).open({}, { app: 'shop' });
  for await (const event of session.stream('hi', { streaming: false })) events.push(event);
  expect(checkStream(events)).toEqual([]);
  const threads = events.flatMap(({ type, threadId, agentId }) =>
    type === 'tool_request' ? [`${threadId} ${agentId}`] : [],
  );
  expect(threads.sort()).toEqual(['both.left left', 'both.right right']);
  // Neither could have ended without the other.
  const words = events.flatMap((event) => (event.type === 'message' && event.role === 'agent' ? [event] : []));
  expect(words.at(-1)).toMatchObject({ agentId: 'after', content: [{ text: 'left says,right says' }] });
  expect(words.at(-1)?.threadId).toBeUndefined();
});

test('S3-74 a loop ends by escalation or at its cap; each beginning and end is told, once, also after a restart', async () => {
  const sessions = new InMemorySessionService();
  const agent = () =>
    new LoopAgent({
      name: 'loop',
      maxIterations: 3,
      subAgents: [
        llm('a', new ScriptedModel(['a1', 'a2', 'a3'])),
        new ParallelAgent({
          name: 'both',
          subAgents: [
            llm('b', new ScriptedModel(['b1', { calls: [['pay']] }, 'b2', 'b3']), {
              tools: [tool('pay', () => 'paid', { needsApproval: true })],
            }),
          ],
        }),
      ],
    });
  const lifecycle = (events: readonly AgentEvent[]) =>
    events.flatMap((event) =>
      event.type === 'custom' && /^(agent_|loop_)/.test(event.kind)
        ? [`${event.kind} ${Object.values(event.data as object).join(' ')}`]
        : [],
    );
  const shown: AgentEvent[] = [];
  const first = await fromAgent(agent(), { store: sessions }).open({ sessionId: 's', create: true }, { app: 'shop' });
  for await (const event of first.stream('hi')) shown.push(event);
  const [question] = await first.pending();
  const restarted = new LoopAgent({
    name: 'loop',
    maxIterations: 3,
    subAgents: [
      llm('a', new ScriptedModel(['a3'])),
      new ParallelAgent({
        name: 'both',
        subAgents: [
          llm('b', new ScriptedModel([{ calls: [['exit_loop']] }]), {
            tools: [tool('pay', () => 'paid', { needsApproval: true }), exitLoopTool()],
          }),
        ],
      }),
    ],
  });
  const second = await fromAgent(restarted, { store: sessions }).open({ sessionId: 's' }, { app: 'shop' });
  const answer = {
    kind: 'elicitation_response' as const,
    requestId: String(question?.requestId),
    response: { action: 'accept' as const },
  };
  for await (const event of second.stream(answer)) shown.push(event);
  const told = lifecycle(shown);
  expect(told).toEqual([
    'loop_iteration loop  0',
    'agent_started a /0',
    'agent_completed a /0',
    'agent_started both /1',
    'agent_started b /1/0',
    'agent_completed b /1/0',
    'agent_completed both /1',
    'loop_iteration loop  1',
    'agent_started a /2',
    'agent_completed a /2',
    'agent_started both /3',
    'agent_started b /3/0',
    'agent_completed b /3/0 true',
    'agent_completed both /3 true',
  ]);
  const stored: AgentEvent[] = [];
  for await (const event of second.events()) stored.push(event);
  expect(lifecycle(stored)).toEqual(told);
});

test('S3-76 a session starts with the first user message and ends with after_run', async () => {
  const points: string[] = [];
  const started = new Set<string>();
  const plugin = hooksPlugin(
    hooks({
      onUserMessage: ({ context }) => {
        if (!started.has(context.sessionId)) points.push(`session_start ${context.sessionId}`);
        started.add(context.sessionId);
      },
      afterRun: ({ context }) => void points.push(`session_end ${context.sessionId}`),
      beforeModel: () => void points.push('model'),
    }),
  );
  const { say } = bench(llm('bot', new ScriptedModel(['one', 'two'])), { plugins: [plugin] });
  await say('hi');
  await say('again');
  expect(points).toEqual(['session_start s1', 'model', 'session_end s1', 'model', 'session_end s1']);
});
