import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RunnerOptions } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, gate, llm, responses, tool } from './kit.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A turn in which a tool is slow, and word of its beginning. */
function slowTurn(options: Partial<RunnerOptions>, timeoutMs: number | undefined) {
  const started = gate();
  const result = gate<string>();
  const execute = () => {
    started.open();
    return result.opened;
  };
  const slow = tool('slow', execute, timeoutMs === undefined ? {} : { timeoutMs });
  const model = new ScriptedModel([{ calls: [['slow']] }, 'done']);
  const { say } = bench(llm('bot', model, { tools: [slow] }), options);
  return { turn: say('go'), started: started.opened, finish: result.open };
}

test.each<[string, Partial<RunnerOptions>, number | undefined]>([
  ['its own limit', {}, 1000],
  ['the runner’s', { toolTimeoutMs: 1000 }, undefined],
  ['its own before the runner’s', { toolTimeoutMs: 5 }, 1000],
])('a tool that takes longer than %s is a timeout, and the turn goes on', async (_, options, timeoutMs) => {
  const { turn, started, finish } = slowTurn(options, timeoutMs);
  await started;
  await vi.advanceTimersByTimeAsync(999);
  await vi.advanceTimersByTimeAsync(1);
  const events = await turn;
  finish('late');
  expect(responses(events).slow).toEqual({ error: 'no result within 1000 ms; its effects are unknown' });
  expect(endOf(events)).toBe('completed');
});

test.each<[string, Partial<RunnerOptions>, number | undefined]>([
  ['0 of its own, whatever the runner’s', { toolTimeoutMs: 1000 }, 0],
  ['0 of the runner', { toolTimeoutMs: 0 }, undefined],
  ['more than a timer reaches, of its own', {}, 2 ** 31],
  ['more than a timer reaches, of the runner', { toolTimeoutMs: Number.POSITIVE_INFINITY }, undefined],
])('%s is no limit', async (_, options, timeoutMs) => {
  const { turn, started, finish } = slowTurn(options, timeoutMs);
  await started;
  await vi.advanceTimersByTimeAsync(24 * 60 * 60_000);
  finish('x');
  expect(responses(await turn).slow).toEqual({ content: 'x' });
});
