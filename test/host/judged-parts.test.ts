import { describe, expect, test } from 'vitest';
import type { PolicyDecision, PolicyRequest, ReportedRequest } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { answerOf, fromElicitation, inputOf } from '../../src/host/questions/answer-forms.ts';
import { questionForAll, questionForOthers, whyNotEdited, wordOnEdit } from '../../src/host/questions/edited-args.ts';
import { openCallFacts } from '../../src/host/questions/open-call-facts.ts';
import { RunTimeQuestions } from '../../src/host/questions/run-time-questions.ts';
import type { Step } from '../../src/host/questions/step.ts';
import { notAgain, notOffered, refusal, refusedAgain, underRule } from '../../src/host/questions/step.ts';
import { approvedForVersion, changedTerms, presentAgent } from '../../src/host/terms/agent-version.ts';
import { approvalOf, askedByHook, asTaken, floorOf, gateCall } from '../../src/host/tools/gate-call.ts';
import type { HostRules } from '../../src/host/tools/grounds.ts';
import { call, hosted } from './judge-kit.ts';
import { tool } from './kit.ts';

const ann = { id: 'ann' };
const boss = (id: string) => ({ id, roles: ['boss'] });
const pay = hosted(tool('pay', () => 1));
const of = (more: object = {}) => call(more as Partial<ReportedRequest>);

describe('MUT-H54 an open call in the gate’s terms', () => {
  test('is that of the host’s tool, or of what its agent announces', () => {
    const mine = gateCall(of(), pay, 'bot');
    expect(mine).toMatchObject({ callId: 'c', args: { eur: 5 }, source: 'host', agentPath: ['bot'], sessionId: 's' });
    expect(mine.tool).toBe(pay.descriptor);
    expect(gateCall(of({ requestId: 'q' }), pay, 'bot').callId).toBe('c');
    const bare = gateCall(
      of({ callId: undefined, requestId: 'r', args: undefined, name: undefined }),
      undefined,
      'bot',
    );
    expect(bare).toMatchObject({ callId: 'r', args: {}, source: 'agent:bot' });
    expect(bare.tool).toEqual({ name: '', description: '', inputSchema: {} });
    const announced = gateCall(of({ context: { tool: { description: 'pays' } }, agentPath: [] }), undefined, 'bot');
    expect([announced.tool, announced.source]).toEqual([
      { name: 'pay', description: 'pays', inputSchema: {} },
      'agent:',
    ]);
  });

  test('has another digest for each agent, path and description, and for the host’s own', () => {
    const digests = [
      gateCall(of(), undefined, 'bot'),
      gateCall(of(), undefined, 'other'),
      gateCall(of({ agentPath: ['bot', 'x'] }), undefined, 'bot'),
      gateCall(of({ context: { tool: { description: 'pays' } } }), undefined, 'bot'),
      gateCall(of(), pay, 'bot'),
    ].map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(5);
    expect(gateCall(of(), pay, 'other').digest).toBe(digests[4]);
  });

  test('is as it was announced where its schema changes nothing of it', () => {
    const made = gateCall(of(), pay, 'bot');
    expect(asTaken(made, { eur: 5 })).toBe(made);
    expect(asTaken(made, { eur: 6 })).toEqual({ ...made, args: { eur: 6 }, announced: { eur: 5 } });
  });

  test('must be asked about where its author says so, or an agent asks with it', () => {
    const asks = hosted(tool('pay', () => 1, { needsApproval: true }));
    expect([floorOf(of(), asks), floorOf(of(), pay), floorOf(of(), undefined)]).toEqual([true, undefined, undefined]);
    expect(floorOf(of({ message: 'Sure?' }), pay)).toBe(true);
  });

  test.each<[object | undefined, object | undefined]>([
    [undefined, undefined],
    [{ asked: 'no' }, undefined],
    [{ asked: {} }, {}],
    [{ asked: { hint: 'h', payload: 1, expiresIn: 5 } }, { hint: 'h', payload: 1, expiresIn: 5 }],
    [{ asked: { hint: 1, payload: null, expiresIn: '5' } }, { payload: null }],
    [{ asked: { expiresIn: 0 } }, {}],
    [{ asked: { expiresIn: 1e10 } }, { expiresIn: 1e10 }],
    [{ asked: { expiresIn: 1e10 + 1 } }, {}],
  ])('has of what a hook of its agent asks with only what is well-formed: %j', (context, expected) => {
    expect(askedByHook(of({ context }))).toStrictEqual(expected);
  });

  test('was let run by whom the log names', () => {
    expect(approvalOf(of())).toStrictEqual({ by: 'host' });
    const decision = { by: 'user:bea', ruleId: 'r', reason: 'why', args: { eur: 1 }, outcome: 'approved' };
    expect(approvalOf(of({ decision }))).toStrictEqual({
      by: 'user:bea',
      ruleId: 'r',
      reason: 'why',
      args: { eur: 1 },
    });
  });

  test.each<[object, object, { holds?: boolean; goesOn?: boolean; runs?: boolean; repeats?: boolean }]>([
    [{}, { mover: 'here', begun: undefined, isRepeatable: false, decision: undefined }, {}],
    [{ started: true }, { mover: 'here', begun: 'lost', isRepeatable: false }, {}],
    [{ started: true, running: true }, { begun: 'elsewhere' }, { holds: false }],
    [{ started: true, running: true }, { begun: 'lost' }, { holds: true }],
    [{ started: true }, { mover: 'elsewhere' }, { runs: false }],
    [{}, { mover: 'here' }, { runs: false }],
    [{}, { isRepeatable: true }, { repeats: true }],
    [{ decision: { tails: true } }, { isRepeatable: false, decision: 'approved' }, { repeats: true }],
    [{ started: true, decision: { tails: true } }, { isRepeatable: true }, { goesOn: true }],
    [{ started: true }, { isRepeatable: false }, { goesOn: true }],
    [{ decision: {} }, { isRepeatable: false }, { goesOn: true }],
  ])(
    'as %j is what is known of it: %j',
    (more, expected, { holds = true, goesOn = false, runs = true, repeats = false }) => {
      const made = hosted(tool('pay', runs ? () => 1 : undefined, repeats ? { annotations: { readOnly: true } } : {}));
      const facts = openCallFacts(of(more), made, { holds: () => holds, goesOn: () => goesOn });
      expect(facts).toMatchObject({ ...expected, isJudgedElsewhere: false });
    },
  );
});

describe('MUT-H55 words about a call', () => {
  const textOf = (step: ReturnType<typeof refusal>) =>
    step.kind === 'settle' ? [JSON.stringify(step.result), step.decision?.reason, step.decision?.by] : [];
  test('say why it does not run', () => {
    expect(textOf(refusal('too late', 'expiry'))).toEqual([expect.stringContaining('too late'), 'too late', 'expiry']);
    expect(textOf(refusal('denied', 'user:bea', 'no'))).toEqual([expect.anything(), 'no', 'user:bea']);
    expect(textOf(notOffered('pay', 'ann'))).toEqual([
      expect.stringContaining('Tool not found: pay'),
      expect.any(String),
      'host',
    ]);
    const [bare, why] = [textOf(notAgain('host')), textOf(notAgain('host', 'gone', 'said'))];
    expect([bare[0]?.includes(':'), why[1], why[0]]).toEqual([
      ...[true, `${bare[1]}: gone`, expect.stringContaining(`${bare[1]}: said`)],
    ]);
    const record = { outcome: 'denied', by: 'policy', reason: 'r' } as const;
    const again = refusedAgain({
      result: {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      record,
    });
    expect(textOf(again)).toEqual([expect.stringContaining(': ab'), expect.stringContaining(': r'), 'policy']);
  });

  test('name the rule that asked, and hide what was to be hidden', () => {
    const step = refusal('no', 'user:bea');
    const decision = step.kind === 'settle' ? step.decision : undefined;
    const asked = { agentPath: ['bot'], interactive: true };
    const under = (question: object, one = step) => underRule(one, { args: {}, ...question } as never, asked);
    expect(under({})).toMatchObject({ decision: { ...decision, asked } });
    expect(under({})).not.toHaveProperty('decision.redact');
    expect(under({ ruleId: 'r', redact: ['/a'] })).toMatchObject({ decision: { ruleId: 'r', redact: ['/a'] } });
    const hiding = { ...step, decision: { ...decision, redact: ['/b'], ruleId: 'own' } } as typeof step;
    expect(under({ ruleId: 'r', redact: ['/a'] }, hiding)).toMatchObject({
      decision: { ruleId: 'own', redact: ['/b', '/a'] },
    });
    const leave = { kind: 'leave' } as const;
    expect(under({}, leave)).toBe(leave);
    const bare: Step = { kind: 'settle', result: { content: [] } };
    expect(under({}, bare)).toBe(bare);
  });

  test('of a person are one answer, in whichever form they come', () => {
    const by = boss('bea');
    const result = { content: [] };
    expect(answerOf({ kind: 'tool_result', requestId: 'c', result })).toStrictEqual({ kind: 'result', result });
    expect(answerOf({ kind: 'tool_approval', requestId: 'c' })).toStrictEqual({ kind: 'approve' });
    const full = { args: { eur: 1 }, previewDigest: 'd', by };
    expect(answerOf({ kind: 'tool_approval', requestId: 'c', ...full })).toStrictEqual({ kind: 'approve', ...full });
    const response = { action: 'accept', content: { a: 1 } } as const;
    expect(answerOf({ kind: 'elicitation_response', requestId: 'c', response, by } as never)).toStrictEqual({
      ...{ kind: 'elicitation', action: 'accept', content: { a: 1 }, by },
    });
    const form = (action: string) => fromElicitation({ kind: 'elicitation', action, content: {}, by } as never);
    expect([form('accept'), form('decline')]).toStrictEqual([
      { kind: 'approve', by },
      { kind: 'deny', by },
    ]);
    expect(form('cancel')).toStrictEqual({ kind: 'elicitation', action: 'cancel', content: {}, by });
    expect(inputOf('q', { kind: 'approve' })).toStrictEqual({ kind: 'tool_approval', requestId: 'q' });
    expect(inputOf('q', { kind: 'approve', ...full })).toStrictEqual({
      kind: 'tool_approval',
      requestId: 'q',
      ...full,
    });
    const said = (action: string, more: object = {}) => ({
      ...{ kind: 'elicitation_response', requestId: 'q', response: { action }, ...more },
    });
    expect(inputOf('q', { kind: 'deny', by })).toStrictEqual(said('decline', { by }));
    expect(inputOf('q', { kind: 'elicitation', action: 'cancel' })).toStrictEqual(said('cancel'));
  });
});

describe('MUT-H56 what a handler asks while it runs', () => {
  const reply = () => {};
  test('has a number of its own, behind all that was asked of its call before, until that is settled', () => {
    const questions = new RunTimeQuestions();
    const ask = (more: object = {}, session = 's', question: object = { message: 'Sure?' }) =>
      questions.put(session, of(more), question as never, {}, reply).requestId;
    expect([ask(), ask(), ask({}, 't')]).toEqual(['c#asked', 'c#asked.1', 'c#asked']);
    const before = { answers: [{ requestId: 'd#asked.4' }, { requestId: 'd#policy.9' }], callId: 'd' };
    expect(ask(before)).toBe('d#asked.5');
    expect(ask({ callId: 'e', questions: [{ requestId: 'e#asked' }] })).toBe('e#asked.1');
    questions.over('s', 'c');
    expect([ask(), ask({}, 't')]).toEqual(['c#asked', 'c#asked.1']);
    expect(ask({ callId: undefined, requestId: 'r' })).toBe('r#asked');
  });

  test('is open until it is taken, in its session', () => {
    const questions = new RunTimeQuestions();
    const form = { message: 'Sure?', requestedSchema: { type: 'object' }, context: { a: 1 } };
    const terms = { approvers: { roles: ['boss'] } };
    const asked = questions.put('s', of({ message: 'old', decision: {}, answers: [] }), form as never, terms, reply);
    expect(asked).toMatchObject({
      ...{ requestId: 'c#asked', callId: 'c', kind: 'elicitation', elicitation: 'clarification', started: true },
      ...{ running: true, ...form, questions: [{ requestId: 'c#asked', ...terms }] },
    });
    for (const none of ['decision', 'answers']) expect(asked).not.toHaveProperty(none);
    const plain = questions.put('s', of(), { message: 'Sure?' }, {}, reply);
    expect(plain).toMatchObject({ elicitation: 'user_approval', message: 'Sure?' });
    for (const none of ['requestedSchema', 'context', 'questions']) expect(plain).not.toHaveProperty(none);
    expect(questions.of('s')).toEqual([asked, plain]);
    expect([questions.of('t'), questions.get('t', 'c#asked'), questions.get('s', 'c#asked')?.reply]).toEqual([
      ...[[], undefined, reply],
    ]);
    questions.take('t', 'c#asked');
    questions.take('s', 'c#asked');
    expect([questions.of('s'), questions.get('s', 'c#asked')]).toEqual([[plain], undefined]);
    questions.take('s', plain.requestId);
    expect(questions.of('s')).toEqual([]);
  });

  test('is numbered anew of a call that ten thousand others have asked behind', () => {
    const questions = new RunTimeQuestions();
    const ask = (callId: string) => questions.put('s', of({ callId }), { message: 'Sure?' }, {}, reply).requestId;
    ask('a');
    ask('b');
    for (let n = 0; n < 9_998; n++) ask(`c${n}`);
    expect(ask('a')).toBe('a#asked.1');
    ask('new');
    expect([ask('a'), ask('b')]).toEqual(['a#asked.2', 'b#asked']);
  });
});

describe('MUT-H57 what a person edits', () => {
  const made = gateCall(of(), pay, 'bot');
  const rulesOf = (word: PolicyDecision | ((request: PolicyRequest) => PolicyDecision), more: object = {}): HostRules =>
    ({
      principal: ann,
      permissionMode: undefined,
      interactive: true,
      policy: { evaluate: (request: PolicyRequest) => (typeof word === 'function' ? word(request) : word) },
      validate: (args: Record<string, unknown>) => ({ ok: true, args }),
      ...more,
    }) as never;
  const two: PolicyDecision = { outcome: 'ask', approvers: { roles: ['boss'], quorum: 2 } };
  const one: PolicyDecision = { outcome: 'ask', approvers: { roles: ['boss'] } };
  const args = { eur: 7 };

  test('is asked of all, held to what policy obliges to for it as well', async () => {
    const asked = { args: { eur: 5 }, expiresIn: 60, redact: ['/a'] };
    const all = (word: PolicyDecision, before: object = asked) =>
      questionForAll(made, rulesOf(word), args, before as never);
    expect(await all({ outcome: 'deny' })).toBeUndefined();
    expect(await all({ outcome: 'allow' })).toStrictEqual({ ...asked, args });
    expect(await all({ outcome: 'allow' }, { args: {} })).toStrictEqual({ args });
    expect(await all({ outcome: 'allow', expiresIn: 1 })).toStrictEqual({ ...asked, args });
    const held = await all({ ...two, expiresIn: 30, redact: ['/b'] } as PolicyDecision);
    expect(held).toMatchObject({ args, expiresIn: 30, redact: ['/a', '/b'], approvers: two.approvers });
    expect(await all({ ...two, expiresIn: 90 } as PolicyDecision)).toMatchObject({ expiresIn: 60 });
  });

  test('is asked of others where policy names them, and those who said yes are not enough', async () => {
    const others = (word: PolicyDecision, voters: object[] = [], asked?: object) =>
      questionForOthers(made, rulesOf(word), args, voters as never, asked as never);
    expect([await others({ outcome: 'allow' }), await others({ outcome: 'ask' })]).toEqual([undefined, undefined]);
    expect(await others({ outcome: 'deny', approvers: one.approvers } as never)).toBeUndefined();
    expect(await others(one)).toStrictEqual({ args, approvers: one.approvers });
    const full = { ...one, reason: 'r', hint: 'h', ruleId: 'i', redact: ['/b'], expiresIn: 90 } as PolicyDecision;
    expect(await others(full, [], { redact: ['/a'], expiresIn: 60, expiresAt: 5 })).toStrictEqual({
      ...{ args, approvers: one.approvers, reason: 'r', hint: 'h', ruleId: 'i' },
      ...{ redact: ['/a', '/b'], expiresIn: 60, expiresAt: 5 },
    });
    expect([await others(one, [boss('a')]), await others(two, [boss('a'), boss('b')])]).toEqual([undefined, undefined]);
    for (const few of [[ann], [boss('a')], [boss('a'), boss('a')], [boss('a'), ann]]) {
      expect(await others(two, few)).toMatchObject({ args });
    }
  });

  test('has policy’s word on it beforehand', async () => {
    const said = await wordOnEdit(made, rulesOf(one), args, ann);
    expect(said).toMatchObject({ request: { action: 'pay', args }, decision: { outcome: 'ask' }, isForOthers: true });
    expect(said).not.toHaveProperty('unfit');
    expect(await wordOnEdit(made, rulesOf(one), args, boss('a'))).toMatchObject({ isForOthers: false });
    const unfit = rulesOf(one, { validate: () => ({ ok: false, message: 'too much' }) });
    expect(await wordOnEdit(made, unfit, args, ann)).toMatchObject({ unfit: 'too much', request: { args } });
    const taken = rulesOf(one, { validate: () => ({ ok: true, args: { eur: 8 } }) });
    expect(await wordOnEdit(made, taken, args, ann)).toMatchObject({ request: { args: { eur: 8 } } });
  });

  test('may not be, where policy denies it or others must decide on it', async () => {
    const why = (word: PolicyDecision, by = ann) => whyNotEdited(made, rulesOf(word), args, by);
    expect(await why({ outcome: 'deny', reason: 'never' })).toBe('never');
    expect(await why({ outcome: 'deny' })).toBe('policy denies them');
    expect([await why({ outcome: 'allow' }), await why(one, boss('a'))]).toEqual([undefined, undefined]);
    expect(await why(one)).toBe('others must decide on them');
  });
});

describe('MUT-H58 the version of an agent', () => {
  const descriptor = (more: object = {}) => ({ name: 'bot', description: '', ...more }) as never;
  const present = (onChanged: 'go' | 'ask' | 'hold') => ({ version: 'new', onChanged });
  test('is what its author names, or else what it and its host’s tools say of themselves', () => {
    const none = () => undefined;
    const versionOf = (one: never, options: object = {}, agentOf: () => object | undefined = none) =>
      presentAgent(one, options as never, agentOf as never).version;
    expect(versionOf(descriptor({ metadata: { version: '1' } }))).toBe('1');
    const made = [
      versionOf(descriptor()),
      versionOf(descriptor({ description: 'other' })),
      versionOf(descriptor(), { tools: [tool('pay')] }),
      versionOf(descriptor(), { tools: [tool('pay')] }, () => ({ name: 'expert' })),
      versionOf(descriptor({ metadata: { version: 1 } })),
    ];
    expect(new Set(made).size).toBe(5);
    expect(made.every((one) => /^[0-9a-f]{16}$/.test(one))).toBe(true);
    expect(versionOf(descriptor())).toBe(made[0]);
    expect(presentAgent(descriptor(), {}, none).onChanged).toBe('ask');
    expect(presentAgent(descriptor(), { onAgentChanged: 'go' }, none).onChanged).toBe('go');
  });

  test('that has changed is said, asked about or refused, as the host wants', () => {
    const changed = (was: object, how: 'go' | 'ask' | 'hold' = 'ask') => changedTerms(was, present(how));
    expect([changed({}), changed({ version: 'new' }), changed({ version: 'new' }, 'hold')]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect(changed({ version: 'old' })).toStrictEqual({ version: 'new', approvedFor: 'new' });
    expect(changed({ version: 'old' }, 'go')).toStrictEqual({ version: 'new' });
    expect(changed({ version: 'old', approvedFor: 'old' }, 'go')).toStrictEqual({ version: 'new', approvedFor: 'old' });
    expect(() => changed({ version: 'old' }, 'hold')).toThrow(CoxswainError);
    const forVersion = (was: object, how?: 'go' | 'ask' | 'hold') =>
      approvedForVersion(was, how === undefined ? undefined : present(how));
    expect(forVersion({ version: 'old', approvedFor: 'x' }, 'ask')).toBe('new');
    for (const how of [undefined, 'go', 'hold'] as const) {
      expect(forVersion({ version: 'old', approvedFor: 'x' }, how)).toBe('x');
    }
    expect([forVersion({ approvedFor: 'x' }, 'ask'), forVersion({ version: 'new', approvedFor: 'x' }, 'ask')]).toEqual([
      ...['x', 'x'],
    ]);
  });
});
