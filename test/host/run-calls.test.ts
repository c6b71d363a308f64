import { afterEach, describe, expect, test, vi } from 'vitest';
import type {
  AnyTool,
  ReportedRequest,
  SessionInput,
  ToolApprovalInput,
  ToolCallContext,
} from '../../src/contracts/index.ts';
import { decide } from '../../src/gate/index.ts';
import type { RunStep } from '../../src/host/questions/run-inputs.ts';
import { RunCalls } from '../../src/host/run/run-calls.ts';
import { Suspended } from '../../src/host/tools/subagent-tool.ts';
import { call, hosted } from './judge-kit.ts';
import { door, tool } from './kit.ts';
import { fakeRun, settle } from './run-kit.ts';

afterEach(() => void vi.useRealTimers());

const of = (callId: string, more: object = {}) => call({ callId, requestId: callId, ...more } as never);

async function stepOf(request: ReportedRequest): Promise<RunStep> {
  const verdict = await decide(
    {
      ...{ callId: request.callId ?? request.requestId, args: request.args ?? {}, source: 'host', sessionId: 's' },
      ...{ tool: hosted(tool('pay')).descriptor, agentPath: ['bot'] },
    },
    { validate: (args) => ({ ok: true, args: args as Record<string, unknown> }) },
  );
  if (verdict.kind !== 'run') throw new Error('it may not run');
  return { kind: 'run', decision: verdict.decision, rerun: false };
}

/** The sub-agent of a call. */
const agentOfCall = (more: object) => ({
  bound: (hostTool: unknown) => hostTool,
  quiet: async () => undefined,
  ...more,
});

/** The calls of a run over these tools, and what becomes of them. */
function callsOf(tools: AnyTool[], { frame, ...given }: Parameters<typeof fakeRun>[0] = {}) {
  const settled: string[] = [];
  const confirmations: unknown[][] = [];
  const made = fakeRun({
    frame: {
      toolOf: ({ name }: ReportedRequest) => {
        const found = tools.find((one) => one.name === name);
        return found && hosted(found);
      },
      userId: 'ann',
      requesterOf: () => ({ id: 'ann' }),
      bounded: async (_: string, result: object) => ({ ...result, isBounded: true }),
      judge: {
        settled: (callId: string) => void settled.push(callId),
        confirmationAsked: (...said: unknown[]) => void confirmations.push(said),
        rulesFor: () => ({ policy: { evaluate: () => ({ outcome: 'allow' }) }, interactive: true }),
        beforeTool: () => undefined,
        allowanceOf: () => undefined,
      },
      tools: new Map(tools.map((one) => [one.name, hosted(one)])),
      ...frame,
    },
    ...given,
  });
  const calls = new RunCalls(made.run);
  const start = async (request: ReportedRequest, begins?: (hasWaited: boolean) => Promise<boolean>) =>
    calls.start(request, await stepOf(request), begins);
  return { ...made, fake: made, calls, start, settled, confirmations };
}

const approvalOf = (callId: string): ToolApprovalInput => ({ kind: 'tool_approval', requestId: callId });
const readOnly = { annotations: { readOnly: true } };

/** A tool that waits until it is let go, and notes with what it was called. */
function waiting(name = 'pay', extra: object = {}) {
  const contexts: ToolCallContext[] = [];
  const go = door<unknown>();
  const made = tool(
    name,
    (_, context) => {
      contexts.push(context as ToolCallContext);
      return go.opened;
    },
    extra,
  );
  return { made, contexts, finish: go.open };
}

describe('a call that runs', () => {
  test('is busy from its start to its result’s place in the log', async () => {
    const pay = waiting();
    const { calls, start, settled, fake } = callsOf([pay.made]);
    expect([calls.isBusy('c'), calls.isBusy(undefined), calls.running, fake.wakes]).toEqual([false, false, 0, 0]);
    await start(of('c'));
    expect([calls.isBusy('c'), calls.running, calls.hasResults, settled]).toEqual([true, 1, false, []]);
    pay.finish('paid');
    await settle();
    expect([calls.isBusy('c'), calls.running, calls.hasResults, settled]).toEqual([true, 0, true, ['c']]);
    const [result] = calls.takeResults();
    expect(result).toStrictEqual({
      ...{ kind: 'tool_result', requestId: 'c' },
      result: { content: [{ type: 'text', text: 'paid' }], isBounded: true },
    });
    expect([calls.takeResults(), calls.hasResults, calls.isBusy('c')]).toEqual([[], false, true]);
    calls.stored('c');
    expect(calls.isBusy('c')).toBe(false);
  });

  test('wakes its run, and its questions are over', async () => {
    const made = callsOf([tool('pay', () => 'paid')]);
    const over = vi.spyOn(made.run.session.frame.runTimeQuestions, 'over');
    await made.start(of('c'));
    await settle();
    expect([made.fake.wakes, over.mock.calls]).toEqual([1, [['u/s', 'c']]]);
  });

  test('brings its decision along where the log has no approval of it', async () => {
    const decisionOf = async (extra: object, more: Parameters<typeof callsOf>[1] = {}) => {
      const made = callsOf([tool('pay', () => 'paid', extra)], more);
      await made.start(of('c'));
      await settle();
      return made.calls.takeResults()[0]?.decision;
    };
    expect(await decisionOf({})).toBeUndefined();
    expect(await decisionOf({ annotations: { openWorld: true } })).toBeUndefined();
    expect(await decisionOf(readOnly)).toMatchObject({ outcome: 'approved', by: 'policy' });
    expect(await decisionOf({ annotations: { idempotent: true } })).toMatchObject({ outcome: 'approved' });
    const usage = { inputTokens: 5 };
    expect(await decisionOf({}, { subagents: () => agentOfCall({ quiet: async () => usage }) })).toMatchObject({
      outcome: 'approved',
      usage,
    });
    expect(await decisionOf(readOnly)).not.toHaveProperty('usage');
  });

  test('with tail calls is cut as one, and says what was decided of each', async () => {
    const main = tool('pay', () => ({ content: [], tailCalls: [{ name: 'log', args: {} }] }), { makesTailCalls: true });
    const made = callsOf([main, tool('log', () => 'noted')]);
    await made.start(of('c'));
    await settle();
    await settle();
    expect(made.calls.takeResults()).toMatchObject([
      { result: { isBounded: true }, decision: { tailCalls: [{ name: 'log', outcome: 'approved' }] } },
    ]);
  });

  test('has a first word of a long-running tool, which no answer can tell', async () => {
    const long = tool('ship', () => 'sent', { annotations: { longRunning: true } });
    const { calls, start } = callsOf([tool('pay', () => 'paid'), long]);
    await start(of('a', { name: 'ship' }));
    await start(of('b'));
    await settle();
    expect(calls.takeAnswers().map(({ requestId }) => requestId)).toEqual(['b']);
    expect(calls.takeAnswers()).toEqual([]);
    expect(calls.takeResults()).toMatchObject([{ requestId: 'a', interim: true }]);
  });

  test('may ask, or wait for its agent: then it has no result', async () => {
    const asking = tool('pay', (_, context) => void context.requestConfirmation({ hint: 'sure?' }));
    const asked = callsOf([asking]);
    await asked.start(of('c'));
    await settle();
    expect([asked.calls.hasResults, asked.calls.running, asked.settled]).toEqual([false, 0, []]);
    expect(asked.confirmations).toMatchObject([[{ callId: 'c' }, { hint: 'sure?' }, { callId: 'c' }]]);
    const quiet = vi.fn(async () => {});
    const waits = callsOf([tool('pay', () => Promise.reject(new Suspended()))], {
      subagents: () => agentOfCall({ quiet }),
    });
    await waits.start(of('c'));
    await settle();
    expect([waits.calls.hasResults, waits.settled, quiet.mock.calls]).toEqual([false, [], [[]]]);
  });

  test('fails where it cannot be run, and that is told of', async () => {
    const made = callsOf([tool('pay', () => 'paid')], {
      subagents: () =>
        agentOfCall({
          bound: () => {
            throw new Error('no agent');
          },
        }),
    });
    await made.start(of('c'));
    await settle();
    expect(made.warnings).toEqual([['running pay failed', new Error('no agent')]]);
    expect(made.calls.takeResults()).toMatchObject([
      { requestId: 'c', result: { errorType: 'failed', isError: true } },
    ]);
  });

  test('is given what the call, or else the host, says', async () => {
    const pay = waiting();
    const options = { deps: 'hosts', toolTimeoutMs: 0 };
    const calls = callsOf([pay.made], { options, run: { options: { streamId: 'x', deps: 'calls' } } });
    const hosts = callsOf([pay.made], { options });
    await calls.start(of('c'));
    await hosts.start(of('c'));
    expect(pay.contexts.map(({ deps, callId, sessionId, agentPath }) => [deps, callId, sessionId, agentPath])).toEqual([
      ['calls', 'c', 's', ['bot']],
      ['hosts', 'c', 's', ['bot']],
    ]);
    pay.finish(1);
  });

  test('has two minutes where nobody says otherwise', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const pay = waiting();
    const { calls, start } = callsOf([pay.made]);
    await start(of('c'));
    await vi.advanceTimersByTimeAsync(119_999);
    expect(calls.hasResults).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await settle();
    expect(calls.takeResults()).toMatchObject([{ result: { errorType: 'timeout' } }]);
    const own = callsOf([pay.made], { options: { toolTimeoutMs: 50 } });
    await own.start(of('c'));
    await vi.advanceTimersByTimeAsync(50);
    await settle();
    expect(own.calls.hasResults).toBe(true);
  });

  test('shows its progress while its stream goes on', async () => {
    const pay = waiting();
    const { shown, start, run, abort } = callsOf([pay.made]);
    await start(of('c', { threadId: 'x' }));
    const [context] = pay.contexts;
    context?.progress({ progress: 1, requestId: 'forged', type: 'error' } as never);
    expect(shown).toMatchObject([
      { type: 'tool_update', requestId: 'c', progress: 1, turnId: 't', threadId: 'x', agentId: 'bot', source: 'host' },
    ]);
    run.accepted = false;
    context?.progress({ progress: 2 });
    run.accepted = true;
    abort();
    context?.progress({ progress: 3 });
    expect(shown).toHaveLength(1);
    pay.finish(1);
  });
});

describe('a call does not run', () => {
  test('while somebody is answering it', async () => {
    const pay = waiting();
    const { calls, start, fake } = callsOf([pay.made]);
    expect(calls.withholds([of('c')])).toBe(false);
    calls.withhold('c');
    await start(of('c'));
    expect([pay.contexts.length, calls.isBusy('c'), fake.wakes]).toEqual([0, false, 0]);
    expect([calls.withholds([of('c')]), calls.withholds([of('d')]), calls.withholds([])]).toEqual([true, false, false]);
    calls.giveBack('c');
    await start(of('c'));
    expect([pay.contexts.length, calls.withholds([of('c')])]).toEqual([1, false]);
    pay.finish(1);
  });

  test('that gave back wakes the run', () => {
    const made = callsOf([]);
    made.calls.withhold('c');
    made.calls.giveBack('c');
    expect(made.fake.wakes).toBe(1);
  });

  test('without a handler here', async () => {
    const { calls, start } = callsOf([]);
    await start(of('c'));
    expect([calls.running, calls.isBusy('c')]).toEqual([0, false]);
  });

  test('in a run that is over', async () => {
    const pay = waiting();
    const { calls, start, abort } = callsOf([pay.made]);
    abort();
    await start(of('c'));
    await settle();
    expect([pay.contexts.length, calls.hasResults, calls.running]).toEqual([0, false, 0]);
    expect(calls.signalOf('d').aborted).toBe(true);
  });

  test('where whoever stores its start says no', async () => {
    const pay = waiting();
    const { calls, start } = callsOf([pay.made]);
    await start(of('c'), async () => false);
    await settle();
    expect([pay.contexts.length, calls.hasResults, calls.running]).toEqual([0, false, 0]);
  });

  test('behind another whose place it waits for, where its turn has ended meanwhile', async () => {
    for (const isOpen of [true, false]) {
      const pay = waiting();
      const last = tool('last', () => 'ran', readOnly);
      const inner = { pending: async () => (isOpen ? [of('b')] : []) };
      const { calls, start } = callsOf([pay.made, last], { options: { toolConcurrency: 1 }, inner });
      await start(of('a'));
      await start(of('b', { name: 'last' }));
      expect([calls.running, calls.isBusy('b')]).toEqual([2, true]);
      pay.finish('paid');
      await settle();
      await settle();
      expect(calls.takeResults().map(({ requestId }) => requestId)).toEqual(isOpen ? ['a', 'b'] : ['a']);
      expect(calls.running).toBe(0);
    }
  });

  test('beside one that is exclusive', async () => {
    const pay = waiting('pay', { annotations: { exclusive: true } });
    const other = waiting('other');
    const { start } = callsOf([pay.made, other.made]);
    await start(of('a'));
    await start(of('b', { name: 'other' }));
    expect([pay.contexts.length, other.contexts.length]).toEqual([1, 0]);
    pay.finish(1);
    other.finish(1);
  });
});

describe('a start that is to be in the log first', () => {
  async function due(options: object = {}) {
    const pay = waiting();
    const made = callsOf([pay.made], { options });
    const request = of('c');
    const approval = approvalOf('c');
    made.calls.enqueue(request, await stepOf(request), approval);
    await settle();
    return { ...made, pay, approval, started: of('c', { started: true }) };
  }

  test('is taken along once, and its call begins when it is stored', async () => {
    const { calls, pay, approval, started } = await due();
    expect([pay.contexts.length, calls.isBusy('c')]).toEqual([0, true]);
    expect(calls.takeStarts()).toEqual([approval]);
    expect(calls.takeStarts()).toEqual([]);
    // Another stream took other inputs.
    calls.begin([started], [approvalOf('c')]);
    await settle();
    expect(pay.contexts).toEqual([]);
    calls.begin([started], [approval]);
    await settle();
    expect(pay.contexts).toHaveLength(1);
    calls.begin([started], [approval]);
    pay.finish(1);
    await settle();
    expect(calls.takeResults()).toHaveLength(1);
  });

  test('that the log does not show is a fault of the store: the call does not run', async () => {
    const { calls, pay, approval } = await due();
    calls.takeStarts();
    expect(() => calls.begin([of('c')], [approval])).toThrow(
      expect.objectContaining({ status: 'DATA_LOSS', code: 'E_STORE', details: { callId: 'c' } }),
    );
    expect(pay.contexts).toEqual([]);
  });

  test('of a call that is closed, or that is not to run, begins nothing', async () => {
    for (const end of ['closed', 'not now', 'none', 'abort'] as const) {
      const { calls, pay, approval, started } = await due();
      if (end !== 'abort') calls.takeStarts();
      if (end === 'closed') calls.begin([], [approval]);
      else if (end === 'not now') calls.begin([started], [approval], (callId) => callId !== 'c');
      else if (end === 'none') await calls.beginNone();
      else calls.abortAll();
      await settle();
      expect([end, pay.contexts.length, calls.running, calls.hasResults]).toEqual([end, 0, 0, false]);
    }
  });

  test('is stored alone where no inner stream follows', async () => {
    const pay = waiting();
    const { calls } = callsOf([pay.made]);
    const stored: unknown[][] = [];
    calls.recordAlone(async (...start) => {
      stored.push(start);
      return true;
    });
    const request = of('c');
    const step = await stepOf(request);
    calls.enqueue(request, step, approvalOf('c'));
    await settle();
    expect([stored, calls.takeStarts(), pay.contexts.length]).toEqual([
      [[request, { outcome: 'approved', by: 'policy' }]],
      [],
      1,
    ]);
    pay.finish(1);
  });

  test('of one that waited for its place wakes the run when its turn comes', async () => {
    const first = waiting('first');
    const second = waiting('pay');
    const made = callsOf([first.made, second.made], { options: { toolConcurrency: 1 } });
    const ahead = of('a', { name: 'first' });
    made.calls.start(ahead, await stepOf(ahead));
    const request = of('c');
    made.calls.enqueue(request, await stepOf(request), approvalOf('c'));
    await settle();
    expect([made.calls.takeStarts(), made.fake.wakes]).toEqual([[], 0]);
    first.finish(1);
    await settle();
    // Once for what has ended, once for what may begin.
    expect([made.calls.takeStarts().length, made.fake.wakes]).toEqual([1, 2]);
    const { calls, fake } = await due();
    expect([calls.takeStarts().length, fake.wakes]).toEqual([1, 0]);
  });
});

describe('what is not wanted any more', () => {
  test('is kept of inputs that were not taken: results of calls that are open, which were made here', async () => {
    const { calls } = callsOf([]);
    calls.settles('a');
    calls.settles('b');
    const result = (requestId: string): SessionInput => ({ kind: 'tool_result', requestId, result: { content: [] } });
    const inputs = [result('a'), result('b'), result('x'), approvalOf('a'), { kind: 'continue' } as const];
    expect(calls.kept([of('a'), of('x')], inputs)).toEqual([result('a')]);
    expect([calls.isBusy('a'), calls.isBusy('b')]).toEqual([true, false]);
  });

  test('is thought about no longer', async () => {
    const pay = waiting();
    const { calls, start } = callsOf([pay.made]);
    const signals = Object.fromEntries(['a', 'b', 'c'].map((id) => [id, calls.signalOf(id)]));
    expect(calls.signalOf('a')).toBe(signals.a);
    await start(of('c'));
    calls.dropClosed([of('b')]);
    expect(Object.values(signals).map(({ aborted }) => aborted)).toEqual([true, false, false]);
    expect(signals.a?.reason).toMatchObject({ code: 'E_ABORTED', message: 'aborted' });
    calls.drop('b', 'enough');
    expect(signals.b?.reason).toMatchObject({ message: 'enough' });
    calls.drop('unknown');
    pay.finish(1);
  });

  test('is forgotten, but for what runs', async () => {
    const pay = waiting();
    const { calls, start } = callsOf([pay.made]);
    calls.retain([]);
    const before = ['a', 'b', 'd'].map((id) => calls.signalOf(id));
    await start(of('c'));
    const running = calls.signalOf('c');
    calls.retain([of('a'), of('d')]);
    calls.judged([of('d'), call({ callId: undefined, requestId: 'x' } as never), of('c')]);
    expect([calls.signalOf('a') === before[0], calls.signalOf('b') === before[1]]).toEqual([true, false]);
    expect([calls.signalOf('d') === before[2], calls.signalOf('c') === running]).toEqual([false, true]);
    pay.finish(1);
  });

  test('is ended: one call, those that are closed, or all', async () => {
    const pay = waiting();
    const { calls, start, abort } = callsOf([pay.made]);
    for (const id of ['a', 'b', 'c']) await start(of(id));
    const aborted = () => pay.contexts.map(({ signal }) => signal.aborted);
    expect([calls.abort('x'), calls.abort('a', 'enough'), aborted()]).toEqual([false, true, [true, false, false]]);
    expect(pay.contexts[0]?.signal.reason).toMatchObject({ message: 'enough' });
    calls.abortClosed([of('c')]);
    expect(aborted()).toEqual([true, true, false]);
    await settle();
    calls.takeResults();
    expect(calls.interrupted()).toMatchObject([
      { kind: 'tool_result', requestId: 'c', result: { errorType: 'interrupted' } },
    ]);
    abort(new Error('gone'));
    calls.abortAll();
    expect(aborted()).toEqual([true, true, true]);
    expect(pay.contexts[2]?.signal.reason).toMatchObject({ message: 'gone' });
    await settle();
    expect([calls.hasResults, calls.running]).toEqual([false, 0]);
    const idle = callsOf([pay.made]);
    const signal = idle.calls.signalOf('a');
    idle.calls.abortAll();
    expect(signal.reason).toMatchObject({ code: 'E_ABORTED', message: 'the run is over' });
  });

  test('interrupts what has begun alone', async () => {
    const pay = waiting();
    const { calls, start } = callsOf([pay.made], { options: { toolConcurrency: 1 } });
    await start(of('a'));
    await start(of('b'));
    expect(calls.interrupted().map(({ requestId }) => requestId)).toEqual(['a']);
    pay.finish(1);
  });

  test('MUT-H19 may have ended while it runs, and until its result is taken; only then somebody waits for it', async () => {
    const pay = waiting();
    const { calls, start } = callsOf([pay.made]);
    const isAtOnce = async () => {
      let isOver = false;
      void calls.endings().then(() => {
        isOver = true;
      });
      for (let n = 0; n < 20; n++) await Promise.resolve();
      return isOver;
    };
    expect([calls.mayHaveEnded, await isAtOnce()]).toEqual([false, true]);
    await start(of('c'));
    expect([calls.mayHaveEnded, await isAtOnce()]).toEqual([true, false]);
    pay.finish(1);
    // What it has returned in this moment is known when the endings are.
    await calls.endings();
    expect([calls.hasResults, calls.mayHaveEnded]).toEqual([true, true]);
    calls.takeResults();
    expect([calls.mayHaveEnded, await isAtOnce()]).toEqual([false, true]);
  });
});
