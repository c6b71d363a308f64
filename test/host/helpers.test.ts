import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { allowAll, createHost, createView, fromAgent, LlmAgent, ParallelAgent, run, textOf } from '../../src/index.ts';
import { agentStream } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { all, bot, brief, door, endOf, hostOf, notingTool, ofType, only, policyOf, say, tool } from './kit.ts';

describe('run', () => {
  test('REV-F7 without a model it throws, and does not come to nothing; by name, too', async () => {
    for (const model of [{}, { model: 'no-such' }]) {
      const { host } = hostOf(new LlmAgent({ name: 'bot', ...model }));
      const session = await host.open('bot');
      await expect(run(session, 'go')).rejects.toMatchObject({ code: 'E_NO_MODEL' });
    }
  });

  test('S3-42 says what a stream came to: reason, text, pending, usage, denied, error, cursor', async () => {
    const usage = { inputTokens: 3 };
    const model = new ScriptedModel([
      { text: 'I pay', calls: [['pay'], ['no']], usage },
      { deltas: ['do', 'ne'], usage },
    ]);
    const { host } = hostOf(bot(model), {
      tools: [notingTool('pay').tool, notingTool('no').tool],
      policy: policyOf({ pay: 'ask', no: 'deny' }),
    });
    const session = await host.open('bot');
    const seen: AgentEvent[] = [];
    const first = await run(session, 'go', { onEvent: (event) => void seen.push(event) });
    expect(first).toMatchObject({
      reason: 'input_required',
      text: 'I pay',
      pending: [{ name: 'pay' }],
      usage,
      denied: ['no'],
    });
    expect(endOf(seen).reason).toBe('input_required');
    const { requestId } = await only(session);
    const second = await run(session, { kind: 'tool_approval', requestId });
    expect(second).toMatchObject({
      reason: 'completed',
      text: 'done',
      pending: [],
      usage: { inputTokens: 6 },
      denied: [],
    });
    expect(await all(session.events({ after: second.cursor ?? '' }))).toEqual([]);
    const failed = await run(await hostOf(bot([{ errorCode: 'X', errorMessage: 'down' }])).host.open('bot'), 'go');
    expect(failed).toMatchObject({ reason: 'failed', text: '', error: { message: expect.stringContaining('down') } });
  });
});

describe('textOf', () => {
  test('S3-36 every character once, streaming or not, of the root thread only', async () => {
    const steps = [{ deltas: ['Hel', 'lo '], calls: [['look']] as const }, { deltas: ['wor', 'ld'] }];
    for (const streaming of [true, false]) {
      const session = await hostOf(bot(steps, { tools: [tool('look', () => 1)] }), { policy: allowAll() }).host.open(
        'bot',
      );
      const text: string[] = [];
      const words = textOf(session.stream('go', { streaming }));
      let step = await words.next();
      for (; !step.done; step = await words.next()) text.push(step.value);
      expect([streaming, text.join(''), step.value]).toEqual([streaming, 'Hello world', 'completed']);
    }
    const child = new LlmAgent({ name: 'child', model: new ScriptedModel(['in a branch']) });
    const host = createHost({
      app: 'shop',
      agents: [fromAgent(new ParallelAgent({ name: 'both', subAgents: [child] }))],
    });
    expect(await all(textOf((await host.open('both')).stream('go')))).toEqual([]);
  });
});

describe('createView', () => {
  test('S3-42 a fold of the events, live or replayed: messages, calls, approvals, threads, status', async () => {
    const pay = notingTool('pay');
    const model = new ScriptedModel([{ thought: 'hm', deltas: ['I ', 'pay'], calls: [['pay', { eur: 5 }]] }, 'done']);
    const { host } = hostOf(bot(model), { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
    const session = await host.open('bot');
    const live = createView();
    expect(live.status).toBe('idle');
    const states: string[] = [];
    await say(session, 'go', {
      onEvent: (event) => {
        live.apply(event);
        states.push(live.status);
      },
    });
    expect(new Set(states)).toEqual(new Set(['idle', 'running', 'input_required']));
    const [question] = live.approvals.values();
    expect(live.approvals.size).toBe(1);
    expect([...live.toolCalls.values()]).toMatchObject([{ name: 'pay', args: { eur: 5 }, status: 'requested' }]);
    await say(
      session,
      { kind: 'tool_approval', requestId: question?.requestId ?? '' },
      { onEvent: (event) => live.apply(event) },
    );
    expect(live.approvals.size).toBe(0);
    expect([...live.toolCalls.values()]).toMatchObject([{ status: 'done', content: [{ text: 'pay done' }] }]);
    expect(live.messages.map(({ role, content, streaming }) => [role, content, streaming])).toEqual([
      ['user', [{ type: 'text', text: 'go' }], false],
      [
        'agent',
        [
          { type: 'thought', thought: 'hm' },
          { type: 'text', text: 'I pay' },
        ],
        false,
      ],
      ['agent', [{ type: 'text', text: 'done' }], false],
    ]);
    const replayed = createView();
    const stored = await all(session.events());
    for (const event of [...stored, ...stored]) replayed.apply(event);
    expect([replayed.messages, [...replayed.toolCalls.values()], replayed.status]).toEqual([
      live.messages,
      [...live.toolCalls.values()],
      'completed',
    ]);
  });

  test('S3-36 a view grows with the deltas, part by part', async () => {
    const view = createView();
    const shown: string[] = [];
    const session = await hostOf(bot([{ thought: 'hm', deltas: ['Hel', 'lo'] }])).host.open('bot');
    await say(session, 'go', {
      onEvent: (event) => {
        view.apply(event);
        const message = view.messages.at(-1);
        if (event.type === 'message')
          shown.push(`${message?.streaming} ${message?.content.map((part) => Object.values(part)[1]).join('|')}`);
      },
    });
    expect(shown).toEqual(['false go', 'true hm', 'true hm|Hel', 'true hm|Hello', 'false hm|Hello']);
  });

  test('S3-36 an event that comes twice, or a delta behind its whole message, changes nothing', async () => {
    const session = await hostOf(bot([{ deltas: ['Hel', 'lo'] }, { deltas: ['a', 'b'] }])).host.open('bot');
    const view = createView();
    const twice = (event: AgentEvent) => {
      view.apply(event);
      view.apply(event);
    };
    const events = await say(session, 'go', { onEvent: twice });
    const last = events.findLast((event) => event.type === 'message');
    const before = structuredClone(view.items);
    for (const event of events) view.apply(event);
    // One that was never seen: history was read meanwhile.
    if (last) view.apply({ ...last, id: 'late', partial: true });
    expect(view.items).toEqual(before);
    expect(view.status).toBe('completed');
    expect(view.messages.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'go' }],
      [{ type: 'text', text: 'Hello' }],
    ]);
  });

  test('S3-47 threads have their own messages', async () => {
    const child = (name: string) => new LlmAgent({ name, model: new ScriptedModel([name]) });
    const agent = new ParallelAgent({ name: 'both', subAgents: [child('a'), child('b')] });
    const session = await createHost({ app: 'shop', agents: [fromAgent(agent)] }).open('both');
    const view = createView();
    for (const event of await say(session, 'go')) view.apply(event);
    expect([...view.threads.keys()].sort()).toEqual(['', 'both.a', 'both.b']);
    expect(view.threads.get('both.a')?.messages).toHaveLength(1);
  });
});

describe('agentStream', () => {
  const base = { id: '1', timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's', streamId: 't' };
  const end: AgentEvent = { ...base, id: '2', type: 'stream_end', reason: 'completed', data: {} };
  const start: AgentEvent = { ...base, type: 'initialize', agentId: 'a', interfaceVersion: '1.0' };

  test('S3-11 a generator is a lazy stream; what it throws is thrown', async () => {
    let began = false;
    const stream = agentStream(
      async function* () {
        began = true;
        yield start;
        yield end;
      },
      { streamId: 't' },
    );
    expect([stream.streamId, began]).toEqual(['t', false]);
    expect(brief(await all(stream))).toEqual(['initialize', 'end completed']);
    const failing = agentStream(async function* () {
      yield start;
      throw new Error('lost');
    });
    await expect(all(failing)).rejects.toThrow('lost');
  });

  test('S3-14 S3-21 abort, the caller’s signal and leaving the loop reach the generator', async () => {
    for (const way of ['abort', 'signal', 'leave'] as const) {
      const stopped = door<unknown>();
      const controller = new AbortController();
      const stream = agentStream(
        async function* (signal) {
          yield start;
          if (!signal.aborted)
            await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          stopped.open(signal.aborted);
          yield end;
        },
        { signal: controller.signal },
      );
      await stream.next();
      if (way === 'abort') {
        const next = stream.next();
        await stream.abort('enough');
        expect((await next).value).toEqual(end);
      } else if (way === 'signal') {
        const next = stream.next();
        controller.abort();
        expect((await next).value).toEqual(end);
      } else {
        const waiting = stream.next();
        await stream.return?.();
        await waiting;
      }
      expect([way, await stopped.opened]).toEqual([way, true]);
    }
    expect(ofType([start], 'initialize')).toHaveLength(1);
  });
});
