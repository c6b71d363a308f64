import { describe, expect, test } from 'vitest';
import type {
  AgentEvent,
  ApprovalQuestion,
  ReportedRequest,
  RequestAnswer,
  SessionInput,
} from '../../src/contracts/index.ts';
import { AnswerChecks, asCallers, runsNow } from '../../src/host/hosted/answer-checks.ts';
import { answerHostedRequest, checkRequestAnswer } from '../../src/host/hosted/answer-request.ts';
import type { HostedSession } from '../../src/host/hosted/hosted-session.ts';
import { takeAnswers } from '../../src/host/hosted/take-answers.ts';
import { RunTimeQuestions } from '../../src/host/questions/run-time-questions.ts';
import type { Step } from '../../src/host/questions/step.ts';
import { withoutHostFacts } from '../../src/session/link/index.ts';
import { call, hosted } from './judge-kit.ts';
import { refusal, tool } from './kit.ts';

const result = { content: [] };
const bob = { id: 'bob' };
const typed = hosted(
  tool('pay', () => 'paid', { inputSchema: { type: 'object', properties: { eur: { type: 'number', maximum: 100 } } } }),
);
const approved = { outcome: 'approved', by: 'policy' } as const;

const question = (approval: object = {}, more: object = {}) =>
  call({
    ...{ requestId: 'c#policy', kind: 'elicitation' },
    approval: { title: 't', preview: [], previewDigest: 'd', requestedBy: { id: 'ann' }, remember: [], ...approval },
    ...more,
  } as never) as ApprovalQuestion;

interface Given {
  open?: ReportedRequest[];
  /** What the judge says of each call. */
  step?: (request: ReportedRequest) => Step;
  hostTool?: typeof typed | undefined;
  votes?: string[];
  fault?: string | undefined;
  isBusy?: boolean;
  holds?: boolean;
  history?: object[];
  /** What the session's record says to each answer. */
  settles?: string | Error;
  child?: object | undefined;
  run?: object | undefined;
}

/** A session over a record that takes what it is told. */
function sessionOf({
  open = [call()],
  step = () => ({ kind: 'leave' }),
  hostTool = typed,
  votes = [],
  fault,
  isBusy = false,
  holds = false,
  history = [],
  settles = 'settled',
  child,
  run,
}: Given = {}) {
  const stored: [string, RequestAnswer][] = [];
  const asked: unknown[][] = [];
  const remembered: unknown[] = [];
  const inner = {
    pending: async () => open,
    respond: async (id: string, answer: RequestAnswer) => {
      if (settles instanceof Error) throw settles;
      stored.push([id, answer]);
      return { status: settles };
    },
    async *events() {
      yield* history as AgentEvent[];
    },
  };
  const judge = {
    step: async (request: ReportedRequest, given: unknown, _: unknown, peek: boolean) => {
      asked.push(['step', request.requestId, given === hostTool, peek]);
      return step(request);
    },
    votes: (...given: unknown[]) => {
      asked.push(['votes', ...given]);
      return new Set(votes);
    },
    whyNotEdited: async (...given: unknown[]) => {
      asked.push(['whyNotEdited', ...given]);
      return fault;
    },
  };
  const frame = {
    ...{ principal: { id: 'ann' }, name: 'u/s', judge, runTimeQuestions: new RunTimeQuestions() },
    toolOf: () => hostTool,
    holds: () => holds,
    grounds: () => ({ principal: { id: 'ann' } }),
    remember: async (option: unknown) => void remembered.push(option),
  };
  const answerChecks = new AnswerChecks(inner as never, frame as never, { judge, isBusy: () => isBusy } as never);
  const session = {
    ...{ id: 's', inner, frame, judge, answerChecks, liveRun: run, isBusy: () => isBusy },
    subagents: { find: async () => child },
    checkResponse: (id: string, answer: RequestAnswer) => checkRequestAnswer(session, id, answer),
  } as unknown as HostedSession;
  return { session, stored, asked, remembered };
}

const checks = (given: Given = {}) => {
  const made = sessionOf(given);
  return { ...made, checks: made.session.answerChecks };
};
const codeOf = async (work: Promise<unknown>) => (await refusal(work)).code;

describe('an answer to a question of the host', () => {
  const decided = (answer: RequestAnswer, approval: object = {}, given: Given = {}) =>
    checks(given).checks.decision(call(), question(approval), answer);

  test('is stored with whoever gives it: whoever holds the session, unless it says', async () => {
    expect(await decided({ kind: 'deny' })).toStrictEqual({ kind: 'deny', by: { id: 'ann' } });
    expect(await decided({ kind: 'deny', by: bob, reason: 'no' })).toStrictEqual({
      kind: 'deny',
      by: bob,
      reason: 'no',
    });
    expect(await decided({ kind: 'approve', by: bob })).toStrictEqual({ kind: 'approve', by: bob, previewDigest: 'd' });
  });

  test('in the words of a form is a yes or a no', async () => {
    const said = (action: 'accept' | 'decline' | 'cancel') => decided({ kind: 'elicitation', action });
    expect(await said('accept')).toMatchObject({ kind: 'approve', by: { id: 'ann' }, previewDigest: 'd' });
    expect(await said('decline')).toMatchObject({ kind: 'deny', by: { id: 'ann' } });
    expect(await said('cancel')).toMatchObject({ kind: 'elicitation', action: 'cancel', by: { id: 'ann' } });
  });

  test('is no result, and no yes to something else than was shown', async () => {
    expect(await codeOf(decided({ kind: 'result', result }))).toBe('E_WRONG_ANSWER');
    expect(await codeOf(decided({ kind: 'approve', previewDigest: 'other' }))).toBe('E_PREVIEW_CHANGED');
    expect(await decided({ kind: 'approve', previewDigest: 'd' })).toMatchObject({ kind: 'approve' });
    expect(await decided({ kind: 'deny', previewDigest: 'other' } as never)).toMatchObject({ kind: 'deny' });
  });

  test('is of those who may give it', async () => {
    const approvers = { roles: ['boss'] };
    expect(await codeOf(decided({ kind: 'approve' }, { approvers }))).toBe('E_NOT_APPROVER');
    expect(await codeOf(decided({ kind: 'deny', by: bob }, { approvers }))).toBe('E_NOT_APPROVER');
    const by = { id: 'cfo', roles: ['boss'] };
    expect(await decided({ kind: 'approve', by }, { approvers })).toMatchObject({ by });
    expect(await codeOf(decided({ kind: 'approve' }, { approvers: { notRequester: true } }))).toBe('E_NOT_APPROVER');
  });

  test('is one vote of several until there are enough, whatever it says of that itself', async () => {
    const vote = (quorum: number | undefined, votes: string[], answer: object = {}) =>
      decided({ kind: 'approve', by: bob, ...answer } as never, { approvers: { quorum } }, { votes });
    expect(await vote(2, [])).toMatchObject({ quorum: 2 });
    expect(await vote(3, ['eve'])).toMatchObject({ quorum: 3 });
    for (const enough of [vote(2, ['eve']), vote(2, ['eve'], { quorum: 9 }), vote(undefined, []), vote(1, [])]) {
      expect(await enough).not.toHaveProperty('quorum');
    }
    expect(await vote(2, ['bob'])).toMatchObject({ quorum: 2 });
  });

  test('with edited arguments has them as the tool takes them', async () => {
    const { checks: made, asked } = checks();
    const stored = await made.decision(call(), question(), { kind: 'approve', args: { eur: '7' } });
    expect(stored).toMatchObject({ args: { eur: 7 } });
    expect(asked).toMatchObject([['votes', { requestId: 'c' }, { requestId: 'c#policy' }, { eur: 7 }]]);
    const wrong = refusal(decided({ kind: 'approve', args: { eur: 500 } }));
    expect(await wrong).toMatchObject({ code: 'E_WRONG_ANSWER', message: expect.stringContaining('do not fit: ') });
    // Of a tool of the agent's own, its executor checks them.
    const own = checks({ hostTool: undefined as never });
    Object.assign(own.session.frame, { toolOf: () => undefined });
    expect(await own.checks.decision(call(), question(), { kind: 'approve', args: { eur: 500 } })).toMatchObject({
      args: { eur: 500 },
    });
  });

  test('that is to be remembered is about what was shown', async () => {
    const offers = { remember: [{ label: 'l', scope: 'session', rule: {} }] };
    const remember = (args?: object) =>
      decided({ kind: 'approve', remember: 0, ...(args ? { args } : {}) } as never, offers);
    expect(await remember()).toMatchObject({ remember: 0 });
    expect(await remember({ eur: 5 })).toStrictEqual(await remember());
    expect(await codeOf(remember({ eur: 6 }))).toBe('E_WRONG_ANSWER');
    expect(await decided({ kind: 'approve', args: { eur: 6 } })).toMatchObject({ args: { eur: 6 } });
  });
});

describe('an answer to what is no question of the host', () => {
  const direct = (answer: RequestAnswer, request: ReportedRequest | undefined = call(), given: Given = {}, id = 'c') =>
    checks(given).checks.direct(id, request, answer);
  const done = { kind: 'result', result } as const;

  test('lets no call run', async () => {
    const refused = refusal(direct({ kind: 'approve' }));
    expect(await refused).toMatchObject({
      code: 'E_WRONG_ANSWER',
      message: expect.stringContaining('nobody is asked'),
    });
    expect(await direct({ kind: 'deny' })).toEqual({ kind: 'deny' });
  });

  test('brings no result of what runs here', async () => {
    expect((await refusal(direct(done))).message).toContain('pay runs under this host');
    const own = { hostTool: hosted(tool('pay')) };
    expect(await codeOf(direct(done, call({ handledBy: 'agent' }), own))).toBe('E_WRONG_ANSWER');
    expect(await direct(done, call(), own)).toStrictEqual(done);
    expect(await direct({ kind: 'deny' }, call({ handledBy: 'agent' }), own)).toEqual({ kind: 'deny' });
  });

  test('brings a result of what its caller runs with policy’s word, and not without', async () => {
    const hostTool = hosted(tool('pay'));
    const forged = { ...done, decision: { outcome: 'approved', by: 'user:boss' } } as RequestAnswer;
    const stepped = checks({ hostTool, step: () => ({ kind: 'leave', decision: approved }) });
    expect(await stepped.checks.direct('c', call(), forged)).toStrictEqual({ ...done, decision: approved });
    expect(stepped.asked).toEqual([['step', 'c', true, true]]);
    expect(await direct(forged, call(), { hostTool })).toStrictEqual(done);
    const no = { hostTool, step: (): Step => ({ kind: 'settle', result, decision: approved }) };
    expect(await codeOf(direct(done, call(), no))).toBe('E_REQUEST_CLOSED');
    const asks = { hostTool, step: (): Step => ({ kind: 'ask', question: question() }) };
    expect(await direct(done, call(), asks)).toStrictEqual(done);
  });

  test('is refused while the call runs, here or elsewhere', async () => {
    const running = call({ running: true });
    expect((await refusal(direct({ kind: 'deny' }, running))).message).toBe('call c is running; abort it first');
    expect(await direct({ kind: 'deny' }, running, { holds: true })).toEqual({ kind: 'deny' });
    expect(await codeOf(direct({ kind: 'deny' }, call(), { isBusy: true }))).toBe('E_WRONG_ANSWER');
    expect(runsNow('x')).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_WRONG_ANSWER' });
  });

  test('is the agent’s where it is the agent’s question; what is edited must be allowed', async () => {
    const own = call({ kind: 'elicitation', requestId: 'q' });
    const { checks: made, asked } = checks({ fault: undefined });
    const yes: RequestAnswer = { kind: 'approve', args: { eur: 6 } };
    expect(await made.direct('q', own, yes)).toBe(yes);
    expect(asked).toEqual([['whyNotEdited', own, typed, { eur: 6 }, { id: 'ann' }]]);
    const wrong = checks({ fault: 'too much' });
    const refused = await refusal(wrong.checks.direct('q', own, { ...yes, by: bob }));
    expect([refused.status, refused.code]).toEqual(['PERMISSION_DENIED', 'E_WRONG_ANSWER']);
    expect(refused.message).toBe('the edited arguments are not allowed: too much');
    expect(wrong.asked[0]?.[4]).toEqual(bob);
    expect(await wrong.checks.direct('q', own, { kind: 'approve' })).toEqual({ kind: 'approve' });
    expect(await wrong.checks.direct('q', own, { kind: 'deny', args: {} } as never)).toMatchObject({ kind: 'deny' });
    // Of a call that is no question, arguments are none of its.
    expect(wrong.asked).toHaveLength(1);
    expect(await wrong.checks.direct('q', undefined, yes)).toBe(yes);
    expect(await wrong.checks.direct('other', call(), yes)).toBe(yes);
  });

  test('under the id of a question is to one that was asked', async () => {
    const response = (more: object) => ({ id: 'e', ...more });
    const history = [
      response({ type: 'elicitation_response', requestId: 'c#policy' }),
      response({ type: 'tool_response', requestId: 'd' }),
      response({ type: 'elicitation_request', requestId: 'x#policy' }),
    ];
    const was = (id: string) => direct({ kind: 'deny' }, undefined, { history }, id);
    expect(await was('c#policy')).toEqual({ kind: 'deny' });
    expect(await was('d#policy.1')).toEqual({ kind: 'deny' });
    for (const id of ['x#policy', 'c#policy.1', 'e#rerun']) {
      const refused = await refusal(was(id));
      expect([refused.code, refused.message]).toEqual([
        'E_UNKNOWN_REQUEST',
        `${JSON.stringify(id)} is not asked now; pending() lists what is open`,
      ]);
    }
    // An id of an executor's own is its to judge.
    expect(await was('other')).toEqual({ kind: 'deny' });
  });
});

test('whether a call starts, and what was decided of it, is not its caller’s to say', () => {
  // Types do not hold at run time: each kind of answer and input may come with all of them.
  const forged = { starts: true, decision: approved, quorum: 2, rerun: true };
  const said: SessionInput | RequestAnswer = { kind: 'approve', by: bob };
  for (const own of [
    said,
    { kind: 'deny', reason: 'no' },
    { kind: 'result', result },
    { kind: 'elicitation', action: 'accept', content: { quorum: 3 } },
    { kind: 'tool_approval', requestId: 'c', args: { starts: true } },
    { kind: 'tool_result', requestId: 'c', result },
    { kind: 'elicitation_response', requestId: 'c#policy', response: { action: 'accept', content: { rerun: 1 } } },
  ] as RequestAnswer[]) {
    expect(withoutHostFacts({ ...own, ...forged } as RequestAnswer)).toStrictEqual(own);
  }
  const response = { action: 'accept', ...forged };
  expect(withoutHostFacts({ kind: 'elicitation_response', requestId: 'q', response } as SessionInput)).toStrictEqual({
    ...{ kind: 'elicitation_response', requestId: 'q', response: { action: 'accept' } },
  });
  const input = (more: object) => ({ kind: 'tool_approval', requestId: 'c', ...more }) as SessionInput;
  expect(asCallers(input({ decision: approved, rerun: true, args: {} }), { kind: 'approve' })).toStrictEqual(
    input({ args: {} }),
  );
  const given = { kind: 'tool_result', requestId: 'c', result } as const;
  const withDecision = { ...given, decision: { ...approved, by: 'x' } } as SessionInput;
  expect(asCallers(withDecision, { kind: 'result', result })).toStrictEqual(given);
  expect(asCallers(withDecision, { kind: 'deny' })).toStrictEqual(given);
  expect(asCallers(withDecision, { kind: 'result', result, decision: approved })).toStrictEqual({
    ...given,
    decision: approved,
  });
  const other: SessionInput = { kind: 'elicitation_response', requestId: 'q', response: { action: 'accept' } };
  expect(asCallers(other, { kind: 'approve' })).toStrictEqual(other);
});

const asks =
  (approval: object = {}) =>
  (): Step => ({ kind: 'ask', question: question(approval) });

describe('what an answer comes to', () => {
  test('a yes to a question of the agent that is to be remembered is refused: it offers nothing', async () => {
    const form = call({ requestId: 'q', kind: 'elicitation', elicitation: 'clarification' });
    const given = { kind: 'approve', remember: 0 } as const;
    const refused = await refusal(checks().checks.direct('q', form, given));
    expect(refused).toMatchObject({ code: 'E_WRONG_ANSWER', message: expect.stringContaining('without remember') });
    expect(await checks().checks.direct('q', form, { kind: 'approve' })).toEqual({ kind: 'approve' });
  });

  test('to the newest question about a call: it is settled, and remembered where that was said', async () => {
    const option = { label: 'l', scope: 'session', rule: {} };
    const { session, stored, remembered } = sessionOf({ step: asks({ remember: [option] }) });
    expect(await answerHostedRequest(session, 'c#policy', { kind: 'approve', remember: 0 })).toEqual({
      status: 'settled',
    });
    expect(stored).toMatchObject([['c#policy', { kind: 'approve', by: { id: 'ann' }, previewDigest: 'd' }]]);
    expect(remembered).toEqual([option]);
    await answerHostedRequest(session, 'c', { kind: 'approve' });
    expect(stored[1]?.[0]).toBe('c#policy');
    await answerHostedRequest(session, 'c#policy', { kind: 'deny', remember: 0 } as never);
    for (const index of [7, 1, -1]) {
      const wrong = refusal(answerHostedRequest(session, 'c#policy', { kind: 'approve', remember: index }));
      expect(await wrong).toMatchObject({ code: 'E_WRONG_ANSWER', message: expect.stringContaining('is no option') });
    }
    expect(stored).toHaveLength(3);
    expect(remembered).toHaveLength(1);
    const open = sessionOf({ step: asks({ remember: [option] }), settles: 'already_settled' });
    await answerHostedRequest(open.session, 'c#policy', { kind: 'approve', remember: 0 });
    expect(open.remembered).toEqual([]);
  });

  test('to a question that was asked again is to none', async () => {
    const { session, stored } = sessionOf({ step: asks() });
    expect(await codeOf(answerHostedRequest(session, 'c#policy.1', { kind: 'approve' }))).toBe('E_UNKNOWN_REQUEST');
    expect(await codeOf(checkRequestAnswer(session, 'c#policy.1', { kind: 'approve' }))).toBe('E_UNKNOWN_REQUEST');
    expect(stored).toEqual([]);
  });

  test('tells a run that goes on, before and after', async () => {
    const told: unknown[] = [];
    const run = {
      questions: {
        show: ({ requestId }: ReportedRequest) => void told.push(['show', requestId]),
        underWay: ({ requestId }: ReportedRequest) => {
          told.push(['underWay', requestId]);
          return (isTaken: boolean) => void told.push(['arrived', isTaken]);
        },
      },
    };
    const { session } = sessionOf({ step: asks(), run });
    await answerHostedRequest(session, 'c#policy', { kind: 'approve' });
    expect(told.splice(0)).toEqual([
      ['underWay', 'c#policy'],
      ['arrived', true],
    ]);
    const failing = sessionOf({ step: asks(), run, settles: new Error('lost') });
    await expect(answerHostedRequest(failing.session, 'c#policy', { kind: 'deny' })).rejects.toThrow('lost');
    expect(told.splice(0)).toEqual([
      ['underWay', 'c#policy'],
      ['arrived', false],
    ]);
    const vote = sessionOf({ step: asks({ approvers: { quorum: 2 } }), run });
    await answerHostedRequest(vote.session, 'c#policy', { kind: 'approve' });
    expect(told).toEqual([['show', 'c#policy']]);
  });

  test('that is a no is no vote, whatever it says of that itself', async () => {
    const told: string[] = [];
    const run = {
      questions: {
        show: () => told.push('show'),
        underWay: () => () => told.push('arrived'),
      },
    };
    const { session, stored } = sessionOf({ step: asks(), run });
    await answerHostedRequest(session, 'c#policy', { kind: 'deny', quorum: 2 } as never);
    expect([told, stored.length]).toEqual([['arrived'], 1]);
    const no = { kind: 'elicitation_response', requestId: 'c', response: { action: 'decline', quorum: 2 } };
    const asked = sessionOf({ step: asks() });
    expect(await takeAnswers(asked.session, [no as never])).toMatchObject([{ kind: 'elicitation_response' }]);
    expect(asked.stored).toEqual([]);
  });

  test('of one vote of several is what the record says, the same for everybody', async () => {
    const votes = (...ids: string[]) =>
      ids.map((id) => ({ requestId: 'c#policy', action: 'accept', digest: 'd', by: { id } }));
    const voted = async (answers: object[], by = 'bob', open = [call({ answers } as never)]) => {
      const { session } = sessionOf({
        open,
        step: asks({ approvers: { quorum: 2 } }),
        settles: 'waiting_quorum',
      });
      return answerHostedRequest(session, 'c#policy', { kind: 'approve', by: { id: by } });
    };
    expect(await voted(votes('bob'))).toEqual({ status: 'waiting_quorum', by: 'bob' });
    expect(await voted(votes('eve', 'bob'))).toEqual({ status: 'settled', by: 'bob' });
    // It was complete before this one.
    const byJoe = { status: 'already_settled', outcome: 'accept', by: 'joe' };
    expect(await voted(votes('eve', 'joe', 'bob'))).toEqual(byJoe);
    expect(await voted(votes('bob', 'joe'))).toEqual({ status: 'waiting_quorum', by: 'bob' });
    // Its call was gone on with meanwhile.
    const open = [call()];
    const step = (): Step => {
      open.splice(0);
      return asks({ approvers: { quorum: 2 } })();
    };
    const { session } = sessionOf({ open, step, settles: 'waiting_quorum' });
    expect(await answerHostedRequest(session, 'c#policy', { kind: 'approve' })).toEqual({ status: 'already_settled' });
    expect(await voted([])).toEqual({ status: 'waiting_quorum', by: 'bob' });
    const settled = sessionOf({ step: asks({ approvers: { quorum: 2 } }), settles: 'already_settled' });
    expect(await answerHostedRequest(settled.session, 'c#policy', { kind: 'approve' })).toEqual({
      status: 'already_settled',
    });
  });

  test('to a call that waits for its caller withholds it from the run, until it is taken or not', async () => {
    const told: unknown[] = [];
    const run = {
      isBusy: () => false,
      calls: {
        withhold: (id: string) => told.push(['withhold', id]),
        giveBack: (id: string) => told.push(['back', id]),
      },
    };
    const hostTool = hosted(tool('pay'));
    await answerHostedRequest(sessionOf({ hostTool, run }).session, 'c', { kind: 'result', result });
    expect(told.splice(0)).toEqual([['withhold', 'c']]);
    await answerHostedRequest(sessionOf({ hostTool, run, settles: 'already_settled' }).session, 'c', {
      kind: 'result',
      result,
    });
    expect(told.splice(0)).toEqual([
      ['withhold', 'c'],
      ['back', 'c'],
    ]);
    const failing = sessionOf({ hostTool, run, settles: new Error('lost') }).session;
    await expect(answerHostedRequest(failing, 'c', { kind: 'result', result })).rejects.toThrow('lost');
    expect(told.splice(0)).toHaveLength(2);
    const busy = sessionOf({ hostTool, run: { ...run, isBusy: () => true } }).session;
    expect((await refusal(answerHostedRequest(busy, 'c', { kind: 'result', result }))).message).toContain('is running');
    const own = sessionOf({
      open: [call({ kind: 'elicitation', requestId: 'q' })],
      run,
      step: () => ({ kind: 'leave' }),
    });
    await answerHostedRequest(own.session, 'q', { kind: 'approve' });
    expect([told, own.stored]).toEqual([[], [['q', { kind: 'approve' }]]]);
  });

  test('to a sub-agent’s question is given there', async () => {
    const given: unknown[][] = [];
    const child = {
      respond: async (...said: unknown[]) => {
        given.push(said);
        return { status: 'settled', by: 'x' };
      },
    };
    const { session } = sessionOf({ open: [], child });
    expect(await answerHostedRequest(session, 'q', { kind: 'approve' })).toEqual({ status: 'settled', by: 'x' });
    expect(given).toEqual([['q', { kind: 'approve' }]]);
    const own = sessionOf({ child, step: asks() });
    await answerHostedRequest(own.session, 'c#policy', { kind: 'approve' });
    expect([given.length, own.stored.length]).toEqual([1, 1]);
  });

  describe('where policy denies the call since', () => {
    const put = (more: object = {}) => call({ questions: [{ requestId: 'c#policy' }], ...more } as never);
    const denies =
      (by = 'policy') =>
      (): Step => ({
        ...{ kind: 'settle', result, decision: { outcome: 'denied', by } },
      });
    const said = async (request: ReportedRequest, given: Given = {}, answer: RequestAnswer = { kind: 'approve' }) => {
      const history = [{ type: 'elicitation_response', requestId: 'c#policy' }];
      const { session, stored } = sessionOf({ open: [request], step: denies(), history, ...given });
      return [await answerHostedRequest(session, 'c#policy', answer), stored] as const;
    };

    test('is a no, which is stored for the call', async () => {
      expect(await said(put())).toEqual([
        { status: 'settled', by: 'policy', outcome: 'deny' },
        [['c', { kind: 'result', result, decision: { outcome: 'denied', by: 'policy' } }]],
      ]);
      expect((await said(put(), { settles: 'already_settled' }))[0]).toEqual({ status: 'already_settled' });
      const vote = { requestId: 'c#policy', action: 'accept', quorum: 2 };
      expect((await said(put({ answers: [vote] })))[0]).toMatchObject({ outcome: 'deny' });
    });

    test('is of those who were asked', async () => {
      const forBoss = put({ questions: [{ requestId: 'c#policy', approvers: { roles: ['boss'] } }] });
      expect(await codeOf(said(forBoss))).toBe('E_NOT_APPROVER');
      expect(await codeOf(said(forBoss, {}, { kind: 'deny', by: bob }))).toBe('E_NOT_APPROVER');
      const by = { id: 'cfo', roles: ['boss'] };
      expect((await said(forBoss, {}, { kind: 'approve', by }))[0]).toMatchObject({ outcome: 'deny' });
    });

    test('is left to a run that is under way, and to the record where it was answered, or never put', async () => {
      const run = { isBusy: () => false, calls: { withhold: () => {}, giveBack: () => {} } };
      const elsewhere = async (request: ReportedRequest, given: Given = {}) => (await said(request, given))[0];
      expect(await elsewhere(put(), { run })).toEqual({ status: 'settled' });
      const answers = [{ requestId: 'c#policy', action: 'accept' }];
      expect(await elsewhere(put({ answers }))).toEqual({ status: 'settled' });
      expect(await elsewhere(call())).toEqual({ status: 'settled' });
      expect(await elsewhere(put({ callId: undefined, requestId: 'c' }))).toEqual({ status: 'settled' });
      expect(await elsewhere(put(), { step: denies('gate') })).toEqual({ status: 'settled' });
      expect(await elsewhere(put(), { step: () => ({ kind: 'leave', decision: approved }) })).toEqual({
        status: 'settled',
      });
    });
  });

  test('is refused before anything is stored, as far as this host can tell', async () => {
    const { session, stored } = sessionOf({ step: asks({ approvers: { roles: ['boss'] } }) });
    expect(await codeOf(checkRequestAnswer(session, 'c#policy', { kind: 'approve' }))).toBe('E_NOT_APPROVER');
    const plain = sessionOf();
    expect(await codeOf(checkRequestAnswer(plain.session, 'c', { kind: 'approve' }))).toBe('E_WRONG_ANSWER');
    const below = sessionOf({ open: [], child: session });
    expect(await codeOf(checkRequestAnswer(below.session, 'c#policy', { kind: 'approve' }))).toBe('E_NOT_APPROVER');
    expect(await checkRequestAnswer(sessionOf({ step: asks() }).session, 'c', { kind: 'approve' })).toBeUndefined();
    expect(stored).toEqual([]);
  });
});

describe('answers among the inputs of a stream', () => {
  const approval = (requestId: string, more: object = {}): SessionInput =>
    ({ kind: 'tool_approval', requestId, ...more }) as SessionInput;

  test('are those of the record; words are left as they are', async () => {
    const inputs: SessionInput[] = [{ kind: 'message', content: 'hi' }, { kind: 'continue' }];
    const taken = await takeAnswers(sessionOf().session, inputs);
    expect(taken).toEqual(inputs);
    expect(taken).not.toBe(inputs);
    expect(await takeAnswers(sessionOf().session, [])).toEqual([{ kind: 'continue' }]);
    const { session, stored } = sessionOf({ step: asks() });
    expect(await takeAnswers(session, [approval('c', { by: bob }), { kind: 'message', content: 'hi' }])).toEqual([
      approval('c#policy', { previewDigest: 'd', by: bob }),
      { kind: 'message', content: 'hi' },
    ]);
    const no: SessionInput = { kind: 'elicitation_response', requestId: 'c#policy', response: { action: 'decline' } };
    expect(await takeAnswers(session, [no])).toMatchObject([
      { requestId: 'c#policy', response: { action: 'decline' } },
    ]);
    expect(stored).toEqual([]);
  });

  test('tell the run that was begun for them', async () => {
    const told: string[] = [];
    const run = { questions: { answering: ({ requestId }: ReportedRequest) => void told.push(requestId) } };
    await takeAnswers(sessionOf({ step: asks(), run }).session, [approval('c')]);
    expect(told).toEqual(['c#policy']);
  });

  test('that are one vote of several, or to a call that has outlived its turn, are stored alone', async () => {
    const vote = sessionOf({ step: asks({ approvers: { quorum: 2 } }) });
    expect(await takeAnswers(vote.session, [approval('c')])).toEqual([{ kind: 'continue' }]);
    expect(vote.stored).toMatchObject([['c#policy', { kind: 'approve', quorum: 2 }]]);
    const late = sessionOf({ open: [call({ detached: true } as never)], step: asks() });
    expect(await takeAnswers(late.session, [approval('c')])).toEqual([{ kind: 'continue' }]);
    expect(late.stored).toHaveLength(1);
  });

  test('to what the host does not ask pass its checks; the caller’s word on decisions is not taken along', async () => {
    const { session } = sessionOf({
      hostTool: hosted(tool('pay')),
      step: () => ({ kind: 'leave', decision: approved }),
    });
    const given = { kind: 'tool_result', requestId: 'c', result } as const;
    expect(await takeAnswers(session, [{ ...given, decision: { ...approved, by: 'x' } }])).toEqual([
      { ...given, decision: approved },
    ]);
    expect(await codeOf(takeAnswers(session, [approval('c')]))).toBe('E_WRONG_ANSWER');
  });

  test('to sub-agents are given there, when all others have passed', async () => {
    const given: unknown[][] = [];
    const child = Object.assign(sessionOf({ step: asks() }).session, {
      respond: async (...said: unknown[]) => void given.push(said),
    });
    const { session } = sessionOf({ open: [], child });
    expect(await takeAnswers(session, [approval('c#policy', { by: bob })])).toEqual([{ kind: 'continue' }]);
    expect(given).toEqual([['c#policy', { kind: 'approve', by: bob }]]);
    const unknown = sessionOf({ open: [], child });
    let n = 0;
    Object.assign(unknown.session.subagents ?? {}, { find: async () => (n++ === 0 ? child : undefined) });
    const inputs = [approval('c#policy'), approval('x')];
    expect(await codeOf(takeAnswers(unknown.session, inputs))).toBe('E_UNKNOWN_REQUEST');
    expect(given).toHaveLength(1);
    const refusing = Object.assign(sessionOf({ step: asks({ approvers: { roles: ['boss'] } }) }).session, {
      respond: async (...said: unknown[]) => void given.push(said),
    });
    const refused = takeAnswers(sessionOf({ open: [], child: refusing }).session, [approval('c#policy')]);
    expect(await codeOf(refused)).toBe('E_NOT_APPROVER');
    expect(given).toHaveLength(1);
  });
});
