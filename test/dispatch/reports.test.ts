import { describe, expect, test } from 'vitest';
import { toolCallChecksum } from '../../src/dispatch/index.ts';
import { codeOf, desk, message } from './kit.ts';

describe('reports', () => {
  test('S4-13 deltas add up; the last one seals', async () => {
    let code = '';
    const { runner, seen } = desk(async (ctx, { reportMessage }) => {
      reportMessage('m', 'Hel');
      reportMessage('m', 'lo');
      reportMessage('m', '', { isComplete: true });
      code = await codeOf(() => reportMessage('m', '!'));
      ctx.ack();
    });
    await runner.run();
    expect(seen.message.map(({ full, aDelta, isComplete }) => [full, aDelta, isComplete])).toEqual([
      ['Hel', 'Hel', false],
      ['Hello', 'lo', false],
      ['Hello', '', true],
    ]);
    expect(seen.message.map(({ completedAt }) => completedAt !== undefined)).toEqual([false, false, true]);
    expect(new Set(seen.message.map(({ createdAt }) => createdAt)).size).toBe(1);
    expect(code).toBe('E_REPORT_SEALED');
  });

  test('S4-13 a report goes on over the runs of one dispatch', async () => {
    const { runner, seen } = desk((ctx, { reportMessage }) => {
      reportMessage('m', String(ctx.iteration));
      if (ctx.iteration === 2) ctx.ack();
    });
    await runner.run();
    expect(seen.message.at(-1)?.full).toBe('012');
  });

  test('S4-14 thoughts are a stream of their own, also under the same id', async () => {
    const { runner, seen } = desk((ctx, { reportMessage, reportThought }) => {
      reportThought('x', 'hm', { isComplete: true });
      reportMessage('x', 'so');
      ctx.ack();
    });
    await runner.run();
    expect([seen.thought.map(({ full }) => full), seen.message.map(({ full }) => full)]).toEqual([['hm'], ['so']]);
  });

  test('S4-15 partial tool calls are merged; the checksum comes with tool and arguments', async () => {
    let code = '';
    const { runner, seen } = desk(async (ctx, { reportToolCall }) => {
      reportToolCall('c', { tool: 'find' });
      reportToolCall('c', { args: { q: 1 } });
      reportToolCall('c', { results: 'found', isComplete: true });
      code = await codeOf(() => reportToolCall('c', { results: 'more' }));
      ctx.ack();
    });
    await runner.run();
    const checksum = toolCallChecksum('find', { q: 1 });
    expect(seen.toolCall).toMatchObject([
      { id: 'c', tool: 'find', isComplete: false, isError: false },
      { tool: 'find', args: { q: 1 }, checksum },
      { tool: 'find', args: { q: 1 }, checksum, results: 'found', isComplete: true },
    ]);
    expect(seen.toolCall[0]).not.toHaveProperty('checksum');
    expect(code).toBe('E_REPORT_SEALED');
  });

  test('S4-16 five levels of log, bound to turn, dispatch and run', async () => {
    const { runner, seen } = desk((ctx, { log }) => {
      for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) {
        log[level]({ kind: 'k', message: level, payload: { n: 1 } });
      }
      ctx.ack();
    });
    const { turnId } = await runner.run();
    expect(seen.log.map(({ level, message: text }) => [level, text])).toEqual(
      ['trace', 'debug', 'info', 'warn', 'error'].map((level) => [level, level]),
    );
    expect(seen.log[0]).toMatchObject({ turnId, iteration: 0, dispatchId: seen.dispatchStart[0]?.dispatchId });
  });

  test.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])('S4-24 reported: %s, stored: %s', async (report, store) => {
    const { runner, seen, records } = desk(async (ctx, { reportMessage }) => {
      if (report) reportMessage('m', 'hi', { isComplete: true });
      if (store) await ctx.storeMessage(message('m', 'hi'));
      ctx.ack();
    });
    await runner.run();
    expect([seen.message.length === 1, records.message.size === 1]).toEqual([report, store]);
  });

  test('generation stats are told, and change nothing', async () => {
    const { runner, seen } = desk((ctx, helpers) => {
      helpers.reportGenerationStats({ promptTokens: 3, model: 'm' });
      ctx.ack();
    });
    await runner.run();
    expect(seen.generationStats).toMatchObject([{ promptTokens: 3, model: 'm', iteration: 0 }]);
  });
});

describe('the buses', () => {
  test('S4-50 what is shown are frozen copies', async () => {
    const args = { list: [1] };
    const { runner, seen } = desk((ctx, { reportToolCall }) => {
      reportToolCall('c', { tool: 'find', args });
      args.list.push(2);
      ctx.ack();
    });
    await runner.run();
    const [shown] = seen.toolCall;
    expect(shown?.args).toEqual({ list: [1] });
    expect(shown).toSatisfy(Object.isFrozen);
    expect((shown?.args as typeof args | undefined)?.list).toSatisfy(Object.isFrozen);
  });

  test('S4-34 a listener that throws, rejects or returns changes nothing', async () => {
    const { runner, seen } = desk((ctx, { reportMessage }) => {
      reportMessage('m', 'x');
      if (ctx.iteration === 1) ctx.ack();
    });
    runner.on('message', () => {
      throw new Error('sink');
    });
    runner.observe('iterationStart', () => Promise.reject(new Error('sink')));
    runner.observe('iterationEnd', () => 'ack');
    expect(await runner.run()).toMatchObject({ status: 'ack', iterations: 2 });
    expect(seen.error).toEqual([]);
  });

  test('S4-50 once, off, observeOnce, unobserve', async () => {
    const heard: string[] = [];
    const { runner } = desk((ctx, { reportMessage }) => {
      reportMessage('m', 'x');
      reportMessage('m', 'y');
      ctx.ack();
    });
    const never = () => heard.push('never');
    runner.on('message', never).off('message', never).observe('turnEnd', never).unobserve('turnEnd', never);
    runner.once('message', ({ aDelta }) => heard.push(aDelta)).observeOnce('turnEnd', () => heard.push('end'));
    await runner.run();
    await runner.run();
    expect(heard).toEqual(['x', 'end']);
  });
});
