import { describe, expect, test } from 'vitest';
import type { ToolContract, ToolResult } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { HooksBehind } from '../../src/gate/index.ts';
import { decide, isTooLate, mayBegin, resultAfter, runCall } from '../../src/gate/index.ts';

const text = (result: ToolResult) => result.content.map((part) => ('text' in part ? part.text : '')).join('');

/** Runs a handler, with hooks that say what they are told to and note what they are asked. */
async function ran(
  execute: ToolContract['execute'],
  {
    instead,
    after,
    ...more
  }: {
    instead?: unknown;
    after?: unknown;
    asked?: boolean;
    timeoutMs?: number;
    aborted?: unknown;
    suspends?: (error: unknown) => boolean;
    firstOnly?: boolean;
    hooks?: Partial<HooksBehind>;
  } = {},
) {
  const told: unknown[] = [];
  const tool = { name: 't', description: '', execute } as ToolContract;
  const call = { callId: 'c', args: {}, tool: { name: 't', description: '', inputSchema: {} }, source: 'host' };
  const verdict = await decide(
    { ...call, agentPath: [], sessionId: 's' },
    { validate: (args) => ({ ok: true, args: args as Record<string, unknown> }) },
  );
  if (verdict.kind !== 'run') throw new Error('it may not run');
  const controller = new AbortController();
  if ('aborted' in more) controller.abort(more.aborted);
  const hooks: HooksBehind = {
    instead: async (error) => {
      told.push(['instead', (error as Error).message]);
      if (instead instanceof Error) throw instead;
      return instead;
    },
    after: (result) => {
      told.push(['after', text(result)]);
      if (after === undefined) return undefined;
      return after instanceof Error ? Promise.reject(after) : Promise.resolve(after);
    },
    failed: (point, error) => void told.push(['failed', point, (error as Error).message]),
    ...more.hooks,
  };
  const context = { callId: 'c', signal: controller.signal, progress: () => {} } as never;
  const end = await runCall({
    ...{ decision: verdict.decision, tool, context, hooks, signals: [controller.signal], end: () => {} },
    ...{ timeoutMs: more.timeoutMs, firstOnly: more.firstOnly ?? false, hasAsked: () => more.asked === true },
    ...(more.suspends ? { suspends: more.suspends } : {}),
  });
  return { end, told };
}

const fails = () => {
  throw new Error('broke');
};

describe('a run of a call', () => {
  test('comes to what its handler returned, as a result', async () => {
    expect(await ran(() => ({ n: 1 }))).toEqual({
      end: { kind: 'result', result: { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } } },
      told: [['after', '{"n":1}']],
    });
  });

  test('comes to what a hook has instead of an error, and what one makes of that', async () => {
    const { end, told } = await ran(fails, { instead: 'saved', after: 'dressed' });
    expect(end).toEqual({ kind: 'result', result: { content: [{ type: 'text', text: 'dressed' }] } });
    expect(told).toEqual([
      ['instead', 'broke'],
      ['after', 'saved'],
    ]);
  });

  test('comes to its error, where no hook has anything; one that fails changes nothing', async () => {
    const { end, told } = await ran(fails, { instead: new Error('x'), after: new Error('y') });
    expect(end).toMatchObject({ kind: 'result', result: { isError: true, errorType: 'failed' } });
    expect(told).toEqual([
      ['instead', 'broke'],
      ['failed', 'on_tool_error', 'x'],
      ['after', 'broke'],
      ['failed', 'after_tool', 'y'],
    ]);
  });

  test('is late by its own kind of error', async () => {
    const late: unknown[] = [];
    const { end } = await ran(() => new Promise(() => {}), {
      timeoutMs: 1,
      hooks: { instead: async (error) => void late.push(isTooLate(error)) },
    });
    expect([late, end]).toEqual([
      [true],
      { kind: 'result', result: expect.objectContaining({ isError: true, errorType: 'timeout' }) },
    ]);
    expect(isTooLate(new Error('x'))).toBe(false);
    // MUT-G16: a tool whose own server was late has failed, and hooks are asked about it.
    expect(isTooLate(new CoxswainError('DEADLINE_EXCEEDED', 'E_MODEL', 'x'))).toBe(false);
    expect(isTooLate(new CoxswainError('INTERNAL', 'E_TOOL', 'x'))).toBe(false);
  });

  test('has no result where its handler has asked, waits, has begun or is not wanted: no hook is told', async () => {
    const waits = (error: unknown) => (error as Error).message === 'broke';
    expect(await ran(() => 'x', { asked: true })).toEqual({ end: { kind: 'asked' }, told: [] });
    expect(await ran(() => undefined, { asked: true, firstOnly: true })).toEqual({ end: { kind: 'asked' }, told: [] });
    expect(await ran(fails, { suspends: waits })).toEqual({ end: { kind: 'suspended' }, told: [] });
    expect(await ran(() => undefined, { firstOnly: true })).toEqual({ end: { kind: 'begun' }, told: [] });
    expect(await ran(() => new Promise(() => {}), { aborted: 'gone' })).toEqual({
      ...{ end: { kind: 'aborted', error: 'gone' }, told: [] },
    });
  });

  test('stays as it was where nobody wants what a hook makes of it any more', async () => {
    const whileWanted = async (_: unknown, asIs: ToolResult) => asIs;
    const { end } = await ran(() => 'as it was', { after: 'dressed', hooks: { whileWanted } });
    expect(end).toMatchObject({ result: { content: [{ text: 'as it was' }] } });
    const { end: failed } = await ran(fails, { instead: 'saved', hooks: { whileWanted } });
    expect(failed).toMatchObject({ result: { isError: true, errorType: 'failed' } });
  });

  test('needs no turn of its own where there is no hook', () => {
    const result: ToolResult = { content: [] };
    const none = { instead: async () => undefined, after: () => undefined, failed: () => {} };
    expect(resultAfter(result, none)).toBe(result);
  });
});

test.each([
  [false, 0, false, true],
  [false, 1, false, true],
  [false, 2, false, false],
  [false, 1, true, false],
  [true, 0, false, true],
  [true, 1, false, false],
])('may begin beside others: exclusive %s, %i running, one alone %s: %s', (exclusive, running, alone, may) => {
  expect(mayBegin(exclusive, { running, alone }, 2)).toBe(may);
});
