import { describe, expect, test } from 'vitest';
import type {
  AnyTool,
  ApprovalQuestion,
  DecisionRecord,
  PolicyDecision,
  ReportedRequest,
} from '../../src/contracts/index.ts';
import type { Step } from '../../src/host/questions/step.ts';
import { brief, call, hosted, judgeOf } from './judge-kit.ts';
import { policyOf, tool } from './kit.ts';

const pay = (more: object = {}) => hosted(tool('pay', () => 'paid', more));
const asks = (more: Partial<PolicyDecision> = {}) => policyOf({ pay: { outcome: 'ask', ...more } });
const signal = undefined;

/** The record of a step that settles a call. */
function recordOf(step: Step): DecisionRecord | undefined {
  return step.kind === 'settle' ? step.decision : undefined;
}

/** The question of a step that asks. */
function asked(step: Step): ApprovalQuestion {
  if (step.kind !== 'ask') throw new Error(`it does not ask: ${brief(step)}`);
  return step.question;
}

describe('a call that nothing was said about', () => {
  test('runs where policy lets it, on behalf of whose turn it is', async () => {
    const policy = policyOf({ pay: { outcome: 'allow', ruleId: 'r1' } });
    const { judge } = judgeOf(policy, { on: { permissionMode: 'default' } });
    const step = await judge.step(call(), pay(), signal);
    expect(step).toMatchObject({ kind: 'run', rerun: false });
    expect(step.kind === 'run' && step.decision.record).toMatchObject({
      outcome: 'approved',
      by: 'policy',
      ruleId: 'r1',
      requestedBy: 'ann',
      asked: { source: 'host', agentPath: ['bot'], interactive: true, permissionMode: 'default' },
    });
    expect(policy.asked).toMatchObject([
      {
        action: 'pay',
        args: { eur: 5 },
        principal: { id: 'ann' },
        context: { session: { id: 's' }, agentPath: ['bot'], resource: { id: 'pay', source: 'host' } },
      },
    ]);
  });

  test('is left to whoever drives the session where nobody here has its handler', async () => {
    const { judge } = judgeOf(policyOf({}));
    const step = await judge.step(call(), hosted(tool('pay')), signal);
    expect(brief(step)).toBe('leave approved');
    expect(brief(await judge.step(call(), undefined, signal))).toBe('leave approved');
    expect(brief(await judge.step(call({ handledBy: 'agent' }), undefined, signal))).toBe('run');
  });

  test('does not run where policy says no, with its reason', async () => {
    const { judge } = judgeOf(
      policyOf({ pay: { outcome: 'deny', reason: 'too much', ruleId: 'r2', redact: ['/eur'] } }),
    );
    const step = await judge.step(call(), pay(), signal);
    expect(brief(step)).toContain('settle denied');
    expect(brief(step)).toContain('too much');
    expect(recordOf(step)).toMatchObject({
      ...{ outcome: 'denied', by: 'policy', reason: 'too much', ruleId: 'r2', redact: ['/eur'], requestedBy: 'ann' },
    });
  });

  test('whose arguments do not fit is settled by the gate; policy says what of them is hidden', async () => {
    const strict = { inputSchema: { type: 'object', properties: { eur: { type: 'string' } } } };
    const policy = policyOf({ pay: { outcome: 'ask', redact: ['/eur'] } });
    const { judge } = judgeOf(policy, {
      hooks: { supportedHookPoints: () => ['before_tool'], fire: () => Promise.reject(new Error('not to be asked')) },
    });
    const step = await judge.step(call({ args: { eur: [] } }), pay(strict), signal);
    expect(brief(step)).toMatch(/^settle invalid_args .*eur/);
    expect(recordOf(step)).toMatchObject({
      outcome: 'denied',
      by: 'gate',
      reason: expect.stringContaining('eur'),
      redact: ['/eur'],
      requestedBy: 'ann',
    });
  });

  test('runs, and is judged, as its schema takes its arguments', async () => {
    const typed = { inputSchema: { type: 'object', properties: { eur: { type: 'number' } } } };
    const policy = policyOf({});
    const step = await judgeOf(policy).judge.step(call({ args: { eur: '5' } }), pay(typed), signal);
    expect(step.kind === 'run' && step.decision.args).toEqual({ eur: 5 });
    expect(step.kind === 'run' && step.decision.record.args).toEqual({ eur: 5 });
    expect(policy.asked.map(({ args }) => args)).toEqual([{ eur: 5 }]);
  });

  test('is the agent’s own question: it is asked as it is', async () => {
    const request = call({ kind: 'elicitation' });
    expect(await judgeOf(policyOf({ pay: 'deny' })).judge.step(request, pay(), signal)).toEqual({
      kind: 'elicit',
      request,
    });
  });

  test('of the agent’s own tool is judged as one of that agent', async () => {
    const policy = policyOf({});
    const { judge } = judgeOf(policy);
    const own = { kind: 'shell', annotations: { readOnly: true } };
    const request = call({ handledBy: 'agent', agentPath: ['bot', 'below'], context: { tool: own } });
    await judge.step(request, undefined, signal);
    await judge.step({ ...request, agentPath: [] }, undefined, signal);
    await judge.step({ requestId: 'x', kind: 'tool', handledBy: 'agent', agentPath: [] } as never, undefined, signal);
    const resources = policy.asked.map(({ context }) => context?.resource as Record<string, unknown>);
    expect(resources.map(({ source, id, kind, annotations }) => [source, id, kind, annotations])).toEqual([
      ['agent:below', 'pay', 'shell', { readOnly: true }],
      ['agent:', 'pay', 'shell', { readOnly: true }],
      ['agent:', '', undefined, undefined],
    ]);
    expect(policy.asked[2]?.args).toEqual({});
    expect(new Set(resources.map(({ digest }) => digest)).size).toBe(3);
  });
});

describe('a question', () => {
  const question = asks({
    reason: 'much',
    hint: 'Pay it?',
    ruleId: 'r3',
    approvers: { roles: ['boss'] },
    redact: ['/eur'],
    expiresIn: 60,
  });

  test('says what would run, why, who decides and until when', async () => {
    const { judge } = judgeOf(question, { on: { principal: { id: 'ann', roles: ['staff'] } } });
    const preview = () => [{ type: 'text' as const, text: '5 EUR' }];
    const request = call({ decision: undefined as never, context: { shown: 1 }, message: undefined as never });
    const shown = asked(await judge.step(request, pay({ displayName: 'Pay', preview }), signal));
    expect(shown).toMatchObject({
      requestId: 'c#policy',
      callId: 'c',
      kind: 'elicitation',
      elicitation: 'tool_confirmation',
      args: { eur: 5 },
      message: 'Pay it?',
      expiresAt: new Date(Date.parse(request.requestedAt) + 60_000).toISOString(),
      approval: {
        title: 'Run Pay?',
        preview: [{ type: 'text', text: '5 EUR' }],
        previewDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        requestedBy: { id: 'ann', roles: ['staff'] },
        remember: [],
        reason: 'much',
        ruleId: 'r3',
        approvers: { roles: ['boss'] },
        redact: ['/eur'],
      },
    });
    expect(shown.context).toEqual({ shown: 1 });
  });

  test('says no more than there is to say', async () => {
    const { judge } = judgeOf(asks());
    const put = call({ questions: [{ requestId: 'c#policy' }], answers: [] });
    const shown = asked(await judge.step(put, pay(), signal));
    expect(shown.message).toBe('Run pay?');
    expect(Object.keys(shown)).not.toContain('expiresAt');
    expect(Object.keys(shown)).not.toContain('questions');
    expect(Object.keys(shown)).not.toContain('context');
    expect(Object.keys(shown.approval).sort()).toEqual([
      ...['preview', 'previewDigest', 'remember', 'requestedBy', 'title'],
    ]);
    const why = asked(await judgeOf(asks({ reason: 'much' })).judge.step(call(), pay(), signal));
    expect(why.message).toBe('Run pay? (much)');
  });

  test('of an author who wants one is asked though policy lets the call run', async () => {
    const { judge } = judgeOf(policyOf({}));
    const hostTool = pay({ needsApproval: true });
    expect(brief(await judge.step(call(), hostTool, signal))).toBe('ask c#policy');
    // Announced with the call, by whoever runs the tool.
    const announced = call({ handledBy: 'agent', message: 'may I?' });
    expect(brief(await judge.step(announced, undefined, signal))).toBe('ask c#policy');
    expect(brief(await judge.step(call({ handledBy: 'agent' }), undefined, signal))).toBe('run');
  });

  test('of a hook of the agent’s counts as far as it is well-formed', async () => {
    const { judge } = judgeOf(policyOf({}));
    const of = async (hookAsked: unknown) => {
      const step = await judge.step(call({ context: { asked: hookAsked } }), pay(), signal);
      if (step.kind !== 'ask') return brief(step);
      const { message, context, expiresAt } = step.question;
      return [message, context?.payload, expiresAt !== undefined];
    };
    expect(await of({ hint: 'sure?', payload: { a: 1 }, expiresIn: 5 })).toEqual(['sure?', { a: 1 }, true]);
    expect(await of({})).toEqual(['Run pay?', undefined, false]);
    expect(await of({ hint: 5, expiresIn: 0 })).toEqual(['Run pay?', undefined, false]);
    expect(await of({ expiresIn: -1 })).toEqual(['Run pay?', undefined, false]);
    expect(await of({ expiresIn: 1e15 })).toEqual(['Run pay?', undefined, false]);
    expect(await of({ expiresIn: '5' })).toEqual(['Run pay?', undefined, false]);
    expect(await of(null)).toBe('run');
    expect(await of('sure?')).toBe('run');
  });

  test('is a no where nobody can be asked, under the rule that asks', async () => {
    const step = await judgeOf(question, { on: { interactive: false } }).judge.step(call(), pay(), signal);
    expect(brief(step)).toBe('settle denied denied: nobody can be asked here');
    expect(recordOf(step)).toMatchObject({
      outcome: 'denied',
      by: 'host',
      reason: 'nobody can be asked here',
      ruleId: 'r3',
      redact: ['/eur'],
      requestedBy: 'ann',
      asked: { interactive: false },
    });
  });

  test('is a no once its time is over', async () => {
    const { judge } = judgeOf(question);
    const late = call({ requestedAt: new Date(Date.now() - 60_000).toISOString() });
    expect(brief(await judge.step(late, pay(), signal))).toBe('settle denied denied: nobody answered in time');
    expect(recordOf(await judge.step(late, pay(), signal))).toMatchObject({ by: 'expiry', ruleId: 'r3' });
    const put = call({ questions: [{ requestId: 'c#policy', expiresAt: new Date(Date.now() - 1).toISOString() }] });
    expect(recordOf(await judge.step(put, pay(), signal))?.by).toBe('expiry');
    // The time that it was put with is over sooner than policy's own.
    const sooner = new Date(Date.now() + 5000).toISOString();
    const both = call({ questions: [{ requestId: 'c#policy', expiresAt: sooner }] });
    expect(asked(await judge.step(both, pay(), signal)).expiresAt).toBe(sooner);
  });

  test('that was put is not taken back by a policy that would not put it now', async () => {
    const put = (more: object = {}) =>
      call({ questions: [{ requestId: 'c#policy', reason: 'then', approvers: { roles: ['boss'] }, ...more }] });
    const now = await judgeOf(policyOf({})).judge.step(put(), pay(), signal);
    expect(asked(now)).toMatchObject({ message: 'Run pay? (then)', approval: { approvers: { roles: ['boss'] } } });
    const remembered = policyOf({ pay: { outcome: 'allow', ruleId: 'remembered:pay@host' } });
    const { judge } = judgeOf(remembered);
    expect(brief(await judge.step(put(), pay(), signal))).toBe('ask c#policy');
    const forAnybody = call({ questions: [{ requestId: 'c#policy' }] });
    expect(brief(await judge.step(forAnybody, pay(), signal))).toBe('run');
    const otherRule = policyOf({ pay: { outcome: 'allow', ruleId: 'x-remembered:pay' } });
    expect(brief(await judgeOf(otherRule).judge.step(forAnybody, pay(), signal))).toBe('ask c#policy');
    // What its handler asked is none of policy's.
    const handlers = call({ questions: [{ requestId: 'c#asked' }] });
    expect(brief(await judgeOf(policyOf({})).judge.step(handlers, pay(), signal))).toBe('run');
  });

  test('goes to those whom the host names where policy names nobody', async () => {
    const more = { approvers: { roles: ['owner'] } };
    expect(asked(await judgeOf(asks(), more).judge.step(call(), pay(), signal)).approval.approvers).toEqual(
      more.approvers,
    );
    expect(asked(await judgeOf(question, more).judge.step(call(), pay(), signal)).approval.approvers).toEqual({
      roles: ['boss'],
    });
  });
});

describe('an answer', () => {
  const digestOf = async (policy: ReturnType<typeof asks>, hostTool = pay()) =>
    asked(await judgeOf(policy).judge.step(call(), hostTool, signal)).approval.previewDigest;
  const answer = (more: object) => ({ requestId: 'c#policy', action: 'accept', by: { id: 'bob' }, ...more });
  const judged = (policy: ReturnType<typeof asks>, answers: object[], more: Partial<ReportedRequest> = {}, of = {}) =>
    judgeOf(policy, of).judge.step(call({ answers: answers as ReportedRequest['answers'], ...more }), pay(), signal);

  test('that is a yes lets the call run, as whoever gave it said', async () => {
    const policy = asks({ ruleId: 'r4', redact: ['/eur'] });
    const digest = await digestOf(policy);
    const step = await judged(policy, [answer({ digest, reason: 'fine' })]);
    expect(step).toMatchObject({ kind: 'run', rerun: false });
    expect(step.kind === 'run' && step.decision.record).toMatchObject({
      ...{ outcome: 'approved', by: 'user:bob', reason: 'fine', ruleId: 'r4', redact: ['/eur'], requestedBy: 'ann' },
    });
    expect(step.kind === 'run' && 'confirmation' in step).toBe(false);
    const nobody = await judged(policy, [answer({ digest, by: undefined })]);
    expect(nobody.kind === 'run' && nobody.decision.record.by).toBe('user:unknown');
  });

  test('to what was shown otherwise is asked again', async () => {
    const policy = asks();
    expect(brief(await judged(policy, [answer({ digest: 'other' })]))).toBe('ask c#policy.1');
    const digest = await digestOf(policy);
    const second = answer({ requestId: 'c#policy.1', digest });
    expect(brief(await judged(policy, [answer({ digest: 'other' }), second]))).toBe('run');
    expect(brief(await judged(policy, [answer({ requestId: 'c#asked', digest })]))).toBe('ask c#policy');
  });

  test('to policy’s question holds over the runs of the call', async () => {
    const policy = asks();
    expect(brief(await judged(policy, [answer({ digest: await digestOf(policy), spent: true })]))).toBe('run');
  });

  test('that is one vote of several leaves the question as it is', async () => {
    const policy = asks({ approvers: { quorum: 2 } });
    const digest = await digestOf(policy);
    const vote = (id: string, more: object = {}) => answer({ digest, by: { id }, ...more });
    expect(brief(await judged(policy, [vote('bob', { quorum: 2 })]))).toBe('ask c#policy');
    // One that was enough when it was given, and is not any more.
    expect(brief(await judged(policy, [vote('bob')]))).toBe('ask c#policy.1');
    expect(brief(await judged(policy, [vote('bob', { quorum: 2 }), vote('eve')]))).toBe('run');
  });

  test('that is a no does not let it run, and says why', async () => {
    const policy = asks({ ruleId: 'r5' });
    const no = await judged(policy, [answer({ action: 'decline', reason: 'not now' })]);
    expect(brief(no)).toBe('settle denied denied: not now');
    expect(recordOf(no)).toMatchObject({ outcome: 'denied', by: 'user:bob', reason: 'not now', ruleId: 'r5' });
    const bare = await judged(policy, [answer({ action: 'decline' })]);
    expect([brief(bare), recordOf(bare)?.reason]).toEqual(['settle denied denied', 'denied']);
    const cancel = await judged(policy, [answer({ action: 'cancel' })]);
    expect(brief(cancel)).toBe('settle cancelled cancelled: it never ran');
    expect(recordOf(cancel)).toMatchObject({ outcome: 'denied', by: 'user:bob', reason: 'cancelled', ruleId: 'r5' });
  });

  test('with other arguments runs with them, unless others must decide on those', async () => {
    const policy = policyOf({
      pay: ({ args }) =>
        Number(args?.eur) > 100
          ? { outcome: 'ask', approvers: { roles: ['boss'] }, reason: 'much', ruleId: 'r6', redact: ['/eur'] }
          : { outcome: 'ask', redact: ['/to'] },
    });
    const digest = await digestOf(policy);
    const small = await judged(policy, [answer({ digest, args: { eur: 6 } })]);
    expect(small.kind === 'run' && small.decision.record).toMatchObject({ args: { eur: 6 }, by: 'user:bob' });
    const large = await judged(policy, [answer({ digest, args: { eur: 500 } })]);
    expect(asked(large)).toMatchObject({
      requestId: 'c#policy.1',
      args: { eur: 500 },
      message: 'Run pay? (much)',
      approval: { approvers: { roles: ['boss'] }, ruleId: 'r6', redact: ['/to', '/eur'] },
    });
    expect(asked(large).approval.previewDigest).not.toBe(digest);
    const byBoss = await judged(policy, [answer({ digest, args: { eur: 500 }, by: { id: 'cfo', roles: ['boss'] } })]);
    expect(byBoss.kind === 'run' && byBoss.decision.args).toEqual({ eur: 500 });
    const then = answer({
      requestId: 'c#policy.1',
      digest: asked(large).approval.previewDigest,
      by: { id: 'cfo', roles: ['boss'] },
    });
    const both = await judged(policy, [answer({ digest, args: { eur: 500 } }), then]);
    expect(both.kind === 'run' && both.decision.record).toMatchObject({ args: { eur: 500 }, by: 'user:cfo' });
  });

  test('with arguments that others must agree on is no yes of two', async () => {
    const two = policyOf({
      pay: ({ args }) => (Number(args?.eur) > 100 ? { outcome: 'ask', approvers: { quorum: 2 } } : { outcome: 'ask' }),
    });
    const digest = await digestOf(two);
    expect(brief(await judged(two, [answer({ digest, args: { eur: 500 } })]))).toBe('ask c#policy.1');
  });

  test('is held to what policy says when the call would run', async () => {
    let isClosed = false;
    const policy = policyOf({ pay: () => (isClosed ? { outcome: 'deny', reason: 'shut' } : { outcome: 'ask' }) });
    const digest = await digestOf(policy);
    isClosed = true;
    const step = await judged(policy, [answer({ digest })]);
    expect(brief(step)).toContain('shut');
    expect(recordOf(step)).toMatchObject({ outcome: 'denied', by: 'policy', reason: 'shut' });
  });
});

describe('a yes that is in the log', () => {
  const decided = (more: object = {}, of: Partial<ReportedRequest> = {}) =>
    call({ decision: { outcome: 'approved', by: 'policy', ...more } as DecisionRecord, ...of });

  test('lets the call run, with the arguments that it says', async () => {
    const { judge } = judgeOf(policyOf({}));
    const step = await judge.step(decided({ by: 'user:bob', args: { eur: 6 } }), pay(), signal);
    expect(step).toMatchObject({ kind: 'run', rerun: false });
    expect(step.kind === 'run' && step.decision.record).toMatchObject({ by: 'user:bob', args: { eur: 6 } });
  });

  test('is asked about again where policy wants others since', async () => {
    const policy = asks({
      approvers: { roles: ['boss'] },
      reason: 'since',
      ruleId: 'r7',
      expiresIn: 60,
      redact: ['/eur'],
    });
    const step = await judgeOf(policy).judge.step(decided(), pay(), signal);
    expect(asked(step)).toMatchObject({
      requestId: 'c#policy',
      approval: { approvers: { roles: ['boss'] }, reason: 'since', ruleId: 'r7', redact: ['/eur'] },
    });
    const until = Date.parse(asked(step).expiresAt ?? '');
    expect(Math.abs(until - Date.now() - 60_000)).toBeLessThan(30_000);
    // Where policy names nobody, a person's yes is enough, and policy's own is none.
    expect(brief(await judgeOf(asks()).judge.step(decided({ by: 'user:bob' }), pay(), signal))).toBe('run');
    expect(brief(await judgeOf(asks()).judge.step(decided(), pay(), signal))).toBe('ask c#policy');
    const boss = { requestId: 'c#policy', action: 'accept', digest: 'd', by: { id: 'bob', roles: ['boss'] } };
    const ofBoss = decided({ by: 'user:bob' }, { answers: [boss] as ReportedRequest['answers'] });
    expect(brief(await judgeOf(policy).judge.step(ofBoss, pay(), signal))).toBe('run');
    const noDigest = decided({ by: 'user:bob' }, { answers: [{ ...boss, digest: undefined }] as never });
    expect(brief(await judgeOf(policy).judge.step(noDigest, pay(), signal))).toMatch(/^ask/);
    const ofAnother = decided({ by: 'user:eve' }, { answers: [boss] as ReportedRequest['answers'] });
    expect(brief(await judgeOf(policy).judge.step(ofAnother, pay(), signal))).toMatch(/^ask/);
  });

  test('does not hold against a policy that says no since', async () => {
    const { judge } = judgeOf(policyOf({ pay: { outcome: 'deny', reason: 'shut' } }));
    expect(recordOf(await judge.step(decided(), pay(), signal))).toMatchObject({ by: 'policy', reason: 'shut' });
  });

  test('is left alone where nobody here has the handler', async () => {
    expect(brief(await judgeOf(policyOf({})).judge.step(decided(), hosted(tool('pay')), signal))).toBe('leave');
  });
});

describe('a call that was started', () => {
  const started = (more: Partial<ReportedRequest> = {}) =>
    call({ started: true, decision: { outcome: 'approved', by: 'user:bob' } as DecisionRecord, ...more });
  const undecided = () => call({ started: true });
  const judged = async (
    request: ReportedRequest,
    hostTool = pay(),
    { policy = policyOf({}), ...more }: Parameters<typeof judgeOf>[1] & { policy?: ReturnType<typeof policyOf> } = {},
  ) => judgeOf(policy, more).judge.step(request, hostTool, signal);
  const knows = (onUnknownOutcome: AnyTool['onUnknownOutcome']) => pay({ onUnknownOutcome });

  test('is left to whoever runs it now', async () => {
    expect(brief(await judged(started({ running: true }), pay(), { holds: () => false }))).toBe('leave');
    expect(brief(await judged(started({ running: true })))).toBe('ask c#rerun');
    expect(brief(await judged(started(), pay(), { holds: () => false }))).toBe('ask c#rerun');
  });

  test('is asked about: whether it runs again', async () => {
    const shown = asked(await judged(started()));
    expect(shown).toMatchObject({
      requestId: 'c#rerun',
      kind: 'rerun_unknown',
      elicitation: 'rerun_unknown',
      message: 'pay was started and its outcome is unknown. Run it again?',
      args: { eur: 5 },
      approval: { remember: [] },
    });
    const edited = started({ decision: { outcome: 'approved', by: 'user:bob', args: { eur: 6 } } as DecisionRecord });
    expect(asked(await judged(edited)).args).toEqual({ eur: 6 });
  });

  test('by whoever has its handler is theirs', async () => {
    expect(brief(await judged(started(), hosted(tool('pay'))))).toBe('leave');
    expect(brief(await judged(undecided(), hosted(tool('pay'))))).toBe('leave');
    const own = started({ handledBy: 'agent' });
    expect(brief(await judgeOf(policyOf({})).judge.step(own, undefined, signal))).toBe('leave');
  });

  test('runs again unasked where that does no harm, or it is gone on with', async () => {
    expect(brief(await judged(started(), pay({ annotations: { idempotent: true } })))).toBe('run again');
    expect(brief(await judged(started(), pay({ annotations: { readOnly: true } })))).toBe('run again');
    expect(brief(await judged(started(), pay({ annotations: { openWorld: true } })))).toBe('ask c#rerun');
    expect(brief(await judged(started(), pay(), { goesOn: () => true }))).toBe('run again');
  });

  test('without the yes to it is judged anew where that does no harm, and asked about else', async () => {
    expect(brief(await judged(undecided(), pay({ annotations: { idempotent: true } })))).toBe('run');
    expect(brief(await judged(undecided()))).toBe('ask c#rerun');
    expect(brief(await judged(undecided(), pay(), { goesOn: () => true }))).toBe('ask c#rerun');
    expect(
      brief(
        await judged(
          undecided(),
          knows(() => 'retry'),
        ),
      ),
    ).toBe('ask c#rerun');
  });

  test('is what its author knows of it', async () => {
    const given: unknown[] = [];
    const known = knows((about) => {
      given.push(about);
      return { result: 'paid long ago' };
    });
    const step = await judged(started(), known);
    expect([brief(step), recordOf(step)]).toEqual(['settle fine paid long ago', undefined]);
    expect(given).toMatchObject([{ callId: 'c', args: { eur: 5 }, principal: { id: 'ann' } }]);
    expect(
      brief(
        await judged(
          started(),
          knows(() => 'retry'),
        ),
      ),
    ).toBe('run again');
    expect(
      brief(
        await judged(
          started(),
          knows(() => 'ask'),
        ),
      ),
    ).toBe('ask c#rerun');
    expect(
      brief(
        await judged(
          started(),
          knows(async () => undefined as never),
        ),
      ),
    ).toBe('ask c#rerun');
  });

  test('is asked about where its author cannot say', async () => {
    const failing = judgeOf(policyOf({}));
    const broken = knows(() => Promise.reject(new Error('lost')));
    expect(brief(await failing.judge.step(started(), broken, signal))).toBe('ask c#rerun');
    expect(failing.warnings).toEqual(['pay.onUnknownOutcome failed; a person is asked']);
    const late = judgeOf(policyOf({}), { policyTimeoutMs: 20 });
    expect(
      brief(
        await late.judge.step(
          started(),
          knows(() => new Promise(() => {})),
          signal,
        ),
      ),
    ).toBe('ask c#rerun');
    const over = judgeOf(policyOf({}));
    const controller = new AbortController();
    const waits = over.judge.step(
      started(),
      knows(() => new Promise(() => {})),
      controller.signal,
    );
    controller.abort();
    await waits;
    expect(over.warnings).toEqual([]);
  });

  const again = (more: object) => ({ requestId: 'c#rerun', action: 'accept', by: { id: 'bob' }, ...more });
  const withAnswers = (...answers: object[]) => started({ answers: answers as ReportedRequest['answers'] });

  test('runs once more for a yes, and not twice', async () => {
    const digest = asked(await judged(started())).approval.previewDigest;
    expect(brief(await judged(withAnswers(again({ digest }))))).toBe('run again');
    expect(brief(await judged(withAnswers(again({ digest, spent: true }))))).toBe('ask c#rerun.1');
    expect(
      brief(await judged(withAnswers(again({ digest, spent: true }), again({ digest, requestId: 'c#rerun.1' })))),
    ).toBe('run again');
  });

  test('does not run again for a no, nor where nobody can say yes', async () => {
    const unknown = 'its outcome is unknown; it was not run again';
    for (const action of ['decline', 'cancel']) {
      const no = await judged(withAnswers(again({ action })));
      expect(brief(no)).toBe(`settle interrupted ${unknown}`);
      expect(recordOf(no)).toMatchObject({ outcome: 'denied', by: 'user:bob', reason: unknown });
    }
    const alone = await judged(started(), pay(), { on: { interactive: false } });
    expect([brief(alone), recordOf(alone)?.by]).toEqual([`settle interrupted ${unknown}`, 'host']);
    const late = started({ questions: [{ requestId: 'c#rerun', expiresAt: new Date(0).toISOString() }] });
    const over = await judged(late);
    expect([brief(over), recordOf(over)?.by]).toEqual([
      `settle interrupted ${unknown}: nobody answered in time`,
      'expiry',
    ]);
  });

  test('does not run again where policy says no since', async () => {
    const policy = policyOf({ pay: { outcome: 'deny', reason: 'shut', ruleId: 'r8', redact: ['/eur'] } });
    const step = await judged(started(), pay(), { policy });
    expect(brief(step)).toMatch(/^settle interrupted its outcome is unknown; it was not run again: .*shut/);
    expect(recordOf(step)).toMatchObject({ outcome: 'denied', by: 'policy', reason: expect.stringContaining('shut') });
    const harmless = await judged(started(), pay({ annotations: { idempotent: true } }), { policy });
    expect(brief(harmless)).toMatch(/^settle interrupted/);
  });

  test('is held to the people that policy wanted, and wants', async () => {
    const policy = asks({ approvers: { roles: ['boss'] }, reason: 'now', redact: ['/b'] });
    const before = { requestId: 'c#policy', approvers: { quorum: 2 }, redact: ['/a'], reason: 'then', ruleId: 'r' };
    const shown = asked(await judged(started({ questions: [before] }), pay(), { policy }));
    expect(shown.approval).toMatchObject({
      approvers: { roles: ['boss'], quorum: 2 },
      redact: ['/a', '/b'],
      reason: 'now',
      ruleId: 'r',
    });
    const lax = asked(await judged(started({ questions: [before] })));
    expect(lax.approval.approvers).toEqual({ quorum: 2 });
  });
});

describe('what a handler asks', () => {
  const confirm = (of: Parameters<typeof judgeOf>[1] = {}, policy = policyOf({})) => {
    const made = judgeOf(policy, of);
    made.confirmations.set('u/s', 'c', {
      asked: { hint: 'Really?', payload: { fee: 1 }, expiresIn: 60 },
      args: { eur: 7 },
      redact: ['/eur'],
      first: 1,
      attempts: 0,
    });
    return made;
  };

  test('is asked about the arguments that it ran with, under the next number', async () => {
    const shown = asked(await confirm().judge.step(call(), pay(), signal));
    expect(shown).toMatchObject({
      requestId: 'c#policy.1',
      message: 'Really?',
      args: { eur: 7 },
      context: { payload: { fee: 1 } },
      approval: { redact: ['/eur'], remember: [] },
    });
    expect(shown.expiresAt).toBeDefined();
    const bare = judgeOf(policyOf({}));
    bare.confirmations.set('u/s', 'c', { asked: {}, args: { eur: 7 }, first: 0, attempts: 0 });
    const plain = asked(await bare.judge.step(call(), pay(), signal));
    expect([plain.requestId, plain.message, plain.context, plain.expiresAt, plain.approval.redact]).toEqual([
      ...['c#policy', 'Run pay?', undefined, undefined, undefined],
    ]);
  });

  test('is a yes to this run, which is told so with what it had asked about', async () => {
    const { judge } = confirm();
    const { previewDigest: digest } = asked(await judge.step(call(), pay(), signal)).approval;
    const answers = [{ requestId: 'c#policy.1', action: 'accept', digest, by: { id: 'bob' } }];
    const step = await judge.step(call({ answers: answers as ReportedRequest['answers'] }), pay(), signal);
    expect(step).toMatchObject({ kind: 'run', rerun: true, confirmation: { confirmed: true, payload: { fee: 1 } } });
    expect(step.kind === 'run' && step.decision.args).toEqual({ eur: 7 });
    const no = [{ requestId: 'c#policy.1', action: 'decline', by: { id: 'bob' } }];
    const refused = await judge.step(call({ answers: no as ReportedRequest['answers'] }), pay(), signal);
    expect([brief(refused), recordOf(refused)?.redact]).toEqual(['settle denied denied', ['/eur']]);
  });

  test('is not asked where policy says no since', async () => {
    const shut = policyOf({ pay: { outcome: 'deny', reason: 'shut', ruleId: 'r9' } });
    const step = await confirm({}, shut).judge.step(call(), pay(), signal);
    expect(brief(step)).toContain('settle denied');
    expect(recordOf(step)).toMatchObject({ by: 'policy', reason: 'shut', ruleId: 'r9', requestedBy: 'ann' });
  });

  test('is for those whom policy wants for the call', async () => {
    const shown = asked(await confirm({}, asks({ approvers: { roles: ['boss'] } })).judge.step(call(), pay(), signal));
    expect(shown.approval).toMatchObject({ approvers: { roles: ['boss'] }, remember: [] });
  });

  test('is numbered behind the questions that were answered', async () => {
    const { judge, confirmations } = judgeOf(policyOf({}));
    const run = await judge.step(call(), pay(), signal);
    if (run.kind !== 'run') throw new Error('it does not run');
    const answers = ['c#policy.2', 'c#policy', 'c#rerun.7'].map((requestId) => ({ requestId, action: 'accept' }));
    judge.confirmationAsked(run.decision, { hint: 'h' }, call({ answers: answers as ReportedRequest['answers'] }));
    expect(confirmations.get('u/s', 'c')).toMatchObject({ asked: { hint: 'h' }, args: { eur: 5 }, first: 3 });
    judge.confirmationAsked(run.decision, { hint: 'h' }, call());
    expect(confirmations.get('u/s', 'c')?.first).toBe(0);
    judge.settled('c');
    expect(confirmations.has('u/s')).toBe(false);
  });
});

describe('a before_tool hook', () => {
  const hooked = (fire: (payload: Record<string, unknown>) => unknown, more: Parameters<typeof judgeOf>[1] = {}) => {
    const fired: Record<string, unknown>[] = [];
    const made = judgeOf(policyOf({}), {
      hooks: {
        supportedHookPoints: () => ['before_tool'],
        fire: (async (_: string, payload: Record<string, unknown>) => {
          fired.push(payload);
          return fire(payload);
        }) as never,
      },
      ...more,
    });
    return { ...made, fired };
  };

  test('is told of a call once, and where it stands', async () => {
    const { judge, fired } = hooked(() => undefined);
    const hostTool = pay();
    await judge.step(call(), hostTool, signal);
    await judge.step(call(), hostTool, signal);
    expect(fired).toHaveLength(1);
    expect(fired[0]).toMatchObject({
      tool: hostTool.descriptor,
      args: { eur: 5 },
      context: { sessionId: 's', callId: 'c', agentPath: ['bot'], turnId: 't' },
    });
    await judge.step(call({ callId: 'd', requestId: 'd', turnId: undefined as never }), hostTool, signal);
    expect(Object.keys(fired[1]?.context as object)).not.toContain('turnId');
    judge.retain([call({ callId: 'd', requestId: 'd' })]);
    await judge.step(call({ callId: 'd', requestId: 'd' }), hostTool, signal);
    expect(fired).toHaveLength(2);
    await judge.step(call(), hostTool, signal);
    expect(fired).toHaveLength(3);
    judge.settled('c');
    await judge.step(call(), hostTool, signal);
    expect(fired).toHaveLength(4);
  });

  test('is not told of a call that is only looked at, but what it has said counts there', async () => {
    const { judge, fired } = hooked(() => ({ action: 'block', reason: 'no' }));
    expect(brief(await judge.step(call(), pay(), signal, true))).toBe('run');
    expect(fired).toEqual([]);
    expect(brief(await judge.step(call(), pay(), signal))).toBe('settle denied denied: no');
    expect(brief(await judge.step(call(), pay(), signal, true))).toBe('settle denied denied: no');
    expect(fired).toHaveLength(1);
  });

  test('that fails is a no, and is told of unless nobody wants the call any more', async () => {
    const failing = hooked(() => Promise.reject(new Error('lost')));
    expect(brief(await failing.judge.step(call(), pay(), signal))).toContain('a before_tool hook failed: lost');
    expect(failing.warnings).toEqual(['a before_tool hook failed on pay: the call is denied']);
    const late = hooked(() => new Promise(() => {}), { hookTimeoutMs: 20 });
    expect(brief(await late.judge.step(call(), pay(), signal))).toContain('settle denied');
    const controller = new AbortController();
    const waiting = hooked(() => new Promise(() => {}));
    const step = waiting.judge.step(call(), pay(), controller.signal);
    controller.abort(new Error('enough'));
    expect(brief(await step)).toContain('settle denied');
    expect(waiting.warnings).toEqual([]);
  });

  test('is one that the hooks support', async () => {
    const { judge } = judgeOf(policyOf({}), {
      hooks: { supportedHookPoints: () => ['after_tool'], fire: () => Promise.reject(new Error('not asked')) },
    });
    expect(brief(await judge.step(call(), pay(), signal))).toBe('run');
  });
});

describe('arguments that a person edits', () => {
  const policy = policyOf({
    pay: ({ args }) => {
      const eur = Number(args?.eur);
      if (eur > 1000) return { outcome: 'deny', reason: 'never' };
      if (eur > 500) return { outcome: 'deny' };
      if (eur > 100) return { outcome: 'ask', approvers: { roles: ['boss'] } };
      return { outcome: eur > 50 ? 'ask' : 'allow' };
    },
  });
  test.each<[unknown, string | undefined, object?]>([
    [5, undefined],
    [60, undefined],
    [200, 'others must decide on them'],
    [200, undefined, { id: 'cfo', roles: ['boss'] }],
    [600, 'policy denies them'],
    [2000, 'never'],
    ['2000', 'never'],
  ])('%j: %s', async (eur, fault, by = { id: 'bob' }) => {
    const typed = pay({ inputSchema: { type: 'object', properties: { eur: { type: 'number' } } } });
    expect(await judgeOf(policy).judge.whyNotEdited(call(), typed, { eur }, by as never)).toBe(fault);
  });
});

test('the checks of a call have the allowance of its turn the first time it is looked at', () => {
  const { judge } = judgeOf(policyOf({}));
  const first = judge.allowanceOf(call());
  expect(first).toBeDefined();
  expect(judge.allowanceOf(call())).toBeUndefined();
  expect(judge.allowanceOf(call({ callId: 'd' }))).toBe(first);
  expect(judge.allowanceOf(call({ requestId: 'q', callId: undefined as never }))).toBe(first);
  expect(judge.allowanceOf(call({ requestId: 'q' }), 'q')).toBeUndefined();
  const next = judge.allowanceOf(call({ turnId: 'u' }));
  expect([next === undefined, next === first]).toEqual([false, false]);
});

test('votes are of those who may, for what was shown', () => {
  const { judge } = judgeOf(policyOf({}));
  const question = {
    requestId: 'c#policy',
    approval: { previewDigest: 'd', approvers: { notRequester: true, quorum: 2 }, requestedBy: { id: 'ann' } },
  } as unknown as ApprovalQuestion;
  const yes = (id: string, more: object = {}) => ({
    ...{ requestId: 'c#policy', action: 'accept', digest: 'd', by: { id } },
    ...more,
  });
  const answers = [yes('ann'), yes('bob'), yes('eve', { digest: 'e' }), yes('joe', { args: { eur: 6 } })];
  const request = call({ answers: answers as ReportedRequest['answers'] });
  expect([...judge.votes(request, question, undefined)]).toEqual(['bob']);
  expect([...judge.votes(request, question, { eur: 6 })]).toEqual(['joe']);
  expect([...judge.votes(call(), question, undefined)]).toEqual([]);
});
