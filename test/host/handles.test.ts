import { afterEach, describe, expect, test, vi } from 'vitest';
import type {
  AgentEvent,
  AgentSession,
  AgentSource,
  CoxswainError,
  HostContext,
  SessionProvider,
} from '../../src/contracts/index.ts';
import { HostedSession } from '../../src/host/hosted/hosted-session.ts';
import type { HostedRun } from '../../src/host/run/hosted-run.ts';
import { held } from '../../src/host/terms/held.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { pipe } from '../../src/session/index.ts';
import { ann, frameOf } from './frame-kit.ts';
import { call } from './judge-kit.ts';
import { all, bot, door, notingTool, only, policyOf, refusal, say, slowTool } from './kit.ts';
import { settle } from './run-kit.ts';

afterEach(() => void vi.restoreAllMocks());

const descriptor = (name: string, more: object = {}) => ({
  ...{
    name,
    description: '',
    executor: name,
    capabilities: ['resume'],
    requiredTools: [],
    subAgents: [],
    ownTools: [],
  },
  ...more,
});

/** A session that does nothing, and notes what is asked of it. */
function innerOf(more: object = {}) {
  const told: unknown[][] = [];
  const note =
    (name: string, value?: unknown) =>
    async (...said: unknown[]) => {
      told.push([name, ...said]);
      return value;
    };
  const inner = {
    ...{ id: 's', descriptor: descriptor('bot'), pending: async () => [] },
    async *events(options: unknown) {
      told.push(['events', options]);
      yield { id: 'e1', type: 'message' } as AgentEvent;
      yield { id: 'e2', type: 'tool_request', requestId: 'c' } as AgentEvent;
    },
    respond: note('respond', { status: 'settled' }),
    steer: note('steer', { steerId: '1', disposition: 'current_turn' }),
    update: note('update', { effective: 'next_step' }),
    abort: note('abort'),
    [Symbol.asyncDispose]: note('closed'),
    ...more,
  };
  return { inner: inner as unknown as AgentSession, told };
}

/** A source whose sessions do nothing; what it was opened with is kept. */
function sourceOf(name: string, more: Partial<AgentSource> = {}, session: object = {}) {
  const opened: [object, HostContext][] = [];
  const sessions: ReturnType<typeof innerOf>[] = [];
  const source = {
    descriptor: descriptor(name),
    open: async (ref: { sessionId?: string }, context: HostContext) => {
      opened.push([ref, context]);
      const made = innerOf({ id: ref.sessionId ?? 's', descriptor: descriptor(name), ...session });
      sessions.push(made);
      return made.inner;
    },
    ...more,
  } as unknown as AgentSource;
  return { source, opened, sessions };
}

describe('a host', () => {
  test('opens a session for whoever is named, else for its own user', async () => {
    const { source, opened } = sourceOf('bot');
    const of = async (host: object, options?: object) => {
      await createHost({ app: 'shop', agents: [source], ...host }).open('bot', options);
      const [ref, { userId, principal, app }] = opened.at(-1) as [object, HostContext];
      return { ref, userId, principal, app };
    };
    const local = { ref: {}, userId: 'local', principal: { id: 'local' }, app: 'shop' };
    expect(await of({})).toStrictEqual(local);
    expect(await of({ userId: 'joe' })).toMatchObject({ userId: 'joe', principal: { id: 'joe' } });
    expect(await of({ userId: 'joe', principal: ann })).toMatchObject({ userId: 'joe', principal: ann });
    const more = { sessionId: 's', create: true, userId: 'bob', principal: { id: 'eve' } };
    expect(await of({ userId: 'joe', principal: ann }, more)).toStrictEqual({
      ...{ ref: { sessionId: 's', create: true }, userId: 'bob', principal: { id: 'eve' }, app: 'shop' },
    });
  });

  test('says which agents it has, and refuses others', async () => {
    const host = createHost({
      ...{ app: 'shop', agents: [sourceOf('a').source, sourceOf('b').source], permissionMode: 'plan' },
    });
    expect([host.agents.map(({ name }) => name), host.permissionMode]).toEqual([['a', 'b'], 'plan']);
    expect(await refusal(host.open('c'))).toMatchObject({
      ...{ status: 'NOT_FOUND', code: 'E_AGENT_UNKNOWN', message: 'the host has no agent "c"; it has: a, b' },
    });
    expect((await refusal(host.open('x'.repeat(100)))).message).toContain(`"${'x'.repeat(64)}"`);
    expect((await refusal(host.open(5 as never))).message).toBe('the host has no agent 5; it has: a, b');
    const two = { app: 'shop', agents: [sourceOf('a').source, sourceOf('a').source] };
    expect(() => createHost(two)).toThrow(expect.objectContaining({ code: 'E_DUPLICATE_AGENT' }));
    for (const wrong of [{ app: '../x' }, { userId: 'a/b' }]) {
      expect(() => createHost({ app: 'shop', agents: [], ...wrong })).toThrow(
        expect.objectContaining({ code: 'E_ID' }),
      );
    }
    expect((await refusal(host.open('a', { principal: { id: '' } }))).code).toBe('E_BAD_INPUT');
  });

  test('MUT-HOST-2 refuses what it is told and does not know, where it is made or opened', async () => {
    const { source } = sourceOf('bot');
    const made = (more: object) => () => createHost({ app: 'shop', agents: [source], ...more } as never);
    const host = made({});
    for (const wrong of [
      { polcy: {} },
      { agents: [{ descriptor: { name: 'x' } }] },
      { agents: [{ descriptor: {}, open: () => {} }] },
      { agents: undefined },
      { policyTimeoutMs: -1 },
      { toolProviders: [{ name: 'p', getToolsForAgent: () => [] }] },
      { toolProviders: [{ getToolsForAgent: () => [], execute: () => {} }] },
      { toolProviders: [{ name: 'p', source: 5, getToolsForAgent: () => [], execute: () => {} }] },
      { toolConcurrency: 0 },
      { principal: { id: 5 } },
      { approvers: { role: ['boss'] } },
      { approvers: { quorum: 0 } },
      { approvers: { quorum: 1.5 } },
      { approvers: { also: [['a'], 'b'] } },
      { hooks: { supportedHookPoints: () => ['x'] } },
      { hooks: { fire: () => {}, supportedHookPoints: 'x' } },
      { limits: { steps: 'x' } },
      { answerLimits: { calls: 'x' } },
      { answerLimits: { call: 1 } },
    ]) {
      expect(made(wrong), JSON.stringify(wrong)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    }
    // Functions by name are verdicts on tools of that name.
    expect(made({ policy: { decide: () => {} } })).toThrow(expect.objectContaining({ code: 'E_POLICY_RULE' }));
    // MUT-HOST-2 A limit that is misspelt would limit nothing; one of another version may.
    expect(made({ limits: { step: 1 } })).toThrow('options.limits.step would limit nothing; it is called steps');
    expect(made({ limits: { steps: 1, fridges: 1 } })).not.toThrow();
    const spelt = await host().open('bot');
    expect((await refusal(spelt.stream('go', { limits: { token: 5 } } as never).next())).message).toContain(
      'called tokens',
    );
    expect(made({ approvers: { roles: ['a'], also: [['b']], notRequester: true, quorum: 2 } })).not.toThrow();
    for (const wrong of [{ session: 's' }, { permissionMode: 5 }, { fork: 5 }, { principal: 'ann' }]) {
      expect((await refusal(host().open('bot', wrong as never))).code).toBe('E_BAD_INPUT');
    }
    for (const wrong of [{ view: {} }, { viewer: { id: 5 } }, { userId: 5 }]) {
      expect((await refusal(host().audit('s', wrong as never))).code).toBe('E_BAD_INPUT');
    }
  });

  test('gives back a session that could not be admitted', async () => {
    const failing = { standing: async () => ({ isOver: true }), update: () => Promise.reject(new Error('read only')) };
    const { source, sessions } = sourceOf('bot', {}, failing);
    const host = createHost({ app: 'shop', agents: [source] });
    await expect(host.open('bot', { permissionMode: 'plan' })).rejects.toThrow('read only');
    expect(sessions[0]?.told.map(([name]) => name)).toContain('closed');
    expect((host as never as { [held](): object })[held]()).toMatchObject({ sessions: 0, handles: 0 });
  });

  test('counts what it holds, and closes all of it', async () => {
    const { source, sessions } = sourceOf('bot');
    const host = createHost({ app: 'shop', agents: [source] });
    const count = () => (host as never as { [held](): object })[held]();
    for (const sessionId of ['a', 'a', 'b']) await host.open('bot', { sessionId });
    await host.open('bot', { sessionId: 'a', userId: 'bob' });
    expect(count()).toEqual({ sessions: 3, handles: 4, runs: 0, asking: 0, watchers: 0 });
    await host.close();
    expect(count()).toEqual({ sessions: 0, handles: 0, runs: 0, asking: 0, watchers: 0 });
    expect(sessions.every(({ told }) => told.some(([name]) => name === 'closed'))).toBe(true);
  });

  test('writes to stderr what nobody else wants to be told', async () => {
    const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const odd = {
      startSpan: () => {
        throw new Error('no span');
      },
    };
    const host = createHost({
      ...{
        app: 'shop',
        agents: [fromAgent(bot(['hi']))],
        store: new InMemorySessionService(),
        telemetry: odd as never,
      },
    });
    await say(await host.open('bot'), 'go');
    expect(said.mock.calls[0]?.[0]).toMatch(/^coxswain: /);
    expect(said.mock.calls[0]?.[1]).toMatchObject({ message: 'no span' });
  });

  test('has no list of sessions where its agents keep none', async () => {
    const host = createHost({ app: 'shop', agents: [sourceOf('bot').source] });
    expect(() => host.sessions()).toThrow(expect.objectContaining({ code: 'E_UNSUPPORTED' }));
    expect(() => createHost({ app: 'shop', agents: [] }).sessions()).toThrow('keep no sessions that can be listed');
    expect([await host.approvals.list(), await host.unfinished()]).toEqual([[], []]);
  });

  test('lists the sessions of a user as their source does', async () => {
    const told: unknown[][] = [];
    const note =
      (name: string) =>
      async (...said: unknown[]) => {
        told.push([name, ...said]);
        return name === 'list' ? [] : undefined;
      };
    const provider = { create: note('create'), load: note('load'), list: note('list'), delete: note('delete') };
    const users: string[] = [];
    const sessions =
      (open: boolean) =>
      ({ userId = '' }: HostContext) => {
        users.push(userId);
        return (open ? { ...provider, open: async () => [] } : provider) as unknown as SessionProvider;
      };
    const host = createHost({
      app: 'shop',
      agents: [sourceOf('bot', { sessions: sessions(true) }).source],
      userId: 'joe',
    });
    const listed = host.sessions('ann');
    await listed.create({ id: 'x' });
    await listed.load('x');
    await listed.list({ limit: 2 });
    await listed.delete('x');
    expect(told).toEqual([
      ['create', { id: 'x' }],
      ['load', 'x'],
      ['list', { limit: 2 }],
      ['delete', 'x'],
    ]);
    host.sessions();
    expect([users, typeof listed.open]).toEqual([['ann', 'joe'], 'function']);
    const plain = createHost({ app: 'shop', agents: [sourceOf('bot', { sessions: sessions(false) }).source] });
    expect([Object.keys(plain.sessions()).includes('open'), users.at(-1)]).toEqual([false, 'local']);
    const missing = await refusal(plain.audit('x'));
    expect(missing).toMatchObject({ code: 'E_SESSION_NOT_FOUND', message: 'app shop has no session x of user local' });
    expect((await refusal(host.audit('x'))).message).toContain('of user joe');
    expect((await refusal(host.audit('x', { userId: 'bob' }))).message).toContain('of user bob');
  });

  test('reads the index of each of its agents for what is open, and what is cut off', async () => {
    const scopes: unknown[] = [];
    const provider = (sessionId: string) => () =>
      ({
        open: async (scope: unknown) => {
          scopes.push(scope);
          return [{ userId: 'ann', sessionId, calls: ['c'] }];
        },
        openTurns: async () => [{ userId: 'ann', sessionId, running: sessionId === 'b' }],
      }) as never;
    const a = sourceOf('a', { sessions: provider('a') });
    const b = sourceOf('b', { sessions: provider('b') });
    const host = createHost({ app: 'shop', agents: [a.source, b.source] });
    expect(await host.unfinished()).toEqual([{ agent: 'a', userId: 'ann', sessionId: 'a' }]);
    scopes.length = 0;
    await host.approvals.find('c', { userId: 'ann' });
    expect(scopes).toEqual([{ userId: 'ann' }, { userId: 'ann' }]);
  });

  test('looks into a session through a handle that is open, the running one first', async () => {
    const slow = slowTool('pay');
    const agent = fromAgent(bot([{ calls: [['pay'], ['ask']] }, 'done']));
    let opens = 0;
    const counted: AgentSource = {
      descriptor: agent.descriptor,
      ...(agent.sessions ? { sessions: agent.sessions } : {}),
      open: (...given) => {
        opens++;
        return agent.open(...given);
      },
    };
    const host = createHost({
      ...{
        app: 'shop',
        agents: [counted],
        store: new InMemorySessionService(),
        tools: [slow.tool, notingTool('ask').tool],
      },
      policy: policyOf({ ask: 'ask' }),
    });
    await host.open('bot', { sessionId: 's', create: true });
    const second = await host.open('bot', { sessionId: 's' });
    const running = say(second, 'go');
    await slow.started;
    const before = opens;
    const [listed] = await host.approvals.list();
    expect([listed?.request.name, opens - before]).toEqual(['ask', 0]);
    slow.finish('paid');
    await running;
    await host.close();
    expect(await host.approvals.list()).toHaveLength(1);
    expect(opens - before).toBeGreaterThan(0);
  });

  test('is idle once what it goes on with by itself has come to an end', async () => {
    const pay = slowTool('pay');
    const host = createHost({
      ...{
        app: 'shop',
        agents: [fromAgent(bot([{ calls: [['pay']] }, 'done']))],
        store: new InMemorySessionService(),
      },
      ...{ tools: [pay.tool], policy: policyOf({ pay: 'ask' }) },
    });
    const session = await host.open('bot');
    await say(session, 'go');
    await host.idle();
    const { requestId } = await only(session);
    await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' } });
    await pay.started;
    const count = () => (host as never as { [held](): { runs: number } })[held]().runs;
    let isIdle = false;
    const idle = host.idle().then(() => {
      isIdle = true;
    });
    await settle();
    expect([isIdle, count()]).toEqual([false, 1]);
    pay.finish('paid');
    await idle;
    expect(count()).toBe(0);
  });
});

describe('a handle of a session', () => {
  function handleOf(more: object = {}, given: Parameters<typeof frameOf>[0] = {}, subagents?: object) {
    const { inner, told } = innerOf(more);
    const framed = frameOf({ tools: [], ...given, inner: inner as never });
    Object.assign(framed.made, {});
    const session = new HostedSession(inner, framed.made);
    framed.shared.handles.add(session);
    if (subagents) Object.assign(session, { subagents: { find: async () => undefined, ...subagents } });
    return { session, told, frame: framed.made, shared: framed.shared, framed };
  }

  describe('admits whoever opens it', () => {
    const kept = (mode: string | undefined) => ({ [pipe]: () => {}, permissionMode: mode });

    test('with the roles that they have now', async () => {
      const { session, shared, told } = handleOf();
      await session.admit(ann, undefined);
      await session.admit(undefined, undefined);
      expect([[...shared.present.values()], told]).toEqual([[ann], []]);
    });

    test('in the stricter mode, which is kept with the session where it takes something away', async () => {
      const admitted = async (mode: string | undefined, inner: object, hosts?: string) => {
        const { session, told, frame } = handleOf(inner, hosts ? { options: { permissionMode: hosts as 'plan' } } : {});
        await session.admit(ann, mode as never);
        return [frame.ownMode, told.filter(([name]) => name === 'update').map(([, config]) => config)];
      };
      const standing = (mode?: string) => ({ standing: async () => ({ isOver: true, permissionMode: mode }) });
      expect(await admitted('plan', standing())).toEqual(['plan', [{ permissionMode: 'plan' }]]);
      expect(await admitted('plan', {})).toEqual(['plan', []]);
      expect(await admitted('autonomous', standing('plan'))).toEqual(['plan', []]);
      expect(await admitted(undefined, standing('plan'))).toEqual(['plan', []]);
      expect(await admitted('plan', standing('plan'))).toEqual(['plan', []]);
      expect(await admitted('autonomous', standing())).toEqual(['autonomous', []]);
      const known = { ...kept('plan'), ...standing() };
      expect(await admitted('autonomous', known)).toEqual([undefined, []]);
      expect(await admitted('plan', { ...kept('default'), ...standing() })).toEqual([
        ...[undefined, [{ permissionMode: 'plan' }]],
      ]);
      expect(await admitted('dont_ask', { ...kept(undefined), ...standing() }, 'autonomous')).toEqual([
        ...[undefined, [{ permissionMode: 'dont_ask' }]],
      ]);
      expect(await admitted('autonomous', { ...kept(undefined), ...standing() })).toEqual(['autonomous', []]);
    });

    test('and keeps its own mode over what stands in the record', async () => {
      const { session, frame } = handleOf({ standing: async () => ({ isOver: true, permissionMode: 'autonomous' }) });
      frame.ownMode = 'plan';
      await session.admit(ann, undefined);
      expect(frame.ownMode).toBe('plan');
    });
  });

  test('is updated where the session keeps it, or here', async () => {
    const own = handleOf();
    expect(await own.session.update({ permissionMode: 'plan' })).toEqual({ effective: 'next_step' });
    expect([own.frame.ownMode, own.told]).toEqual(['plan', [['update', { permissionMode: 'plan' }]]]);
    await own.session.update({ model: 'm' } as never);
    expect(own.frame.ownMode).toBe('plan');
    await own.session.update({ permissionMode: null } as never);
    expect(own.frame.ownMode).toBeUndefined();
    const kept = handleOf({ [pipe]: () => {} });
    kept.frame.ownMode = 'plan';
    await kept.session.update({ permissionMode: 'default' });
    expect(kept.frame.ownMode).toBeUndefined();
    const failing = handleOf({ update: () => Promise.reject(new Error('no')) });
    await expect(failing.session.update({ permissionMode: 'plan' })).rejects.toThrow('no');
    expect(failing.frame.ownMode).toBeUndefined();
  });

  test('hands on answers and words, and wakes whoever waits', async () => {
    const { session, told, shared } = handleOf();
    const wake = vi.fn();
    shared.handles.add({ wake, running: false } as never);
    expect(await session.respond('q', { kind: 'approve', starts: true } as never)).toEqual({ status: 'settled' });
    expect(told).toEqual([['respond', 'q', { kind: 'approve' }]]);
    expect(wake).toHaveBeenCalledTimes(1);
    expect((await refusal(session.respond(5 as never, { kind: 'approve' }))).code).toBe('E_BAD_INPUT');
    expect((await refusal(session.respond('q', { kind: 'maybe' } as never))).code).toBe('E_BAD_INPUT');
    expect(await session.steer({ content: 'more' })).toMatchObject({ steerId: '1' });
    expect(told.at(-1)).toEqual(['steer', { content: 'more', by: { id: 'ann' } }]);
    await expect(session.steer({ text: 'x' } as never)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    const below = handleOf({}, {}, { find: async () => ({ steer: async () => ({ steerId: 'below' }) }) });
    expect(await below.session.steer({ content: 'x', threadId: 't' })).toEqual({ steerId: 'below' });
    expect(below.told).toEqual([]);
  });

  test('shows what is open: below its calls, as its questions, or as it is', async () => {
    const pending = async () => [call(), call({ requestId: 'd', callId: 'd' }), call({ requestId: 'e', callId: 'e' })];
    const of = ({ requestId }: { requestId: string }) =>
      requestId === 'c' ? { open: async () => [call({ requestId: 'x' })] } : undefined;
    const base = policyOf({ pay: ({ context }) => ({ outcome: context ? 'ask' : 'deny' }) });
    const { session, framed } = handleOf({ pending }, { base }, { of });
    const busy = vi.spyOn(session, 'isBusy').mockImplementation((id) => id === 'e');
    expect((await session.pending()).map(({ requestId }) => requestId)).toEqual(['x', 'd#policy', 'e']);
    framed.host.runTimeQuestions.put('ann/s', call(), { message: 'm' } as never, {}, () => {});
    expect((await session.pending()).at(-1)?.requestId).toBe('c#asked');
    expect(busy).toHaveBeenCalled();
  });

  test('stands where its record says, in the terms that it was begun with', async () => {
    const terms = { principal: ann };
    const plain = handleOf();
    expect(await plain.session.standing()).toStrictEqual({ isOver: false });
    plain.shared.begun = terms;
    expect(await plain.session.standing()).toStrictEqual({ isOver: false, terms });
    const own = handleOf({ standing: async () => ({ isOver: true, terms: { principal: { id: 'bob' } } }) });
    own.shared.begun = terms;
    expect(await own.session.standing()).toEqual({ isOver: true, terms: { principal: { id: 'bob' } } });
  });

  test('reads its events, without those of others where it has called nobody', async () => {
    const { session, told } = handleOf();
    expect((await all(session.events({ limit: 1 }))).map(({ id }) => id)).toEqual(['e1', 'e2']);
    expect(told).toEqual([['events', { limit: 1 }]]);
    expect(() => session.events({ limit: -1 })).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    const history = vi.fn(async function* () {
      yield { id: 'below' } as AgentEvent;
    });
    const none = handleOf();
    expect((await all(none.session.history())).map(({ id }) => id)).toEqual(['e1', 'e2']);
    const some = handleOf({}, {}, { of: () => ({ history }) });
    expect((await all(some.session.history())).map(({ id }) => id)).toEqual(['e1', 'e2', 'below']);
    expect(history).toHaveBeenCalledTimes(1);
  });

  test('is closed once; what is asked of it then is refused', async () => {
    const { session, told, framed } = handleOf();
    expect(session.isClosed).toBe(false);
    await session[Symbol.asyncDispose]();
    await session[Symbol.asyncDispose]();
    expect([session.isClosed, told, framed.told.map(([name]) => name)]).toEqual([true, [['closed']], ['forget']]);
    expect((await refusal(session.respond('q', { kind: 'approve' }))).code).toBe('E_SESSION_CLOSED');
    expect((await refusal(session.stream('go').next())).code).toBe('E_SESSION_CLOSED');
  });

  test('is shown by the last that shows it, until that one leaves', async () => {
    const { session, shared } = handleOf();
    const [first, second] = [async () => {}, async () => {}];
    const leaveFirst = session.shownBy(first);
    const leaveSecond = session.shownBy(second);
    leaveFirst();
    expect(shared.show).toBe(second);
    leaveSecond();
    expect(shared.show).toBeUndefined();
  });

  describe('ends', () => {
    function runningOf(more: object = {}) {
      const told: unknown[] = [];
      const run = {
        abort: (reason: CoxswainError) => told.push(['abort', reason.message, reason.code]),
        abortCall: (...said: unknown[]) => {
          told.push(['call', ...said]);
          return said[0] === 'c';
        },
        wake: () => told.push('wake'),
        ended: Promise.resolve('aborted'),
        isBusy: () => true,
        ...more,
      } as unknown as HostedRun;
      const made = handleOf();
      const live = vi.spyOn(made.session, 'liveRun', 'get').mockReturnValue(run);
      return { ...made, run, told: made.told, runs: told, live };
    }

    test('a run as a whole, or one of its calls', async () => {
      const { session, runs, told } = runningOf();
      await session.abort({ reason: 'enough' });
      await session.abort();
      await session.abort({ requestId: 'c#policy', reason: 'why' });
      expect(runs).toEqual([
        ['abort', 'enough', 'E_ABORTED'],
        ['abort', 'aborted', 'E_ABORTED'],
        ['call', 'c', 'why'],
      ]);
      expect(told).toEqual([]);
      await expect(session.abort({ thread: 'x' } as never)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
      expect(session.isBusy('c')).toBe(true);
    });

    test('what is no call that runs, beside the run', async () => {
      const calls = { withhold: () => {}, giveBack: () => {} };
      const { session, runs, told } = runningOf({ calls, dropCall: () => {} });
      await session.abort({ requestId: 'd' });
      await session.abort({ threadId: 'x' });
      expect(runs).toEqual([['call', 'd', undefined]]);
      expect(told).toEqual([
        ['abort', { requestId: 'd' }],
        ['abort', { threadId: 'x' }],
      ]);
    });

    test('the call of a sub-agent whose thread is ended', async () => {
      const ended = handleOf(
        { pending: async () => [call(), call({ requestId: 'x', callId: 'x' })] },
        {},
        { of: ({ callId }: { callId: string }) => ({ threadId: `/${callId}` }), end: async () => {} },
      );
      await ended.session.abort({ threadId: '/c', reason: 'why' });
      await ended.session.abort({ threadId: '/c' });
      await ended.session.abort({ threadId: '/d' });
      expect(ended.told).toEqual([
        ['abort', { requestId: 'c', reason: 'why' }],
        ['abort', { requestId: 'c' }],
        ['abort', { threadId: '/d' }],
      ]);
    });

    test('all that is open where nothing runs', async () => {
      const { session, told } = handleOf();
      await session.abort();
      expect([told, session.isBusy('c'), session.running]).toEqual([[['abort', {}]], false, false]);
    });
  });

  test('has one stream at a time, whichever handle it is of', async () => {
    const go = door();
    const inner = {
      stream: async function* () {
        await go.opened;
        yield { type: 'stream_end', reason: 'completed', data: {} } as AgentEvent;
      },
    };
    const { session, shared, framed } = handleOf(inner);
    const other = new HostedSession(innerOf(inner).inner, frameOf({ tools: [] }).made);
    Object.assign(other.frame, { shared });
    shared.handles.add(other);
    const first = session.stream('go').next();
    await settle();
    expect([session.running, other.running, other.liveRun !== undefined]).toEqual([true, false, true]);
    for (const handle of [session, other]) {
      const refused = await refusal(handle.stream('go').next());
      expect([refused.code, refused.message]).toEqual([
        'E_SESSION_BUSY',
        'session s has a live stream; wait for its end or abort it',
      ]);
    }
    expect((await refusal(session.stream('go', { model: 5 } as never).next())).code).toBe('E_BAD_INPUT');
    go.open(undefined);
    expect((await first).value).toMatchObject({ type: 'stream_end' });
    expect([session.running, framed.shared.begun]).toMatchObject([false, { principal: ann }]);
  });
});
