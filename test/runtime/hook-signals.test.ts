import { describe, expect, test } from 'vitest';
import type { SessionInput } from '../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent } from '../../src/index.ts';
import type { AgentHooks, Plugin } from '../../src/runtime/index.ts';
import { InMemorySessionService, LoopAgent, ParallelAgent, securityPlugin } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, gate, host, llm, responses, tool } from './kit.ts';

const look = tool('look', () => 'seen', { annotations: { readOnly: true } });
const calls = (name: string) => ({ calls: [[name] as const] });

type BeforeTool = NonNullable<AgentHooks['beforeTool']>;

describe.each([
  ['without a host', false],
  ['under a host', true],
])('S0-37 what a before_tool hook signals, %s', (_, hosted) => {
  const open = (agent: Parameters<typeof fromAgent>[0]) =>
    hosted
      ? createHost({ app: 'shop', agents: [fromAgent(agent)], policy: allowAll() }).open(agent.name)
      : fromAgent(agent).open({}, host);

  const words: [string, unknown][] = [
    ['goes on', undefined],
    ['has the result', { from: 'hook' }],
    ['blocks', { action: 'block', reason: 'no' }],
  ];

  test.each(words)('escalate ends the loop; the hook %s', async (__, word) => {
    const model = new ScriptedModel([calls('look')]);
    const beforeTool: BeforeTool = (context) => {
      context.escalate();
      return word as never;
    };
    const session = await open(
      new LoopAgent({ name: 'loop', subAgents: [llm('a', model, { tools: [look], beforeTool })], maxIterations: 3 }),
    );
    expect((await run(session, 'go')).reason).toBe('completed');
    expect(model.requests).toHaveLength(1);
  });

  test.each(words.slice(0, 2))('skipSummarization asks no model again; the hook %s', async (__, word) => {
    const model = new ScriptedModel([calls('look')]);
    const beforeTool: BeforeTool = (context) => {
      context.skipSummarization();
      return word as never;
    };
    await run(await open(llm('a', model, { tools: [look], beforeTool })), 'go');
    expect(model.requests).toHaveLength(1);
  });

  test('transferTo hands over', async () => {
    const model = new ScriptedModel({ byAgent: { a: [calls('look')], clerk: ['clerk here'] } });
    const beforeTool: BeforeTool = (context) => {
      context.transferTo('clerk');
      return { from: 'hook' };
    };
    const session = await open(llm('a', model, { tools: [look], beforeTool, subAgents: [llm('clerk', model)] }));
    expect((await run(session, 'go')).text).toBe('clerk here');
  });
});

test('S0-37 a signal on a call that somebody is asked about first is told to be lost', async () => {
  const model = new ScriptedModel([calls('pay')]);
  const pay = tool('pay', () => 'paid', { needsApproval: true });
  const { say, warnings } = bench(
    llm('a', model, { tools: [pay], beforeTool: (context) => context.escalate() as never }),
  );
  await say('go');
  expect(warnings).toEqual(['escalate of a before_tool hook on pay is lost: somebody is asked about the call first']);
});

test('S0-35 an answer that is taken from a log is hooked, asked about and run like any other', async () => {
  const seen: string[] = [];
  const old = {
    hooked: true,
    ask: 'x',
    handledBy: 'host',
    tool: { annotations: { readOnly: true } },
    provider: { id: 'p' },
  };
  let step = 0;
  const cache: Plugin = {
    name: 'cache',
    beforeModel: () => {
      if (step++ > 0) return { content: { role: 'model', parts: [{ type: 'text', text: 'done' }] } };
      const part = { type: 'function_call' as const, id: 'old', name: 'look', args: {}, _meta: old };
      return { content: { role: 'model', parts: [part] } };
    },
    beforeTool: (_, { name }) => void seen.push(name),
  };
  const events = await bench(llm('a', undefined, { tools: [look] }), { plugins: [cache] }).say('go');
  expect([endOf(events), seen, responses(events).look]).toEqual(['completed', ['look'], { content: 'seen' }]);
  const call = events.flatMap(({ content }) => content?.parts ?? []).find(({ type }) => type === 'function_call');
  expect(call?._meta).toEqual({ provider: { id: 'p' }, tool: { annotations: { readOnly: true } } });
});

test('S3-64 what a policy excludes is not offered to agents that run without a host', async () => {
  const asked: unknown[] = [];
  const model = new ScriptedModel([calls('look'), 'done']);
  const policy = {
    evaluate: () => ({ outcome: 'allow' as const }),
    getExcluded: (scope?: object) => {
      asked.push(scope);
      return ['pay'];
    },
  };
  const agent = llm('a', model, { tools: [look, tool('pay', () => 'paid')] });
  const { say } = bench(agent, { plugins: [securityPlugin(policy)] });
  await say('go', { permissionMode: 'plan' });
  expect(model.requests.map(({ tools }) => tools)).toEqual([['look'], ['look']]);
  expect(asked[0]).toEqual({ agent: 'a', permissionMode: 'plan' });
  // Without the policy the same agent has them all.
  await bench(agent).say('go');
  expect(model.requests.at(-1)?.tools).toEqual(['look', 'pay']);
});

test('S3-64 a policy that does not say what it excludes lets nothing run', async () => {
  const model = new ScriptedModel(['never']);
  const policy = {
    evaluate: () => ({ outcome: 'allow' as const }),
    getExcluded: () => Promise.reject(new Error('down')),
  };
  const events = await bench(llm('a', model, { tools: [look] }), { policy }).say('go');
  expect([endOf(events), model.requests]).toEqual(['failed', []]);
});

test('S3-58 S3-76 under a host before_run and after_run fire once for a turn, whatever it waits for', async () => {
  const points: string[] = [];
  const plugin: Plugin = {
    name: 'log',
    beforeRun: () => void points.push('begun'),
    afterRun: () => void points.push('over'),
  };
  const model = new ScriptedModel([calls('one'), calls('two'), 'done']);
  const tools = ['one', 'two'].map((name) => tool(name, () => name));
  const policy = {
    evaluate: ({ action }: { action: string }) => ({ outcome: action === 'two' ? 'ask' : 'allow' }) as const,
  };
  const agents = [fromAgent(llm('a', model), { plugins: [plugin] })];
  const session = await createHost({ app: 'shop', agents, tools, policy }).open('a');
  const { pending } = await run(session, 'go');
  expect(points).toEqual(['begun']);
  await run(session, { kind: 'tool_approval', requestId: String(pending[0]?.requestId) });
  expect(points).toEqual(['begun', 'over']);
});

test.each([
  ['without a host', false],
  ['under a host', true],
])('S0-09 hooks of a branch that is done do not run again when another branch is answered, %s', async (_, hosted) => {
  const ran: string[] = [];
  const asked = gate();
  const pay = tool('pay', () => 'paid', { needsApproval: true });
  const asker = llm('asker', new ScriptedModel([calls('pay'), 'paid']), { tools: [pay] });
  const quick = llm(
    'quick',
    new ScriptedModel([
      async () => {
        await asked.opened;
        return 'done';
      },
    ]),
  );
  const both = new ParallelAgent({ name: 'both', subAgents: [asker, quick] });
  const sessions = new InMemorySessionService();
  const plugins: Plugin[] = [
    {
      name: 'log',
      beforeAgent: ({ agentName }) => void ran.push(`before ${agentName}`),
      afterAgent: ({ agentName }) => void ran.push(`after ${agentName}`),
    },
  ];
  const source = fromAgent(both, { store: sessions, plugins });
  const open = () =>
    hosted
      ? createHost({ app: 'shop', agents: [source], store: sessions, policy: allowAll() }).open('both', {
          sessionId: 's',
          create: true,
        })
      : source.open({ sessionId: 's', create: true }, host);
  const { pending } = await run(await open(), 'go', {
    onEvent: ({ type }) => {
      if (type === (hosted ? 'tool_request' : 'elicitation_request')) asked.open();
    },
  });
  const requestId = String(pending[0]?.requestId);
  const yes: SessionInput = hosted
    ? { kind: 'tool_approval', requestId }
    : { kind: 'elicitation_response', requestId, response: { action: 'accept' } };
  expect((await run(await open(), yes)).reason).toBe('completed');
  expect(ran.toSorted()).toEqual(
    ['both', 'asker', 'quick'].flatMap((name) => [`after ${name}`, `before ${name}`]).sort(),
  );
});

test.each([
  ['without a host', false],
  ['under a host', true],
])(
  'S3-26 S3-27 what a before_tool hook asks with is what a person sees, %s: words, payload, time',
  async (_, hosted) => {
    const runs: unknown[] = [];
    const agent = llm('a', new ScriptedModel([calls('pay'), 'done']), {
      tools: [tool('pay', () => runs.push('paid'))],
      beforeTool: (context) =>
        context.requestConfirmation({ hint: 'Really?', payload: { to: 'ann' }, expiresIn: 60 }) as never,
    });
    const session = hosted
      ? await createHost({ app: 'shop', agents: [agent], policy: allowAll() }).open('a')
      : await fromAgent(agent).open({}, host);
    const { pending } = await run(session, 'go');
    expect(pending).toMatchObject([
      { message: 'Really?', context: { payload: { to: 'ann' } }, expiresAt: expect.any(String) },
    ]);
    const { expiresAt, requestedAt } = pending[0] as { expiresAt: string; requestedAt: string };
    expect(Math.round((Date.parse(expiresAt) - Date.parse(requestedAt)) / 10_000)).toBe(6);
    expect(runs).toEqual([]);
  },
);

test('S3-26 a question that cannot be stored is no question: the hook fails closed', async () => {
  const runs: unknown[] = [];
  const pay = tool('pay', () => runs.push('paid'));
  const beforeTool: BeforeTool = (context) => context.requestConfirmation({ payload: () => 1 }) as never;
  const events = await bench(llm('a', new ScriptedModel([calls('pay'), 'done']), { tools: [pay], beforeTool })).say(
    'go',
  );
  expect([endOf(events), runs, responses(events).pay?.error]).toEqual([
    'completed',
    [],
    'denied: a before_tool hook failed: requestConfirmation.payload is not JSON: function',
  ]);
});

test('F23 an answer that comes while a run that pauses tells which hooks have run is taken up by it', async () => {
  const asked = gate();
  let answer: () => Promise<unknown> = async () => {};
  class AnsweredMeanwhile extends InMemorySessionService {
    override async append(...[key, events, options]: Parameters<InMemorySessionService['append']>) {
      if (events.some(({ actions }) => actions.exited)) await answer();
      return super.append(key, events, options);
    }
  }
  const sessions = new AnsweredMeanwhile();
  const pay = tool('pay', () => 'paid', { needsApproval: true });
  const asker = llm('asker', new ScriptedModel([calls('pay'), 'paid']), { tools: [pay] });
  const quick = llm('quick', new ScriptedModel([() => asked.opened.then(() => 'done')]));
  const both = new ParallelAgent({ name: 'both', subAgents: [asker, quick] });
  const plugins: Plugin[] = [{ name: 'log', afterAgent: () => undefined }];
  const session = await fromAgent(both, { store: sessions, plugins }).open({}, host);
  const { reason, pending } = await run(session, 'go', {
    onEvent: (event) => {
      if (event.type !== 'elicitation_request') return;
      const { requestId } = event;
      answer = async () => {
        answer = async () => {};
        await session.respond(requestId, { kind: 'elicitation', action: 'accept' });
      };
      asked.open();
    },
  });
  expect([reason, pending]).toEqual(['completed', []]);
});
