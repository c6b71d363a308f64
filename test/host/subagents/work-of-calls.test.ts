import { describe, expect, test } from 'vitest';
import type { AgentEvent, ReportedRequest } from '../../../src/contracts/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';
import type { CallersStream, Handle, Hosted } from '../../../src/host/frame/index.ts';
import { SubagentOfCall } from '../../../src/host/subagents/called-agent.ts';
import { SubagentEvents } from '../../../src/host/subagents/subagent-events.ts';
import { SubagentSessions } from '../../../src/host/subagents/subagent-sessions.ts';
import { holderAmong } from '../../../src/host/subagents/subagent-tree.ts';
import { SubagentWork } from '../../../src/host/subagents/subagent-work.ts';
import type { Subagent } from '../../../src/host/tools/index.ts';
import { Suspended } from '../../../src/host/tools/index.ts';
import { hosted } from '../judge-kit.ts';
import { all, refusal, tool } from '../kit.ts';

const gone = () => new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', 'gone');
const thread = '/c';
const call = (more: object = {}) =>
  ({ requestId: 'c', callId: 'c', kind: 'tool', sessionId: 's', turnId: 't', ...more }) as ReportedRequest;
const started = call({ started: true });
const agentOf = (capabilities: string[] = ['resume'], more: object = {}) =>
  ({ descriptor: { name: 'expert', capabilities }, maxDepth: 8, keepsLogs: false, ...more }) as unknown as Subagent;
const event = (type: AgentEvent['type'], more: object = {}) => ({ type, threadId: thread, ...more }) as AgentEvent;
const user = event('message', { role: 'user', content: [{ type: 'text', text: 'go' }] });
const says = (text: string) => event('message', { role: 'agent', content: [{ type: 'text', text }] });
const ends = (reason: string, ...ids: string[]) =>
  event('stream_end', { reason, data: { pending: ids.map((requestId) => ({ requestId })) } });

interface Given {
  /** What the sub-agent's log has, and what each of its streams shows. */
  log?: AgentEvent[];
  streams?: AgentEvent[][];
  /** Ids of what is open in it, at each look. */
  open?: string[][];
  /** Why it cannot be opened. */
  failure?: Error;
  depth?: number;
  child?: object;
}

function workOf({ log = [], streams = [], open = [[]], failure, depth = 0, child = {} }: Given = {}) {
  const given: unknown[] = [];
  const counted: AgentEvent[] = [];
  const creates: boolean[] = [];
  const closed: string[] = [];
  const looks = [...open];
  const session = {
    id: 'child',
    inner: { threadId: thread },
    events: async function* () {
      yield* log;
    },
    history: async function* () {
      yield* log;
    },
    stream: (input: unknown) => {
      given.push(input);
      const shown = streams[given.length - 1] ?? [];
      return (async function* () {
        yield* shown;
      })();
    },
    pending: async () => ((looks.length > 1 ? looks.shift() : looks[0]) ?? []).map((requestId) => ({ requestId })),
    [Symbol.asyncDispose]: async () => void closed.push('child'),
    ...child,
  } as unknown as Handle;
  const frame = {
    depth,
    options: {},
    requesterOf: () => ({ id: 'ann' }),
    subagentsId: () => 's.c',
    warn: () => {},
    openSubagent: async (_: Subagent, __: ReportedRequest, ___: string, create: boolean) => {
      creates.push(create);
      if (failure) throw failure;
      return session;
    },
  };
  const caller = { id: 's', frame } as unknown as Hosted;
  const sessions = new SubagentSessions(caller);
  const work = new SubagentWork(caller, sessions, new SubagentEvents());
  const stream = {
    options: { streamId: 'x' },
    phase: () => 'open',
    limits: () => ({}),
    show: () => undefined,
    see: (one: AgentEvent) => void counted.push(one),
  } as unknown as CallersStream;
  const signal = new AbortController().signal;
  const start = (request = call(), agent = agentOf()) =>
    work.start(agent, { request, args: { request: 'go' }, stream, signal });
  return { work, sessions, start, given, counted, creates, closed, session, stream };
}

describe('MUT-H26 the work of a sub-agent', () => {
  test('is one stream where it ends, and its result that of the call', async () => {
    const usage = event('usage', { inputTokens: 2 });
    const { work, start, given, creates, counted } = workOf({
      streams: [[user, usage, says('done'), ends('completed')]],
    });
    const result = start();
    let hasEnded = false;
    void work.ended('c').then(() => {
      hasEnded = true;
    });
    expect(hasEnded).toBe(false);
    expect(await result).toEqual({ content: [{ type: 'text', text: 'done' }] });
    await work.ended('c');
    await work.allEnded();
    expect([given, creates, counted]).toEqual([[{ kind: 'message', content: 'go' }], [true], []]);
    expect([work.used.get('c')?.turnId, work.used.get('c')?.usage]).toEqual(['t', { inputTokens: 2 }]);
  });

  test('goes on where it was asked before, and what that has used counts in its caller’s stream, once', async () => {
    const usage = event('usage', { inputTokens: 2 });
    const { work, start, given, counted, creates } = workOf({
      log: [user, usage],
      streams: [[ends('input_required', 'q')], [says('done'), ends('completed')]],
      open: [['q'], ['q']],
    });
    await expect(start(started)).rejects.toBeInstanceOf(Suspended);
    expect([given, counted, creates]).toEqual([[{ kind: 'continue' }], [user, usage], [false]]);
    await start(started);
    expect(counted).toHaveLength(2);
    work.begin();
    await refusal(start(started)).catch(() => {});
    expect(counted).toHaveLength(4);
  });

  test('is its old result where it has ended already', async () => {
    const { start, given } = workOf({ log: [user, says('old'), ends('completed')] });
    expect(await start(started)).toEqual({ content: [{ type: 'text', text: 'old' }] });
    expect(given).toEqual([]);
  });

  test.each([
    ['was asked', [user]],
    ['has ended', [ends('completed')]],
  ])('takes nothing of a session that %s before its call', async (_, log) => {
    const { start } = workOf({ log });
    expect(await refusal(start())).toMatchObject({ status: 'ALREADY_EXISTS', code: 'E_SESSION_EXISTS' });
  });

  test('waits for what is open, as long as that is the same', async () => {
    const { work, start } = workOf({
      streams: [[ends('input_required', 'q')]],
      open: [['q'], ['q'], ['q', 'r'], ['q']],
    });
    expect(await work.waitsFor('c')).toBeUndefined();
    await expect(start()).rejects.toBeInstanceOf(Suspended);
    expect(await work.waitsFor('c')).toEqual([{ requestId: 'q' }]);
    expect(await work.waitsFor('c')).toBeUndefined();
    // It has changed, whatever comes of that.
    expect(await work.waitsFor('c')).toBeUndefined();
    const again = workOf({ streams: [[ends('input_required', 'q')]], open: [['q']] });
    await expect(again.start()).rejects.toBeInstanceOf(Suspended);
    again.work.begin();
    expect(await again.work.waitsFor('c')).toBeUndefined();
  });

  test('goes on at once with what was answered while its stream ended', async () => {
    const { start, given } = workOf({
      streams: [[ends('input_required', 'q', 'r')], [says('done'), ends('completed')]],
      open: [['r']],
    });
    expect(await start()).toEqual({ content: [{ type: 'text', text: 'done' }] });
    expect(given).toHaveLength(2);
  });

  test('is refused below as many as may stand there; its session is not made', async () => {
    const { work, start, creates } = workOf({ depth: 8 });
    const found = await refusal(start());
    expect([found.code, found.message]).toEqual(['E_TOO_DEEP', expect.stringContaining('the 9th')]);
    expect([work.make(agentOf(), call()), creates]).toEqual([undefined, []]);
  });

  test('makes its session beforehand; why it could not is said where it runs', async () => {
    const { work, creates } = workOf();
    expect([(await work.make(agentOf(), call())) !== undefined, creates]).toEqual([true, [true]]);
    const broken = workOf({ failure: new Error('odd') });
    expect(await broken.work.make(agentOf(), call())).toBeUndefined();
    expect(await refusal(broken.start())).toMatchObject({ message: 'odd' });
  });

  test('of a call whose session is gone asks somebody; nothing of it begins unasked', async () => {
    const { start, creates, sessions } = workOf({ failure: gone() });
    await expect(start(started)).rejects.toBeInstanceOf(Suspended);
    expect([creates, sessions.isLost('c')]).toEqual([[false], true]);
    // Somebody has said that it may begin anew.
    const again = workOf({ streams: [[says('new'), ends('completed')]] });
    const lost = again.sessions;
    Object.defineProperty(lost, 'isLost', { value: () => true });
    let begun = 0;
    Object.defineProperty(lost, 'begun', { value: () => void begun++ });
    await again.start(started);
    expect([again.creates, begun]).toEqual([[true], 1]);
  });
});

describe('MUT-H27 the sub-agent of a call', () => {
  const of = (made: ReturnType<typeof workOf>, request = started, agent = agentOf()) =>
    new SubagentOfCall(agent, request, made.sessions, made.work);

  test('has a place where its session is kept, by the id of the call or of its request', () => {
    const made = workOf();
    expect(of(made).place).toEqual({ agent: 'expert', sessionId: 's.c' });
    expect(of(made, started, agentOf([])).place).toBeUndefined();
    Object.defineProperty(made.sessions, 'idOf', { value: () => undefined });
    expect(of(made).place).toBeUndefined();
    expect([of(made).callId, of(made).threadId]).toEqual(['c', '/c']);
    expect(of(made, { ...started, callId: undefined, requestId: 'r' } as never).callId).toBe('r');
  });

  test('can go on where its call was started and its session is there', async () => {
    const made = workOf();
    const can = (request: ReportedRequest, agent?: Subagent) => of(made, request, agent).isResumable;
    expect([can(started), can(call()), can(started, agentOf([]))]).toEqual([true, false, false]);
    await made.sessions.open(agentOf([]), call(), true);
    expect(can(started, agentOf([]))).toBe(true);
    Object.defineProperty(made.sessions, 'isLost', { value: () => true });
    expect(can(started)).toBe(false);
  });

  test('has no time limit but its own, and its session is made beforehand where it is kept', async () => {
    const made = workOf({ streams: [[says('done'), ends('completed')]] });
    const bound = of(made, call()).bound(hosted(tool('expert')), made.stream);
    expect([bound.tool.timeoutMs, bound.tool.name, bound.source]).toEqual([0, 'expert', 'host']);
    const limited = of(made).bound(hosted(tool('expert', undefined, { timeoutMs: 5 })), made.stream);
    expect(limited.tool.timeoutMs).toBe(5);
    const context = { signal: new AbortController().signal } as never;
    expect(await bound.tool.execute?.({ request: 'go' }, context)).toEqual({
      content: [{ type: 'text', text: 'done' }],
    });
    expect(await of(made).quiet()).toEqual({});
    expect(await of(workOf()).quiet()).toBeUndefined();
    expect([of(made, call(), agentOf([])).make(), await of(workOf(), call()).make()]).toEqual([
      ...[undefined, expect.objectContaining({ id: 'child' })],
    ]);
  });

  test('asks what is open in its session, if anything', async () => {
    expect(await of(workOf({ open: [['q']] })).open()).toEqual([{ requestId: 'q' }]);
    expect(await of(workOf()).open()).toBeUndefined();
    expect(await of(workOf({ open: [['q']] }), call()).open()).toBeUndefined();
  });

  test('is looked at where its log is kept, and closed again where it was not open here', async () => {
    const log = [event('initialize'), user, ends('completed')];
    const shown = [{ ...user, sessionId: 's', streamId: 'x', turnId: 't' }];
    const made = workOf({ log });
    expect([await all(of(made).history('x')), made.closed, made.creates]).toEqual([shown, ['child'], [false]]);
    const here = workOf({ log });
    await here.sessions.open(agentOf(), started, true);
    expect([await all(of(here).history('x')), here.closed]).toEqual([shown, []]);
    expect(await all(of(made, started, agentOf([])).history('x'))).toEqual([]);
    expect(await all(of(made, started, agentOf([], { keepsLogs: true })).history('x'))).toEqual(shown);
    expect(await all(of(workOf({ failure: gone() })).history('x'))).toEqual([]);
  });

  test('is ended behind its closed call where it is kept', async () => {
    const aborted: unknown[] = [];
    const made = workOf({ child: { abort: async (target: unknown) => void aborted.push(target) } });
    await of(made, started, agentOf([])).endClosed();
    expect(aborted).toEqual([]);
    await of(made).endClosed();
    expect([aborted.length, made.closed]).toEqual([1, ['child']]);
  });
});

describe('MUT-H28 of several sub-agents', () => {
  const child = (
    id: string,
    { open = [], logged = [], below = [], threadId = `/${id}` }: Record<string, unknown> = {},
  ) =>
    ({
      id,
      async *events() {
        for (const requestId of logged as string[]) yield { type: 'tool_request', requestId, name: 'pay' };
      },
      subagents: {
        find: async ({ requestId }: { requestId: string }) =>
          (below as string[]).includes(requestId) ? { id: 'below' } : undefined,
      },
      inner: {
        threadId,
        holds: (thread: string) => thread.startsWith(`${threadId}.`),
        pending: async () => (open as string[]).map((callId) => ({ callId })),
      },
    }) as unknown as Handle;
  const among = async (target: object, ...children: Handle[]) => {
    const found = await holderAmong(
      (async function* () {
        yield* children;
      })(),
      target,
    );
    return found?.id;
  };

  test('the one is found in which a request is open, or below which it is, before one whose log has it', async () => {
    const [a, b, c] = [
      child('a', { logged: ['x', 'y', 'z'] }),
      child('b', { open: ['x'] }),
      child('c', { below: ['y'] }),
    ];
    const find = (requestId: string) => among({ requestId }, a, b, c);
    expect([await find('x'), await find('x#policy'), await find('y'), await find('z'), await find('w')]).toEqual([
      ...['b', 'b', 'c', 'a', undefined],
    ]);
  });

  test('the one is found whose thread is named, or above it, whatever request is; without a name none', async () => {
    const [a, b] = [child('a', { open: ['x'] }), child('b')];
    expect(await among({ threadId: '/b' }, a, b)).toBe('b');
    expect(await among({ threadId: '/b.1', requestId: 'x' }, a, b)).toBe('b');
    expect([await among({ threadId: '/bc' }, a, b), await among({}, a, b)]).toEqual([undefined, undefined]);
  });
});
