import { describe, expect, test, vi } from 'vitest';
import { Bell } from '../../src/base/index.ts';
import type {
  AgentSource,
  ExecutionOptions,
  ReportedRequest,
  TailCallRecord,
  ToolResult,
} from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { assertApprover, decidingAnswer, whyNotOpen } from '../../src/gate/questions/index.ts';
import { abortBeginnings, Beginnings } from '../../src/host/hosted/beginnings.ts';
import type { Step } from '../../src/host/questions/step.ts';
import { notAgain, refusal as refused, underRule } from '../../src/host/questions/step.ts';
import { underPolicy } from '../../src/host/questions/under-policy.ts';
import { BesideInner } from '../../src/host/run/beside-inner.ts';
import { runTailCalls } from '../../src/host/run/run-host-call.ts';
import { measured } from '../../src/host/run/run-spans.ts';
import { passSteer } from '../../src/host/run/user-message.ts';
import { createSessionFactory } from '../../src/host/session-factory.ts';
import { holderAmong } from '../../src/host/subagents/subagent-tree.ts';
import { beginTurn, forBoth, goOnWithTurn, onBehalfOf } from '../../src/host/terms/turn-terms.ts';
import { DEFAULT_SUBAGENT_DEPTH, subagentOf, subagentTool } from '../../src/host/tools/subagent-tool.ts';
import { joined, stirs } from '../../src/session/index.ts';
import { call, hosted, judgeOf } from './judge-kit.ts';
import { door, policyOf, refusal, tool } from './kit.ts';
import { fakeRun, settle } from './run-kit.ts';

const ann = { id: 'ann', roles: ['clerk'] };
const bob = { id: 'bob' };

describe('whoever holds no session may decide', () => {
  const why = (request: object, by: object, userId = 'ann') => whyNotOpen({ userId, request } as never, by as never);
  test('where policy names nobody: its owner, and whoever asked', () => {
    expect([why({}, ann), why({}, bob), why({ requestedBy: bob }, bob)]).toEqual([
      ...[undefined, 'the session is somebody else’s and policy names nobody', undefined],
    ]);
    expect(why({ requestedBy: bob }, { id: 'eve' })).toContain('somebody else’s');
    // The question says who asked; what the call says is older.
    const both = { requestedBy: { id: 'eve' }, approval: { requestedBy: bob } };
    expect([why(both, bob), why(both, { id: 'eve' }) === undefined]).toEqual([undefined, false]);
    expect(why({ approval: { approvers: { quorum: 2 } } }, bob)).toBe(
      'the session is somebody else’s and policy names nobody, though it wants 2 people: give it roles or notRequester',
    );
    expect(why({ approval: { approvers: { quorum: 1 } } }, bob)).not.toContain('though');
    expect(why({ approval: { approvers: { roles: [], also: [[]] } } }, ann)).toBeUndefined();
  });

  test('where it names people: these', () => {
    const boss = { id: 'cfo', roles: ['boss'] };
    const rule = { approval: { approvers: { roles: ['boss'] } } };
    expect([why(rule, boss), why(rule, ann)]).toEqual([undefined, 'it takes one of the roles boss']);
    expect(why({ approvers: { roles: ['boss'] } }, ann)).toContain('roles boss');
    expect(why({ approvers: { also: [['boss']] } }, ann)).toContain('roles boss');
    const four = { approvers: { notRequester: true } };
    expect([why(four, ann), why(four, bob), why({ ...four, requestedBy: bob }, bob)]).toEqual([
      ...['the requester may not approve', undefined, 'the requester may not approve'],
    ]);
    const both = { approval: { approvers: { roles: ['boss'] } }, approvers: { roles: ['clerk'] } };
    expect([why(both, ann) === undefined, why(both, boss)]).toEqual([false, undefined]);
    expect(() => assertApprover('q', { approvers: { roles: ['boss'] } }, ann, ann)).toThrow(
      expect.objectContaining({
        ...{ status: 'PERMISSION_DENIED', code: 'E_NOT_APPROVER', details: { requestId: 'q', by: 'ann' } },
        message: 'ann may not decide on q: it takes one of the roles boss',
      }),
    );
    expect(assertApprover('q', { approvers: { roles: ['boss'] } }, ann, boss)).toBeUndefined();
  });
});

test('what decides on a question are the answers to it, and to no other', () => {
  const said = (requestId: string, action: string, id: string) => ({ requestId, action, digest: 'd', by: { id } });
  const asked = { requestId: 'q', digest: 'd' };
  const yes = said('q', 'accept', 'bob');
  expect(decidingAnswer([said('x', 'decline', 'eve'), yes] as never, asked, {}, ann)).toBe(yes);
  const two = { approvers: { quorum: 2 } };
  expect(decidingAnswer([said('x', 'accept', 'eve'), yes] as never, asked, two, ann)).toBeUndefined();
  const no = said('q', 'decline', 'eve');
  expect(decidingAnswer([said('x', 'accept', 'eve'), no, yes] as never, asked, two, ann)).toBe(no);
});

describe('a step', () => {
  test('that refuses says why, whose word it is and under which rule', () => {
    expect(refused('shut', 'host')).toMatchObject({
      ...{ kind: 'settle', decision: { outcome: 'denied', by: 'host', reason: 'shut' } },
    });
    expect(refused('shut', 'host', 'said')).toMatchObject({ decision: { reason: 'said' } });
    const again = notAgain('host', 'recorded', 'told');
    expect(again).toMatchObject({ decision: { reason: 'its outcome is unknown; it was not run again: recorded' } });
    expect(JSON.stringify(again.kind === 'settle' && again.result)).toContain('not run again: told');
    const asked = { source: 'host' } as never;
    const ruled = underRule(refused('x', 'host'), { args: {}, ruleId: 'r', redact: ['/a'] }, asked);
    expect(ruled).toMatchObject({ decision: { ruleId: 'r', redact: ['/a'], asked, by: 'host' } });
    const bare = underRule(refused('x', 'host'), { args: {} }, asked);
    expect(bare.kind === 'settle' && Object.keys(bare.decision ?? {}).sort()).toEqual([
      'asked',
      'by',
      'outcome',
      'reason',
    ]);
    const leave = { kind: 'leave', decision: { outcome: 'approved', by: 'policy' } } as const;
    expect(underRule(leave, { args: {}, ruleId: 'r' }, asked)).toBe(leave);
    const plain: Step = { kind: 'settle', result: { content: [] } };
    expect(underRule(plain, { args: {}, ruleId: 'r' }, asked)).toBe(plain);
  });
});

test('a question that policy obliges to now has its people, its time and what it hides', async () => {
  const tools = hosted(tool('pay')).descriptor;
  const gate = { callId: 'c', args: { eur: 5 }, tool: tools, source: 'host', agentPath: ['bot'], sessionId: 's' };
  const of = async (decision: object, question: object = {}, request: object = {}) => {
    const rules = {
      principal: ann,
      policy: policyOf({ pay: decision as never }),
      validate: () => ({ ok: true, args: {} }),
    };
    return underPolicy(call(request as never), gate, rules as never, { args: { eur: 6 }, ...question });
  };
  const asks = {
    outcome: 'ask',
    approvers: { roles: ['boss'] },
    reason: 'r',
    ruleId: 'id',
    redact: ['/eur'],
    expiresIn: 60,
  };
  const now = await of(asks, { redact: ['/to'] });
  expect(now).toMatchObject({
    kind: 'ask',
    question: { args: { eur: 6 }, approvers: { roles: ['boss'] }, reason: 'r', ruleId: 'id', redact: ['/to', '/eur'] },
  });
  const until = now.kind === 'ask' ? Number(now.question.expiresAt) - Date.now() : 0;
  expect(Math.abs(until - 60_000)).toBeLessThan(20_000);
  expect(await of(asks, { reason: 'own', ruleId: 'own' })).toMatchObject({
    question: { reason: 'own', ruleId: 'own' },
  });
  expect(await of({ outcome: 'allow' })).toStrictEqual({ kind: 'ask', question: { args: { eur: 6 } } });
  expect(await of({ outcome: 'allow', redact: ['/eur'] })).toMatchObject({ question: { redact: ['/eur'] } });
  const put = {
    questions: [{ requestId: 'c#policy', approvers: { quorum: 2 }, expiresAt: new Date(0).toISOString() }],
  };
  // The time of policy's own question is none of this one.
  expect(await of({ outcome: 'allow' }, {}, put)).toStrictEqual({
    ...{ kind: 'ask', question: { args: { eur: 6 }, approvers: { quorum: 2 } } },
  });
  expect(await of({ outcome: 'deny', reason: 'shut', redact: ['/eur'] })).toMatchObject({
    ...{
      kind: 'refuse',
      record: { outcome: 'denied', by: 'policy', reason: 'shut', redact: ['/eur'], requestedBy: 'ann' },
    },
  });
  expect(Object.keys(((await of({ outcome: 'deny' })) as { record: object }).record)).not.toContain('ruleId');
});

describe('calls that a result asks for', () => {
  async function tails(
    result: Partial<ToolResult>,
    tools = [hosted(tool('log', (args) => `noted ${JSON.stringify(args)}`))],
    policy = policyOf({}),
    begins = async (_: readonly TailCallRecord[]) => true,
    main = hosted(tool('main', undefined, { makesTailCalls: true })),
  ) {
    const { judge } = judgeOf(policy);
    const bounded = (_: string, result: ToolResult) => result;
    const frame = { tools: new Map(tools.map((one) => [one.tool.name, one])), judge, bounded };
    const warnings: string[] = [];
    const options = {
      ...{
        deps: 1,
        hooks: undefined,
        hookTimeoutMs: undefined,
        timeoutMs: 0,
        bounded: (_: string, result: ToolResult) => result,
      },
      ...{
        progress: () => {},
        elicit: async () => ({ action: 'cancel' as const }),
        warn: (text: string) => void warnings.push(text),
      },
    };
    const made = { callId: 'c', sessionId: 's', agentPath: ['bot'], hostTool: main, decision: {} };
    const given = { content: [{ type: 'text', text: 'main' }], ...result } as ToolResult;
    const signal = new AbortController().signal;
    const { result: all, decisions } = await runTailCalls(given, {
      ...{ call: made as never, request: call(), frame: frame as never, options, signal, begins },
      offers: (name) => name !== 'hidden',
    });
    const text = all.content.map((part) => (part.type === 'text' ? part.text : '')).join('|');
    return { text, all, decisions };
  }
  const log = (args: object = {}) => ({ name: 'log', args }) as never;

  test('are added to it, with what was decided of each', async () => {
    const { text, all, decisions } = await tails({ tailCalls: [log({ n: 1 }), log()] });
    expect(text).toBe('main|[log]|noted {"n":1}|[log]|noted {}');
    expect([all.isError, 'tailCalls' in all]).toEqual([undefined, false]);
    expect(decisions).toMatchObject([
      { callId: 'c!0', name: 'log', outcome: 'approved', by: 'policy' },
      { callId: 'c!1', name: 'log', outcome: 'approved' },
    ]);
  });

  test('ATK-11 do not run where their tool is not offered, or the author of the first says nothing of them', async () => {
    const runs: string[] = [];
    const tools = ['log', 'hidden'].map((name) => hosted(tool(name, () => void runs.push(name))));
    const hidden = { name: 'hidden', args: {} } as never;
    const { text } = await tails({ tailCalls: [hidden, log()] }, tools);
    expect([runs, text.includes('Tool not found: hidden')]).toEqual([['log'], true]);
    const undeclared = await tails({ tailCalls: [log()] }, tools, policyOf({}), undefined, hosted(tool('main')));
    expect(runs).toEqual(['log']);
    expect(undeclared).toMatchObject({ text: expect.stringMatching(/^main\|\[the calls in this result did not run/) });
    expect(undeclared.decisions).toBeUndefined();
  });

  test('ATK-12 one that runs alone is called by one that does', async () => {
    const alone = { annotations: { exclusive: true } };
    const runs: string[] = [];
    const tools = [hosted(tool('log', () => void runs.push('log'), alone))];
    const { text } = await tails({ tailCalls: [log()] }, tools);
    expect([runs, text]).toEqual([[], expect.stringContaining('denied: log runs alone')]);
    const main = hosted(tool('main', undefined, { ...alone, makesTailCalls: true }));
    await tails({ tailCalls: [log()] }, tools, policyOf({}), undefined, main);
    expect(runs).toEqual(['log']);
  });

  test('ATK-03 begin once the call that asked for them is on record, where they may not run twice', async () => {
    const begun: (string | undefined)[][] = [];
    const runs: string[] = [];
    const tools = [
      hosted(tool('look', () => void runs.push('look'), { annotations: { readOnly: true } })),
      hosted(tool('log', () => void runs.push('log'))),
    ];
    const begins = async (records: readonly TailCallRecord[]) => {
      begun.push(records.map(({ callId }) => callId));
      return runs.length < 2;
    };
    const look = { name: 'look', args: {} } as never;
    const { text } = await tails({ tailCalls: [look, log(), log()] }, tools, policyOf({}), begins);
    expect(runs).toEqual(['look', 'log']);
    expect(begun).toEqual([
      ['c!0', 'c!1'],
      ['c!0', 'c!1', 'c!2'],
    ]);
    expect(text).toContain('interrupted: the call that asked for log was settled elsewhere');
  });

  test('are none where it asks for none', async () => {
    for (const tailCalls of [undefined, []]) {
      const { all, decisions } = await tails(tailCalls ? { tailCalls } : {});
      expect([Object.keys(all), decisions]).toEqual([['content'], undefined]);
    }
  });

  test('that fail make it a failure; one that was one stays so', async () => {
    expect((await tails({ tailCalls: [{ name: 'nobody', args: {} }] as never })).all.isError).toBe(true);
    expect((await tails({ isError: true, tailCalls: [log()] })).all.isError).toBe(true);
    const { text } = await tails({ tailCalls: [{ name: 'bare', args: {} }] as never }, [hosted(tool('bare'))]);
    expect(text).toBe('main|[bare]|Tool not found: bare');
  });

  test('are judged: denied ones say why, and those that would ask are denied', async () => {
    const both = policyOf({ log: { outcome: 'ask', ruleId: 'r', redact: ['/n'] } });
    const asked = await tails({ tailCalls: [log({ n: 1 })] }, undefined, both);
    expect(asked.text).toContain('denied: log needs approval, and a tail call cannot wait for one');
    expect(asked.decisions).toMatchObject([
      { callId: 'c!0', name: 'log', outcome: 'denied', by: 'policy', ruleId: 'r', redact: ['/n'], requestedBy: 'ann' },
    ]);
    const plain = await tails({ tailCalls: [log()] }, undefined, policyOf({ log: 'ask' }));
    expect(Object.keys(plain.decisions?.[0] ?? {})).not.toContain('ruleId');
    expect(Object.keys(plain.decisions?.[0] ?? {})).not.toContain('redact');
    const denied = await tails(
      { tailCalls: [log()] },
      undefined,
      policyOf({ log: { outcome: 'deny', reason: 'shut' } }),
    );
    expect([denied.text, denied.decisions]).toMatchObject([
      expect.stringContaining('shut'),
      [{ callId: 'c!0', name: 'log', outcome: 'denied', by: 'policy', reason: 'shut' }],
    ]);
    const floor = [hosted(tool('log', () => 1, { needsApproval: true }))];
    expect((await tails({ tailCalls: [log()] }, floor)).text).toContain('needs approval');
  });

  test('have arguments that fit; what does not is not quoted', async () => {
    const strict = [
      hosted(tool('log', () => 'x', { inputSchema: { type: 'object', properties: { n: { type: 'boolean' } } } })),
    ];
    const { text, decisions } = await tails({ tailCalls: [log({ n: 'secret' })] }, strict);
    expect(text).toContain('[log]|');
    expect([text.includes('secret'), decisions]).toEqual([false, []]);
  });

  test('may not ask, nor ask for more', async () => {
    const asks = [hosted(tool('log', (_, context) => void context.requestConfirmation({ hint: 'x' })))];
    expect((await tails({ tailCalls: [log()] }, asks)).text).toContain('denied: log asks for confirmation');
    const more = [hosted(tool('log', () => ({ content: [], tailCalls: [{ name: 'log', args: {} }] })))];
    const { all } = await tails({ tailCalls: [log()] }, more);
    expect([all.content.length, 'tailCalls' in all]).toEqual([2, false]);
  });

  test('are sixteen at most', async () => {
    const { text, decisions } = await tails({ tailCalls: Array(17).fill(log()) });
    expect([decisions?.length, text.endsWith('|[log]|at most 16 tail calls run')]).toEqual([16, true]);
  });
});

describe('what a turn is held to', () => {
  test('is what its caller says, in the mode of a host that is stricter than most', () => {
    const { options, news } = beginTurn({ permissionMode: 'plan', streaming: true, principal: bob }, ann, 'dont_ask');
    expect(news).toStrictEqual({ principal: ann, permissionMode: 'plan' });
    expect(options).toStrictEqual({ streaming: true, permissionMode: 'plan' });
    expect(beginTurn({}, ann, 'dont_ask').options).toStrictEqual({ permissionMode: 'dont_ask' });
    expect(beginTurn({}, ann, 'autonomous').options).toStrictEqual({});
  });

  test('is kept by whoever goes on with it, who may tighten it', () => {
    const known = { principal: bob, permissionMode: 'plan' as const, tools: [hosted(tool('a')).descriptor] };
    const goOn = (options: ExecutionOptions, terms: object | undefined = known, isOver = false) =>
      goOnWithTurn({ isOver, ...(terms ? { terms } : {}) } as never, options, ann, 'dont_ask');
    expect(goOn({ streaming: true })).toStrictEqual({
      options: { streaming: true, permissionMode: 'plan', tools: known.tools },
      principal: bob,
      news: undefined,
    });
    const runnable = tool('b');
    const other = goOn({ tools: [runnable] as never });
    expect([other.options.tools?.[0], other.news?.tools?.map(({ name }) => name)]).toEqual([runnable, ['b']]);
    expect(goOn({ model: 'm' }).news).toMatchObject({ model: 'm', principal: bob, permissionMode: 'plan' });
    expect(goOn({ permissionMode: 'default' }).options.permissionMode).toBe('plan');
    // Without a mode of its own, a turn is in its host's.
    const bare = { principal: bob };
    expect(goOn({ permissionMode: 'default' }, bare).news).toBeUndefined();
    expect(goOn({ permissionMode: 'plan' }, bare).news).toEqual({ ...bare, permissionMode: 'plan' });
    expect(goOn({ permissionMode: 'dont_ask' }, bare).news).toEqual({ ...bare, permissionMode: 'dont_ask' });
    expect(goOn({}, {}).news).toEqual({ principal: ann });
    expect(goOn({ limits: { steps: 3 } }, { ...bare, limits: { usd: 1 } }, true).news?.limits).toEqual({
      steps: 3,
      usd: 1,
    });
    expect(goOn({ limits: {} }, bare).news).toBeUndefined();
    expect(goOn({ excludeTools: [] }, bare).news).toBeUndefined();
  });

  test('is what both may, where roles have changed or somebody else claims it', async () => {
    const policy = policyOf({ x: ({ principal }) => ({ outcome: principal?.id === 'eve' ? 'deny' : 'allow' }) });
    expect(forBoth(policy, undefined)).toBe(policy);
    const both = forBoth(policy, { id: 'eve' });
    expect((await both.evaluate({ action: 'x', args: {}, principal: ann } as never)).outcome).toBe('deny');
    const same = { id: 'ann', roles: ['b', 'a'] };
    expect(onBehalfOf({ id: 'ann', roles: ['a', 'b'] }, same, policy)).toEqual({ principal: same, policy });
    expect(onBehalfOf({ id: 'ann' }, { id: 'ann', roles: [] }, policy).policy).toBe(policy);
    expect(onBehalfOf({ id: 'ann' }, { id: 'ann', onBehalfOf: 'x' }, policy).policy).not.toBe(policy);
    expect(onBehalfOf({ id: 'ann', onBehalfOf: 'y' }, { id: 'ann', onBehalfOf: 'x' }, policy).policy).not.toBe(policy);
  });
});

describe('a stream that begins', () => {
  const hi = { kind: 'message', content: 'hi' } as const;
  function beginning({
    depth = 0,
    standing = { isOver: false } as object,
    open = [] as ReportedRequest[],
    hold = undefined as Promise<void> | undefined,
  } = {}) {
    const present = new Map<string, object>();
    const started: [ReturnType<typeof beginTurn>, unknown, unknown][] = [];
    const session = {
      frame: { depth, principal: ann, shared: { present }, options: { permissionMode: undefined } },
      inner: { pending: async () => open },
      standing: async () => {
        await hold;
        return standing;
      },
    };
    const made = new Beginnings(session as never);
    const run = { abort: vi.fn(), ended: Promise.resolve('x') };
    const begin = (inputs: object[], options: object = {}) =>
      made.begin(inputs as never, options as never, (terms, begun) => {
        started.push([terms, begun, (terms.options as Record<symbol, unknown>)[joined]]);
        return run as never;
      });
    return { made, begin, started, present, run };
  }

  test('is on behalf of whoever begins it, with the roles that they have now', async () => {
    const { begin, started, present } = beginning();
    await begin([hi]);
    expect(started[0]?.[0].news?.principal).toEqual(ann);
    present.set('ann', { id: 'ann', roles: ['now'] });
    await begin([hi]);
    expect(started[1]?.[0].news?.principal).toEqual({ id: 'ann', roles: ['now'] });
    await begin([hi], { principal: bob });
    expect([started[2]?.[0].news?.principal, present.get('bob')]).toEqual([bob, bob]);
    const below = beginning({ depth: 1 });
    await below.begin([hi], { principal: bob });
    expect([below.present.size, below.started[0]?.[0].news?.principal]).toEqual([0, bob]);
  });

  test('goes on with a turn, in its terms and its trace, or joins one', async () => {
    const terms = { principal: bob, model: 'm' };
    const standing = { isOver: false, terms, traceContext: { traceparent: 'x' } };
    const goes = beginning({ standing });
    await goes.begin([{ kind: 'continue' }]);
    expect(goes.started).toMatchObject([
      [{ options: { model: 'm' }, news: undefined }, { traceparent: 'x' }, undefined],
    ]);
    const answered = call({ answers: [{ requestId: 'c#policy' }] } as never);
    const joins = beginning({ standing, open: [answered] });
    await joins.begin([hi, { kind: 'tool_approval', requestId: 'c' }], { principal: bob });
    expect(joins.started).toMatchObject([[{ options: { model: 'm' } }, { traceparent: 'x' }, ['c']]]);
    const alone = beginning({ standing });
    await alone.begin([hi, { kind: 'tool_approval', requestId: 'c' }]);
    expect(alone.started).toMatchObject([[{ news: { principal: ann } }, undefined, undefined]]);
  });

  test('is ended as soon as it has begun, where somebody wants that before', async () => {
    const gate = door();
    const { made, begin, run } = beginning({ hold: gate.opened });
    const begun = begin([{ kind: 'continue' }]);
    await settle();
    const reason = new Error('enough') as never;
    const ended = abortBeginnings([{ beginnings: made } as never], reason);
    const twice = made.abort(new Error('later') as never);
    gate.open(undefined);
    expect([await begun, await ended, await Promise.all(twice)]).toEqual([run, true, [run]]);
    expect(run.abort.mock.calls).toEqual([[reason]]);
    expect([made.abort(reason), await abortBeginnings([{ beginnings: made } as never], reason)]).toEqual([[], false]);
    const failing = beginning({ hold: Promise.reject(new Error('away')) });
    const refusedOne = failing.begin([{ kind: 'continue' }]);
    const waits = failing.made.abort(reason);
    await expect(refusedOne).rejects.toThrow('away');
    expect(await Promise.all(waits)).toEqual([undefined]);
    expect(failing.made.abort(reason)).toEqual([]);
  });
});

test('a bell wakes whoever waits, or whoever waits next', async () => {
  const bell = new Bell();
  bell.ring();
  expect(bell.isRung).toBe(true);
  await bell.rung();
  expect(bell.isRung).toBe(false);
  let isAwake = false;
  const waits = bell.rung().then(() => {
    isAwake = true;
  });
  await settle();
  expect(isAwake).toBe(false);
  bell.ring();
  await waits;
  expect(bell.isRung).toBe(false);
});

describe('what an inner stream waits for while it goes on', () => {
  function beside(
    open: ReportedRequest[],
    given: { answers?: object[]; respond?: () => Promise<unknown>; step?: object } = {},
  ) {
    const told: unknown[][] = [];
    const sent: unknown[] = [];
    const aborted: unknown[] = [];
    let tell: (needs: string) => void = () => {};
    const bell = new Bell();
    const answers = [...(given.answers ?? [])];
    const deaf = vi.fn();
    const calls = {
      begin: vi.fn(),
      retain: () => {},
      judged: () => {},
      isBusy: () => false,
      signalOf: () => new AbortController().signal,
      takeAnswers: () => answers.splice(0),
      dropClosed: vi.fn(),
      stored: vi.fn(),
      start: vi.fn(),
    };
    const made = fakeRun({
      inner: {
        pending: async () => open,
        [stirs]: (listener: typeof tell) => {
          tell = listener;
          return deaf;
        },
        respond: async (...said: unknown[]) => {
          told.push(said);
          return given.respond ? given.respond() : { status: 'settled' };
        },
      },
      frame: {
        toolOf: () => undefined,
        bounded: async (_: string, result: object) => result,
        judge: { retain: () => {}, settled: () => {}, step: async () => given.step ?? { kind: 'leave' } },
      },
      run: {
        calls: Object.assign(calls, { settles: () => {} }),
        wake: () => bell.ring(),
        woken: () => bell.rung(),
        abort: (reason: unknown) => void aborted.push(reason),
      },
    });
    const one = BesideInner.of(made.run as never, (batch) => void sent.push(batch));
    return { ...made, one, told, sent, aborted, calls, deaf, tell: (needs: string) => tell(needs) };
  }

  test('is told as answers, each by itself', async () => {
    const result = { kind: 'tool_result', requestId: 'c', result: { content: [] } };
    const decision = { outcome: 'approved', by: 'policy' };
    const approval = { kind: 'tool_approval', requestId: 'd', args: { eur: 6 }, decision };
    const bare = { kind: 'tool_approval', requestId: 'e' };
    const { one, told, sent, calls, tell, deaf } = beside([], {
      answers: [{ ...result, decision }, result, approval, bare, { kind: 'continue' }],
    });
    const batch = [{ kind: 'continue' } as const];
    one?.begins(batch);
    expect([one?.isAtWork, one?.goesOn]).toEqual([false, false]);
    tell('answers');
    await settle();
    await settle();
    expect([one?.isAtWork, sent]).toEqual([true, [batch]]);
    expect(told).toStrictEqual([
      ['c', { kind: 'result', result: { content: [] }, decision }],
      ['c', { kind: 'result', result: { content: [] } }],
      ['d', { kind: 'approve', starts: true, args: { eur: 6 }, decision }],
      ['e', { kind: 'approve', starts: true }],
    ]);
    expect(calls.stored.mock.calls).toEqual([['c'], ['c']]);
    tell('answers');
    await settle();
    expect(sent).toHaveLength(1);
    await one?.ended();
    expect([one?.isAtWork, calls.dropClosed.mock.calls.length]).toEqual([false, 1]);
    one?.over();
    expect(deaf).toHaveBeenCalledTimes(1);
  });

  test('may be closed by others; another fault ends the run', async () => {
    const closed = new Error('closed');
    const answers = [{ kind: 'tool_result', requestId: 'c', result: { content: [] } }];
    const faster = beside([], {
      answers,
      respond: () => Promise.reject(new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', 'closed')),
    });
    faster.one?.begins([]);
    faster.tell('answers');
    await settle();
    await settle();
    expect([faster.aborted, faster.calls.stored.mock.calls]).toEqual([[], [['c']]]);
    await faster.one?.ended();
    const lost = beside([], { answers, respond: () => Promise.reject(closed) });
    lost.one?.begins([]);
    lost.tell('answers');
    await settle();
    await settle();
    expect(lost.aborted).toMatchObject([{ code: 'E_ABORTED', message: 'closed' }]);
    await expect(lost.one?.ended()).rejects.toBe(closed);
  });

  test('is not looked for where it has more to say, or is over', async () => {
    const { one, sent, tell, abort } = beside([]);
    one?.begins([]);
    tell('stream');
    expect([one?.goesOn, one?.isAtWork, sent]).toEqual([true, false, []]);
    one?.begins([]);
    expect(one?.goesOn).toBe(false);
    abort();
    tell('stream');
    tell('answers');
    expect([one?.goesOn, one?.isAtWork]).toEqual([false, false]);
    expect(BesideInner.of(fakeRun().run as never, () => {})).toBeUndefined();
  });
});

describe('an agent as a tool', () => {
  const descriptor = { name: 'expert', description: 'knows', executor: 'x', capabilities: [] };
  const source = { descriptor, open: async (...given: unknown[]) => given } as unknown as AgentSource;

  test('is described as its agent, unless somebody says otherwise', async () => {
    const made = subagentTool(source);
    expect(made).toMatchObject({
      ...{ name: 'expert', description: 'knows', kind: 'other' },
      inputSchema: { type: 'object', properties: { request: { type: 'string' } }, required: ['request'] },
    });
    expect([Object.keys(made).includes('annotations'), Object.keys(made).includes('needsApproval')]).toEqual([
      false,
      false,
    ]);
    expect(subagentOf(made)).toMatchObject({ descriptor, maxDepth: DEFAULT_SUBAGENT_DEPTH });
    expect([subagentOf(tool('x')), subagentOf(undefined)]).toEqual([undefined, undefined]);
    const own = { type: 'object', properties: {} };
    expect(subagentTool({ ...source, descriptor: { ...descriptor, inputSchema: own } } as never).inputSchema).toBe(own);
    const options = {
      name: 'n',
      description: 'd',
      inputSchema: own,
      annotations: { readOnly: true },
      needsApproval: false,
      maxDepth: 2,
    };
    const { maxDepth, ...shown } = options;
    expect(subagentTool(source, options)).toMatchObject(shown);
    expect(subagentOf(subagentTool(source, options))?.maxDepth).toBe(maxDepth);
    const composed = { ...descriptor, composition: { maxDepth: 3 } };
    expect(subagentOf(subagentTool({ ...source, descriptor: composed } as never))?.maxDepth).toBe(3);
    expect(await refusal(made.execute?.({}, {} as never) as Promise<unknown>)).toMatchObject({
      ...{ code: 'E_UNSUPPORTED', message: expect.stringContaining('sub-agent expert runs under a host only') },
    });
  });

  test('is opened by its source, or by the factory that runs it', async () => {
    expect(await subagentOf(subagentTool(source))?.open({ sessionId: 's' }, { app: 'a' } as never)).toEqual([
      ...[{ sessionId: 's' }, { app: 'a' }],
    ]);
    const factory = { create: async (...given: unknown[]) => given };
    const made = subagentTool(descriptor as never, factory as never, { name: 'n' });
    expect(made.name).toBe('n');
    expect(await subagentOf(made)?.open({ sessionId: 's' }, { app: 'a' } as never)).toEqual([
      ...[descriptor, { app: 'a', session: { sessionId: 's' } }],
    ]);
    for (const wrong of [
      () => subagentTool(5 as never),
      () => subagentTool({ descriptor } as never),
      () => subagentTool(descriptor as never, {} as never),
      () => subagentTool({ name: '' } as never, factory as never),
      () => subagentTool(source, { depth: 1 } as never),
      () => subagentTool(descriptor as never, factory as never, { depth: 1 } as never),
    ]) {
      expect(wrong).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    }
  });

  test('is found by what executor it has', async () => {
    const factory = createSessionFactory();
    const creator = vi.fn(async () => 'session' as never);
    expect(await refusal(factory.create(descriptor as never, {} as never))).toMatchObject({
      ...{ code: 'E_NO_EXECUTOR', message: 'nothing here runs executor "x" of agent expert; known: none' },
    });
    factory.register('x', creator);
    factory.register('y', creator);
    expect([factory.has('x'), factory.has('z')]).toEqual([true, false]);
    expect(await factory.create(descriptor as never, { app: 'a' } as never)).toBe('session');
    expect(creator.mock.calls).toEqual([[descriptor, { app: 'a' }]]);
    expect((await refusal(factory.create({ ...descriptor, executor: 'z' } as never, {} as never))).message).toContain(
      'known: x, y',
    );
    for (const wrong of [{ name: 'a' }, { executor: 'x' }, null]) {
      expect((await refusal(factory.create(wrong as never, {} as never))).code).toBe('E_BAD_INPUT');
    }
    expect(() => factory.register('', creator)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    expect(() => factory.register('x', 5 as never)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  });
});

describe('sub-agents of one session', () => {
  const child = (
    id: string,
    { open = [] as string[], below = [] as string[], history = [] as string[], threads = [] as string[] } = {},
  ) =>
    ({
      id,
      inner: {
        threadId: `/${id}`,
        pending: async () => open.map((callId) => ({ callId })),
        holds: (thread: string) => threads.includes(thread),
      },
      async *events() {
        for (const requestId of history) yield { type: 'tool_request', requestId };
        yield { type: 'tool_response', requestId: 'response' };
      },
      subagents: {
        find: async ({ requestId }: { requestId: string }) => (below.includes(requestId) ? {} : undefined),
      },
    }) as never;
  const of = async function* (...children: never[]) {
    yield* children as { id: string }[];
  } as never as (...children: unknown[]) => never;

  test('are told apart by what is open in them, or below them, or was', async () => {
    const a = child('a', { history: ['old'], open: ['x'] });
    const b = child('b', { open: ['c'], history: ['old', 'older'] });
    const c = child('c', { below: ['q#policy'], threads: ['/c.left'] });
    const owner = async (id: string) => (await holderAmong(of(a, b, c), { requestId: id }))?.id;
    expect(await Promise.all(['c#policy', 'q#policy', 'old#rerun', 'older', 'response', 'none'].map(owner))).toEqual([
      ...['b', 'c', 'a', 'b', undefined, undefined],
    ]);
    const holder = async (target: object) => (await holderAmong(of(a, b, c), target))?.id;
    expect([
      await holder({ threadId: '/c.left' }),
      await holder({ threadId: '/c' }),
      await holder({ requestId: 'c' }),
    ]).toEqual(['c', 'c', 'b']);
    expect(await holder({})).toBeUndefined();
    const steered = async (thread: string) => (await holderAmong(of(a, b, c), { threadId: thread }))?.id;
    expect([await steered('/b'), await steered('/c.left'), await steered('/x')]).toEqual(['b', 'c', undefined]);
  });
});

test('words that are added to a turn pass the hook like those that begin one', async () => {
  const session = (said: unknown) => ({
    ...{ id: 's', descriptor: { name: 'bot' } },
    frame: {
      principal: ann,
      options: { hooks: { supportedHookPoints: () => ['on_user_message'], fire: async () => said } },
    },
  });
  const data = { content: 'hi', threadId: 't' };
  expect(await passSteer(session(undefined) as never, data)).toEqual(data);
  const other = { action: 'proceed', modifications: { replacement: 'bye' } };
  expect(await passSteer(session(other) as never, data)).toEqual({ content: 'bye', threadId: 't' });
  await expect(passSteer(session({ action: 'block', reason: 'no' }) as never, data)).rejects.toMatchObject({
    ...{ code: 'E_HOOK_BLOCKED', message: 'no' },
  });
});

test('an operation ends as what it was: with its error, or what was thrown', async () => {
  const ended: unknown[][] = [];
  const operation = { end: (...said: unknown[]) => void ended.push(said) } as never;
  const result = (more: object) => ({ kind: 'result', interim: false, result: { content: [], ...more } }) as never;
  await measured(operation, Promise.resolve(result({})));
  await measured(operation, Promise.resolve(result({ isError: true, errorType: 'timeout' })));
  await measured(operation, Promise.resolve(result({ isError: true })));
  await measured(operation, Promise.resolve({ kind: 'suspended' }));
  const lost = new Error('lost');
  await expect(measured(operation, Promise.reject(lost))).rejects.toBe(lost);
  expect(ended).toEqual([
    [undefined, { 'coxswain.outcome': 'result' }],
    ['timeout', { 'coxswain.outcome': 'result' }],
    ['failed', { 'coxswain.outcome': 'result' }],
    [undefined, { 'coxswain.outcome': 'suspended' }],
    [lost],
  ]);
});
