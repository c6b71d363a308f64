import { expect, test } from 'vitest';
import type { DispatchAgentOptions } from '../../src/dispatch/index.ts';
import { isErrorResult, Tool } from '../../src/dispatch/index.ts';
import { allowAll, createHost, fromAgent, rulePolicy } from '../../src/index.ts';
import { collect, tool } from '../runtime/kit.ts';
import { asks, byo, endOf, open, responsesOf, say, texts } from './agent-kit.ts';
import { message } from './kit.ts';

/** Two tools, of which the first returns when the second has. */
function pair(annotations: object = {}) {
  const isDone = Promise.withResolvers<void>();
  const first = tool('first', async () => {
    await isDone.promise;
    return 'first';
  });
  const second = tool('second', () => {
    isDone.resolve();
    return 'second';
  });
  return { first: Object.assign(first, { annotations }), second };
}

const both: DispatchAgentOptions['executor'] = async (ctx) => {
  const run = (name: string) => ctx.tools.get(name)?.executor(ctx)({});
  const first = run('first');
  await ctx.storeMessage(message('m', 'the first runs'));
  const values = await Promise.all([first, run('second')]);
  await ctx.storeMessage(message('n', values.join(' and ')));
  ctx.ack();
};

test.each([
  ['policy allows', rulePolicy([{ tool: '*', outcome: 'allow' }])],
  [
    'a person is asked about',
    rulePolicy([
      { tool: 'second', outcome: 'ask' },
      { tool: '*', outcome: 'allow' },
    ]),
  ],
])('PROP-A1 under a host, a call that %s is judged while another one runs that waits for it', async (_, policy) => {
  const { first, second } = pair();
  const agent = fromAgent(byo(both, { tools: [first, second] }));
  const host = createHost({ app: 'desk', agents: [agent], policy, onApproval: () => ({ kind: 'approve' }) });
  const events = await say(await host.open('byo'), 'go');
  expect(texts(events)).toEqual(['the first runs', 'first and second']);
  expect(responsesOf(events).map(({ name }) => name)).toEqual(['second', 'first']);
  await host.close();
});

test('PROP-A1 a tool of the host runs, and answers, while a tool of the agent runs that waits for it', async () => {
  const { first, second } = pair();
  const agent = fromAgent(byo(both, { tools: [first] }));
  const host = createHost({ app: 'desk', agents: [agent], tools: [second], policy: allowAll() });
  const session = await host.open('byo');
  expect(texts(await say(session, 'go'))).toEqual(['the first runs', 'first and second']);
  const log = (await collect(session.events())).flatMap((event) =>
    event.type === 'tool_request' || event.type === 'tool_response' ? [`${event.type} ${event.name}`] : [],
  );
  expect(log).toEqual(['tool_request first', 'tool_request second', 'tool_response second', 'tool_response first']);
  await host.close();
});

test('PROP-A1 without a host, a yes that comes while another call runs lets the call begin', async () => {
  const { first, second } = pair();
  const session = await open(byo(both, { tools: [first, Object.assign(second, { needsApproval: true })] }));
  const events = [];
  for await (const event of session.stream('go')) {
    events.push(event);
    if (event.type === 'elicitation_request') await session.respond(event.requestId, { kind: 'approve' });
  }
  expect(texts(events)).toEqual(['the first runs', 'first and second']);
});

test.each([
  ['has to run alone', { exclusive: true }],
  ['takes the only place', {}],
])('PROP-A1 a handler that calls another tool, and %s, waits for nothing but that', async (_, annotations) => {
  const ran: string[] = [];
  const inner = new Tool({ name: 'inner', description: '', handler: () => ran.push('inner') });
  const agent = byo(
    async (ctx) => {
      const outer = (name: string) =>
        new Tool({
          name,
          description: '',
          annotations,
          handler: async () => {
            await inner.executor(ctx)({});
            ran.push(name);
          },
        }).executor(ctx)({});
      await Promise.all([outer('one'), outer('two')]);
      ctx.ack();
    },
    { tools: [inner] },
  );
  const host = createHost({
    app: 'desk',
    agents: [fromAgent(agent, { toolConcurrency: 1 })],
    policy: allowAll(),
  });
  expect(endOf(await say(await host.open('byo'), 'go'))).toMatchObject({ reason: 'completed' });
  expect(ran).toEqual(['inner', 'one', 'inner', 'two']);
  await host.close();
});

test('ATK10-02 a tool of the host that may run again, and runs when nobody wants its call any more, is not said to have never run', async () => {
  const [begun, left] = [Promise.withResolvers<void>(), new AbortController()];
  const isDone = Promise.withResolvers<string>();
  const slow = tool('slow', () => {
    begun.resolve();
    return isDone.promise;
  });
  const results: unknown[] = [];
  const agent = byo(async (ctx) => {
    const running = ctx.tools.get('slow')?.executor(ctx, { signal: left.signal })({});
    await begun.promise;
    left.abort(new Error('nobody waits for it'));
    results.push(await running);
    ctx.ack();
  });
  const tools = [Object.assign(slow, { annotations: { idempotent: true } })];
  const host = createHost({ app: 'desk', agents: [fromAgent(agent)], tools, policy: allowAll() });
  const events = await say(await host.open('byo'), 'go');
  expect(responsesOf(events)).toMatchObject([
    { errorType: 'cancelled', content: [{ text: expect.stringContaining('it may have run') }] },
  ]);
  expect(results.map((result) => isErrorResult(result))).toEqual([true]);
  isDone.resolve('done');
  await host.close();
});

test('PROP-A2 a call that nobody wants any more is cancelled, also while a person is asked about it', async () => {
  const asked = Promise.withResolvers<void>();
  const results: unknown[] = [];
  const agent = byo(
    async (ctx) => {
      const left = new AbortController();
      const rm = ctx.tools.get('rm');
      const waits = rm?.executor(ctx, { signal: left.signal })({});
      await asked.promise;
      left.abort(new Error('nobody waits for it'));
      results.push(await waits, await rm?.executor(ctx, { signal: left.signal })({}));
      ctx.ack();
    },
    { tools: [tool('rm', () => results.push('it ran'))] },
  );
  const host = createHost({
    app: 'desk',
    agents: [fromAgent(agent)],
    policy: asks,
    onApproval: () => {
      asked.resolve();
      return new Promise<never>(() => {});
    },
  });
  const session = await host.open('byo');
  const events = await say(session, 'go');
  expect(results.map((result) => isErrorResult(result))).toEqual([true, true]);
  expect(responsesOf(events)).toMatchObject([{ errorType: 'cancelled' }]);
  expect([endOf(events), await session.pending()]).toMatchObject([{ reason: 'completed' }, []]);
  await host.close();
});
