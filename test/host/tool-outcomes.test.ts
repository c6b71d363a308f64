import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AgentCallContext, AnyTool, LifecycleInterceptor, ToolResult } from '../../src/contracts/index.ts';
import { boundedResult, decide } from '../../src/gate/index.ts';
import { Suspended } from '../../src/host/tools/subagent-tool.ts';
import type { RunToolOptions, ToolOutcome } from '../../src/host/tools/tool-runner.ts';
import { runHostTool, supports } from '../../src/host/tools/tool-runner.ts';
import { call, hosted, info } from './judge-kit.ts';
import { door, tool } from './kit.ts';

afterEach(() => void vi.useRealTimers());

type Hook = (point: string, payload: Record<string, unknown>) => unknown;

/** Hooks that support these points, and what they were told. */
function hooksOf(
  points: string[],
  fire: Hook,
): { hooks: LifecycleInterceptor; told: [string, Record<string, unknown>][] } {
  const told: [string, Record<string, unknown>][] = [];
  const hooks = {
    supportedHookPoints: () => points,
    fire: async (point: string, payload: Record<string, unknown>) => {
      told.push([point, payload]);
      return fire(point, payload);
    },
  };
  return { hooks: hooks as unknown as LifecycleInterceptor, told };
}

/** One run of a host tool with arguments `{eur: 5}`. */
async function runOf(
  made: AnyTool,
  {
    signal = new AbortController().signal,
    confirmation,
    ...more
  }: Partial<RunToolOptions> & { signal?: AbortSignal; confirmation?: { confirmed: boolean } } = {},
) {
  const hostTool = hosted(made);
  const verdict = await decide(
    {
      ...{ callId: 'c', args: { eur: 5 }, tool: hostTool.descriptor, source: 'host' },
      ...{ agentPath: ['bot'], sessionId: 's' },
    },
    { validate: (args) => ({ ok: true, args: args as Record<string, unknown> }) },
  );
  if (verdict.kind !== 'run') throw new Error('it may not run');
  const warnings: string[] = [];
  const updates: unknown[] = [];
  const options: RunToolOptions = {
    ...{ deps: 'deps', hooks: undefined, hookTimeoutMs: undefined, timeoutMs: 0 },
    bounded: (_, result) => result,
    progress: (update) => void updates.push(update),
    elicit: async () => ({ action: 'cancel' }),
    warn: (message) => void warnings.push(message),
    ...more,
  };
  const outcome = await runHostTool(
    {
      ...{ ...info, agentPath: call().agentPath, hostTool, decision: verdict.decision },
      ...(confirmation ? { confirmation } : {}),
    },
    options,
    signal,
  );
  return { outcome, warnings, updates, hostTool };
}

function resultOf(outcome: ToolOutcome): ToolResult {
  if (outcome.kind !== 'result') throw new Error(`no result: ${outcome.kind}`);
  return outcome.result;
}

const textOf = (outcome: ToolOutcome) =>
  resultOf(outcome)
    .content.map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
const long = { annotations: { longRunning: true } };

describe('what a host tool comes to', () => {
  test('is its result', async () => {
    const { outcome } = await runOf(tool('pay', () => 'paid'));
    expect(outcome).toMatchObject({ kind: 'result', interim: false });
    expect(textOf(outcome)).toBe('paid');
  });

  test('is nothing where it is not wanted any more: it never runs', async () => {
    let ran = 0;
    const { outcome } = await runOf(
      tool('pay', () => ran++),
      { signal: AbortSignal.abort() },
    );
    expect(outcome).toMatchObject({ kind: 'result', interim: false, result: { errorType: 'cancelled' } });
    expect([textOf(outcome), ran]).toEqual(['cancelled: it never ran', 0]);
  });

  test('of a long-running one is a first word, or none yet; a failure is the last', async () => {
    expect((await runOf(tool('ship', () => 'sent', long))).outcome).toMatchObject({ interim: true });
    for (const nothing of [undefined, null]) {
      const { outcome } = await runOf(tool('ship', () => nothing, long));
      expect(outcome).toEqual({ kind: 'result', result: { content: [] }, interim: true });
    }
    const failed = await runOf(tool('ship', () => Promise.reject(new Error('lost')), long));
    expect(failed.outcome).toMatchObject({ interim: false, result: { errorType: 'failed' } });
    const plain = await runOf(tool('ship', () => undefined));
    expect(plain.outcome).toMatchObject({ interim: false });
  });

  test('is a question where it asked for one, and a wait where an agent waits', async () => {
    const asking = tool('pay', (_, context) => void context.requestConfirmation({ hint: 'sure?' }));
    expect((await runOf(asking)).outcome).toEqual({ kind: 'confirm', request: { hint: 'sure?' } });
    const waits = tool('expert', () => Promise.reject(new Suspended()));
    const { hooks, told } = hooksOf(['on_tool_error', 'after_tool'], () => undefined);
    expect((await runOf(waits, { hooks })).outcome).toEqual({ kind: 'suspended' });
    expect(told).toEqual([]);
  });

  test('is cut where it is larger than a model is given, and kept by whoever keeps it', async () => {
    const kept: string[] = [];
    const spill = async (name: string) => {
      kept.push(name);
      return 'kept';
    };
    const large = tool('read', () => 'x'.repeat(5000));
    const { outcome } = await runOf(large, {
      bounded: (callId, result) => boundedResult({ maxResultBytes: 1000, spill }, callId, result),
    });
    expect(JSON.stringify(resultOf(outcome).content).length).toBeLessThan(1100);
    expect(kept).toHaveLength(1);
    expect(textOf((await runOf(large)).outcome)).toHaveLength(5000);
  });
});

describe('a host tool is ended', () => {
  test('by its own time, or that of its host', async () => {
    vi.useFakeTimers();
    for (const [own, ms] of [
      [{}, 1000],
      [{ timeoutMs: 50 }, 50],
    ] as const) {
      let signal: AbortSignal | undefined;
      const hangs = tool(
        'hang',
        (_, context) => {
          signal = context.signal;
          return new Promise(() => {});
        },
        own,
      );
      const { hooks, told } = hooksOf(['on_tool_error'], () => ({ modifications: { replacement: 'fine' } }));
      const running = runOf(hangs, { timeoutMs: 1000, hooks });
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(signal?.aborted).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      const { outcome } = await running;
      expect([resultOf(outcome).errorType, textOf(outcome)]).toEqual([
        'timeout',
        `no result within ${ms} ms; its effects are unknown`,
      ]);
      expect([signal?.aborted, told.length]).toEqual([true, 0]);
    }
  });

  test('by whoever ends the call, with the reason', async () => {
    const controller = new AbortController();
    const begun = door<AbortSignal>();
    const hangs = tool('hang', (_, context) => {
      begun.open(context.signal);
      return new Promise(() => {});
    });
    const { hooks, told } = hooksOf(['on_tool_error'], () => undefined);
    const running = runOf(hangs, { signal: controller.signal, hooks });
    const signal = await begun.opened;
    controller.abort(new Error('enough'));
    const { outcome } = await running;
    expect([resultOf(outcome).errorType, textOf(outcome), told.length]).toEqual([
      'interrupted',
      'interrupted: enough',
      0,
    ]);
    expect([signal.aborted, (signal.reason as Error).message]).toEqual([true, 'enough']);
  });

  test('and leaves neither a timer nor a listener', async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const remove = vi.spyOn(controller.signal, 'removeEventListener');
    const add = vi.spyOn(controller.signal, 'addEventListener');
    await runOf(
      tool('pay', () => 'paid'),
      { timeoutMs: 1000, signal: controller.signal },
    );
    expect([vi.getTimerCount(), add.mock.calls.length, remove.mock.calls.length]).toEqual([0, 1, 1]);
    await runOf(
      tool('pay', () => 'paid'),
      { timeoutMs: 0, signal: controller.signal },
    );
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('hooks around a host tool', () => {
  const pay = tool('pay', () => 'paid');
  const fails = tool('pay', () => Promise.reject(new Error('lost')));
  const replaced = (replacement: unknown) => ({ action: 'proceed', modifications: { replacement } });

  test('are told of the call, its result or its error', async () => {
    const { hooks, told } = hooksOf(['after_tool', 'on_tool_error'], () => undefined);
    const { hostTool, outcome } = await runOf(pay, { hooks });
    const context = { sessionId: 's', callId: 'c', agentPath: ['bot'] };
    expect(told).toMatchObject([
      ['after_tool', { tool: hostTool.descriptor, args: { eur: 5 }, context, result: resultOf(outcome) }],
    ]);
    told.length = 0;
    const failed = await runOf(fails, { hooks });
    expect(textOf(failed.outcome)).toBe('lost');
    expect(told).toMatchObject([
      ['on_tool_error', { tool: hostTool.descriptor, args: { eur: 5 }, context, error: { message: 'lost' } }],
      ['after_tool', { result: { errorType: 'failed' } }],
    ]);
  });

  test('may give another result', async () => {
    const after = hooksOf(['after_tool'], () => replaced('other'));
    expect(textOf((await runOf(pay, after)).outcome)).toBe('other');
    const onError = hooksOf(['on_tool_error'], () => replaced('mended'));
    expect(textOf((await runOf(fails, onError)).outcome)).toBe('mended');
    expect(textOf((await runOf(pay, onError)).outcome)).toBe('paid');
    expect(onError.told).toHaveLength(1);
  });

  test('that say no too late, or fail, are told of and change nothing', async () => {
    const no = hooksOf(['after_tool'], () => ({ action: 'block', reason: 'no', modifications: { replacement: 'x' } }));
    const blocked = await runOf(pay, no);
    expect(textOf(blocked.outcome)).toBe('paid');
    expect(blocked.warnings).toEqual(['an after_tool hook failed on pay']);
    const late = await runOf(
      fails,
      hooksOf(['on_tool_error'], () => Promise.reject(new Error('hook'))),
    );
    expect([textOf(late.outcome), late.warnings]).toEqual(['lost', ['an on_tool_error hook failed on pay']]);
    const slow = await runOf(pay, { ...hooksOf(['after_tool'], () => new Promise(() => {})), hookTimeoutMs: 20 });
    expect([textOf(slow.outcome), slow.warnings.length]).toEqual(['paid', 1]);
  });

  test('are fired where they are supported', async () => {
    const { hooks, told } = hooksOf([], () => replaced('other'));
    expect(textOf((await runOf(pay, { hooks })).outcome)).toBe('paid');
    expect([told, supports(undefined, 'x'), supports(hooks, 'x')]).toEqual([[], false, false]);
    expect(supports(hooksOf(['x'], () => undefined).hooks, 'x')).toBe(true);
  });
});

describe('the context of a host tool', () => {
  async function contextOf(more: Parameters<typeof runOf>[1] = {}) {
    const seen = door<AgentCallContext>();
    const done = door();
    const running = runOf(
      tool('pay', async (_, context) => {
        // What a program in JavaScript may try.
        seen.open(context as AgentCallContext);
        await done.opened;
      }),
      more,
    );
    const context = await seen.opened;
    return {
      context,
      end: async () => {
        done.open();
        return running;
      },
    };
  }

  test('says which call it is, with what it was given', async () => {
    const { context, end } = await contextOf({ confirmation: { confirmed: true } });
    expect([context.callId, context.sessionId, context.agentPath, context.deps]).toEqual(['c', 's', ['bot'], 'deps']);
    expect(context.confirmation).toEqual({ confirmed: true });
    context.progress({ progress: 1 });
    expect(await context.getAuthResponse('k' as never)).toBeUndefined();
    const { updates, warnings } = await end();
    expect([updates, warnings]).toEqual([[{ progress: 1 }], []]);
    const plain = await contextOf();
    expect(plain.context.confirmation).toBeUndefined();
    await plain.end();
  });

  test('shows nothing any more once the call is ended', async () => {
    const controller = new AbortController();
    const { context, end } = await contextOf({ signal: controller.signal });
    controller.abort();
    context.progress({ progress: 1 });
    expect((await end()).updates).toEqual([]);
  });

  test('hands questions on, which end with the call or with their own signal', async () => {
    const asked: AbortSignal[] = [];
    const elicit = async (_: unknown, signal: AbortSignal) => {
      asked.push(signal);
      return { action: 'decline' as const };
    };
    const controller = new AbortController();
    const { context, end } = await contextOf({ signal: controller.signal, elicit });
    const own = new AbortController();
    expect(await context.elicit?.({ message: 'm' })).toEqual({ action: 'decline' });
    await context.elicit?.({ message: 'm' }, own.signal);
    expect(asked.map(({ aborted }) => aborted)).toEqual([false, false]);
    own.abort();
    expect(asked.map(({ aborted }) => aborted)).toEqual([false, true]);
    controller.abort();
    expect(asked.map(({ aborted }) => aborted)).toEqual([true, true]);
    await end();
  });

  test('has none of what is the agent’s, and says what to do instead', async () => {
    const { context, end } = await contextOf();
    const refused: [string, () => unknown, string][] = [
      ['state', () => context.state, 'give the tool to the agent'],
      ['artifacts', () => context.artifacts, 'keep the artifact on the host'],
      ['requestCredential', () => context.requestCredential({} as never), 'in deps'],
      ['escalate', () => context.escalate(), 'end its loop'],
      ['skipSummarization', () => context.skipSummarization(), 'only tools of the agent'],
      ['transferTo', () => context.transferTo('x'), 'hand over'],
    ];
    for (const [what, reach, instead] of refused) {
      expect(reach).toThrow(expect.objectContaining({ code: 'E_UNSUPPORTED' }));
      expect(reach).toThrow(new RegExp(`a host tool has no ${what}: .*${instead}`));
    }
    await expect(context.searchMemory('x')).rejects.toThrow('a host tool has no searchMemory');
    const { warnings } = await end();
    expect(warnings).toHaveLength(refused.length * 2 + 1);
    expect(warnings[0]).toMatch(/^tool pay: a host tool has no state/);
    expect(() => context.requestConfirmation({ expiresIn: -1 })).toThrow();
  });
});
