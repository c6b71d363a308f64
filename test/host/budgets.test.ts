import { describe, expect, test, vi } from 'vitest';
import type { Limits } from '../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent, LlmAgent, SequentialAgent } from '../../src/index.ts';
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
  policyOf,
  readOnly,
  refusal,
  results,
  say,
  slowTool,
} from './kit.ts';

const look = notingTool('look', readOnly).tool;
const usage = { inputTokens: 1_000_000, outputTokens: 0 };
const prices = { scripted: { input: 1, output: 10 } };
const step = { calls: [['look']] as const, usage };

describe('limits', () => {
  test('S3-07 without a limit a turn may make 500 model calls; the 501st is refused', async () => {
    const calls = { calls: [['look']] as const };
    const model = new ScriptedModel({ responses: Array.from({ length: 501 }, () => calls) });
    const { host } = hostOf(bot(model, { maxIterations: 1000 }), { tools: [look], policy: allowAll() });
    const events = await say(await host.open('bot'), 'go', { streaming: false });
    expect([model.requests.length, endOf(events).reason]).toEqual([500, 'max_turns']);
    expect(ofType(events, 'error')).toMatchObject([{ code: 'E_MAX_LLM_CALLS', fatal: false }]);
  });

  test('S3-07 constraints.maxTurns, the host’s and the call’s steps: the strictest wins, over all inner streams', async () => {
    for (const [maxTurns, ofHost, ofCall] of [
      [2, 9, 9],
      [9, 2, 9],
      [9, 9, 2],
    ] as const) {
      const model = new ScriptedModel([step, step, step, 'never']);
      const { host } = hostOf(bot(model), {
        tools: [look],
        policy: allowAll(),
        limits: { steps: ofHost },
        from: { constraints: { maxTurns } },
      });
      const session = await host.open('bot');
      const events = await say(session, 'go', { limits: { steps: ofCall } });
      expect([model.requests.length, endOf(events).reason, endOf(events).data.steps]).toEqual([2, 'max_turns', 2]);
      expect(results(events).look).toBe('look done');
    }
  });

  test('S3-08 each limit ends the stream with its reason, and continue opens the turn again with fresh counters', async () => {
    for (const [limits, reason] of [
      [{ steps: 2 }, 'max_turns'],
      [{ tokens: 2_000_000 }, 'max_budget'],
      [{ usd: 2 }, 'max_budget'],
    ] as [Limits, string][]) {
      const model = new ScriptedModel([step, step, step, { text: 'done', usage: { inputTokens: 1 } }]);
      const { host } = hostOf(bot(model), { tools: [look], policy: allowAll(), limits, prices });
      const session = await host.open('bot');
      const first = await say(session, 'go');
      expect([limits, endOf(first).reason, model.requests.length]).toEqual([limits, reason, 2]);
      expect(ofType(first, 'error').every(({ fatal }) => !fatal)).toBe(true);
      expect(endOf(first).data).toMatchObject({ steps: 2, usage: { inputTokens: 2_000_000 } });
      const second = await say(session, { kind: 'continue' });
      expect([limits, endOf(second).reason, endOf(second).turnId]).toEqual([limits, 'completed', endOf(first).turnId]);
      model.assertUsedUp();
    }
  });

  test('S3-08 minutes: the clock ends a tool that takes too long; waiting for people is free', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      const slow = slowTool('slow');
      const model = new ScriptedModel([{ calls: [['pay']] }, { calls: [['slow']] }, 'done']);
      const answer = door();
      const thinking = door();
      const { host } = hostOf(bot(model), {
        tools: [slow.tool, notingTool('pay').tool],
        policy: policyOf({ pay: 'ask' }),
        limits: { minutes: 10 },
        toolTimeoutMs: 0,
        onApproval: async () => {
          thinking.open();
          await answer.opened;
          return { kind: 'approve' };
        },
      });
      const session = await host.open('bot');
      const stream = follow(session, 'go');
      await thinking.opened;
      for (let n = 0; n < 50; n++) await Promise.resolve();
      await vi.advanceTimersByTimeAsync(3 * 60 * 60_000);
      answer.open();
      await slow.started;
      await vi.advanceTimersByTimeAsync(9 * 60_000);
      expect(stream.events.some(({ type }) => type === 'stream_end')).toBe(false);
      await vi.advanceTimersByTimeAsync(61_000);
      const events = await stream.ended;
      expect(endOf(events).reason).toBe('max_time');
      expect(results(events)).toMatchObject({ pay: 'pay done', slow: expect.stringMatching(/^interrupted/) });
      const again = await say(session, { kind: 'continue' });
      expect(endOf(again).reason).toBe('completed');
      slow.finish(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('S3-08 maxTimeMinutes and maxBudgetUsd of the agent are the host’s to enforce', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      const slow = slowTool('slow');
      const timed = hostOf(bot([{ calls: [['slow']] }]), {
        tools: [slow.tool],
        policy: allowAll(),
        from: { constraints: { maxTimeMinutes: 1 } },
      });
      const stream = follow(await timed.host.open('bot'), 'go');
      await slow.started;
      await vi.advanceTimersByTimeAsync(60_001);
      expect(endOf(await stream.ended).reason).toBe('max_time');
    } finally {
      vi.useRealTimers();
    }
    const model = new ScriptedModel([step, 'never']);
    const paid = hostOf(bot(model), {
      tools: [look],
      policy: allowAll(),
      prices,
      from: { constraints: { maxBudgetUsd: 1 } },
    });
    expect(endOf(await say(await paid.host.open('bot'), 'go')).reason).toBe('max_budget');
    expect(model.requests).toHaveLength(1);
  });

  test('S3-08 a limit beyond what a timer can hold is a limit all the same, and does not fire at once', async () => {
    const slow = slowTool('slow');
    const { host } = hostOf(bot([{ calls: [['slow']] }, 'done']), {
      tools: [slow.tool],
      policy: allowAll(),
      limits: { minutes: 1_000_000 },
      toolTimeoutMs: 2 ** 40,
    });
    const stream = follow(await host.open('bot'), 'go');
    await slow.started;
    await new Promise((resolve) => setTimeout(resolve, 5));
    slow.finish('x');
    const events = await stream.ended;
    expect([results(events).slow, endOf(events).reason]).toEqual(['x', 'completed']);
  });
});

describe('usd', () => {
  test('S3-08 a cap without any price is refused before anything is stored', async () => {
    const { host } = hostOf(bot(['never']), { limits: { usd: 1 } });
    const session = await host.open('bot');
    expect(await refusal(firstOf(session, 'go'))).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_NO_PRICE' });
    expect(await all(session.events())).toEqual([]);
    // The session is free for one without.
    const free = hostOf(bot(['ok'])).host;
    const other = await free.open('bot');
    expect((await refusal(firstOf(other, 'go', { limits: { usd: 1 } }))).code).toBe('E_NO_PRICE');
    expect(endOf(await say(other, 'go')).reason).toBe('completed');
  });

  test('S3-08 a model without a price ends the stream, and says so', async () => {
    const model = new ScriptedModel([step, 'never']);
    const { host } = hostOf(bot(model), {
      tools: [look],
      policy: allowAll(),
      limits: { usd: 1 },
      prices: { other: { input: 1, output: 1 } },
    });
    const events = await say(await host.open('bot'), 'go');
    expect(ofType(events, 'error')).toMatchObject([
      { code: 'E_NO_PRICE', message: expect.stringContaining('scripted') },
    ]);
    expect([endOf(events).reason, model.requests.length]).toEqual(['aborted', 1]);
  });

  test('S3-08 what the provider says it cost goes before the table; cached tokens have their own price', async () => {
    const spent = async (counted: object, table: object) => {
      const model = new ScriptedModel([{ calls: [['look']], usage: counted }, 'done']);
      const { host } = hostOf(bot(model), {
        tools: [look],
        policy: allowAll(),
        limits: { usd: 1 },
        prices: { scripted: table as never },
      });
      return endOf(await say(await host.open('bot'), 'go')).reason;
    };
    expect(await spent({ ...usage, cost: { usd: 0.1 } }, { input: 5, output: 5 })).toBe('completed');
    expect(await spent({ inputTokens: 1, cost: { usd: 1.5 } }, { input: 0, output: 0 })).toBe('max_budget');
    expect(
      await spent({ inputTokens: 1_000_000, cachedReadTokens: 900_000 }, { input: 2, output: 2, cachedRead: 0.1 }),
    ).toBe('completed');
    expect(await spent({ inputTokens: 1_000_000 }, { input: 2, output: 2 })).toBe('max_budget');
  });

  test('S3-08 a turn’s cost is its own: neither the turn before nor a finished answer above the cap counts', async () => {
    const model = new ScriptedModel([{ text: 'a', usage }, { text: 'b', usage }, step, { text: 'never', usage }]);
    const { host } = hostOf(bot(model), { tools: [look], policy: allowAll(), limits: { usd: 1 }, prices });
    const session = await host.open('bot');
    expect(endOf(await say(session, 'one')).reason).toBe('completed');
    expect(endOf(await say(session, 'two')).reason).toBe('completed');
    expect(endOf(await say(session, 'three')).reason).toBe('max_budget');
  });

  test('S3-08 what was spent before a pause counts when the turn goes on, also after a restart and a steer', async () => {
    const model = new ScriptedModel([{ calls: [['pay']], usage }, { calls: [['look']], usage }, 'never']);
    const options = {
      tools: [look, notingTool('pay').tool],
      policy: policyOf({ pay: 'ask' }),
      limits: { usd: 2 },
      prices,
    };
    const { host, store } = hostOf(bot(model), options);
    const session = await host.open('bot');
    await say(session, 'go');
    await session.steer({ content: 'also X' });
    const later = await hostOf(bot(model), { ...options, store }).host.open('bot', { sessionId: session.id });
    const [question] = await later.pending();
    const events = await say(later, { kind: 'tool_approval', requestId: question?.requestId ?? '' });
    expect([endOf(events).reason, model.requests.length]).toEqual(['max_budget', 2]);
  });

  test('S3-08 several model calls in one inner stream: the cap ends it at the next one', async () => {
    const one = (name: string) =>
      new LlmAgent({ name, model: new ScriptedModel({ name: 'scripted', responses: [{ text: name, usage }] }) });
    const agent = new SequentialAgent({ name: 'seq', subAgents: [one('a'), one('b'), one('c')] });
    const host = createHost({ app: 'shop', agents: [fromAgent(agent)], limits: { usd: 1 }, prices });
    const events = await say(await host.open('seq'), 'go', { streaming: true });
    expect(endOf(events).reason).toBe('max_budget');
    expect(brief(events)).toContain('agent: a');
    expect(brief(events)).not.toContain('agent: c');
  });
});
