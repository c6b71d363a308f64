import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { AdkSession } from '../../src/adapters/adk/index.ts';
import { snapshotOf } from '../../src/adapters/adk/index.ts';
import type { AgentEvent, AgentSession } from '../../src/contracts/index.ts';
import { hooks } from '../../src/contracts/index.ts';
import type { AgentSource } from '../../src/index.ts';
import {
  allowAll,
  createHost,
  fromAgent,
  InMemorySessionService,
  LlmAgent,
  ParallelAgent,
  rulePolicy,
  run,
} from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import {
  all,
  bot,
  brief,
  door,
  endOf,
  firstOf,
  follow,
  hostOf,
  notingTool,
  ofType,
  only,
  policyOf,
  readOnly,
  refusal,
  results,
  say,
  slowTool,
  textOfContent,
  tool,
  whole,
} from './kit.ts';
import { watchRejections } from './rejections.ts';

describe('a hosted stream', () => {
  test('S3-23 S3-11 S3-24 inner streams follow one another: policy, before_tool, start, execute, after_tool, result, model', async () => {
    const trace: string[] = [];
    const model = new ScriptedModel([
      () => {
        trace.push('model');
        return { calls: [['pay', { eur: 5 }]] };
      },
      () => {
        trace.push('model');
        return 'done';
      },
    ]);
    const pay = tool('pay', () => {
      trace.push('execute');
      return 'paid';
    });
    const { host } = hostOf(bot(model), {
      tools: [pay],
      policy: {
        evaluate: () => {
          trace.push('policy');
          return { outcome: 'allow' };
        },
      },
      hooks: hooks({
        beforeTool: () => void trace.push('before_tool'),
        afterTool: () => void trace.push('after_tool'),
      }),
    });
    const session = await host.open('bot');
    const events = await say(session, 'go', {
      onEvent: (event) => event.type === 'tool_update' && trace.push(`stored ${event.status}`),
    });
    expect(trace).toEqual(['model', 'policy', 'before_tool', 'stored started', 'execute', 'after_tool', 'model']);
    expect(brief(events)).toEqual([
      'initialize',
      'user: go',
      'call pay',
      'update started',
      'custom policy_decision',
      'pay = paid',
      'agent~: done',
      'agent: done',
      'end completed',
    ]);
    expect(new Set(events.map(({ streamId }) => streamId)).size).toBe(1);
    expect(await all(session.events())).toEqual(events.filter(({ seq }) => seq !== undefined));
  });

  test('S3-23 the decision on a tool that may not run twice is in the log before it starts', async () => {
    const { store, host } = hostOf(bot([{ calls: [['pay']] }, 'done']), {
      tools: [
        tool('pay', async () => {
          const record = await store.get({ app: 'shop', userId: 'local', id: session.id });
          return record?.events.at(-1)?.actions;
        }),
      ],
      policy: allowAll(),
    });
    const session = await host.open('bot');
    const [response] = ofType(await say(session, 'go'), 'tool_response');
    const [callId] = ofType(await all(session.events()), 'tool_request').map(({ requestId }) => requestId);
    expect(response?.structuredContent).toMatchObject({
      started: [callId],
      decisions: { [callId ?? '']: { outcome: 'approved', by: 'policy' } },
    });
  });

  test('S3-25 calls of one batch run side by side; each settles as it ends, while a sibling still runs', async () => {
    const a = slowTool('a', readOnly);
    const b = slowTool('b');
    const model = new ScriptedModel([{ calls: [['a'], ['b']] }, 'done']);
    const { host } = hostOf(bot(model), { tools: [a.tool, b.tool], policy: allowAll() });
    const session = await host.open('bot');
    const stream = follow(session, 'go');
    await Promise.all([a.started, b.started]);
    b.finish('B');
    await stream.seen('tool_response', ({ name }) => name === 'b');
    expect(model.requests).toHaveLength(1);
    a.finish('A');
    expect(results(await stream.ended)).toEqual({ a: 'A', b: 'B' });
  });

  test('S3-25 an exclusive tool runs alone', async () => {
    const [a, b, c] = [slowTool('a'), slowTool('b', { annotations: { exclusive: true } }), slowTool('c')];
    const { host } = hostOf(bot([{ calls: [['a'], ['b'], ['c']] }, 'done']), {
      tools: [a.tool, b.tool, c.tool],
      policy: allowAll(),
    });
    const stream = follow(await host.open('bot'), 'go');
    await a.started;
    expect([b.runs.length, c.runs.length]).toEqual([0, 0]);
    a.finish(1);
    await b.started;
    expect(c.runs).toEqual([]);
    b.finish(1);
    await c.started;
    c.finish(1);
    expect(endOf(await stream.ended).reason).toBe('completed');
  });

  test('S3-20 plan mode denies a writer: of the host, of the session, of one stream; a reader runs', async () => {
    const steps = () => [{ calls: [['look'], ['pay']] as const }, 'done'];
    const pay = notingTool('pay');
    const options = { tools: [pay.tool, notingTool('look', readOnly).tool], policy: allowAll() };
    const outcomes: unknown[] = [];
    outcomes.push(
      results(await say(await hostOf(bot(steps()), { ...options, permissionMode: 'plan' }).host.open('bot'), 'go')),
    );
    outcomes.push(
      results(await say(await hostOf(bot(steps()), options).host.open('bot', { permissionMode: 'plan' }), 'go')),
    );
    const session = await hostOf(bot([...steps(), ...steps()]), options).host.open('bot');
    outcomes.push(results(await say(session, 'go', { permissionMode: 'plan' })));
    for (const outcome of outcomes) {
      expect(outcome).toEqual({ look: 'look done', pay: expect.stringMatching(/^denied by policy: .*plan/i) });
    }
    expect(pay.runs).toEqual([]);
    // For that stream only.
    expect(results(await say(session, 'go')).pay).toBe('pay done');
  });

  test('S3-20 S3-12 a mode that was updated holds in mid-stream, for other handles and after a restart', async () => {
    const look = slowTool('look', readOnly);
    const pay = notingTool('pay');
    const steps = [{ calls: [['look']] }, { calls: [['pay']] }, 'a', { calls: [['pay']] }, 'b'] as const;
    const model = new ScriptedModel([...steps, { calls: [['pay']] }, 'c', { calls: [['pay']] }, 'd']);
    const { host, store } = hostOf(bot(model), { tools: [look.tool, pay.tool], policy: allowAll() });
    const session = await host.open('bot');
    const stream = follow(session, 'go');
    await look.started;
    expect(await session.update({ permissionMode: 'plan' })).toEqual({ effective: 'next_step' });
    look.finish(1);
    expect(results(await stream.ended).pay).toMatch(/^denied/);
    const other = await host.open('bot', { sessionId: session.id });
    expect(results(await say(other, 'go')).pay).toMatch(/^denied/);
    const restarted = hostOf(bot(model), { tools: [look.tool, pay.tool], policy: allowAll(), store });
    const third = await restarted.host.open('bot', { sessionId: session.id });
    expect(results(await say(third, 'go')).pay).toMatch(/^denied/);
    await third.update({ permissionMode: null });
    expect(results(await say(third, 'go')).pay).toBe('pay done');
  });

  test("a mode of a host's own that was updated holds for rules that name it, also after a restart", async () => {
    const pay = notingTool('pay');
    const model = new ScriptedModel([0, 1, 2, 3].flatMap((n) => [{ calls: [['pay', {}]] }, `end ${n}`] as const));
    const policy = rulePolicy([{ id: 'at-night', tool: 'pay', mode: 'night_shift', outcome: 'allow' }], {
      defaultOutcome: 'deny',
    });
    const { host, store } = hostOf(bot(model), { tools: [pay.tool], policy });
    const session = await host.open('bot');
    expect(results(await say(session, 'go')).pay).toMatch(/^denied/);
    expect(await session.update({ permissionMode: 'night_shift' })).toEqual({ effective: 'next_step' });
    expect(results(await say(session, 'go')).pay).toBe('pay done');
    const restarted = hostOf(bot(model), { tools: [pay.tool], policy, store });
    const again = await restarted.host.open('bot', { sessionId: session.id });
    expect(results(await say(again, 'go')).pay).toBe('pay done');
    await again.update({ permissionMode: null });
    expect(results(await say(again, 'go')).pay).toMatch(/^denied/);
    for (const nearly of ['Plan', 'plann', '']) {
      await expect(again.update({ permissionMode: nearly })).rejects.toThrow(
        /permissionMode does not take .*; give one of default, .*, or a mode of your own/,
      );
    }
  });

  test('S3-44 the host mediates a transfer: policy is asked, the target goes on in the same stream', async () => {
    const front = (byAgent: Record<string, ConstructorParameters<typeof ScriptedModel>[0]>) =>
      new LlmAgent({
        name: 'bot',
        model: new ScriptedModel({ byAgent: byAgent as never }),
        subAgents: [new LlmAgent({ name: 'back', description: 'bills' })],
      });
    const script = { bot: [{ calls: [['transfer_to_agent', { agent_name: 'back' }]] }, 'I stay'], back: ['billed'] };
    const policy = policyOf({});
    const session = await hostOf(front(script as never), { policy }).host.open('bot');
    const events = await say(session, 'go');
    expect(policy.asked.map(({ action, args }) => [action, args])).toEqual([
      ['transfer_to_agent', { agent_name: 'back' }],
    ]);
    expect(ofType(events, 'message').at(-1)).toMatchObject({ agentId: 'back' });
    expect(endOf(events).data).not.toHaveProperty('transfer');
    const denied = await hostOf(front(script as never), { policy: policyOf({ transfer_to_agent: 'deny' }) }).host.open(
      'bot',
    );
    expect(ofType(await say(denied, 'go'), 'message').at(-1)).toMatchObject({ agentId: 'bot' });
    // A question like any other.
    const asked = await hostOf(front(script as never), {
      policy: policyOf({ transfer_to_agent: 'ask' }),
    }).host.open('bot');
    expect(endOf(await say(asked, 'go'))).toMatchObject({
      reason: 'input_required',
      data: { pending: [{ name: 'transfer_to_agent' }] },
    });
    const { requestId } = await only(asked);
    expect(ofType(await say(asked, { kind: 'tool_approval', requestId }), 'message').at(-1)).toMatchObject({
      agentId: 'back',
    });
  });

  test('S3-66 host execution: one evaluation a call, by the host; the agent’s own policy is not asked', async () => {
    const inner = policyOf({ own: 'deny' });
    const outer = policyOf({});
    const own = notingTool('own');
    const agent = bot([{ calls: [['own']] }, 'done', { calls: [['own']] }, 'done'], { tools: [own.tool] });
    const source = fromAgent(agent);
    const guarded: AgentSource = { ...source, open: (ref, context) => source.open(ref, { ...context, policy: inner }) };
    const host = createHost({ app: 'shop', agents: [guarded], policy: outer });
    await say(await host.open('bot'), 'go');
    expect([inner.asked.length, own.runs.length]).toEqual([0, 1]);
    expect(outer.asked.map(({ action }) => action).slice(0, 1)).toEqual(['own']);
    // Without a host the agent's own policy is the one.
    const bare = await guarded.open({}, { app: 'shop' });
    expect(results(await say(bare, 'go')).own).toMatch(/^denied/);
    expect(inner.asked).toHaveLength(1);
  });

  test('S3-75 the agent’s own questions are answered by onElicitation while the stream runs', async () => {
    for (const [action, outcome] of [
      ['accept', 'done'],
      ['decline', 'denied'],
      ['cancel', 'cancelled: it never ran'],
    ] as const) {
      const own = tool('own', (_, context) => {
        if (!context.confirmation) context.requestConfirmation({ hint: 'sure?', payload: { n: 1 } });
        return 'done';
      });
      const asked: unknown[] = [];
      const { host } = hostOf(bot([{ calls: [['own']] }, 'ok'], { tools: [own] }), {
        policy: allowAll(),
        onElicitation: ({ message, context }) => {
          asked.push([message, context]);
          return { kind: 'elicitation', action };
        },
      });
      const events = await say(await host.open('bot'), 'go');
      expect([asked, results(events).own, endOf(events).reason]).toEqual([
        [['sure?', { payload: { n: 1 } }]],
        outcome,
        'completed',
      ]);
      expect(ofType(events, 'elicitation_response')).toMatchObject([{ action }]);
    }
  });

  test('S3-75 one question answered, another still open: the answered call runs before the stream ends', async () => {
    const own = tool('own', (_, context) => {
      if (!context.confirmation) context.requestConfirmation({ hint: 'sure?' });
      return 'done';
    });
    const answer = door();
    const { host } = hostOf(bot([{ calls: [['own'], ['pay']] }, 'ok'], { tools: [own] }), {
      tools: [notingTool('pay').tool],
      policy: policyOf({ pay: 'ask' }),
      onElicitation: async () => {
        await answer.opened;
        return { kind: 'elicitation', action: 'accept' };
      },
    });
    const stream = follow(await host.open('bot'), 'go');
    await stream.seen('elicitation_request', ({ approval }) => approval !== undefined);
    answer.open();
    const events = await stream.ended;
    expect(results(events)).toEqual({ own: 'done' });
    expect(endOf(events)).toMatchObject({ reason: 'input_required', data: { pending: [{ name: 'pay' }] } });
  });

  test('S3-02 the executor key and the agent’s name choose who runs', async () => {
    const one = bot(['one'], { name: 'one' });
    const two = bot(['two'], { name: 'two' });
    const host = createHost({ app: 'shop', agents: [fromAgent(one), fromAgent(two)] });
    expect(host.agents.map(({ name, executor }) => [name, executor])).toEqual([
      ['one', 'adk'],
      ['two', 'adk'],
    ]);
    expect((await run(await host.open('two'), 'hi')).text).toBe('two');
    expect(await refusal(host.open('three'))).toMatchObject({
      status: 'NOT_FOUND',
      code: 'E_AGENT_UNKNOWN',
      message: expect.stringContaining('one, two'),
    });
    expect((await refusal(host.open('__proto__'))).code).toBe('E_AGENT_UNKNOWN');
  });

  test('S3-02 duplicate agents and tools, ids that are no segment: refused where the host is made', async () => {
    const agents = [fromAgent(bot([]))];
    const tools = [notingTool('a').tool];
    const make = (options: Partial<Parameters<typeof createHost>[0]>) =>
      refusal((async () => createHost({ app: 'shop', agents, ...options }))());
    expect((await make({ agents: [...agents, fromAgent(bot([]))] })).code).toBe('E_DUPLICATE_AGENT');
    expect((await make({ tools: [...tools, ...tools] })).code).toBe('E_DUPLICATE_TOOL');
    expect((await make({ app: '../x' })).code).toBe('E_ID');
    expect((await make({ tools: [tool('x', () => 1, { inputSchema: 7 as never })] })).code).toBe('E_SCHEMA');
  });

  test('S3-18 a caller’s tools are offered beside the host’s; none takes the name of one', async () => {
    const model = new ScriptedModel(['ok']);
    const { host } = hostOf(bot(model, { tools: [tool('own', () => 1)] }), { tools: [notingTool('pay').tool] });
    const session = await host.open('bot');
    const described = (name: string) => ({ name, description: name, inputSchema: { type: 'object' } });
    for (const tools of [[described('pay')], [described('x'), described('x')]]) {
      expect(await refusal(firstOf(session, 'go', { tools }))).toMatchObject({
        status: 'INVALID_ARGUMENT',
        code: 'E_DUPLICATE_TOOL',
      });
    }
    expect(
      (await refusal(firstOf(session, 'go', { tools: [{ ...described('x'), inputSchema: 7 as never }] }))).code,
    ).toBe('E_SCHEMA');
    expect(await all(session.events())).toEqual([]);
    await say(session, 'go', { tools: [described('theirs')] });
    expect(model.requests[0]?.tools).toEqual(['own', 'pay', 'theirs']);
  });

  test('S3-16 S3-17 open by snapshot and as a fork, under the host’s control', async () => {
    const pay = notingTool('pay');
    const steps = [{ calls: [['pay']] }, 'done'] as const;
    const { host } = hostOf(bot([...steps, 'in the copy']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const original = await host.open('bot');
    await say(original, 'go');
    const { requestId } = await only(original);
    const copy = await host.open('bot', { sessionId: original.id, fork: true });
    expect(await copy.pending()).toEqual([]);
    expect((await refusal(copy.respond(requestId, { kind: 'approve' }))).code).toBe('E_REQUEST_CLOSED');
    const snapshot = JSON.parse(JSON.stringify(await snapshotOf(whole(original).inner as AdkSession)));
    const elsewhere = hostOf(bot(['done']), { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
    const moved = await elsewhere.host.open('bot', { snapshot });
    expect((await only(moved)).requestId).toBe(requestId);
    await say(moved, { kind: 'tool_approval', requestId });
    expect(pay.runs).toHaveLength(1);
    expect(await only(original)).toMatchObject({ requestId });
  });

  test('S3-68 sessions of a host belong to a user', async () => {
    const { host } = hostOf(bot(['hi']));
    const session = await host.open('bot', { userId: 'ann' });
    await say(session, 'hi');
    expect((await host.sessions('ann').list()).map(({ id }) => id)).toEqual([session.id]);
    expect(await host.sessions().list()).toEqual([]);
    expect((await refusal(host.open('bot', { sessionId: session.id }))).code).toBe('E_SESSION_NOT_FOUND');
    await host.sessions('ann').delete(session.id);
    expect((await refusal(host.open('bot', { sessionId: session.id, userId: 'ann' }))).code).toBe(
      'E_SESSION_NOT_FOUND',
    );
  });
});

test.each<[string, (session: AgentSession, signal: AbortSignal) => Promise<unknown>]>([
  ['that has ended', (session, signal) => say(session, 'go', { signal })],
  [
    'that was left',
    async (session, signal) => {
      for await (const event of session.stream('go', { signal })) if (event.type === 'message') break;
    },
  ],
  ['that was refused', (session, signal) => refusal(all(session.stream({ kind: 'continue' }, { signal })))],
])('MUT-H5 a stream %s leaves no listener on its caller’s signal', async (_, use) => {
  const { signal } = new AbortController();
  const { host } = hostOf(bot(['done']));
  const session = await host.open('bot');
  await use(session, signal);
  await session[Symbol.asyncDispose]();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

describe('one stream a session', () => {
  test('F25 a second stream is refused while a tool runs between two inner streams, on either handle', async () => {
    const slow = slowTool('slow');
    const model = new ScriptedModel([{ calls: [['slow']] }, 'done', 'next']);
    const { host } = hostOf(bot(model), { tools: [slow.tool], policy: allowAll() });
    const session = await host.open('bot');
    const other = await host.open('bot', { sessionId: session.id });
    const stream = follow(session, 'go');
    await slow.started;
    for (const handle of [session, other]) {
      expect(await refusal(firstOf(handle, 'me too'))).toMatchObject({ status: 'ABORTED', code: 'E_SESSION_BUSY' });
      expect((await refusal(firstOf(handle, { kind: 'continue' }))).code).toBe('E_SESSION_BUSY');
    }
    // What runs here is nobody's open question.
    expect((await other.pending()).map(({ kind }) => kind)).toEqual(['tool']);
    slow.finish('x');
    expect(endOf(await stream.ended).reason).toBe('completed');
    expect(slow.runs).toHaveLength(1);
    expect(endOf(await say(other, 'now me')).reason).toBe('completed');
  });

  test('S3-11 nothing happens before the first next(), and a refused input stores nothing', async () => {
    const { host } = hostOf(bot(['never']), { policy: allowAll() });
    const session = await host.open('bot');
    session.stream('lazy');
    await session.stream('given up').return?.();
    for (const [input, code] of [
      [{ kind: 'shout' }, 'E_BAD_INPUT'],
      [{ kind: 'continue' }, 'E_NO_TURN'],
      [{ kind: 'tool_approval', requestId: 'nobody' }, 'E_UNKNOWN_REQUEST'],
      [{ kind: 'tool_result', requestId: '__proto__', result: { content: [] } }, 'E_UNKNOWN_REQUEST'],
      ['x'.repeat(5 * 1024 * 1024), 'E_TOO_LARGE'],
    ] as const) {
      expect((await refusal(firstOf(session, input as never))).code).toBe(code);
    }
    expect(await all(session.events())).toEqual([]);
    // A refused stream does not count as the live one, and an abort does not wait for it.
    await session.abort();
  });

  test('S3-14 a stream that loses its store in mid-run still gets its end', async () => {
    const store = new InMemorySessionService();
    let broken = false;
    const failing = new Proxy(store, {
      get(target, name) {
        const member = Reflect.get(target, name);
        if (name === 'append' && broken) return () => Promise.reject(new Error('disk full'));
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const slow = slowTool('slow');
    const { host } = hostOf(bot([{ calls: [['slow']] }, 'done']), {
      tools: [slow.tool],
      policy: allowAll(),
      store: failing,
    });
    const stream = follow(await host.open('bot'), 'go');
    await slow.started;
    broken = true;
    slow.finish(1);
    const events = await stream.ended;
    expect(ofType(events, 'error')).toMatchObject([{ fatal: true }]);
    expect(endOf(events).reason).toBe('failed');
  });
});

describe('abort', () => {
  test('S3-14 F15 F35 a host tool that ignores its signal: the call is interrupted, what comes late is dropped', async () => {
    const unhandled = watchRejections();
    const late = Promise.withResolvers<never>();
    const signals: AbortSignal[] = [];
    const entered = door();
    const stubborn = tool('stubborn', (_, { signal }) => {
      signals.push(signal);
      entered.open();
      return late.promise;
    });
    const model = new ScriptedModel([{ calls: [['stubborn']] }, 'hello']);
    const { host, warnings } = hostOf(bot(model), { tools: [stubborn], policy: allowAll() });
    const session = await host.open('bot');
    const stream = follow(session, 'go');
    await entered.opened;
    await session.abort({ reason: 'enough' });
    expect(signals[0]?.aborted).toBe(true);
    expect(brief(await stream.ended).slice(-2)).toEqual(['stubborn = interrupted', 'end aborted']);
    late.reject(new Error('late'));
    expect(await unhandled()).toEqual([]);
    expect(endOf(await say(session, 'hi')).reason).toBe('completed');
    expect(JSON.stringify(model.requests[1]?.contents)).toContain('interrupted');
    expect(warnings).toEqual([]);
  });

  test('S3-14 F35 what waits for its turn is not started by an abort', async () => {
    const first = slowTool('first');
    const second = notingTool('second');
    const { host } = hostOf(bot([{ calls: [['first'], ['second']] }]), {
      tools: [first.tool, second.tool],
      policy: allowAll(),
      toolConcurrency: 1,
    });
    const session = await host.open('bot');
    const stream = follow(session, 'go');
    await first.started;
    await session.abort();
    first.finish(1);
    expect(endOf(await stream.ended).reason).toBe('aborted');
    await new Promise((resolve) => setImmediate(resolve));
    expect(second.runs).toEqual([]);
  });

  test('S3-14 F35 an abort while the start is being stored starts nothing', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay']] }]), { tools: [pay.tool], policy: allowAll() });
    const session = await host.open('bot');
    const events = await say(session, 'go', {
      onEvent: (event) => event.type === 'tool_update' && void session.abort(),
    });
    expect(brief(events).slice(-2)).toEqual(['pay = interrupted', 'end aborted']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(pay.runs).toEqual([]);
  });

  test('S3-14 of one call: running, waiting for its turn, or asked about; the others go on', async () => {
    const running = slowTool('running');
    const waiting = notingTool('waiting');
    const other = slowTool('other');
    const model = new ScriptedModel([{ calls: [['running'], ['other'], ['waiting'], ['asked']] }, 'done']);
    const { host } = hostOf(bot(model), {
      tools: [running.tool, other.tool, waiting.tool, notingTool('asked').tool],
      policy: policyOf({ asked: 'ask' }),
      onApproval: () => new Promise(() => {}),
      toolConcurrency: 2,
    });
    const session = await host.open('bot');
    const stream = follow(session, 'go');
    const question = await stream.seen('elicitation_request');
    await Promise.all([running.started, other.started]);
    const idOf = (name: string) =>
      ofType(stream.events, 'tool_request').find((call) => call.name === name)?.requestId ?? '';
    await session.abort({ requestId: idOf('waiting') });
    await session.abort({ requestId: idOf('running'), reason: 'not needed' });
    await session.abort({ requestId: question.requestId });
    other.finish('O');
    const events = await stream.ended;
    expect(results(events)).toEqual({
      running: 'interrupted: not needed',
      other: 'O',
      waiting: 'cancelled: it never ran',
      asked: expect.stringMatching(/^cancelled/),
    });
    expect(waiting.runs).toEqual([]);
    expect(endOf(events).reason).toBe('completed');
    await session.abort({ requestId: 'nobody' });
  });

  test('F24 abort inside the approval handler: no throw, the call is cancelled before the end, a late yes is refused', async () => {
    const unhandled = watchRejections();
    const pay = notingTool('pay');
    const later = door();
    const { host, warnings } = hostOf(bot([{ calls: [['pay']] }, 'hello']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
      onApproval: async () => {
        void session.abort();
        await later.opened;
        return { kind: 'approve' };
      },
    });
    const session = await host.open('bot');
    const events = await say(session, 'go');
    expect(brief(events).slice(-2)).toEqual(['pay = cancelled', 'end aborted']);
    later.open();
    const [question] = ofType(events, 'elicitation_request');
    expect((await refusal(session.respond(question?.requestId ?? '', { kind: 'approve' }))).code).toBe(
      'E_REQUEST_CLOSED',
    );
    expect(endOf(await say(session, 'hi')).reason).toBe('completed');
    expect([await unhandled(), warnings, pay.runs]).toEqual([[], [], []]);
  });

  test('S3-14 S3-21 from another handle, by a signal, by leaving the loop, by closing the host', async () => {
    for (const way of ['handle', 'signal', 'leave', 'close'] as const) {
      const slow = slowTool('slow');
      const { host, store } = hostOf(bot([{ calls: [['slow']] }]), { tools: [slow.tool], policy: allowAll() });
      const session = await host.open('bot');
      const controller = new AbortController();
      const stream = session.stream('go', { signal: controller.signal });
      const events: AgentEvent[] = [];
      const reading = (async () => {
        for await (const event of stream) events.push(event);
      })();
      await slow.started;
      if (way === 'handle') await (await host.open('bot', { sessionId: session.id })).abort();
      if (way === 'signal') controller.abort();
      if (way === 'leave') await stream.return?.();
      if (way === 'close') await host.close();
      await reading;
      const log = await store.get({ app: 'shop', userId: 'local', id: session.id });
      expect([way, log?.events.at(-1)?.actions.end?.reason]).toEqual([way, 'aborted']);
      slow.finish(1);
    }
  });

  test('S3-14 a paused session is aborted without a stream; idempotent', async () => {
    const { host } = hostOf(bot([{ calls: [['pay']] }]), {
      tools: [notingTool('pay').tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    const other = await host.open('bot', { sessionId: session.id });
    await Promise.all([session.abort(), session.abort(), other.abort()]);
    await session.abort();
    expect(brief(await all(session.events())).slice(-2)).toEqual(['pay = cancelled', 'end aborted']);
    expect(await session.pending()).toEqual([]);
  });
});

describe('steer and messages meanwhile', () => {
  test('S3-13 F33 F36 a steer while a host tool runs lands in this turn, after the results', async () => {
    const slow = slowTool('slow');
    const other = notingTool('other');
    const model = new ScriptedModel([{ calls: [['slow'], ['other']] }, 'done']);
    const { host } = hostOf(bot(model), { tools: [slow.tool, other.tool], policy: allowAll() });
    const session = await host.open('bot');
    const stream = follow(session, 'go');
    await slow.started;
    const { disposition, steerId } = await session.steer({ content: 'also X' });
    slow.finish('x');
    const events = await stream.ended;
    expect(disposition).toBe('current_turn');
    expect(ofType(events, 'custom').find(({ kind }) => kind === 'steer_applied')).toMatchObject({
      data: { steerIds: [steerId] },
    });
    // The stream shows it as soon as it goes on.
    expect(brief(events)).toContain('user: also X');
    const last = model.requests[1]?.contents
      .slice(-2)
      .map(({ parts }) => parts.map((part) => ('text' in part ? part.text : part.type)));
    expect(last).toEqual([['function_response', 'function_response'], ['also X']]);
    expect(other.runs).toHaveLength(1);
  });

  test('F22 text never approves: a message cancels the open call, says so to the model, and a late yes is refused', async () => {
    const pay = notingTool('pay');
    const model = new ScriptedModel([{ calls: [['pay']] }, 'I did not pay']);
    const { host } = hostOf(bot(model), { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
    const session = await host.open('bot');
    await say(session, 'go');
    const { requestId } = await only(session);
    await say(session, 'approve');
    expect(JSON.stringify(model.requests[1]?.contents)).toContain('cancelled');
    expect((await refusal(session.respond(requestId, { kind: 'approve' }))).code).toBe('E_REQUEST_CLOSED');
    expect(
      (await refusal(host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' } }))).code,
    ).toMatch(/E_REQUEST_CLOSED|E_UNKNOWN_REQUEST/);
    expect(pay.runs).toEqual([]);
  });

  test('F22 hold refuses the message; with proceed the call stays open, and a late yes runs it once', async () => {
    for (const way of ['input', 'respond', 'decide'] as const) {
      const pay = notingTool('pay');
      const model = new ScriptedModel([{ calls: [['pay', { eur: 5 }]] }, 'meanwhile', 'paid now']);
      const { host } = hostOf(bot(model), { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
      const session = await host.open('bot');
      await say(session, 'go');
      const { requestId } = await only(session);
      expect((await refusal(firstOf(session, 'hi', { whilePending: 'hold' }))).code).toBe('E_INPUT_REQUIRED');
      const proceeded = await say(session, 'hi', { whilePending: 'proceed' });
      expect(endOf(proceeded)).toMatchObject({ reason: 'completed', data: { pending: [{ requestId }] } });
      if (way === 'input') await say(session, { kind: 'tool_approval', requestId });
      if (way === 'respond') {
        await session.respond(requestId, { kind: 'approve' });
        await say(session, { kind: 'continue' });
      }
      if (way === 'decide') {
        const ended = endsOf(session.events({ live: true }), 2);
        await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' } });
        await ended;
      }
      expect([way, pay.runs]).toEqual([way, [{ eur: 5 }]]);
      expect(JSON.stringify(model.requests[2]?.contents)).toContain('pay done');
      expect(model.requests).toHaveLength(3);
      expect(await session.pending()).toEqual([]);
    }
  });

  test('F22 with proceed a late no is told to the model', async () => {
    const pay = notingTool('pay');
    const model = new ScriptedModel([{ calls: [['pay']] }, 'meanwhile', 'a pity']);
    const { host } = hostOf(bot(model), { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
    const session = await host.open('bot');
    await say(session, 'go');
    const { requestId } = await only(session);
    await say(session, 'hi', { whilePending: 'proceed' });
    const events = await say(session, { kind: 'elicitation_response', requestId, response: { action: 'decline' } });
    expect([results(events).pay, pay.runs]).toEqual(['denied', []]);
    expect(JSON.stringify(model.requests[2]?.contents)).toContain('denied');
  });
});

describe('events', () => {
  test('S3-67 events({after}) of a hosted session resumes exactly at any cursor; live follows a run that nobody owns', async () => {
    const { host } = hostOf(bot([{ calls: [['a'], ['pay']] }, 'done']), {
      tools: [notingTool('a', readOnly).tool, notingTool('pay').tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    const { requestId } = await only(session);
    const live = (async () => {
      const seen: AgentEvent[] = [];
      for await (const event of session.events({ live: true })) {
        seen.push(event);
        if (event.type === 'stream_end') return seen;
      }
      return seen;
    })();
    await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' } });
    const seen = await live;
    const every = await all(session.events());
    expect(seen).toEqual(every);
    for (const [index, { cursor }] of every.entries()) {
      expect(await all(session.events({ after: cursor ?? '' }))).toEqual(every.slice(index + 1));
    }
    expect(textOfContent(ofType(every, 'message').at(-1)?.content ?? [])).toBe('done');
  });
});

describe('restart', () => {
  test('F19 S3-30 a new host over the same store asks the same question under the same id; the tool runs once', async () => {
    const pay = notingTool('pay');
    const options = { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) };
    const { host, store } = hostOf(bot(['x'.repeat(1_000_000), { calls: [['pay', { eur: 5 }]] }]), options);
    const session = await host.open('bot');
    await say(session, 'talk');
    await say(session, 'go');
    const question = await only(session);
    await host.close();
    const later = hostOf(bot(['done']), { ...options, store });
    expect((await later.host.approvals.list()).map(({ request }) => request)).toEqual([question]);
    const again = await later.host.open('bot', { sessionId: session.id });
    expect(await only(again)).toEqual(question);
    // Also in a stream that only goes on.
    const [asked] = ofType(await say(again, { kind: 'continue' }), 'elicitation_request');
    expect(asked?.requestId).toBe(question.requestId);
    expect(await again.respond(question.requestId, { kind: 'approve' })).toMatchObject({ status: 'settled' });
    expect(pay.runs).toEqual([]);
    const events = await say(again, { kind: 'continue' });
    expect([results(events), pay.runs]).toEqual([{ pay: 'pay done' }, [{ eur: 5 }]]);
  });

  test('F19 an answer that was given before the crash is acted upon after it', async () => {
    const pay = notingTool('pay');
    const options = { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) };
    const { host, store } = hostOf(bot([{ calls: [['pay']] }]), options);
    const session = await host.open('bot');
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    await host.close();
    const later = await hostOf(bot(['done']), { ...options, store }).host.open('bot', { sessionId: session.id });
    await say(later, { kind: 'continue' });
    expect(pay.runs).toHaveLength(1);
  });

  /** A session whose host tool was started by a process that is gone. */
  async function halfRun(extra: Parameters<typeof slowTool>[1] = {}, policyTimeoutMs = 10_000) {
    const slow = slowTool('pay', extra);
    const { host, store } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }]), { tools: [slow.tool], policy: allowAll() });
    const session = await host.open('bot');
    // What the store holds at this moment is all that is left.
    const left = new InMemorySessionService();
    const stream = follow(session, 'go');
    await slow.started;
    const record = await store.get({ app: 'shop', userId: 'local', id: session.id });
    const key = { app: 'shop', userId: 'local', id: session.id };
    await left.create(key);
    await left.append(key, [...(record?.events ?? [])]);
    await session.abort();
    await stream.ended;
    slow.finish(1);
    const again = notingTool('pay', extra);
    const options = { tools: [again.tool], policy: allowAll(), policyTimeoutMs, store: left };
    const later = hostOf(bot(['done']), options);
    return { again, session: await later.host.open('bot', { sessionId: session.id }) };
  }

  test('F19 R29 a half-run tool shows as the question whether to run it again; yes runs it, no leaves it unknown', async () => {
    const yes = await halfRun();
    const question = await only(yes.session);
    expect(question).toMatchObject({ kind: 'rerun_unknown', name: 'pay', started: true });
    expect(endOf(await say(yes.session, { kind: 'continue' })).reason).toBe('input_required');
    expect(yes.again.runs).toEqual([]);
    await yes.session.respond(question.requestId, { kind: 'approve' });
    expect(results(await say(yes.session, { kind: 'continue' }))).toEqual({ pay: 'pay done' });
    expect(yes.again.runs).toEqual([{ eur: 5 }]);
    for (const answer of [{ kind: 'deny' }, { kind: 'elicitation', action: 'cancel' }] as const) {
      const no = await halfRun();
      await no.session.respond((await only(no.session)).requestId, answer);
      expect(results(await say(no.session, { kind: 'continue' })).pay).toMatch(/^interrupted/);
      expect(no.again.runs).toEqual([]);
    }
  });

  test('INSP-20 what was started runs once more as it was: an edit is refused, and the question stays', async () => {
    const { session, again } = await halfRun();
    const question = await only(session);
    expect(question).toMatchObject({ kind: 'rerun_unknown', approval: { fixedArgs: true } });
    const edited = session.respond(question.requestId, { kind: 'approve', args: { eur: 1 } });
    await expect(edited).rejects.toMatchObject({ code: 'E_WRONG_ANSWER' });
    const input = { kind: 'tool_approval', requestId: question.requestId, args: { eur: 1 } } as const;
    await expect(say(session, input)).rejects.toMatchObject({ code: 'E_WRONG_ANSWER' });
    expect((await only(session)).requestId).toBe(question.requestId);
    expect(again.runs).toEqual([]);
  });

  test('R29 an idempotent tool is run again unasked, under the same call id; onUnknownOutcome may know better', async () => {
    const idempotent = await halfRun({ annotations: { idempotent: true } });
    expect(await idempotent.session.pending()).toMatchObject([{ kind: 'tool' }]);
    expect(results(await say(idempotent.session, { kind: 'continue' }))).toEqual({ pay: 'pay done' });
    const retry = await halfRun({ onUnknownOutcome: () => 'retry' });
    expect(results(await say(retry.session, { kind: 'continue' }))).toEqual({ pay: 'pay done' });
    const known = await halfRun({ onUnknownOutcome: () => ({ result: 'it was paid' }) });
    expect(results(await say(known.session, { kind: 'continue' }))).toEqual({ pay: 'it was paid' });
    expect([retry.again.runs.length, known.again.runs.length]).toEqual([1, 0]);
  });

  test('ATT-7 an onUnknownOutcome that never answers holds up nobody: a person is asked', async () => {
    const { again, session } = await halfRun({ onUnknownOutcome: () => new Promise<never>(() => {}) }, 5);
    expect(await only(session)).toMatchObject({ kind: 'rerun_unknown', name: 'pay' });
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('input_required');
    expect(again.runs).toEqual([]);
  });
});

describe('many agents', () => {
  test('F21 requests of parallel branches are gated each by itself, also long after their siblings ended', async () => {
    const go = door();
    const model = new ScriptedModel({
      byAgent: {
        quick: ['quick is done'],
        slow: [
          async () => {
            await go.opened;
            return { calls: [['pay']] };
          },
          'slow is done',
        ],
      },
    });
    const child = (name: string) => new LlmAgent({ name, model });
    const both = new ParallelAgent({ name: 'both', subAgents: [child('quick'), child('slow')] });
    const pay = notingTool('pay');
    const host = createHost({
      app: 'shop',
      agents: [fromAgent(both)],
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
      onApproval: () => ({ kind: 'approve' }),
    });
    const stream = follow(await host.open('both'), 'go');
    await stream.seen('message', ({ agentId, partial }) => agentId === 'quick' && !partial);
    go.open();
    const events = await stream.ended;
    expect(pay.runs).toHaveLength(1);
    expect(ofType(events, 'elicitation_request')).toMatchObject([{ threadId: 'both.slow' }]);
    expect(ofType(events, 'message').at(-1)).toMatchObject({ threadId: 'both.slow' });
  });
});

/** Resolves after so many turns have ended. */
async function endsOf(events: AsyncIterable<AgentEvent>, count: number): Promise<void> {
  let left = count;
  for await (const event of events) if (event.type === 'stream_end' && --left === 0) return;
}
