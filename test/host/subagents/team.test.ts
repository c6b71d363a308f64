import { describe, expect, test, vi } from 'vitest';
import type { AgentEvent, ReportedRequest, StreamEndEvent, ToolResult } from '../../../src/contracts/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';
import type { CallersStream } from '../../../src/host/frame/handle.ts';
import type { HostedSession } from '../../../src/host/hosted/hosted-session.ts';
import type { SubagentOfCall } from '../../../src/host/subagents/called-agent.ts';
import { closedRequest } from '../../../src/host/subagents/subagent-events.ts';
import { Subagents } from '../../../src/host/subagents/subagents.ts';
import { Suspended, subagentTool } from '../../../src/host/tools/subagent-tool.ts';
import { joined } from '../../../src/session/index.ts';
import { call, hosted } from '../judge-kit.ts';
import { all, door } from '../kit.ts';
import { settle } from '../run-kit.ts';

type Child = ReturnType<typeof childOf>;

/** A sub-agent's session: its streams say what they are told to. */
function childOf(id: string, streams: object[][] = [], more: object = {}) {
  const told: unknown[][] = [];
  const given: unknown[][] = [];
  const state = { pending: [] as ReportedRequest[], log: [] as object[] };
  const session = {
    id,
    inner: {
      threadId: `/${id}`,
      pending: async () => state.pending,
      holds: (thread: string) => thread.startsWith(`/${id}/`),
    },
    pending: async () => state.pending,
    async *events() {
      yield* state.log as AgentEvent[];
    },
    async *history() {
      yield* state.log as AgentEvent[];
    },
    async *stream(...said: unknown[]) {
      given.push(said);
      const next = streams.shift() ?? [];
      if (next[0] instanceof Error) throw next[0];
      yield* next as AgentEvent[];
    },
    abort: async (target: unknown) => void told.push(['abort', target]),
    subagents: {
      find: async () => undefined,
      async *sessions() {
        yield { id: `${id}.x` };
      },
    },
    [Symbol.asyncDispose]: async () => void told.push(['closed']),
    ...more,
  };
  return { session: session as unknown as HostedSession, told, given, state };
}

const words = (text: string) => ({ type: 'message', role: 'agent', threadId: '/c', content: [{ type: 'text', text }] });
const end = (reason = 'completed', data: object = {}) => ({ type: 'stream_end', reason, data });
const of = (id: string, more: object = {}) =>
  call({ requestId: id, callId: id, name: 'expert', args: { request: 'go' }, started: true, ...more } as never);

/** The sub-agents of a session whose calls are open, each with its own session. */
function teamOf({
  open = [of('c')],
  children = {},
  history = [],
  capabilities = ['resume'],
  depth = 0,
  maxDepth = undefined as number | undefined,
  outputSchema = undefined as object | undefined,
}: {
  open?: ReportedRequest[];
  children?: Record<string, Child | Error>;
  history?: object[];
  capabilities?: string[];
  depth?: number;
  maxDepth?: number | undefined;
  outputSchema?: object | undefined;
} = {}) {
  const opened: [string, boolean][] = [];
  const warnings: unknown[][] = [];
  const state = { open };
  const descriptor = {
    name: 'expert',
    description: '',
    executor: 'x',
    capabilities,
    ...(outputSchema ? { outputSchema } : {}),
  };
  const expert = hosted(
    subagentTool({ descriptor, open: async () => ({}) } as never, maxDepth === undefined ? {} : { maxDepth }),
  );
  const session = {
    id: 's',
    inner: {
      pending: async () => state.open,
      async *events() {
        yield* history as AgentEvent[];
      },
    },
    frame: {
      depth,
      options: { prices: undefined },
      toolOf: ({ name }: ReportedRequest) => (name === 'expert' ? expert : undefined),
      requesterOf: () => ({ id: 'ann' }),
      warn: (...said: unknown[]) => void warnings.push(said),
      openSubagent: async (_: unknown, { requestId }: ReportedRequest, callersId: string, create: boolean) => {
        opened.push([`${callersId}/${requestId}`, create]);
        const child = children[requestId];
        if (child instanceof Error) throw child;
        if (!child) throw new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', 'none');
        return child.session;
      },
    },
  } as unknown as HostedSession;
  const shown: AgentEvent[] = [];
  const seen: AgentEvent[] = [];
  const stream = {
    options: { streamId: 'x', streaming: true, deps: 'deps', excludeTools: ['y'], traceContext: { traceparent: 'p' } },
    limits: (used: object) => ({ tokens: 100, ...used }),
    phase: () => 'open',
    see: (event: AgentEvent) => void seen.push(event),
    show: (event: AgentEvent) => void shown.push(event),
  } as unknown as CallersStream;
  const made = new Subagents(session);
  const at = (request = of('c')) => made.of(request) as SubagentOfCall;
  const run = (request = of('c'), signal = new AbortController().signal) =>
    at(request)
      .bound(expert, stream)
      .tool.execute?.(request.args ?? {}, { signal } as never) as Promise<ToolResult>;
  return { made, at, opened, warnings, shown, seen, stream, run, expert, state };
}

async function* none(): AsyncGenerator<AgentEvent> {}

describe('a call of a sub-agent', () => {
  test('asks it on behalf of the caller’s turn, within its limits, and is its words', async () => {
    const child = childOf('c', [[{ type: 'message', role: 'user', threadId: '/c' }, words('42'), end()]]);
    const { run, opened, shown, at } = teamOf({ children: { c: child } });
    const signal = new AbortController().signal;
    expect(await run(of('c'), signal)).toEqual({ content: [{ type: 'text', text: '42' }] });
    expect(opened).toEqual([['s/c', false]]);
    expect(child.given).toEqual([
      [
        { kind: 'message', content: 'go' },
        {
          ...{ signal, principal: { id: 'ann' }, streaming: true, deps: 'deps', excludeTools: ['y'] },
          ...{ limits: { tokens: 100 }, traceContext: { traceparent: 'p' } },
        },
      ],
    ]);
    expect(shown.map(({ type }) => type)).toEqual(['message', 'message']);
    expect(await at().quiet()).toEqual({});
    expect(await at(of('d')).quiet()).toBeUndefined();
  });

  test('says no more to it than there is to say', async () => {
    const child = childOf('c', [[words('42'), end()]]);
    const team = teamOf({ children: { c: child } });
    Object.assign(team.stream, { options: { streamId: 'x' } });
    await team.run();
    expect(Object.keys(child.given[0]?.[1] as object)).toEqual(['signal', 'principal', 'limits']);
  });

  test('goes on with one that was asked before, and counts what that has cost', async () => {
    const child = childOf('c', [[words('42'), end()]]);
    child.state.log = [
      { type: 'message', role: 'user', threadId: '/c' },
      { type: 'usage', inputTokens: 5 },
    ];
    const { run, seen, at } = teamOf({ children: { c: child } });
    await run();
    expect([child.given[0]?.[0], child.given[0]?.[1]]).toMatchObject([
      { kind: 'continue' },
      { limits: { inputTokens: 5 } },
    ]);
    expect(seen).toHaveLength(2);
    expect(await at().quiet()).toEqual({ inputTokens: 5 });
    // What a stream was charged for once it is not charged for again.
    const again = childOf('c', [[words('42'), end()]]);
    again.state.log = child.state.log;
    const fresh = teamOf({ children: { c: again } });
    // Of a call that begins it is none of its own.
    await expect(fresh.run(of('c', { started: false }))).rejects.toMatchObject({ code: 'E_SESSION_EXISTS' });
    expect([fresh.seen, again.given]).toEqual([[], []]);
  });

  test('is over where the sub-agent had ended before', async () => {
    const child = childOf('c');
    child.state.log = [words('done'), end()];
    expect(await teamOf({ children: { c: child } }).run()).toEqual({ content: [{ type: 'text', text: 'done' }] });
    expect(child.given).toEqual([]);
  });

  test('waits where somebody must answer, until what is open there changes', async () => {
    const question = of('q', { name: 'x' });
    const child = childOf('c', [[end('input_required', { pending: [question] })]]);
    child.state.pending = [question];
    const { run, at } = teamOf({ children: { c: child } });
    expect(await at(of('c')).waitsFor()).toBeUndefined();
    await expect(run()).rejects.toBeInstanceOf(Suspended);
    expect(await at(of('c')).waitsFor()).toEqual([question]);
    expect(await at(of('d')).waitsFor()).toBeUndefined();
    expect(await at(of('c')).open()).toEqual([question]);
    child.state.pending = [];
    expect(await at(of('c')).open()).toBeUndefined();
    expect(await at(of('c')).waitsFor()).toBeUndefined();
    child.state.pending = [question];
    expect(await at(of('c')).waitsFor()).toBeUndefined();
  });

  test('goes on where that was answered while its stream ended', async () => {
    const question = of('q', { name: 'x' });
    const child = childOf('c', [[end('input_required', { pending: [question] })], [words('42'), end()]]);
    const { run } = teamOf({ children: { c: child } });
    expect(await run()).toMatchObject({ content: [{ text: '42' }] });
    expect(child.given).toHaveLength(2);
  });

  test('is left to another process that goes on with it; another fault is one', async () => {
    const busy = new CoxswainError('ABORTED', 'E_SESSION_BUSY', 'busy');
    await expect(teamOf({ children: { c: childOf('c', [[busy]]) } }).run()).rejects.toBeInstanceOf(Suspended);
    for (const error of [new CoxswainError('DATA_LOSS', 'E_STORE', 'lost'), new Error('lost')]) {
      await expect(teamOf({ children: { c: childOf('c', [[error]]) } }).run()).rejects.toBe(error);
    }
  });

  test('goes only so deep', async () => {
    const at = (depth: number, maxDepth?: number) =>
      teamOf({ depth, maxDepth, children: { c: childOf('c', [[words('42'), end()]]) } }).run();
    await expect(at(8)).rejects.toMatchObject({
      ...{ code: 'E_TOO_DEEP', message: 'agent expert would be the 9th below one another; 8 are allowed' },
    });
    await expect(at(1, 1)).rejects.toMatchObject({ code: 'E_TOO_DEEP' });
    expect(await at(7)).toMatchObject({ content: [{ text: '42' }] });
  });

  test('is a value where its agent promises one', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } } };
    const { run } = teamOf({ outputSchema, children: { c: childOf('c', [[words('{"n":5}'), end()]]) } });
    expect((await run()).structuredContent).toEqual({ n: 5 });
  });

  test('has no time of its own, unless its tool says so; other tools stay as they are', () => {
    const { at, made, expert, stream } = teamOf();
    expect(at().bound(expert, stream).tool.timeoutMs).toBe(0);
    const timed = { ...expert, tool: { ...expert.tool, timeoutMs: 5 } };
    expect(at().bound(timed, stream).tool.timeoutMs).toBe(5);
    expect(made.of(call())).toBeUndefined();
  });

  test('that cannot be opened is tried again', async () => {
    const children: Record<string, Child | Error> = { c: new Error('away') };
    const { run, at, warnings } = teamOf({ children });
    expect(await at(of('c')).open()).toBeUndefined();
    expect(warnings).toEqual([['the session of sub-agent expert cannot be opened', new Error('away')]]);
    await expect(run()).rejects.toThrow('away');
    await settle();
    children.c = childOf('c', [[words('42'), end()]]);
    expect(await run()).toMatchObject({ content: [{ text: '42' }] });
  });
});

describe('calls of sub-agents', () => {
  test('are told from others, and those that can be gone on with', async () => {
    const { made, run } = teamOf({ children: { c: childOf('c', [[words('x'), end()]]) } });
    expect([
      made.of(of('c'))?.agent.descriptor.name,
      made.of(of('c', { kind: 'elicitation' })),
      made.of(call()),
    ]).toEqual([...['expert', undefined, undefined]]);
    const can = (request: ReportedRequest, from = made) => from.of(request)?.isResumable ?? false;
    expect([can(of('c')), can(of('c', { started: false })), can(call({ started: true }))]).toEqual([
      true,
      false,
      false,
    ]);
    const forgetful = teamOf({ capabilities: [], children: { c: childOf('c', [[words('x'), end()]]) } });
    expect(can(of('c'), forgetful.made)).toBe(false);
    await forgetful.run();
    expect(can(of('c'), forgetful.made)).toBe(true);
    await run();
  });

  test('that are open begin a stream; a message ends them, unless it joins their turn', async () => {
    const start = async (inputs: object[], options: object = {}) => {
      const c = childOf('c');
      const d = childOf('d');
      const open = [of('c'), of('d'), of('e', { started: false }), call({ started: true })];
      const { made, state } = teamOf({ open, children: { c, d } });
      const called = await made.begin(inputs as never, options as never);
      const told = [c.told.slice(), d.told.slice()];
      // Those that were open when it began end with it, where their calls are closed by then.
      state.open = [];
      await called.finish({ type: 'stream_end', reason: 'over', data: {} } as never as StreamEndEvent);
      const closed = (
        [
          ['c', c],
          ['d', d],
        ] as const
      ).filter(([, { told }]) => told.at(-1)?.[0] === 'closed');
      return [closed.map(([id]) => id), ...told];
    };
    const hi = { kind: 'message', content: 'hi' };
    const ended = [['abort', { reason: 'a new message came' }]];
    expect(await start([hi])).toEqual([['c', 'd'], ended, ended]);
    expect(await start([hi], { [joined]: ['c'] })).toEqual([['c', 'd'], [], ended]);
    expect(await start([hi], { whilePending: 'proceed' })).toEqual([['c', 'd'], [], []]);
    expect(await start([{ kind: 'continue' }])).toEqual([['c', 'd'], [], []]);
  });

  test('end with their caller’s run, once what they do is done', async () => {
    const going = door();
    const child = childOf('c', []);
    Object.assign(child.session, {
      async *stream() {
        await going.opened;
        yield words('late');
        yield end('aborted');
      },
    });
    const { made, at, run } = teamOf({ children: { c: child } });
    const running = run();
    await settle();
    let isQuiet = false;
    const called = await made.begin([], {});
    const quiet = at()
      .quiet()
      .then(() => {
        isQuiet = true;
      });
    const ended = made.end('enough');
    await settle();
    expect([isQuiet, child.told]).toEqual([false, []]);
    going.open(undefined);
    await Promise.all([running, quiet, ended, called.settled()]);
    expect(child.told).toEqual([['abort', { reason: 'enough' }]]);
    expect(await at(of('unknown')).quiet()).toBeUndefined();
  });

  test('that are closed are closed, too, with the reason', async () => {
    const c = childOf('c', [[words('x'), end()]]);
    const d = childOf('d', [[words('x'), end()]]);
    const { made, run, state } = teamOf({ open: [of('c'), of('d')], children: { c, d } });
    await run(of('c'));
    await run(of('d'));
    state.open = [of('d')];
    await made.end('over', []);
    await made.end('again', []);
    expect([c.told, d.told]).toEqual([[['abort', { reason: 'over' }], ['closed']], []]);
    expect(made.of(of('d'))?.isResumable).toBe(true);
    // One that was open before, in another process.
    const e = childOf('e');
    const other = teamOf({ open: [], children: { e } });
    await other.made.end('over', [of('e'), call({ started: true })]);
    expect(e.told).toEqual([['abort', { reason: 'over' }], ['closed']]);
  });

  test('count towards their caller’s turn at its end', async () => {
    const children = { c: childOf('c', [[{ type: 'usage', inputTokens: 5 }, words('x'), end()]]) };
    const history = [
      { type: 'custom', kind: 'policy_decision', turnId: 't', data: { callId: 'old', usage: { inputTokens: 7 } } },
      { type: 'custom', kind: 'policy_decision', turnId: 'u', data: { callId: 'other', usage: { inputTokens: 9 } } },
    ];
    const { made, run } = teamOf({ children, history });
    const called = await made.begin([], {});
    await run(of('c', { turnId: 't' }));
    const given = { type: 'stream_end', reason: 'completed', turnId: 't', data: { usage: { outputTokens: 1 } } };
    expect((await called.finish(given as never as StreamEndEvent)).data.usage).toEqual({
      inputTokens: 12,
      outputTokens: 1,
    });
    const none = { type: 'stream_end', reason: 'completed', turnId: 'z', data: {} } as never as StreamEndEvent;
    expect((await called.finish(none)).data).toEqual({ usage: {} });
  });

  test('that a process has left behind are ended once', async () => {
    const history = [
      { type: 'tool_request', requestId: 'c', name: 'expert', turnId: 't', sessionId: 's' },
      { type: 'tool_response', requestId: 'c' },
      { type: 'tool_request', requestId: 'd', name: 'pay', turnId: 't', sessionId: 's' },
      { type: 'tool_response', requestId: 'd' },
    ];
    const left = async (child: Child | Error | undefined, more: object = {}) => {
      const team = teamOf({ history, children: child ? { c: child } : {}, ...more });
      await Promise.all([team.made.begin([], {}), team.made.begin([], {})]);
      return team;
    };
    const child = childOf('c');
    const { opened, warnings } = await left(child);
    expect([opened, warnings, child.told]).toEqual([
      [['s/c', false]],
      [],
      [['abort', { reason: 'its call was closed' }], ['closed']],
    ]);
    expect((await left(childOf('c'), { capabilities: [] })).opened).toEqual([]);
    for (const code of ['E_SESSION_NOT_FOUND', 'E_SESSION_BUSY'] as const) {
      expect((await left(new CoxswainError('ABORTED', code, 'x'))).warnings).toEqual([]);
    }
    expect((await left(new Error('E_SESSION_BUSY'))).warnings).toMatchObject([
      ['sub-agent expert could not be ended', {}],
    ]);
  });

  test('are found by what is asked, aborted or steered in them', async () => {
    const c = childOf('c');
    const d = childOf('d');
    const { made } = teamOf({ open: [of('c'), of('d')], children: { c, d } });
    d.state.pending = [of('q')];
    const ids: string[] = [];
    for await (const { id } of made.sessions()) ids.push(id);
    expect(ids).toEqual(['c', 'c.x', 'd', 'd.x']);
    const found = async (target: object) => (await made.find(target))?.id;
    expect(await found({ requestId: 'q#policy' })).toBe('d');
    expect([await found({ requestId: 'q' }), await found({ requestId: 'z' }), await found({})]).toEqual([
      ...['d', undefined, undefined],
    ]);
    expect([
      await found({ threadId: '/c/x' }),
      await found({ threadId: '/d' }),
      await found({ threadId: '/z' }),
    ]).toEqual(['c', 'd', undefined]);
    expect([made.of(of('c'))?.threadId, made.of(call())?.threadId]).toEqual(['/c', undefined]);
  });

  test('have a history below their caller’s', async () => {
    const request = {
      type: 'tool_request',
      requestId: 'c',
      name: 'expert',
      streamId: 'cs',
      sessionId: 's',
      turnId: 't',
    };
    const history = (team: ReturnType<typeof teamOf>, more: object = {}) =>
      all(team.made.of(closedRequest({ ...request, ...more } as never))?.history('cs') ?? none());
    const child = childOf('c');
    child.state.log = [{ type: 'message', id: 'm' }, { type: 'stream_end' }];
    const { opened } = teamOf();
    const found = teamOf({ children: { c: child } });
    expect(await history(found)).toMatchObject([{ id: 'm', streamId: 'cs', sessionId: 's', turnId: 't' }]);
    expect([found.opened, child.told, opened]).toEqual([[['s/c', false]], [['closed']], []]);
    expect(await history(found, { name: 'pay' })).toEqual([]);
    expect(await history(teamOf())).toEqual([]);
    expect(await history(teamOf({ children: { c: child }, capabilities: [] }))).toEqual([]);
    await expect(history(teamOf({ children: { c: new Error('away') } }))).rejects.toThrow('away');
    // One that runs is read as it is, and stays open.
    const running = childOf('c', [[words('x'), end()]]);
    const team = teamOf({ children: { c: running } });
    await team.run();
    running.state.log = child.state.log;
    expect(await history(team)).toHaveLength(1);
    expect([team.opened, running.told]).toEqual([[['s/c', false]], []]);
  });

  test('are closed with their caller, whatever became of others', async () => {
    const c = childOf('c', [[words('x'), end()]]);
    const { made, run } = teamOf({ open: [of('c'), of('d')], children: { c, d: new Error('away') } });
    await run(of('c'));
    await run(of('d')).catch(() => {});
    await made.dispose();
    await made.dispose();
    expect(c.told).toEqual([['closed']]);
  });

  test('show what they ask in the stream that runs, and what came before it when it begins', async () => {
    const ask = { type: 'elicitation_request', requestId: 'q' };
    const child = childOf('c', [[ask, words('x'), end()]]);
    const { made, run, stream, shown } = teamOf({ children: { c: child } });
    const phase = vi.spyOn(stream, 'phase').mockReturnValue('early');
    const called = await made.begin([], {});
    await run();
    expect([shown, called.hasAsked('q')]).toEqual([[], false]);
    phase.mockReturnValue('open');
    called.release(stream);
    expect([shown.map(({ type }) => type), called.hasAsked('q')]).toEqual([['elicitation_request', 'message'], true]);
    expect((await made.begin([], {})).hasAsked('q')).toBe(false);
  });
});
