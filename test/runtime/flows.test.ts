import { describe, expect, test } from 'vitest';
import type { Agent, StoredEvent } from '../../src/runtime/index.ts';
import { agentTool, CustomAgent, LoopAgent, ParallelAgent, SequentialAgent } from '../../src/runtime/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import type { Death } from '../property/replay/process.ts';
import { key, MortalService } from '../property/replay/process.ts';
import { elsewhere } from './elsewhere.ts';
import { asking, deferred, Flow, settled } from './flow.ts';
import { brief, llm, ownTool, tool } from './kit.ts';

const call = (...names: string[]): Script => ({ calls: names.map((name) => [name, {}] as const) });

describe('approvals', () => {
  test('F19 S3-30 an approval in an agent as a tool, in a parallel branch, in a sequence: restarts between, out of order', async () => {
    const ran: string[] = [];
    const model = new ScriptedModel({
      byAgent: Object.fromEntries([
        ...['A', 'B'].flatMap((w) => [
          [`expert_${w}`, [call(`pay_${w}`), `paid ${w}`]],
          [`branch_${w}`, [{ calls: [[`ask_${w}`, { request: 'pay' }]] }, `branch ${w}`]],
        ]),
        ...['first', 'free', 'last'].map((name) => [name, [`${name} done`]]),
      ]) as Record<string, Script[]>,
      strict: true,
    });
    const branch = (w: string) => {
      const pay = tool(`pay_${w}`, async () => {
        ran.push(w);
        return {};
      });
      const expert = llm(`expert_${w}`, model, { tools: [pay], outputKey: `paid_${w}` });
      return llm(`branch_${w}`, model, { tools: [agentTool(expert, { name: `ask_${w}` })], outputKey: `branch_${w}` });
    };
    const build = () =>
      new SequentialAgent({
        name: 'seq',
        subAgents: [
          llm('first', model, { outputKey: 'first' }),
          new LoopAgent({
            name: 'loop',
            maxIterations: 1,
            subAgents: [
              new ParallelAgent({
                name: 'par',
                subAgents: [branch('A'), llm('free', model, { outputKey: 'free' }), branch('B')],
              }),
            ],
          }),
          llm('last', model),
        ],
      });

    const before = await Flow.open(build(), { policy: asking('pay_A', 'pay_B') });
    const { end } = await before.stream('go');
    expect(end.reason).toBe('input_required');
    expect(end.data.pending?.map(({ name }) => name).sort()).toEqual(['pay_A', 'pay_B']);

    const second = await before.restart(build());
    const pending = await second.session.pending();
    expect(pending.map(({ requestId }) => requestId)).toEqual(end.data.pending?.map(({ requestId }) => requestId));
    const waiting = await second.answer(
      pending.find(({ name }) => name === 'pay_B'),
      'accept',
    );
    expect(waiting.end.reason).toBe('input_required');
    expect(ran).toEqual(['B']);

    const third = await second.restart(build());
    const done = await third.answer((await third.session.pending())[0], 'accept');
    expect(done.end.reason).toBe('completed');
    expect(ran).toEqual(['B', 'A']);
    model.assertUsedUp();
    expect(Object.keys(await third.state()).sort()).toEqual([
      'branch_A',
      'branch_B',
      'first',
      'free',
      'paid_A',
      'paid_B',
    ]);
    expect(await third.outcomes()).not.toContainEqual(expect.stringContaining('open'));
  });

  test('F20 nothing runs before a stored yes, nor after a no', async () => {
    let runs = 0;
    // A handler that pays no attention to whether it was confirmed.
    const rm = tool('rm', async () => ++runs);
    const model = new ScriptedModel([call('rm', 'rm'), 'understood']);
    const flow = await Flow.open(llm('a', model, { tools: [rm] }), { policy: asking('rm') });
    const { end } = await flow.stream('clean up');
    const [first, second] = end.data.pending ?? [];
    expect(runs).toBe(0);
    expect((await flow.answer(first, 'decline')).end.reason).toBe('input_required');
    expect((await flow.answer(second, 'cancel')).end.reason).toBe('completed');
    expect(runs).toBe(0);
    expect(await flow.outcomes()).toEqual(['rm: denied', 'rm: cancelled']);
    expect(brief(model.requests[1]?.contents).at(-1)).toContain('denied');
  });

  test('F22 words never approve: they settle the open call, and a late yes is refused', async () => {
    let runs = 0;
    const model = new ScriptedModel([call('pay'), 'not paid']);
    const flow = await Flow.open(llm('a', model, { tools: [tool('pay', async () => ++runs)] }), {
      policy: asking('pay'),
    });
    const [request] = (await flow.stream('pay')).end.data.pending ?? [];
    const { end } = await flow.stream('approve');
    expect(end.reason).toBe('completed');
    expect(await flow.outcomes()).toEqual(['pay: cancelled']);
    expect(brief(model.requests[1]?.contents).slice(-2)).toEqual([
      expect.stringContaining('never ran'),
      'user: approve',
    ]);
    await expect(flow.answer(request, 'accept')).rejects.toMatchObject({ code: 'E_REQUEST_CLOSED' });
    expect(runs).toBe(0);
  });

  test('F22 with `proceed` the call stays open and a late yes runs it once', async () => {
    let runs = 0;
    const model = new ScriptedModel([call('pay'), 'meanwhile', 'paid']);
    const build = () => llm('a', model, { tools: [tool('pay', async () => ({ run: ++runs }))] });
    const flow = await Flow.open(build(), { policy: asking('pay') });
    await flow.stream('pay');
    const chat = await flow.stream('and the weather?', { whilePending: 'proceed' });
    expect(chat.end.reason).toBe('completed');
    const later = await flow.restart(build());
    const [request] = await later.session.pending();
    const { end } = await later.answer(request, 'accept');
    expect(end.reason).toBe('completed');
    expect(runs).toBe(1);
    expect(await later.outcomes()).toEqual(['pay: ok']);
    expect(brief(model.requests[2]?.contents).at(-1)).toContain('"run":1');
  });

  test('F23 forged, foreign, repeated and changed answers are refused and nothing is stored', async () => {
    const seen: unknown[] = [];
    const pay = tool('pay', async (args) => seen.push(args), {
      inputSchema: { type: 'object', properties: { usd: { type: 'number' } }, required: ['usd'] },
    });
    const model = new ScriptedModel([{ calls: [['pay', { usd: 5 }]] }, 'paid']);
    const flow = await Flow.open(llm('a', model, { tools: [pay] }), { policy: asking('pay') });
    const [request] = (await flow.stream('pay')).end.data.pending ?? [];
    const requestId = String(request?.requestId);
    const { length } = await flow.log();
    const forged = flow.session.respond('nope#0', { kind: 'approve' });
    await expect(forged).rejects.toMatchObject({ code: 'E_UNKNOWN_REQUEST' });
    await expect(flow.stream({ kind: 'tool_approval', requestId: 'nope' })).rejects.toMatchObject({
      code: 'E_UNKNOWN_REQUEST',
    });
    const misfit = flow.session.respond(requestId, { kind: 'approve', args: { usd: 'all of it' } });
    await expect(misfit).rejects.toMatchObject({ code: 'E_WRONG_ANSWER' });
    expect(await flow.log()).toHaveLength(length);

    const settlement = await flow.session.respond(requestId, { kind: 'approve', args: { usd: 4 } });
    expect(settlement).toEqual({ status: 'settled' });
    expect((await flow.stream({ kind: 'continue' })).end.reason).toBe('completed');
    expect(seen).toEqual([{ usd: 4 }]);
    const calls = (await flow.log()).flatMap((event) => event.content?.parts ?? []);
    expect(calls.find((part) => part.type === 'function_call')).toMatchObject({ args: { usd: 5 } });
    await expect(flow.answer(request, 'accept')).rejects.toMatchObject({ code: 'E_REQUEST_CLOSED' });
    expect(seen).toHaveLength(1);
  });

  test('a question that a handler asks may be answered as soon as it is seen', async () => {
    const model = new ScriptedModel([call('pay'), 'paid']);
    const pay = tool('pay', async (_, context) => {
      if (!context.confirmation) context.requestConfirmation({ hint: 'Really?' });
      return { confirmed: context.confirmation?.confirmed ?? false };
    });
    const flow = await Flow.open(llm('a', model, { tools: [pay] }));
    const { end } = await flow.stream('pay', {
      watch: (event) =>
        event.type === 'elicitation_request' && flow.session.respond(event.requestId, { kind: 'approve' }),
    });
    expect(end.reason).toBe('completed');
    expect(brief(model.requests[1]?.contents).at(-1)).toContain('"confirmed":true');
  });

  test('F24 an abort from inside the question: the call is closed, a late yes is refused, the next turn works', async () => {
    let runs = 0;
    const model = new ScriptedModel([call('pay'), 'hello again']);
    const flow = await Flow.open(llm('a', model, { tools: [tool('pay', async () => ++runs)] }), {
      policy: asking('pay'),
    });
    let aborted: Promise<void> | undefined;
    const { events, end } = await flow.stream('pay', {
      watch: (event) => {
        if (event.type === 'elicitation_request') aborted = flow.session.abort();
      },
    });
    await aborted;
    expect(end.reason).toBe('aborted');
    expect(end.data.pending).toBeUndefined();
    expect(events.filter(({ type }) => type === 'tool_response')).toHaveLength(1);
    expect(await flow.outcomes()).toEqual(['pay: cancelled']);
    const question = events.find((event) => event.type === 'elicitation_request');
    const late = flow.session.respond(String(question?.requestId), { kind: 'approve' });
    await expect(late).rejects.toMatchObject({ code: 'E_REQUEST_CLOSED' });
    expect((await flow.stream('hi')).end.reason).toBe('completed');
    expect(runs).toBe(0);
  });

  test('S3-17 a fork in mid-approval does not inherit the question; the original is unchanged', async () => {
    let runs = 0;
    const model = new ScriptedModel([call('pay'), 'other way', 'paid']);
    const build = () => llm('a', model, { tools: [tool('pay', async () => ++runs)] });
    const flow = await Flow.open(build(), { policy: asking('pay') });
    const { end } = await flow.stream('pay');
    const before = await flow.log();
    const copy = await flow.fork(build());
    expect(copy.session.id).not.toBe(flow.session.id);
    expect(await copy.session.pending()).toEqual([]);
    expect(await copy.outcomes()).toEqual(['pay: cancelled']);
    expect(await flow.log()).toEqual(before);
    expect((await copy.stream('let us do something else')).end.reason).toBe('completed');
    expect((await flow.answer(end.data.pending?.[0], 'accept')).end.reason).toBe('completed');
    expect(runs).toBe(1);
  });
});

describe('steer, update, abort', () => {
  test('F33 words during a tool batch: after both results, before the next model call', async () => {
    const started = [deferred(), deferred()];
    const finish = deferred();
    const ran: unknown[] = [];
    const work = tool('work', async ({ n }) => {
      started[Number(n)]?.resolve();
      await finish.promise;
      ran.push(n);
      return {};
    });
    const model = new ScriptedModel([
      {
        calls: [
          ['work', { n: 0 }],
          ['work', { n: 1 }],
        ],
      },
      'ok',
    ]);
    const flow = await Flow.open(llm('a', model, { tools: [work] }));
    const streaming = flow.stream('x');
    await Promise.all(started.map(({ promise }) => promise));
    const { disposition } = await flow.session.steer({ content: 'also X' });
    finish.resolve();
    expect((await streaming).end.reason).toBe('completed');
    expect(disposition).toBe('current_turn');
    expect(ran).toEqual([0, 1]);
    expect(brief(model.requests[1]?.contents)).toEqual([
      'user: x',
      'model: call work({"n":0}) | call work({"n":1})',
      'user: work = {} | work = {}',
      'user: also X',
    ]);
  });

  test('F36 words at the last delta continue the turn, once; later ones stand before the next message', async () => {
    const model = new ScriptedModel([{ deltas: ['a', 'b'] }, 'more', 'next']);
    const flow = await Flow.open(llm('a', model));
    let late: Promise<{ disposition: string }> | undefined;
    const { end } = await flow.stream('x', {
      watch: (event) => {
        if (event.type !== 'message' || !event.partial) return;
        const [part] = event.content;
        if (part?.type === 'text' && part.text === 'b') late = flow.session.steer({ content: 's1' });
      },
    });
    expect((await late)?.disposition).toBe('current_turn');
    expect(end.reason).toBe('completed');
    expect(model.requests).toHaveLength(2);
    expect(brief(model.requests[1]?.contents)).toEqual(['user: x', 'model: ab', 'user: s1']);

    expect((await flow.session.steer({ content: 's2' })).disposition).toBe('next_turn');
    await flow.stream('q');
    expect(brief(model.requests[2]?.contents).slice(-2)).toEqual(['user: s2', 'user: q']);
    expect(model.requests).toHaveLength(3);
  });

  test('S3-12 update(model) in mid-stream takes effect at the next step and outlives the process', async () => {
    const model = new ScriptedModel([{ deltas: ['a', 'b'], calls: [['t', {}]] }, 'c', 'd']);
    const build = () => llm('a', model, { tools: [tool('t', async () => ({}))] });
    const flow = await Flow.open(build());
    let updated: Promise<unknown> | undefined;
    await flow.stream('x', {
      watch: (event) => {
        if (event.type === 'message' && event.partial) updated ??= flow.session.update({ model: 'm2' });
        return updated;
      },
    });
    expect(model.requests.map((request) => request.model)).toEqual(['scripted', 'm2']);
    const later = await flow.restart(build());
    await later.stream('y');
    expect(model.requests.at(-1)?.model).toBe('m2');
  });

  test('F15 F35 an abort in mid-tool needs no consumer: every call is answered, the late outcome is dropped', async () => {
    const started = deferred();
    const late = deferred();
    // Pays no attention to the signal.
    const slow = tool('slow', async () => {
      started.resolve();
      await late.promise;
      throw new Error('late');
    });
    const model = new ScriptedModel([call('slow', 'of_host'), 'hi']);
    const flow = await Flow.open(llm('a', model, { tools: [slow, tool('of_host', undefined)] }));
    const stream = flow.session.stream('x');
    let pulled = stream.next();
    const hasStarted = started.promise.then(() => true);
    while (!(await Promise.race([hasStarted, pulled.then(() => false)]))) pulled = stream.next();
    await flow.session.abort();
    const log = await flow.log();
    late.resolve();
    await settled();
    expect(await flow.log()).toEqual(log);
    expect(await flow.outcomes()).toEqual(['slow: interrupted', 'of_host: cancelled']);
    await pulled;

    const next = await flow.restart(llm('a', model, { tools: [slow, tool('of_host', undefined)] }));
    expect((await next.stream('hi')).end.reason).toBe('completed');
    expect(brief(model.requests[1]?.contents).at(-1)).toBe('user: hi');
    expect(model.requests[1]?.contents.flatMap(({ parts }) => parts)).toHaveLength(6);
  });

  test('a call that somebody else answers just before the abort keeps that answer', async () => {
    const started = deferred();
    const slow = tool('slow', async (_, { signal }) => {
      started.resolve();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const build = () =>
      llm('a', new ScriptedModel([call('slow', 'of_host')]), { tools: [slow, tool('of_host', undefined)] });
    const flow = await Flow.open(build());
    const streaming = flow.stream('x');
    await started.promise;
    const other = await flow.restart(build());
    const request = (await other.session.pending()).find(({ name }) => name === 'of_host');
    await other.session.respond(String(request?.requestId), { kind: 'result', result: { content: [] } });
    await flow.session.abort();
    expect((await streaming).end.reason).toBe('aborted');
    expect(await flow.outcomes()).toEqual(['slow: interrupted', 'of_host: ok']);
  });
});

describe('calls that a host runs', () => {
  const hosted = { hostToolExecution: true } as const;

  test('S3-22 S3-24 S3-25 the stream ends with its calls open; results in any order, then the loop goes on', async () => {
    const model = new ScriptedModel([call('first', 'second'), 'both done']);
    let runs = 0;
    const build = () => llm('a', model, { tools: ['first', 'second'].map((name) => tool(name, async () => ++runs)) });
    const flow = await Flow.open(build());
    const { events, end } = await flow.stream('go', hosted);
    expect(end.reason).toBe('input_required');
    expect(events.filter(({ type }) => type === 'tool_request')).toHaveLength(2);
    expect(await flow.outcomes()).toEqual(['first: open', 'second: open']);
    const result = (name: string, pending = end.data.pending ?? []) => ({
      kind: 'tool_result' as const,
      requestId: String(pending.find((request) => request.name === name)?.requestId),
      result: { content: [{ type: 'text' as const, text: name }] },
    });
    const one = await flow.stream(result('second'), hosted);
    expect(one.end.reason).toBe('input_required');
    expect(one.end.data.pending?.map(({ name }) => name)).toEqual(['first']);
    const later = await flow.restart(build());
    expect((await later.stream(result('first'), hosted)).end.reason).toBe('completed');
    expect(runs).toBe(0);
    expect(model.requests).toHaveLength(2);
    const [responses] = model.requests[1]?.contents.slice(-1) ?? [];
    expect(responses?.parts.map((part) => 'name' in part && part.name)).toEqual(['first', 'second']);
  });

  test('a transfer that waits for the host is offered in the end of the stream, and starts the target when approved', async () => {
    const model = new ScriptedModel({
      byAgent: {
        root: [{ calls: [['transfer_to_agent', { agent_name: 'billing' }]] }],
        billing: ['I am billing', 'still billing'],
      },
      strict: true,
    });
    const build = () => llm('root', model, { subAgents: [llm('billing', model)] });
    const flow = await Flow.open(build());
    const { end } = await flow.stream('bill?', hosted);
    expect(end.reason).toBe('completed');
    expect(end.data.transfer).toMatchObject({ from: 'root', to: 'billing' });

    const later = await flow.restart(build());
    const requestId = String(end.data.transfer?.requestId);
    const answered = await later.stream({ kind: 'tool_approval', requestId }, hosted);
    expect(answered.end.reason).toBe('completed');
    const speakers = ({ events }: typeof answered) =>
      events.flatMap((event) =>
        event.type === 'message' && event.role === 'agent' && !event.partial ? [event.agentId] : [],
      );
    expect(speakers(answered)).toEqual(['billing']);
    expect(speakers(await later.stream('again'))).toEqual(['billing']);
  });

  test('limits count the turn, not the stream; continue goes on with fresh counters', async () => {
    const model = new ScriptedModel(Array.from({ length: 12 }, () => call('h')));
    const build = () => llm('a', model, { tools: [tool('h', undefined)], maxIterations: 5 });
    let flow = await Flow.open(build());
    let { end } = await flow.stream('go');
    let streams = 1;
    while (end.reason === 'input_required') {
      flow = await flow.restart(build());
      const requestId = String(end.data.pending?.[0]?.requestId);
      ({ end } = await flow.stream({ kind: 'tool_result', requestId, result: { content: [] } }));
      streams++;
    }
    expect([end.reason, streams, model.requests.length]).toEqual(['max_turns', 6, 5]);
    expect(await flow.outcomes()).not.toContain('h: open');
    ({ end } = await flow.stream({ kind: 'continue' }));
    expect([end.reason, model.requests.length]).toEqual(['input_required', 6]);
  });
});

describe('one run at a time', () => {
  test('a child of a custom agent that runs beside a waiting one ends before the stream does', async () => {
    const started = deferred();
    const finish = deferred();
    const slow = tool('slow', async () => {
      started.resolve();
      await finish.promise;
      return {};
    });
    const model = new ScriptedModel({
      byAgent: { a: [call('pay'), 'paid'], b: [call('slow'), 'done'] },
      strict: true,
    });
    const a = llm('a', model, { tools: [tool('pay', async () => ({}))] });
    const b = llm('b', model, { tools: [slow] });
    const both = new CustomAgent({
      name: 'both',
      subAgents: [a, b],
      async run(context) {
        await Promise.all([context.run(a), context.run(b)]);
      },
    });
    const flow = await Flow.open(both, { policy: asking('pay') });
    const streaming = flow.stream('go');
    await started.promise;
    await settled();
    finish.resolve();
    const { end } = await streaming;
    expect(end.reason).toBe('input_required');
    expect(await flow.outcomes()).toEqual(['pay: open', 'slow: ok']);
    expect((await flow.answer(end.data.pending?.[0], 'accept')).end.reason).toBe('completed');
    model.assertUsedUp();
  });

  test('F25 a second stream is refused before any side effect, in this process and in another', async () => {
    const started = deferred();
    const finish = deferred();
    const ran: string[] = [];
    const work = tool('work', async () => {
      ran.push('work');
      started.resolve();
      await finish.promise;
      return {};
    });
    const model = new ScriptedModel([call('work'), 'one', call('work'), 'two']);
    const build = () => llm('a', model, { tools: [work] });
    const flow = await Flow.open(build());
    const other = await Flow.open(build(), { sessions: elsewhere(flow.sessions) });
    const streaming = flow.stream('1');
    await started.promise;
    const { length } = await flow.log();
    for (const session of [flow, other])
      await expect(session.stream('2')).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    expect(await flow.log()).toHaveLength(length);
    expect(ran).toHaveLength(1);
    finish.resolve();
    expect((await streaming).end.reason).toBe('completed');
    expect((await other.stream('2')).end.reason).toBe('completed');
    expect((await flow.log()).filter(({ actions }) => actions.turn)).toHaveLength(2);
  });
});

describe('crashes', () => {
  test.each([
    ['a tool that may be repeated runs again with the same call id', true],
    ['any other is not run again unless somebody says so', false],
  ])('F50 a crash between the start of a tool and its result: %s', async (_, idempotent) => {
    const runs: string[] = [];
    const starts = [deferred(), deferred()];
    let isDying = true;
    const never = new Promise<never>(() => {});
    const write = tool(
      'write',
      async (_, { callId }) => {
        runs.push(callId);
        starts[0]?.resolve();
        return isDying ? never : {};
      },
      { annotations: { idempotent } },
    );
    const quick = tool('quick', async () => {
      starts[1]?.resolve();
      return {};
    });
    const model = new ScriptedModel([call('write', 'quick'), 'ok']);
    const build = () => llm('a', model, { tools: [write, quick] });
    const first = await Flow.open(build());
    void first.stream('x').catch(() => {});
    await Promise.all(starts.map(({ promise }) => promise));
    await settled();
    isDying = false;

    const next = await first.crash(build());
    const { end } = await next.stream({ kind: 'continue' });
    if (idempotent) {
      expect(end.reason).toBe('completed');
      expect(runs).toEqual([runs[0], runs[0]]);
      return;
    }
    expect(end.reason).toBe('input_required');
    expect(end.data.pending).toMatchObject([{ kind: 'rerun_unknown', name: 'write', started: true }]);
    expect((await next.answer(end.data.pending?.[0], 'decline')).end.reason).toBe('completed');
    expect(runs).toHaveLength(1);
    expect(await next.outcomes()).toEqual(['write: interrupted', 'quick: ok']);
  });

  test('F50 a yes to running a call again is good for one run: after the next crash it is asked again', async () => {
    const runs: string[] = [];
    let started = deferred();
    const write = tool('write', async (_, { callId }) => {
      runs.push(callId);
      started.resolve();
      return new Promise<never>(() => {});
    });
    const model = new ScriptedModel([call('write'), 'ok']);
    const build = () => llm('a', model, { tools: [write] });
    const first = await Flow.open(build());
    void first.stream('x').catch(() => {});
    await started.promise;
    const second = await first.crash(build());
    const asked = await second.stream({ kind: 'continue' });
    started = deferred();
    void second.answer(asked.end.data.pending?.[0], 'accept').catch(() => {});
    await started.promise;
    const third = await second.crash(build());
    const { end } = await third.stream({ kind: 'continue' });
    expect(end.reason).toBe('input_required');
    expect(runs).toHaveLength(2);
    expect(end.data.pending).toMatchObject([{ kind: 'rerun_unknown' }]);
  });

  test('what a before_agent hook answered in place of an agent still stands', async () => {
    const model = new ScriptedModel(['not to be said']);
    const build = () => {
      const inner = new SequentialAgent({
        name: 'inner',
        subAgents: [llm('a', model)],
        beforeAgent: () => ({ role: 'model', parts: [{ type: 'text', text: 'no need' }] }),
      });
      return new SequentialAgent({ name: 'outer', subAgents: [inner] });
    };
    // The message is the first event, the hook's answer the second.
    const { reason, log } = await killedOnce(build, { at: 2, stored: true });
    expect(reason).toBe('completed');
    expect(log.at(1)?.author).toBe('inner');
    expect(model.requests).toEqual([]);
  });

  test('the words of an after_agent hook do not hide what the agent had asked for', async () => {
    const model = new ScriptedModel([call('stop'), 'not to be said']);
    const build = () => {
      const stop = ownTool('stop', async (_, context) => context.escalate());
      const a = llm('a', model, {
        tools: [stop],
        afterAgent: () => ({ role: 'model', parts: [{ type: 'text', text: 'bye' }] }),
      });
      return new LoopAgent({ name: 'loop', subAgents: [a, llm('b', model)], maxIterations: 2 });
    };
    // Message, call, start, result, the hook's words.
    const { reason, log } = await killedOnce(build, { at: 5, stored: true });
    expect(reason).toBe('completed');
    expect(log.at(4)?.content?.parts).toEqual([{ type: 'text', text: 'bye' }]);
    expect(model.requests).toHaveLength(1);
  });

  test('a kill at every append of a nested tree: each tool at most once, the same state in the end', async () => {
    const reference = await nestedTurn();
    expect(reference.reason).toBe('completed');
    for (let at = 1; at <= reference.log.length; at++) {
      for (const stored of [false, true]) {
        const turn = await nestedTurn({ at, stored });
        const where = `killed at ${at}, ${stored ? 'stored' : 'lost'}`;
        expect(turn.reason, where).toBe('completed');
        for (const name of ['A', 'B']) expect(count(turn.ran, name), where).toBeLessThanOrEqual(2);
        expect(count(turn.ran, 'dice'), where).toBeGreaterThan(0);
        expect(Object.keys(turn.state).sort(), where).toEqual(Object.keys(reference.state).sort());
        const calls = turn.log.flatMap((event) => event.content?.parts ?? []);
        const made = calls.filter((part) => part.type === 'function_call').length;
        expect(
          calls.filter((part) => part.type === 'function_response'),
          where,
        ).toHaveLength(made);
      }
    }
  });
});

const count = (names: readonly string[], name: string) => names.filter((other) => other === name).length;

interface Turn {
  reason: string | undefined;
  log: readonly StoredEvent[];
  state: Readonly<Record<string, unknown>>;
  ran: string[];
}

/** Seq[custom, Loop×2[Par[A, B], counter], last], killed once and started again. */
async function nestedTurn(death?: Death): Promise<Turn> {
  const ran: string[] = [];
  const build = (): Agent => {
    // Asks for its tool once in each iteration, wherever it is started again.
    const model = (name: string) =>
      new ScriptedModel(
        Array.from({ length: 20 }, () => (request): Script & object => {
          const last = request.contents.at(-1);
          const isAnswered = last?.parts.some((part) => part.type === 'function_response') ?? false;
          return isAnswered || name === 'last' ? { text: name } : { calls: [[`use_${name}`, {}]] };
        }) as Script[],
      );
    const worker = (name: string) =>
      llm(name, model(name), {
        outputKey: name,
        tools: [
          tool(`use_${name}`, async () => {
            ran.push(name);
            return {};
          }),
        ],
      });
    const opening = new CustomAgent({
      name: 'opening',
      async run(context) {
        await context.emit('hello');
        const value = await context.step('dice', () => {
          ran.push('dice');
          return 42;
        });
        await context.emit(`rolled ${value}`);
      },
    });
    const counter = new CustomAgent({
      name: 'counter',
      async run(context) {
        await context.emit('one more');
        context.state.set('counted', true);
      },
    });
    const pair = new ParallelAgent({ name: 'pair', subAgents: [worker('A'), worker('B')] });
    const loop = new LoopAgent({ name: 'loop', maxIterations: 2, subAgents: [pair, counter] });
    return new SequentialAgent({
      name: 'seq',
      subAgents: [opening, loop, llm('last', model('last'), { outputKey: 'last' })],
    });
  };

  return { ...(await killedOnce(build, death)), ran };
}

/** A turn whose process is killed once, if at all; then a new one goes on, and says no to every question. */
async function killedOnce(build: () => Agent, death?: Death): Promise<Omit<Turn, 'ran'>> {
  let service = await MortalService.over(new Map(), { death });
  const run = async () => {
    const flow = await Flow.open(build(), { sessions: service }, {}, key);
    let { end } = await flow.stream(service.log.length === 0 ? 'x' : { kind: 'continue' });
    for (const request of end.data.pending ?? []) ({ end } = await flow.answer(request, 'decline'));
    return end.reason;
  };
  const ended = () => service.log.findLast((event) => event.actions.end)?.actions.end?.reason;
  let reason = await Promise.race([run(), service.died]);
  if (reason === undefined) {
    service = await MortalService.over(service.logs);
    reason = ended() ?? (await run());
  }
  return { reason, log: service.log, state: (await service.get(key))?.state ?? {} };
}
