import { afterEach, describe, expect, test, vi } from 'vitest';
import type {
  AgentEvent,
  AgentSession,
  AnyTool,
  ExecutionOptions,
  ExecutorStreamOptions,
  ReportedRequest,
  SessionInput,
  StreamEndEvent,
} from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { HostedSession } from '../../src/host/hosted/hosted-session.ts';
import { hold } from '../../src/session/index.ts';
import { ann, frameOf } from './frame-kit.ts';
import { call, hosted } from './judge-kit.ts';
import { policyOf, refusal, slowTool, tool } from './kit.ts';
import { settle } from './run-kit.ts';

afterEach(() => void vi.useRealTimers());

type Said = Omit<Partial<StreamEndEvent>, 'data'> & {
  data?: object;
  events?: object[];
  open?: ReportedRequest[];
  error?: unknown;
};

const of = (id: string, more: object = {}) => Object.freeze(call({ requestId: id, callId: id, ...more } as never));

/** A session over an executor that says what it is told to, stream by stream, and notes what it is given. */
function driven(
  script: (Said | ((given: SessionInput[], options: ExecutorStreamOptions) => Said | Promise<Said>))[],
  {
    tools = [],
    inner = {},
    subagents,
    ...more
  }: { tools?: AnyTool[]; inner?: object; subagents?: object } & Omit<
    NonNullable<Parameters<typeof frameOf>[0]>,
    'tools' | 'inner'
  > = {},
) {
  const given: SessionInput[][] = [];
  const options: ExecutorStreamOptions[] = [];
  let open: ReportedRequest[] = [];
  const made = {
    id: 's',
    descriptor: { name: 'bot', capabilities: ['resume'] },
    pending: async () => open,
    async *stream(inputs: SessionInput[], execution: ExecutorStreamOptions) {
      given.push(inputs);
      options.push(execution);
      const next = script.shift() ?? {};
      const said = typeof next === 'function' ? await next(inputs, execution) : next;
      if (said.error !== undefined) throw said.error;
      if (said.open) open = said.open;
      yield* (said.events ?? []) as AgentEvent[];
      const { events: _, open: __, error: ___, data, ...end } = said;
      const reason = open.length > 0 ? 'input_required' : 'completed';
      yield {
        id: 'end',
        type: 'stream_end',
        reason,
        ...end,
        data: { ...(open.length > 0 ? { pending: open } : {}), ...data },
      } as AgentEvent;
    },
    async *events() {},
    respond: async () => ({ status: 'settled' }),
    abort: async () => {},
    [Symbol.asyncDispose]: async () => {},
    ...inner,
  };
  const framed = frameOf({ ...more, tools: tools.map((one) => hosted(one)), inner: made });
  const warnings: unknown[][] = [];
  Object.assign(framed.host, { warn: (...said: unknown[]) => void warnings.push(said) });
  const session = new HostedSession(made as unknown as AgentSession, framed.made);
  if (subagents)
    Object.assign(session, { subagents: { begin: async () => undefined, of: () => undefined, ...subagents } });
  framed.shared.handles.add(session);
  const run = async (input: Parameters<HostedSession['stream']>[0] = 'go', execution: ExecutionOptions = {}) => {
    const events: AgentEvent[] = [];
    for await (const event of session.stream(input, execution)) events.push(event);
    return events;
  };
  return {
    ...{ session, given, options, run, warnings, shared: framed.shared, framed },
    setOpen: (now: ReportedRequest[]) => {
      open = now;
    },
    kinds: () =>
      given.map((inputs) =>
        inputs.map((input) => ('requestId' in input ? `${input.kind} ${input.requestId}` : input.kind)),
      ),
  };
}

const endOf = (events: AgentEvent[]) => events.at(-1) as StreamEndEvent;
const pay = tool('pay', () => 'paid');
const look = tool('pay', () => 'seen', { annotations: { readOnly: true } });

describe('what an executor is given', () => {
  test('is a start that is to be kept, then the result, in streams of one turn', async () => {
    const message = { type: 'message', role: 'agent', content: [] };
    const { run, given, options, kinds, shared, session } = driven(
      [
        { open: [of('c')], events: [message] },
        { open: [of('c', { started: true, decision: { by: 'policy' } })] },
        { open: [] },
      ],
      { tools: [pay] },
    );
    const events = await run('go', { model: 'm' });
    expect(kinds()).toEqual([['message'], ['tool_approval c'], ['tool_result c']]);
    expect(given[1]).toMatchObject([{ decision: { outcome: 'approved', by: 'policy' } }]);
    expect(given[2]).toMatchObject([{ result: { content: [{ text: 'paid' }] } }]);
    expect(given[2]?.[0]).not.toHaveProperty('decision');
    expect(options.map(({ terms, model, hostToolExecution }) => [terms?.principal, model, hostToolExecution])).toEqual([
      [ann, 'm', true],
      [undefined, 'm', true],
      [undefined, 'm', true],
    ]);
    expect(new Set(options.map(({ streamId }) => streamId)).size).toBe(1);
    expect(events.map(({ type }) => type)).toEqual(['message', 'stream_end']);
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
    expect([shared.begun, session.introducedBy, session.running]).toMatchObject([{ principal: ann }, 'agent', false]);
  });

  test('is the result of what may run twice at once, with the decision to it', async () => {
    const { run, given, kinds } = driven([{ open: [of('c'), of('d')] }, { open: [] }], { tools: [look] });
    await run();
    expect(kinds()).toEqual([['message'], ['tool_result c', 'tool_result d']]);
    expect(given[1]).toMatchObject([{ decision: { outcome: 'approved', by: 'policy' } }, { decision: {} }]);
  });

  test('is a no where policy says no', async () => {
    const { run, given } = driven([{ open: [of('c')] }, { open: [] }], {
      tools: [pay],
      base: policyOf({ pay: 'deny' }),
    });
    await run();
    expect(given[1]).toMatchObject([
      {
        kind: 'tool_result',
        requestId: 'c',
        result: { errorType: 'denied' },
        decision: { outcome: 'denied', by: 'policy' },
      },
    ]);
  });

  test('is a hundred and twenty-eight at once, at most', async () => {
    const open = Array.from({ length: 130 }, (_, n) => of(`c${n}`));
    const { run, given } = driven([{ open }, { open: open.slice(128) }, { open: [] }], {
      ...{ tools: [pay], base: policyOf({ pay: 'deny' }) },
    });
    await run();
    expect(given.map(({ length }) => length)).toEqual([1, 128, 2]);
  });

  test('is what its caller wants left out, and policy', async () => {
    const base = { evaluate: () => ({ outcome: 'allow' as const }), getExcluded: () => ['x'] };
    const { run, options } = driven([{}], { base });
    await run('go', { excludeTools: ['y'], limits: { usd: 5, steps: 3 } } as never).catch(() => {});
    expect(options).toEqual([]);
    const table = driven([{}], { base, options: { prices: { m: { input: 1, output: 1 } } as never } });
    await table.run('go', { excludeTools: ['y'], limits: { usd: 5, steps: 3 } });
    expect(table.options).toMatchObject([{ excludeTools: ['y', 'x'], limits: { steps: 3 } }]);
    expect(table.options[0]?.limits).not.toHaveProperty('usd');
  });
});

describe('a stream', () => {
  test('ends with a question where somebody must be asked, and shows it', async () => {
    const { run, kinds, framed } = driven([{ open: [of('c')] }], { tools: [pay], base: policyOf({ pay: 'ask' }) });
    const events = await run();
    expect([kinds(), events.map(({ type }) => type)]).toEqual([[['message']], ['elicitation_request', 'stream_end']]);
    expect(endOf(events)).toMatchObject({ reason: 'input_required', data: { pending: [{ requestId: 'c#policy' }] } });
    expect(framed.told.map(([name]) => name)).toEqual(['announce', 'rested']);
  });

  test('leaves a call to its caller that nobody here can run', async () => {
    const { run, kinds } = driven([{ open: [of('c')] }]);
    expect(endOf(await run())).toMatchObject({ reason: 'input_required', data: { pending: [{ requestId: 'c' }] } });
    expect(kinds()).toEqual([['message']]);
  });

  test('goes on once for nothing that is open, and not for ever', async () => {
    const { run, kinds } = driven([
      { reason: 'input_required' },
      { reason: 'input_required' },
      { reason: 'input_required' },
    ]);
    expect(endOf(await run())).toMatchObject({ reason: 'input_required' });
    expect(kinds()).toEqual([['message'], ['continue']]);
  });

  test('that is refused before it began is the refusal; the session is free again', async () => {
    const { run, session } = driven([{ error: new CoxswainError('UNAVAILABLE', 'E_STORE', 'away') }, {}]);
    expect((await refusal(run())).code).toBe('E_STORE');
    expect(session.running).toBe(false);
    expect(endOf(await run()).reason).toBe('completed');
  });

  test('that fails later has an end all the same', async () => {
    const { run, session } = driven(
      [{ open: [of('c')] }, { error: new CoxswainError('DATA_LOSS', 'E_STORE', 'away') }],
      {
        tools: [look],
      },
    );
    const events = await run();
    expect(events.map(({ type }) => type)).toEqual(['error', 'stream_end']);
    expect(events[0]).toMatchObject({ code: 'E_STORE', fatal: true });
    expect([endOf(events).reason, session.running]).toEqual(['failed', false]);
  });

  test('tells again what was not taken as somebody else was faster', async () => {
    const faster = { error: new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', 'closed') };
    const made = driven(
      [
        { open: [of('c'), of('d')] },
        () => {
          made.setOpen([of('d')]);
          return faster;
        },
        { open: [] },
      ],
      { tools: [look] },
    );
    await made.run();
    expect(made.kinds()).toEqual([['message'], ['tool_result c', 'tool_result d'], ['tool_result d']]);
    const first = driven([faster]);
    expect((await refusal(first.run())).code).toBe('E_REQUEST_CLOSED');
  });

  test('looks at a start again that was not taken', async () => {
    const started = of('c', { started: true, decision: { by: 'policy' } });
    const faster = { error: new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', 'closed') };
    const { run, kinds } = driven([{ open: [of('c')] }, faster, { open: [started] }, { open: [] }], { tools: [pay] });
    expect(endOf(await run()).reason).toBe('completed');
    expect(kinds()).toEqual([['message'], ['tool_approval c'], ['tool_approval c'], ['tool_result c']]);
  });

  test('introduces its agent once a handle', async () => {
    const initialize = { type: 'initialize', agentId: 'bot' };
    const { run, session } = driven([{ events: [initialize] }, { events: [initialize] }]);
    expect((await run()).map(({ type }) => type)).toEqual(['initialize', 'stream_end']);
    session.introducedBy = 'host';
    expect((await run()).map(({ type }) => type)).toEqual(['stream_end']);
  });

  test('waits for a tool, and for others to close what is open', async () => {
    const slow = slowTool('pay', { annotations: { readOnly: true } });
    const made = driven([{ open: [of('c'), of('d', { name: 'else' })] }, { open: [of('c')] }, { open: [] }], {
      tools: [slow.tool],
    });
    const running = made.run();
    await slow.started;
    made.setOpen([of('c')]);
    made.session.wake();
    await settle();
    await settle();
    expect(made.kinds()).toEqual([['message'], ['continue']]);
    slow.finish('seen');
    expect(endOf(await running).reason).toBe('completed');
    expect(made.kinds()[2]).toEqual(['tool_result c']);
  });

  test('has the session from its beginning to its end', async () => {
    const told: string[] = [];
    const take = async () => {
      told.push('take');
      return async () => void told.push('back');
    };
    const inner = { [hold]: take };
    const done = driven(
      [
        () => {
          told.push('stream');
          return {};
        },
      ],
      { inner },
    );
    await done.run();
    expect(told.splice(0)).toEqual(['take', 'stream', 'back']);
    // At a pause it is given back, and looked at.
    await driven([{ open: [of('c')] }], { inner }).run();
    expect(told.splice(0)).toEqual(['take', 'back']);
    const busy = { [hold]: () => Promise.reject(new CoxswainError('ABORTED', 'E_SESSION_BUSY', 'busy')) };
    const refused = driven([{}], { inner: busy });
    expect([(await refusal(refused.run())).code, refused.given]).toEqual(['E_SESSION_BUSY', []]);
    await refusal(driven([{ error: new Error('away') }], { inner }).run());
    expect(told).toEqual(['take', 'back']);
  });

  test('goes on where something was answered while it was being given back', async () => {
    let looks = 0;
    const made = driven([{ open: [of('c')] }, { open: [] }], {
      tools: [look],
      base: policyOf({ pay: () => ({ outcome: looks > 0 ? 'allow' : 'ask' }) }),
      inner: {
        [hold]: async () => async () => {
          looks++;
          made.setOpen([of('c', { answers: [{ requestId: 'c#policy', action: 'accept', by: { id: 'bob' } }] })]);
        },
      },
    });
    expect(endOf(await made.run()).reason).toBe('completed');
    expect(made.kinds()[1]).toEqual(['tool_result c']);
  });
});

describe('an end', () => {
  test('of the caller’s reaches the executor, which says how it ended', async () => {
    const slow = slowTool('pay', { annotations: { readOnly: true } });
    const ended: string[] = [];
    const controller = new AbortController();
    const add = vi.spyOn(controller.signal, 'addEventListener');
    const remove = vi.spyOn(controller.signal, 'removeEventListener');
    const { run, kinds, options } = driven(
      [{ open: [of('c')] }, (_, { signal }) => ({ open: [], reason: signal?.aborted ? 'aborted' : 'completed' })],
      { tools: [slow.tool], subagents: { end: async (reason: string) => void ended.push(reason) } },
    );
    const running = run('go', { signal: controller.signal });
    const { signal } = await slow.started;
    controller.abort(new Error('enough'));
    expect(endOf(await running).reason).toBe('aborted');
    expect([kinds(), signal.aborted, ended]).toEqual([[['message'], ['continue']], true, ['enough']]);
    expect(options[0]?.signal).not.toBe(controller.signal);
    expect([add.mock.calls.length, remove.mock.calls.length]).toEqual([1, 1]);
  });

  test('that came before it began ends it with its first stream', async () => {
    const { run, kinds, options } = driven([{ reason: 'aborted' }]);
    expect(endOf(await run('go', { signal: AbortSignal.abort() })).reason).toBe('aborted');
    expect([kinds(), options[0]?.signal?.aborted]).toEqual([[['message']], true]);
  });

  test('of the session’s ends its stream, and closing waits for that', async () => {
    const slow = slowTool('pay', { annotations: { readOnly: true } });
    const { run, session } = driven([{ open: [of('c')] }, { open: [], reason: 'aborted' }], { tools: [slow.tool] });
    const running = run();
    await slow.started;
    expect([session.isBusy('c'), session.isBusy('d')]).toEqual([true, false]);
    await session[Symbol.asyncDispose]();
    expect([endOf(await running).reason, session.running]).toEqual(['aborted', false]);
  });

  test('of one call leaves the others', async () => {
    const slow = slowTool('pay', { annotations: { readOnly: true } });
    const { run, session, given } = driven([{ open: [of('c')] }, { open: [] }], { tools: [slow.tool] });
    const running = run();
    await slow.started;
    await session.abort({ requestId: 'c', reason: 'not that' });
    expect(endOf(await running).reason).toBe('completed');
    expect(given[1]).toMatchObject([{ requestId: 'c', result: { errorType: 'interrupted' } }]);
    expect(JSON.stringify(given[1])).toContain('not that');
  });

  test('comes when its minutes are over; time in which people are asked is none', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const slow = slowTool('pay', { annotations: { readOnly: true }, timeoutMs: 0 });
    const { run, options } = driven([{ open: [of('c')] }, { open: [], reason: 'max_time' }], {
      tools: [slow.tool],
      options: { toolTimeoutMs: 0 },
    });
    const running = run('go', { limits: { minutes: 1 } });
    await slow.started;
    await vi.advanceTimersByTimeAsync(59_999);
    expect(options[0]?.signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(endOf(await running).reason).toBe('max_time');
    expect(options[0]?.signal?.reason).toMatchObject({ code: 'E_MAX_TIME' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('comes when it has cost too much, with the next word of the agent', async () => {
    const usage = (usd: number) => ({ type: 'usage', cost: { usd } });
    const word = { type: 'message', role: 'agent', content: [] };
    const person = { type: 'message', role: 'user', content: [] };
    const spends = async (events: object[], more: object = {}) => {
      const made = driven([{ events }], { options: { prices: { m: { input: 1, output: 1 } } as never, ...more } });
      await made.run('go', { limits: { usd: 5 } });
      return [made.options[0]?.signal?.aborted, (made.options[0]?.signal?.reason as CoxswainError | undefined)?.code];
    };
    expect(await spends([usage(3), usage(2), word])).toEqual([true, 'E_MAX_BUDGET']);
    expect(await spends([usage(3), usage(1), word])).toEqual([false, undefined]);
    expect(await spends([usage(3), usage(2), person])).toEqual([false, undefined]);
    const unpriced = driven([{ events: [{ type: 'usage', model: 'n' }, word] }], {
      options: { prices: { m: { input: 1, output: 1 } } as never },
    });
    const events = await unpriced.run('go', { limits: { usd: 5 } });
    expect(events.filter(({ type }) => type === 'error')).toMatchObject([{ code: 'E_NO_PRICE', fatal: false }]);
    expect(unpriced.options[0]?.signal?.aborted).toBe(true);
  });

  test('has what was spent before, where the turn goes on', async () => {
    const spent = {
      async *events() {
        yield { type: 'usage', cost: { usd: 5 } } as AgentEvent;
      },
    };
    const word = { type: 'message', role: 'agent', content: [] };
    const spentBefore = async (input: SessionInput) => {
      const made = driven([{ events: [word] }], {
        options: { prices: { m: { input: 1, output: 1 } } as never },
        inner: spent,
      });
      await made.run(input, { limits: { usd: 5 } });
      return made.options[0]?.signal?.aborted;
    };
    expect([await spentBefore({ kind: 'continue' }), await spentBefore({ kind: 'message', content: 'go' })]).toEqual([
      true,
      false,
    ]);
  });
});

describe('a turn’s span', () => {
  test('is ended with how it ended, and told to what is below', async () => {
    const ended: unknown[] = [];
    const span = () => ({
      setAttribute: () => {},
      setAttributes: () => {},
      addEvent: () => {},
      recordException: () => {},
      setStatus: () => {},
      end: (...said: unknown[]) => ended.push(said),
    });
    const telemetry = {
      startSpan: span,
      inject: () => ({ traceparent: 'x' }),
      extract: (carrier: object) => ({ carrier }),
    };
    const { run, options } = driven([{}], { options: { telemetry: telemetry as never } });
    await run('go', { traceContext: { traceparent: 'y' } });
    expect([options[0]?.traceContext, ended.length > 0]).toEqual([{ traceparent: 'x' }, true]);
    const plain = driven([{}]);
    await plain.run();
    expect(plain.options[0]).not.toHaveProperty('traceContext');
  });
});
