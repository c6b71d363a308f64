import { describe, expect, test, vi } from 'vitest';
import type {
  AgentEvent,
  AgentSession,
  ReportedRequest,
  SessionInput,
  StreamEndEvent,
} from '../../src/contracts/index.ts';
import { decide } from '../../src/gate/index.ts';
import type { SessionOwnership } from '../../src/host/frame/hosted-frame.ts';
import type { HostedSession } from '../../src/host/hosted/hosted-session.ts';
import type { PolicyRule } from '../../src/host/policy/index.ts';
import { rulePolicy } from '../../src/host/policy/index.ts';
import { approvalQuestion } from '../../src/host/questions/approval-question.ts';
import { previewOf } from '../../src/host/questions/preview.ts';
import type { RunStep } from '../../src/host/questions/run-inputs.ts';
import type { Step } from '../../src/host/questions/step.ts';
import { recordStart } from '../../src/host/run/call-starts.ts';
import { excludedTools, innerOptions } from '../../src/host/run/inner-options.ts';
import { runInner } from '../../src/host/run/inner-stream.ts';
import { approve, judgeOpen } from '../../src/host/run/judge-open.ts';
import { traceContextOf, within } from '../../src/host/run/run-spans.ts';
import { hostContext } from '../../src/host/terms/host-context.ts';
import { defaultPolicy, firstOf, RememberedRules, sessionPolicy } from '../../src/host/terms/remembered.ts';
import { subagentTool } from '../../src/host/tools/subagent-tool.ts';
import { claimed } from '../../src/host/witness/believed.ts';
import { pipe, putQuestions } from '../../src/session/index.ts';
import { ann, frameOf } from './frame-kit.ts';
import { call, hosted, info } from './judge-kit.ts';
import { policyOf, tool } from './kit.ts';
import { fakeRun } from './run-kit.ts';

describe('what a session is to its host', () => {
  test('has the mode that is strictest of turn and session, the host’s where neither has one', () => {
    const mode = (turns: string | undefined, own?: string, inner: object = {}, hosts?: string) => {
      const { made } = frameOf({ options: hosts ? { permissionMode: hosts as 'plan' } : {}, inner });
      made.ownMode = own as never;
      return made.modeOf(turns as never);
    };
    const kept = { [pipe]: () => {}, permissionMode: 'plan' };
    expect(mode(undefined)).toBeUndefined();
    expect(mode(undefined, undefined, {}, 'dont_ask')).toBe('dont_ask');
    expect(mode('autonomous', undefined, {}, 'dont_ask')).toBe('autonomous');
    expect(mode('autonomous', 'plan')).toBe('plan');
    expect(mode('plan', 'autonomous')).toBe('plan');
    expect(mode('autonomous', undefined, kept)).toBe('plan');
    expect(mode('autonomous', undefined, { permissionMode: 'plan' })).toBe('autonomous');
    expect(mode(undefined, 'default', kept)).toBe('plan');
  });

  test('of a sub-agent may do what its caller may', () => {
    const { made } = frameOf({ options: { permissionMode: 'plan' }, place: { callersMode: () => 'default' } });
    made.ownMode = 'plan';
    expect([made.modeOf(undefined), made.modeOf('autonomous'), made.modeOf('plan')]).toEqual([
      ...['default', 'default', 'plan'],
    ]);
  });

  test('has the tools of its host; one that the agent runs itself is another', () => {
    const { made } = frameOf();
    expect(made.toolOf({ name: 'pay' })?.tool.name).toBe('pay');
    expect(made.toolOf({ name: 'pay', handledBy: 'host' })?.tool.name).toBe('pay');
    expect([made.toolOf({ name: 'pay', handledBy: 'agent' }), made.toolOf({ name: 'x' }), made.toolOf({})]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
  });

  test('knows whether one of its tools is an agent, and how deep it stands', () => {
    const source = { descriptor: { name: 'expert', executor: 'x', capabilities: [] }, open: () => {} };
    const expert = hosted(subagentTool(source as never));
    const { made } = frameOf({ tools: [expert, hosted(tool('pay'))] });
    expect([made.hasSubagents, made.depth, frameOf().made.hasSubagents]).toEqual([true, 0, false]);
    const below = frameOf({ place: { caller: made } }).made;
    expect([below.depth, frameOf({ place: { caller: below } }).made.depth]).toEqual([1, 2]);
  });

  test('says on whose behalf a call is: whose turn it is of, or whoever holds it', () => {
    const { made, shared } = frameOf();
    const joe = { id: 'joe' };
    const request = (more: object = {}) => call(more as never);
    expect(made.requesterOf(request())).toBe(ann);
    expect(made.requesterOf(request({ requestedBy: joe }))).toBe(joe);
    shared.begun = { principal: { id: 'bob' } };
    expect(made.requesterOf(request())).toEqual({ id: 'bob' });
    expect(made.requesterOf(request({ requestedBy: joe }))).toBe(joe);
    // What an executor claims that is not believed is its own word.
    expect(made.requesterOf({ ...request({ requestedBy: joe }), [claimed]: joe } as never)).toBe(ann);
    expect(made.requesterOf({ ...request(), [claimed]: null } as never)).toBe(ann);
  });

  test('decides on the grounds of a call’s turn', async () => {
    const { made, shared } = frameOf();
    const grounds = made.grounds(call());
    expect(grounds).toMatchObject({ principal: ann, permissionMode: undefined, interactive: true });
    expect(made.grounds(call()).policy).toBe(grounds.policy);
    const of = (more: object) => made.grounds(call(more as never));
    expect(of({ permissionMode: 'plan' }).permissionMode).toBeUndefined();
    expect(of({ permissionMode: 'plan', requestedBy: ann })).toMatchObject({ permissionMode: 'plan' });
    shared.begun = { principal: ann, permissionMode: 'dont_ask' } as never;
    expect(of({})).toMatchObject({ permissionMode: 'dont_ask', interactive: false });
    expect(of({ requestedBy: ann, permissionMode: 'default' })).toMatchObject({ interactive: true });
    shared.begun = undefined;
    expect(
      made.grounds({ ...call({ permissionMode: 'plan' } as never), [claimed]: null } as never).permissionMode,
    ).toBe('plan');
    shared.present.set('ann', { id: 'ann', roles: ['clerk'] });
    expect(of({}).principal).toEqual(ann);
    expect(frameOf({ options: { interactive: false } }).made.grounds(call()).interactive).toBe(false);
    const strict = frameOf({ options: { permissionMode: 'dont_ask' } }).made;
    expect(strict.grounds(call()).interactive).toBe(false);
  });

  test('lets a call run as far as whoever claims it may, too', async () => {
    const base = policyOf({
      pay: ({ principal }) => (principal?.id === 'eve' ? { outcome: 'deny' } : { outcome: 'allow' }),
    });
    const { made } = frameOf({ base });
    const outcome = async (request: ReportedRequest) => {
      const { policy, principal } = made.grounds(request);
      return (await policy.evaluate({ action: 'pay', args: {}, principal, context: {} } as never)).outcome;
    };
    expect(await outcome(call())).toBe('allow');
    expect(await outcome({ ...call(), [claimed]: { id: 'eve' } } as never)).toBe('deny');
    expect(await outcome({ ...call(), [claimed]: null } as never)).toBe('allow');
  });

  test('offers what its policy does, as this agent and in this mode', async () => {
    const asked: unknown[] = [];
    const base = {
      evaluate: () => ({ outcome: 'allow' as const }),
      getExcluded: (scope: unknown) => {
        asked.push(scope);
        return ['pay'];
      },
    };
    const { made } = frameOf({ base });
    expect(await made.excluded('plan')).toEqual(['pay']);
    expect(await made.excluded(undefined)).toEqual(['pay']);
    expect(asked).toEqual([{ agent: 'bot', permissionMode: 'plan' }, { agent: 'bot' }]);
    expect(await excludedTools(made, { excludeTools: ['x'] })).toEqual(['x', 'pay']);
    expect(await excludedTools(made, {})).toEqual(['pay']);
    expect(await excludedTools(frameOf().made, { excludeTools: ['x'] })).toBeUndefined();
  });

  test('remembers for its user, and for the session that a person has opened', async () => {
    const rule = { id: 'remembered:pay@host', tool: 'pay', source: 'host', outcome: 'allow' };
    const { made, host, where } = frameOf({ base: rulePolicy([]) });
    await made.remember({ label: 'l', scope: 'session', rule } as never);
    const scope = { userId: 'ann', agent: 'bot', sessionId: 's' };
    expect(host.remembered.of(scope).session).toEqual([rule]);
    expect(made.rememberedFor('pay')).toEqual([rule]);
    expect(made.rememberedFor('look')).toEqual([]);
    await made.remember({ label: 'l', scope: 'user', rule: { ...rule, tool: 'look' } } as never);
    expect(made.rememberedFor('look')).toHaveLength(1);
    expect(where.root).toBe('s');
    const before = made.grounds(call()).policy;
    await made.remember({ label: 'l', scope: 'user', rule } as never);
    expect(made.grounds(call()).policy).not.toBe(before);
    const request = { action: 'pay', args: {}, context: { resource: { type: 'tool', id: 'pay', source: 'host' } } };
    expect((await made.grounds(call()).policy.evaluate(request as never)).outcome).toBe('allow');
  });

  test('knows which of its handles runs, wakes all, and is left by those that are closed', () => {
    const { made, shared, told } = frameOf({ place: { ephemeral: true } });
    const woken: string[] = [];
    const handle = (name: string, running: boolean, frame: object) =>
      ({
        running,
        frame,
        wake: () => woken.push(name),
        liveRun: { hold: { isHeld: running } },
      }) as never as HostedSession;
    const other = {};
    const [a, b] = [handle('a', false, other), handle('b', true, made)];
    for (const one of [a, b]) shared.handles.add(one);
    made.session = b;
    expect([made.running(), made.holds()]).toEqual([b, true]);
    made.wakeAll();
    expect(woken).toEqual(['a', 'b']);
    made.closed();
    expect([shared.handles.size, told]).toEqual([1, []]);
    expect([made.running(), made.holds()]).toEqual([undefined, false]);
    shared.handles.clear();
    made.closed();
    expect(told).toEqual([['forget', 'ann/s', expect.objectContaining({ root: 's' }), shared]]);
  });

  test('that nobody can come back to takes along what was remembered in it', async () => {
    const rule = { id: 'r', tool: 'pay', outcome: 'allow' };
    const left = async (more: Parameters<typeof frameOf>[0]) => {
      const { made } = frameOf(more);
      await made.remember({ label: 'l', scope: 'session', rule } as never);
      made.closed();
      return made.rememberedFor('pay').length;
    };
    expect(await left({})).toBe(1);
    expect(await left({ place: { ephemeral: true } })).toBe(0);
    expect(await left({ inner: { descriptor: { capabilities: [] } } })).toBe(0);
    const caller = frameOf().made;
    expect(await left({ place: { ephemeral: true, caller } })).toBe(1);
  });

  test('opens sub-agents on behalf of whose call it is, in a mode no looser than its own', async () => {
    const { made, told, shared } = frameOf({ place: { ephemeral: true } });
    const request = call({ requestedBy: { id: 'joe' }, permissionMode: 'default' } as never);
    await made.openSubagent({} as never, request, 's', true);
    const given = told[0]?.[5] as SessionOwnership;
    const root = { agent: 'bot', sessionId: 's' };
    expect(told[0]?.slice(1, 5)).toEqual([{}, request, { sessionId: 's', callId: request.callId, root }, true]);
    expect(given).toMatchObject({
      userId: 'ann',
      principal: { id: 'joe' },
      ephemeral: true,
      root: 's',
      rootAgent: 'bot',
    });
    expect([given.caller, given.callersMode?.()]).toEqual([made, 'default']);
    shared.begun = { principal: ann, permissionMode: 'plan' } as never;
    expect(given.callersMode?.()).toBe('plan');
    made.announce(call());
    expect(told[1]?.[0]).toBe('announce');
  });

  test('goes on with sub-agents that can be gone on with', () => {
    const { made } = frameOf();
    expect(made.goesOn(call())).toBe(false);
    made.session = { subagents: { of: ({ callId }: ReportedRequest) => ({ isResumable: callId === 'c' }) } } as never;
    expect([made.goesOn(call()), made.goesOn(call({ callId: 'd' }))]).toEqual([true, false]);
  });
});

describe('the options of an inner stream', () => {
  const signal = new AbortController().signal;
  const none = { limits: { usd: 5, steps: 3 }, signal, excluded: undefined, terms: undefined, span: undefined };

  test('leave tools to the host, and money to its count', () => {
    const session = { frame: frameOf().made } as HostedSession;
    const given = { model: 'm', excludeTools: ['x'], permissionMode: 'plan', hostToolExecution: false } as const;
    expect(innerOptions(session, given, none)).toStrictEqual({
      ...{
        model: 'm',
        excludeTools: ['x'],
        permissionMode: 'plan',
        hostToolExecution: true,
        limits: { steps: 3 },
        signal,
      },
    });
    const terms = { principal: ann };
    expect(innerOptions(session, {}, { ...none, excluded: ['x', 'y'], terms })).toStrictEqual({
      ...{ hostToolExecution: true, limits: { steps: 3 }, signal, excludeTools: ['x', 'y'], terms },
    });
  });

  test('carry the trace of the turn, where the tracing system can say it', () => {
    const inject = (span: unknown) => (span === 'known' ? { traceparent: 'x' } : {});
    const frame = frameOf({ options: { telemetry: { inject } as never } }).made;
    expect(traceContextOf(frame, 'known' as never)).toEqual({ traceContext: { traceparent: 'x' } });
    expect([traceContextOf(frame, 'other' as never), traceContextOf(frame, undefined)]).toEqual([undefined, undefined]);
    expect(traceContextOf(frameOf().made, 'known' as never)).toBeUndefined();
    expect(traceContextOf(frameOf({ options: { telemetry: {} as never } }).made, 'known' as never)).toBeUndefined();
    const told: unknown[] = [];
    const below = {
      options: { streamId: 'x' },
      limits: (used: unknown) => ({ used }),
      phase: () => 'open',
      see: (event: unknown) => told.push(event),
      show: (event: unknown) => event,
    };
    const made = within({ below, session: { frame } } as never, 'known' as never);
    made.see('seen' as never);
    expect([made.options, made.limits({}), made.phase(), made.show('shown' as never), told]).toEqual([
      { streamId: 'x', traceContext: { traceparent: 'x' } },
      { used: {} },
      'open',
      'shown',
      ['seen'],
    ]);
  });

  test('are handed to the executor, whose events are shown but for the end', async () => {
    const events = [{ type: 'initialize' }, { type: 'message', partial: true }, { type: 'stream_end', reason: 'x' }];
    const run = async (shown: Parameters<typeof runInner>[4], given: object[] = events, more: object = {}) => {
      const pushed: string[] = [];
      const rooms: boolean[] = [];
      const seen: string[] = [];
      const inner = {
        id: 's',
        stream: async function* () {
          yield* given as AgentEvent[];
        },
        ...more,
      } as never;
      const out = {
        push: ({ type }: AgentEvent) => void pushed.push(type),
        room: (isPartial: boolean) => void rooms.push(isPartial),
      } as never;
      const see = shown?.see && (({ type }: AgentEvent) => void seen.push(type));
      const end = await runInner(inner, [], {}, out, shown && { ...shown, see }, () => {});
      return { pushed, rooms, seen, end };
    };
    const plain = await run(undefined);
    expect([plain.pushed, plain.rooms, plain.end]).toEqual([['initialize', 'message'], [false, true], events[2]]);
    const introduced = await run({ see: () => {}, isIntroduced: true });
    expect([introduced.pushed, introduced.seen]).toEqual([['message'], ['message']]);
    const seen = await run({ see: () => {}, isIntroduced: false });
    expect([seen.pushed, seen.seen]).toEqual([
      ['initialize', 'message'],
      ['initialize', 'message'],
    ]);
    await expect(run(undefined, events.slice(0, 2))).rejects.toMatchObject({ status: 'DATA_LOSS', code: 'E_INTERNAL' });
    const piped = { [pipe]: async () => 'piped' as never as StreamEndEvent };
    expect((await run(undefined, events, piped)).end).toBe('piped');
    expect((await run({ see: undefined, isIntroduced: true }, events, piped)).end).toEqual(events[2]);
  });
});

describe('what is done about each open request', () => {
  const verdictOf = async (args: Record<string, unknown> = { eur: 5 }): Promise<RunStep> => {
    const announced = { eur: 5 };
    const given = { callId: 'c', args, announced, tool: hosted(tool('pay')).descriptor, source: 'host' };
    const verdict = await decide(
      { ...given, agentPath: ['bot'], sessionId: 's' },
      {
        validate: () => ({ ok: true, args }),
      },
    );
    if (verdict.kind !== 'run') throw new Error('it may not run');
    return { kind: 'run', decision: verdict.decision, rerun: false };
  };

  function runOf(
    steps: Record<string, Step>,
    more: { busy?: string[]; below?: Record<string, ReportedRequest[]>; inner?: object } = {},
  ) {
    const told: unknown[] = [];
    const note =
      (name: string) =>
      (...said: unknown[]) =>
        void told.push([name, ...said]);
    const made = fakeRun({
      inner: more.inner ?? {},
      frame: {
        toolOf: () => hosted(tool('pay', () => 1)),
        bounded: async (_: string, result: object) => ({ ...result, isBounded: true }),
        judge: {
          retain: () => told.push('judge retains'),
          settled: note('settled'),
          step: async ({ requestId }: ReportedRequest) => steps[requestId],
        },
      },
      subagents: ({ requestId }) => ({ waitsFor: async () => more.below?.[requestId] }),
      run: {
        calls: {
          retain: () => told.push('calls retain'),
          isBusy: (id: string) => more.busy?.includes(id) ?? false,
          signalOf: () => new AbortController().signal,
          settles: note('settles'),
          judged: (mine: ReportedRequest[]) => told.push(['judged', mine.map(({ requestId }) => requestId)]),
          start: (...said: unknown[]) => told.push(['start', said[2] !== undefined]),
          enqueue: note('enqueue'),
        },
      },
    });
    return { ...made, told };
  }
  const of = (id: string, more: object = {}) => call({ requestId: id, callId: id, ...more } as never);
  const asked = { kind: 'ask', question: { ...of('q#policy'), approval: { title: 't' } } } as never as Step;

  test('tells the next stream what is settled, asks what is asked, and leaves the rest', async () => {
    const decision = { outcome: 'denied', by: 'policy' } as const;
    const own = of('own', { kind: 'elicitation' });
    const steps: Record<string, Step> = {
      a: { kind: 'settle', result: { content: [] }, decision },
      b: asked,
      own: { kind: 'elicit', request: own },
      d: { kind: 'leave' },
    };
    const below = [of('below#policy')];
    const { run, told, shown } = runOf(steps, { busy: ['e'], below: { f: below } });
    const batch: SessionInput[] = [];
    const questions: ReportedRequest[] = [];
    const rest = [of('d'), of('e'), of('f')];
    await judgeOpen(run, [of('a'), of('b'), own, ...rest], batch, questions);
    expect(batch).toEqual([
      { kind: 'tool_result', requestId: 'a', result: { content: [], isBounded: true }, decision },
    ]);
    expect(questions.map(({ requestId }) => requestId)).toEqual(['below#policy', 'q#policy', 'own', 'd']);
    expect(told).toEqual([
      'judge retains',
      'calls retain',
      ['settled', 'a'],
      ['settles', 'a'],
      ['judged', ['a', 'b', 'own', 'd']],
    ]);
    expect(shown.map((event) => 'requestId' in event && event.requestId)).toEqual(['q#policy']);
  });

  test('keeps what policy obliges to before anybody sees the question', async () => {
    const put: unknown[] = [];
    const inner = {
      [putQuestions]: async (questions: unknown) => {
        put.push(questions, shownThen());
      },
    };
    const { run, shown } = runOf({ b: asked, c: { kind: 'leave' } }, { inner });
    const shownThen = () => shown.length;
    await judgeOpen(run, [of('c'), of('b')], [], []);
    expect(put).toEqual([[{ requestId: 'q#policy' }], 0]);
    const kept = of('b', { questions: [{ requestId: 'q#policy' }] });
    await judgeOpen(runOf({ b: asked }, { inner }).run, [kept], [], []);
    expect(put).toHaveLength(2);
  });

  test('begins and asks nothing behind an abort', async () => {
    const { run, told, abort, shown } = runOf({ b: asked });
    abort();
    const questions: ReportedRequest[] = [];
    await judgeOpen(run, [of('b')], [], questions);
    expect([questions, shown, told.length]).toEqual([[], [], 2]);
  });

  test('has a start in the log where a crash could make it run twice', async () => {
    const approved = async (
      more: {
        request?: object;
        tool?: object;
        of?: boolean;
        resumable?: boolean;
        record?: boolean;
        args?: Record<string, unknown>;
        rerun?: boolean;
      } = {},
    ) => {
      const { run, told } = runOf({});
      Object.assign(run.session, {
        subagents: { of: () => (more.of ? { isResumable: more.resumable ?? false } : undefined) },
      });
      const batch: SessionInput[] = [];
      const step = { ...(await verdictOf(more.args)), rerun: more.rerun ?? false };
      const record = more.record ? async () => true : undefined;
      approve(run, call(more.request as never), step, hosted(tool('pay', () => 1, more.tool as never)), batch, record);
      const [name, ...said] = (told[0] ?? []) as unknown[];
      return { name, said, batch };
    };
    const readOnly = { annotations: { readOnly: true } };
    expect(await approved({ tool: readOnly })).toMatchObject({ name: 'start', said: [false], batch: [] });
    expect(await approved({ tool: { annotations: { idempotent: true } } })).toMatchObject({
      name: 'start',
      said: [false],
    });
    expect(await approved({ resumable: true, of: true })).toMatchObject({ name: 'start', said: [false] });
    expect(await approved({ tool: readOnly, of: true })).toMatchObject({ name: 'enqueue' });
    expect(await approved({ record: true })).toMatchObject({ name: 'start', said: [true] });
    const plain = await approved({});
    expect([plain.name, plain.batch]).toEqual(['enqueue', []]);
    expect(plain.said[2]).toStrictEqual({
      kind: 'tool_approval',
      requestId: 'c',
      decision: { outcome: 'approved', by: 'policy' },
    });
    const agents = await approved({ request: { handledBy: 'agent' }, tool: readOnly, args: { eur: 6 }, rerun: true });
    expect([agents.name, agents.batch]).toMatchObject([
      undefined,
      [{ kind: 'tool_approval', requestId: 'c', args: { eur: 6 }, decision: { args: { eur: 6 } }, rerun: true }],
    ]);
  });

  test('stores a start alone, as whoever let it run', async () => {
    const stored: unknown[][] = [];
    const start = async (by: string, args?: Record<string, unknown>, status = 'settled') => {
      const { run } = fakeRun({
        inner: {
          respond: async (...said: unknown[]) => {
            stored.push(said);
            return { status };
          },
        },
      });
      const record = { outcome: 'approved', by, ...(args ? { args } : {}) };
      return recordStart(run, call(), record as never);
    };
    expect([
      await start('policy'),
      await start('user:bob\nx', { eur: 6 }),
      await start('policy', undefined, 'closed'),
    ]).toEqual([...[true, true, false]]);
    expect(stored.slice(0, 2)).toStrictEqual([
      ['c', { kind: 'approve', starts: true, decision: { outcome: 'approved', by: 'policy' } }],
      [
        'c',
        {
          ...{ kind: 'approve', starts: true, args: { eur: 6 }, by: { id: 'bob\nx' } },
          decision: { outcome: 'approved', by: 'user:bob\nx', args: { eur: 6 } },
        },
      ],
    ]);
  });
});

describe('answers that hold always', () => {
  const place = { userId: 'ann', agent: 'bot', sessionId: 's' };
  const rule = (id: string): PolicyRule => ({ id, tool: 'pay', outcome: 'allow' });
  const option = (scope: string, id: string) => ({ label: 'l', scope, rule: rule(id) }) as never;
  const log = (...ids: string[]) =>
    ({
      async *events() {
        for (const id of ids) yield { id };
      },
    }) as never as AgentSession;

  test('are of a user, or of one session of theirs', () => {
    const rules = new RememberedRules();
    rules.add(place, option('user', 'a'), undefined);
    rules.add(place, option('session', 'b'), 'e1');
    expect(rules.of(place)).toEqual({ user: [rule('a')], session: [rule('b')] });
    expect(rules.of({ ...place, sessionId: 't' })).toEqual({ user: [rule('a')], session: [] });
    expect(rules.of({ ...place, agent: 'x' }).session).toEqual([]);
    expect(rules.of({ ...place, userId: 'bob' })).toEqual({ user: [], session: [] });
    expect(rules.of(place).session).toBe(rules.of(place).session);
    rules.add(place, option('session', 'b'), 'e1');
    rules.add(place, option('session', 'c'), 'e1');
    expect(rules.of(place).session.map(({ id }) => id)).toEqual(['b', 'c']);
    // It is another session by now.
    rules.add(place, option('session', 'd'), 'e2');
    expect(rules.of(place).session.map(({ id }) => id)).toEqual(['d']);
    rules.forget(place);
    expect(rules.of(place)).toEqual({ user: [rule('a')], session: [] });
  });

  test('do not hold in another session that is opened under its id', async () => {
    const rules = new RememberedRules();
    const has = () => rules.of(place).session.length;
    rules.add(place, option('session', 'a'), 'e1');
    await rules.opened(place, log('e1', 'e2'));
    await rules.opened({ ...place, sessionId: 't' }, log('other'));
    expect(has()).toBe(1);
    await rules.opened(place, log('e2'));
    expect(has()).toBe(0);
    rules.add(place, option('session', 'a'), undefined);
    await rules.opened(place, log());
    expect(has()).toBe(0);
    expect([await firstOf(log('x', 'y')), await firstOf(log())]).toEqual(['x', undefined]);
    const broken = {
      events: () => {
        throw new Error('away');
      },
    } as never;
    expect(await firstOf(broken)).toBeUndefined();
  });

  test('are rules of the policy that takes them, under the mode', async () => {
    const remembered = { user: [rule('u')], session: [{ ...rule('s'), tool: 'look' }] };
    const outcome = async (policy: ReturnType<typeof sessionPolicy>, action: string) =>
      (await policy.evaluate({ action, args: {}, context: { resource: { type: 'tool', id: action } } } as never))
        .outcome;
    const policy = sessionPolicy(rulePolicy([]), remembered, undefined);
    expect([await outcome(policy, 'pay'), await outcome(policy, 'look'), await outcome(policy, 'x')]).toEqual([
      ...['allow', 'allow', 'ask'],
    ]);
    expect(await outcome(sessionPolicy(rulePolicy([]), remembered, 'plan'), 'pay')).toBe('deny');
    const other = policyOf({ pay: 'deny' });
    expect(await outcome(sessionPolicy(other, remembered, undefined), 'pay')).toBe('deny');
    expect(await outcome(defaultPolicy(), 'x')).toBe('ask');
  });

  describe('are offered', () => {
    const gate = {
      ...{ callId: 'c', args: { eur: 5 }, source: 'host', digest: 'd', agentPath: ['bot'], sessionId: 's' },
      tool: hosted(tool('pay')).descriptor,
    };
    const offered = async ({
      base = rulePolicy([]),
      question = {},
      call: more = {},
      remembered = [],
      isPolicys = true,
    }: {
      base?: ReturnType<typeof rulePolicy>;
      question?: object;
      call?: object;
      remembered?: PolicyRule[];
      isPolicys?: boolean;
    } = {}) => {
      const rules = { principal: ann, validate: () => ({ ok: true, args: {} }) as const, policy: base };
      const facts = {
        requestId: 'q',
        kind: 'policy' as const,
        preview: [],
        digest: 'x',
        expiresAt: undefined,
        isPolicys,
      };
      return approvalQuestion(call(), { ...gate, ...more }, rules, { args: { eur: 5 }, ...question }, facts, {
        base,
        rememberedFor: () => remembered,
      });
    };

    test('where such a rule would let the call run, bound to the tool that was shown', async () => {
      const bound = { id: 'remembered:pay@host', tool: 'pay', source: 'host', digest: 'd', outcome: 'allow' };
      expect((await offered()).approval.remember).toEqual([
        { label: 'Always run pay in this session', scope: 'session', rule: bound },
        { label: 'Always run pay', scope: 'user', rule: bound },
      ]);
      const strict = rulePolicy([{ tool: 'pay', outcome: 'ask' }]);
      expect((await offered({ base: strict })).approval.remember).toEqual([]);
    });

    test('nowhere else', async () => {
      const none = async (more: Parameters<typeof offered>[0]) => (await offered(more)).approval.remember;
      expect(await none({ question: { approvers: { roles: ['boss'] } } })).toEqual([]);
      expect(await none({ isPolicys: false })).toEqual([]);
      expect(await none({ base: policyOf({}) as never })).toEqual([]);
      for (const name of ['pay*', 'pa?']) expect(await none({ call: { tool: { ...gate.tool, name } } })).toEqual([]);
      for (const source of ['mcp:*', 'mcp:?']) expect(await none({ call: { source } })).toEqual([]);
    });

    test('with why somebody is asked again who has said always', async () => {
      const said = async (...remembered: PolicyRule[]) => (await offered({ remembered })).message;
      const other = { ...rule('r'), source: 'host', digest: 'd' };
      expect(await said()).toBe('Run pay?');
      expect(await said(other)).toBe('Run pay?');
      expect(await said({ ...other, digest: 'e' })).toBe(
        'Run pay? Somebody said always to pay, but what host says of it has changed since.',
      );
      expect(await said({ ...other, source: 'mcp:x' })).toBe(
        'Run pay? Somebody said always to pay, but that one is of mcp:x, and this one of host.',
      );
      expect(await said({ ...other, source: 'mcp:x' }, other)).toBe('Run pay?');
    });
  });

  test('a preview is what the author shows; one that fails says so, and one that hangs ends with its call', async () => {
    const about = (deps?: unknown) => (signal: AbortSignal) => ({ ...info, signal, deps });
    const shows = (preview: unknown) => ({ ...tool('pay'), preview }) as never;
    const given: unknown[] = [];
    const fine = shows((args: unknown, { deps }: { deps: unknown }) => {
      given.push(args, deps);
      return [{ type: 'text', text: '5 EUR' }];
    });
    expect(await previewOf(fine, { eur: 5 }, undefined, about('deps'))).toEqual([{ type: 'text', text: '5 EUR' }]);
    expect(given).toEqual([{ eur: 5 }, 'deps']);
    expect([
      await previewOf(undefined, {}, undefined, about()),
      await previewOf(tool('x'), {}, undefined, about()),
    ]).toEqual([[], []]);
    const fails = shows(() => Promise.reject(new Error('away')));
    expect(await previewOf(fails, {}, undefined, about())).toEqual([
      { type: 'text', text: 'There is no preview: away' },
    ]);
    const hangs = shows(() => new Promise(() => {}));
    const ended = await previewOf(hangs, {}, AbortSignal.abort(new Error('enough')), about());
    expect(ended).toEqual([{ type: 'text', text: 'There is no preview: enough' }]);
  });

  test('ATK-09 a preview that hangs is waited for once, by all who look, and by nobody after that', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const asked: unknown[] = [];
      const hangs = {
        preview: (args: unknown, { signal }: { signal: AbortSignal }) => {
          asked.push([args, signal]);
          return new Promise(() => {});
        },
      } as never;
      const about = (callId: string) => (signal: AbortSignal) => ({ ...info, callId, signal, deps: undefined });
      const late = [{ type: 'text', text: 'There is no preview: it was not there within 10000 ms' }];
      const two = [1, 2].map(() => previewOf(hangs, { a: 1 }, undefined, about('c')));
      // One who leaves takes nothing from the others.
      const left = new AbortController();
      const leaving = previewOf(hangs, { a: 1 }, left.signal, about('c'));
      left.abort(new Error('enough'));
      expect(await leaving).toEqual([{ type: 'text', text: 'There is no preview: enough' }]);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await Promise.all(two)).toEqual([late, late]);
      expect(await previewOf(hangs, { a: 1 }, undefined, about('c'))).toEqual(late);
      expect(asked).toEqual([[{ a: 1 }, expect.objectContaining({ aborted: true })]]);
      // Another call, or other arguments, is another question; where nobody looks any more it is told so.
      const gone = new AbortController();
      const others = [
        previewOf(hangs, { a: 2 }, gone.signal, about('c')),
        previewOf(hangs, { a: 1 }, gone.signal, about('d')),
      ];
      expect(asked).toHaveLength(3);
      gone.abort(new Error('gone'));
      await Promise.all(others);
      expect((asked as [unknown, AbortSignal][]).map(([, signal]) => signal.aborted)).toEqual([true, true, true]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('a preview that cannot be shown whole is none, and says why: people are still asked', async () => {
    const about = (signal: AbortSignal) => ({ ...info, signal, deps: undefined });
    const shown = (preview: unknown) => previewOf({ preview: () => preview } as never, {}, undefined, about);
    const worded = async (preview: unknown) => JSON.stringify(await shown(preview));
    expect([await shown(undefined), await shown('5 EUR')]).toEqual([[], [{ type: 'text', text: '5 EUR' }]]);
    const fine = { type: 'text', text: '5 EUR' };
    for (const unfit of [null, 5, {}, { type: 'text' }, { type: 'text', text: new Map() }]) {
      expect(await worded([fine, unfit])).toBe(
        '[{"type":"text","text":"There is no preview: piece 1 of it is no display content"}]',
      );
    }
    const endless: Record<string, unknown> = { type: 'text', text: 'x' };
    endless.again = endless;
    expect(JSON.parse(await worded([endless]))).toMatchObject([{ type: 'text', text: 'x' }]);
    const hostile = new Proxy([], { get: () => expect.fail('looked at') });
    expect(await worded(hostile)).toMatch(/There is no preview: looked at/);
    expect(await worded(Array.from({ length: 10_001 }, () => fine))).toMatch(/it has 10001 pieces/);
    const large = await worded([{ type: 'text', text: 'a'.repeat(2 ** 20) }]);
    expect(large).toMatch(/it has 1048603 bytes of JSON, of which 1048576 at most are shown \(SHA-256 [0-9a-f]{64}\)/);
    // A yes to one is none to another of the same size.
    expect(await worded([{ type: 'text', text: 'b'.repeat(2 ** 20) }])).not.toBe(large);
    const fails = { preview: () => Promise.reject(new Error('y'.repeat(2 ** 20))) } as never;
    expect(JSON.stringify(await previewOf(fails, {}, undefined, about)).length).toBeLessThan(11_000);
  });

  test('what a preview has shown is a copy: its author cannot change it afterwards', async () => {
    const kept = [{ type: 'text', text: '5 EUR' }];
    const about = (signal: AbortSignal) => ({ ...info, signal, deps: undefined });
    const shown = await previewOf({ preview: () => kept } as never, {}, undefined, about);
    kept[0] = { type: 'text', text: '500 EUR' };
    expect(shown).toEqual([{ type: 'text', text: '5 EUR' }]);
  });
});

test('what sources are given of a host is what it was made with, and nothing more', () => {
  const warn = () => {};
  const whose = { userId: 'ann', principal: ann };
  expect(hostContext({ app: 'shop', agents: [] }, whose, warn)).toStrictEqual({ app: 'shop', ...whose, warn });
  const more = {
    ...{ store: {}, credentials: {}, models: {}, hooks: {}, hookTimeoutMs: 0, answerLimits: {}, maxResultBytes: 0 },
    ...{ spill: () => {}, telemetry: {}, followPollMs: 0, deps: 0 },
  };
  expect(hostContext({ app: 'shop', agents: [], ...more } as never, whose, warn)).toStrictEqual({
    ...{ app: 'shop', ...whose, warn },
    ...more,
  });
});
