import { expect, test } from 'vitest';
import { createSessionFactory } from '../../../src/host/index.ts';
import {
  allowAll,
  createHost,
  fromAgent,
  InMemorySessionService,
  LlmAgent,
  ParallelAgent,
  run,
  subagentTool,
} from '../../../src/index.ts';
import type { Model } from '../../../src/runtime/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import {
  all,
  brief,
  door,
  endOf,
  follow,
  hostOf,
  notingTool,
  ofType,
  policyOf,
  readOnly,
  refusal,
  results,
  say,
  slowTool,
  tool,
} from '../kit.ts';
import { askExpert, team } from './kit.ts';

const asks = policyOf({ pay: 'ask' });

function payTeam() {
  const pay = notingTool('pay');
  const made = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay', { n: 1 }]] }, 'paid'],
    tools: [pay.tool],
    host: { policy: asks },
  });
  return { ...made, pay };
}

test('S3-56 a no inside is told to the sub-agent, which goes on', async () => {
  const { host, pay } = payTeam();
  const session = await host.open('boss');
  await say(session, 'go');
  const [question] = await session.pending();
  const events = await say(session, {
    kind: 'elicitation_response',
    requestId: String(question?.requestId),
    response: { action: 'decline' },
  });
  expect([results(events).pay?.split(':')[0], results(events).expert, endOf(events).reason, pay.runs]).toEqual([
    'denied',
    'paid',
    'completed',
    [],
  ]);
});

test('F23 S3-56 who answers second is told; an id that nobody knows is refused', async () => {
  const { host } = payTeam();
  const session = await host.open('boss');
  await say(session, 'go');
  const id = String((await session.pending())[0]?.requestId);
  await session.respond(id, { kind: 'approve', by: { id: 'ann' } });
  expect(await session.respond(id, { kind: 'deny' })).toMatchObject({ status: 'already_settled', by: 'ann' });
  expect(await refusal(session.respond('nobody#policy', { kind: 'approve' }))).toMatchObject({
    code: 'E_UNKNOWN_REQUEST',
  });
});

test('S3-56 F22 a new message closes the call, and what is open inside of it', async () => {
  const { host, store, pay } = payTeam();
  const session = await host.open('boss');
  await say(session, 'go');
  const id = String((await session.pending())[0]?.requestId);
  expect(endOf(await say(session, 'never mind')).reason).toBe('completed');
  expect(await store.openCalls({ app: 'shop' })).toEqual([]);
  expect((await refusal(session.respond(id, { kind: 'approve' }))).code).toBe('E_UNKNOWN_REQUEST');
  expect(pay.runs).toEqual([]);
});

test('S3-56 S3-14 abort of a waiting session ends the sub-agent; so does an abort in mid-run', async () => {
  const waiting = payTeam();
  const session = await waiting.host.open('boss');
  await say(session, 'go');
  await session.abort();
  expect([await session.pending(), await waiting.store.openCalls({ app: 'shop' }), waiting.pay.runs]).toEqual([
    [],
    [],
    [],
  ]);

  const slow = slowTool('slow');
  const running = team({
    boss: [askExpert],
    expert: [{ calls: [['slow']] }],
    tools: [slow.tool],
    host: { policy: allowAll() },
  });
  const second = await running.host.open('boss');
  const stream = follow(second, 'go');
  const context = await slow.started;
  await second.abort();
  const events = await stream.ended;
  expect([endOf(events).reason, context.signal.aborted]).toEqual(['aborted', true]);
  expect(results(events)).toMatchObject({
    slow: expect.stringMatching(/^interrupted/),
    expert: expect.stringMatching(/^interrupted/),
  });
  expect(await running.store.openCalls({ app: 'shop' })).toEqual([]);
});

test('S3-56 abort of one call inside, and of a whole sub-agent', async () => {
  const slow = slowTool('slow');
  const script = { boss: [askExpert, 'done'], expert: [{ calls: [['slow'] as const] }, 'without it'] };
  const one = team({
    boss: script.boss,
    expert: script.expert as never,
    tools: [slow.tool],
    host: { policy: allowAll() },
  });
  const session = await one.host.open('boss');
  const stream = follow(session, 'go');
  await slow.started;
  const inside = await stream.seen('tool_request', ({ name }) => name === 'slow');
  await session.abort({ requestId: inside.requestId });
  expect(results(await stream.ended)).toMatchObject({
    slow: expect.stringMatching(/^interrupted/),
    expert: 'without it',
  });

  const again = slowTool('slow');
  const whole = team({
    boss: script.boss,
    expert: script.expert as never,
    tools: [again.tool],
    host: { policy: allowAll() },
  });
  const other = await whole.host.open('boss');
  const second = follow(other, 'go');
  await again.started;
  const call = await second.seen('tool_request', ({ name }) => name === 'expert');
  await other.abort({ requestId: call.requestId });
  const events = await second.ended;
  expect([results(events).expert?.split(':')[0], endOf(events).reason]).toEqual(['interrupted', 'completed']);
  expect(await whole.store.openCalls({ app: 'shop' })).toEqual([]);
});

test('S3-56 a sub-agent that fails is an error of its call; the caller goes on', async () => {
  const { host } = team({
    boss: [askExpert, 'without the expert'],
    expert: [{ error: new Error('model down') }],
    host: { policy: allowAll() },
  });
  const events = await say(await host.open('boss'), 'go');
  expect(results(events).expert).toMatch(/^failed: agent expert ended failed: .*model down/);
  expect(ofType(events, 'error').map(({ fatal, threadId }) => [fatal, threadId !== undefined])).toEqual([
    [false, true],
  ]);
  expect(endOf(events).reason).toBe('completed');
});

test('S3-56 the host’s handler is asked while the stream runs', async () => {
  const pay = notingTool('pay');
  const seen: unknown[] = [];
  const { host } = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay']] }, 'paid'],
    tools: [pay.tool],
    host: {
      policy: asks,
      onApproval: (question) => {
        seen.push([question.name, question.agentPath]);
        return { kind: 'approve' };
      },
    },
  });
  expect(endOf(await say(await host.open('boss'), 'go')).reason).toBe('completed');
  expect([seen, pay.runs.length]).toEqual([[['pay', ['boss', 'expert']]], 1]);
});

test('S3-56 S3-26 what a sub-agent’s own tool asks is answered at the caller’s session', async () => {
  const confirms = tool('confirms', (_, context) => {
    if (!context.confirmation) context.requestConfirmation({ hint: 'sure?' });
    return 'did it';
  });
  const { host } = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['confirms']] }, 'ok'],
    expertOptions: { tools: [confirms] },
    host: { policy: allowAll() },
  });
  const session = await host.open('boss');
  await say(session, 'go');
  const [question] = await session.pending();
  expect(question).toMatchObject({ message: 'sure?', agentPath: ['boss', 'expert'], sessionId: session.id });
  await session.respond(String(question?.requestId), { kind: 'elicitation', action: 'accept' });
  expect(results(await say(session, { kind: 'continue' }))).toMatchObject({ confirms: 'did it', expert: 'ok' });
});

test('S3-56 sub-agents of sub-agents: one path, one place for questions, and an end to the depth', async () => {
  const pay = notingTool('pay');
  const inner = subagentTool(
    fromAgent(new LlmAgent({ name: 'inner', model: new ScriptedModel([{ calls: [['pay']] }, 'paid']) })),
  );
  const { host, store } = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['inner', { request: 'deeper' }]] }, 'all paid'],
    tools: [inner, pay.tool],
    host: { policy: asks },
  });
  const session = await host.open('boss');
  await say(session, 'go');
  const [question] = await session.pending();
  expect(question).toMatchObject({ name: 'pay', agentPath: ['boss', 'expert', 'inner'], sessionId: session.id });
  expect((await host.approvals.list()).map(({ request }) => request.requestId)).toEqual([question?.requestId]);
  await session.respond(String(question?.requestId), { kind: 'approve' });
  expect(results(await say(session, { kind: 'continue' }))).toEqual({
    pay: 'pay done',
    inner: 'paid',
    expert: 'all paid',
  });
  expect([pay.runs.length, await store.openCalls({ app: 'shop' })]).toEqual([1, []]);

  const endless = team({
    boss: [askExpert, 'done'],
    expert: [askExpert, askExpert, 'too deep'],
    toolOptions: { maxDepth: 1 },
    host: { policy: allowAll() },
  });
  const events = await say(await endless.host.open('boss'), 'go');
  expect(ofType(events, 'tool_response')[0]?.content).toMatchObject([
    { text: expect.stringContaining('1 are allowed') },
  ]);
});

test('S3-56 an open question of a sub-agent whose agent the host has too is listed once', async () => {
  const pay = notingTool('pay');
  const expert = fromAgent(new LlmAgent({ name: 'expert', model: new ScriptedModel([{ calls: [['pay']] }, 'paid']) }));
  const boss = fromAgent(new LlmAgent({ name: 'boss', model: new ScriptedModel([askExpert, 'done']) }));
  const host = createHost({
    app: 'shop',
    agents: [expert, boss],
    tools: [pay.tool, subagentTool(expert)],
    store: new InMemorySessionService(),
    policy: asks,
  });
  const session = await host.open('boss');
  await say(session, 'go');
  const open = await host.approvals.list();
  expect(open.map(({ agent, request }) => [agent, request.agentPath])).toEqual([['boss', ['boss', 'expert']]]);
  await host.approvals.decide(String(open[0]?.request.requestId), { kind: 'approve' }, { by: { id: 'local' } });
  for await (const event of session.events({ live: true })) if (event.type === 'stream_end') break;
  expect(pay.runs).toHaveLength(1);
});

test('S3-56 S3-57 a descriptor and a factory: the creator is told which session to open', async () => {
  const agent = fromAgent(new LlmAgent({ name: 'expert', description: 'knows', model: new ScriptedModel(['made']) }));
  const factory = createSessionFactory();
  const opened: unknown[] = [];
  factory.register('adk', (_, context) => {
    opened.push(context.session);
    return agent.open(context.session ?? {}, context);
  });
  const made = subagentTool(agent.descriptor, factory);
  expect([made.name, made.description]).toEqual(['expert', 'knows']);
  const { host } = hostOf(new LlmAgent({ name: 'boss', model: new ScriptedModel([askExpert, 'done']) }), {
    tools: [made],
    policy: allowAll(),
  });
  const session = await host.open('boss');
  const events = await say(session, 'go');
  const [call] = ofType(events, 'tool_request');
  expect([results(events), opened]).toEqual([
    { expert: 'made' },
    [{ sessionId: `${session.id}.${call?.requestId}`, create: true }],
  ]);
});

test('S3-56 a factory that opens another session than it is told to is found out', async () => {
  const agent = fromAgent(new LlmAgent({ name: 'expert', model: new ScriptedModel(['made']) }));
  const factory = createSessionFactory();
  factory.register('adk', (_, context) => agent.open({}, context));
  const { host } = hostOf(new LlmAgent({ name: 'boss', model: new ScriptedModel([askExpert, 'done']) }), {
    tools: [subagentTool(agent.descriptor, factory)],
    policy: allowAll(),
  });
  const events = await say(await host.open('boss'), 'go');
  expect(results(events).expert).toMatch(/says that it can resume, but opened/);
});

test('S3-56 arguments are the agent’s input, an output schema makes its answer a value', async () => {
  const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const outputSchema = { type: 'object', properties: { t: { type: 'number' } }, required: ['t'] };
  const { host, expert } = team({
    boss: [{ calls: [['expert', { city: 'Oslo' }]] }, { calls: [['expert', { city: 'Rome' }]] }, 'done'],
    expert: ['{"t":3}', 'warm'],
    expertOptions: { inputSchema, outputSchema },
    host: { policy: allowAll() },
  });
  const events = await say(await host.open('boss'), 'go');
  expect(ofType(events, 'tool_response').map(({ structuredContent, isError }) => structuredContent ?? isError)).toEqual(
    [{ t: 3 }, true],
  );
  expect(expert.requests[0]?.contents[0]?.parts).toEqual([{ type: 'text', text: '{"city":"Oslo"}' }]);
});

test('S3-56 outside of a host it says where it belongs', async () => {
  const made = subagentTool(fromAgent(new LlmAgent({ name: 'expert', model: new ScriptedModel([]) })), readOnly);
  const boss = new LlmAgent({ name: 'boss', model: new ScriptedModel([askExpert, 'done']), tools: [made] });
  const lines: string[] = [];
  const session = await fromAgent(boss).open({}, { app: 'shop' });
  await run(session, 'go', { onEvent: (event) => lines.push(...brief([event])) });
  expect(lines).toContain('expert = failed');
});

test('S3-56 a sub-agent that fails ends the words of its own sub-agents, which were half said', async () => {
  const half = door();
  const leaf: Model = {
    name: 'leaf',
    async *generate(_, { signal }) {
      yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'half' }] } };
      half.open();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  const broken = new ScriptedModel([
    { calls: [['quick']] },
    async () => {
      await half.opened;
      throw new Error('the model is down');
    },
  ]);
  const caller = new LlmAgent({ name: 'caller', model: new ScriptedModel([{ calls: [['leaf', { request: 'go' }]] }]) });
  const middle = new ParallelAgent({
    name: 'middle',
    subAgents: [caller, new LlmAgent({ name: 'broken', model: broken })],
  });
  const boss = new LlmAgent({
    name: 'boss',
    model: new ScriptedModel([{ calls: [['middle', { request: 'go' }]] }, 'a pity']),
  });
  const { host } = hostOf(boss, {
    policy: allowAll(),
    tools: [
      notingTool('quick').tool,
      subagentTool(fromAgent(middle)),
      subagentTool(fromAgent(new LlmAgent({ name: 'leaf', model: leaf }))),
    ],
  });
  const events = await say(await host.open('boss'), 'go');
  const words = ofType(events, 'message').filter(({ content }) => JSON.stringify(content).includes('half'));
  expect([words.map(({ partial }) => partial === true), endOf(events).reason]).toEqual([[true, false], 'completed']);
});

test('S3-02 a log that cannot be read when the turn has ended: the stream has its end all the same', async () => {
  let isBroken = false;
  class Breaks extends InMemorySessionService {
    override async append(...[key, events, options]: Parameters<InMemorySessionService['append']>) {
      const stored = await super.append(key, events, options);
      if (!key.id.includes('.') && events.some(({ actions }) => actions.end)) isBroken = true;
      return stored;
    }
    override async get(...args: Parameters<InMemorySessionService['get']>) {
      if (isBroken) throw new Error('the disk is gone');
      return super.get(...args);
    }
  }
  const { host, warnings } = team({
    boss: [askExpert, 'done'],
    expert: ['known'],
    store: new Breaks(),
    host: { policy: allowAll() },
  });
  const session = await host.open('boss');
  const events = await all(session.stream('go'));
  expect(endOf(events).reason).toBe('completed');
  expect(warnings).toEqual([`session ${session.id}: what its sub-agents have come to is not known`]);
});

test('SOAK-6 a session that is deleted takes along its sub-agents’, with what they ask', async () => {
  const { host } = payTeam();
  const session = await host.open('boss');
  await say(session, 'go');
  expect(await host.approvals.list()).toHaveLength(1);
  await session[Symbol.asyncDispose]();
  await host.sessions().delete(session.id);
  expect(await host.sessions().list()).toEqual([]);
  expect(await host.sessions().open?.()).toEqual([]);
});
