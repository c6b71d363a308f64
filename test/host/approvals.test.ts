import { describe, expect, test, vi } from 'vitest';
import type {
  AgentEvent,
  HostAnswer,
  PolicyDecision,
  Principal,
  RequestAnswer,
  Session,
} from '../../src/contracts/index.ts';
import { InMemorySessionService, presetPolicy, rulePolicy } from '../../src/index.ts';
import type { SessionKey } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import {
  all,
  bot,
  brief,
  door,
  endOf,
  firstOf,
  follow,
  hostOf,
  notingTool,
  ofType,
  only,
  policyOf,
  refusal,
  results,
  say,
  tool,
} from './kit.ts';

const eur = {
  inputSchema: { type: 'object', properties: { eur: { type: 'number', maximum: 1000 } }, required: ['eur'] },
};
const ann: Principal = { id: 'ann', roles: ['clerk'] };
const bob: Principal = { id: 'bob', roles: ['boss'] };
const cat: Principal = { id: 'cat', roles: ['boss'] };
const bosses = { approvers: { roles: ['boss'] } };

type Answer = Parameters<Session['respond']>[1];

/** A session that ann has opened, paused at a question about `pay({eur: 5})`. */
async function asking(
  ask: Partial<PolicyDecision> | ((args: Record<string, unknown>) => PolicyDecision) = {},
  options: Parameters<typeof hostOf>[1] & { extra?: Parameters<typeof notingTool>[1] } = {},
) {
  const { extra, ...rest } = options;
  const pay = notingTool('pay', { ...eur, ...extra });
  const model = new ScriptedModel([{ calls: [['pay', { eur: 5 }]] }, 'done']);
  const policy = policyOf({
    pay: typeof ask === 'function' ? ({ args = {} }) => ask(args) : { outcome: 'ask', ...ask },
  });
  const bench = hostOf(bot(model), { tools: [pay.tool], policy, principal: ann, ...rest });
  const session = await bench.host.open('bot');
  const events = await say(session, 'go');
  return { ...bench, session, pay, model, policy, events, question: await only(session) };
}

/** Resolves when the session's turn has ended, whoever runs it. */
async function turnEnd(session: Session): Promise<string> {
  for await (const event of session.events({ live: true })) if (event.type === 'stream_end') return event.reason;
  return 'never';
}

describe('a question', () => {
  test('F20 a yes of a caller starts nothing by itself: that is its host’s to say', async () => {
    const { session, question, pay } = await asking();
    const yes: HostAnswer = { kind: 'approve', starts: true };
    expect(await session.respond(question.requestId, yes)).toMatchObject({ status: 'settled' });
    expect(await session.respond(question.requestId, yes)).toMatchObject({ status: 'already_settled' });
    expect(pay.runs).toEqual([]);
    const events = await all(session.events());
    expect(ofType(events, 'tool_update').filter(({ status }) => status === 'started')).toEqual([]);
    await say(session, { kind: 'continue' });
    expect(pay.runs).toHaveLength(1);
    // Nor can it bring back a call that is done.
    expect(await session.respond(question.requestId, yes)).toMatchObject({ status: 'already_settled' });
    expect(pay.runs).toHaveLength(1);
  });

  test('S3-63 is an object: what would run, why, asked by whom, bound to a digest; listed, got and watched', async () => {
    const pay = notingTool('pay', {
      ...eur,
      displayName: 'Pay',
      preview: ({ eur: amount }) => [{ type: 'text', text: `${amount} EUR` }],
    });
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: { outcome: 'ask', reason: 'money', ruleId: 'r1' } }),
      principal: ann,
    });
    const session = await host.open('bot');
    const watched = host.approvals.watch();
    const first = watched.next();
    const [asked] = ofType(await say(session, 'go'), 'elicitation_request');
    const question = await only(session);
    expect(asked).toMatchObject({ kind: 'tool_confirmation', title: 'Run Pay?', approval: question.approval });
    expect(question).toMatchObject({
      requestId: `${question.callId}#policy`,
      kind: 'elicitation',
      name: 'pay',
      args: { eur: 5 },
      agentPath: ['bot'],
      started: false,
      approval: {
        title: 'Run Pay?',
        reason: 'money',
        ruleId: 'r1',
        preview: [{ type: 'text', text: '5 EUR' }],
        previewDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        requestedBy: ann,
      },
    });
    expect((await first).value).toMatchObject({
      agent: 'bot',
      userId: 'local',
      request: { requestId: question.requestId },
    });
    await watched.return?.();
    expect(await host.approvals.list()).toEqual([
      { agent: 'bot', userId: 'local', request: question, cursor: expect.any(String) },
    ]);
    expect(await host.approvals.list({ sessionId: 'another' })).toEqual([]);
    expect((await host.approvals.get(question.requestId))?.request).toEqual(question);
    expect(await host.approvals.get('nobody')).toBeUndefined();
    expect(pay.runs).toEqual([]);
  });

  test('S3-63 questions of all users’ sessions are found, by a host that holds none of them', async () => {
    const make = (store?: Parameters<typeof hostOf>[1] & object) =>
      hostOf(bot([{ calls: [['pay', { eur: 5 }]] }, { calls: [['pay', { eur: 6 }]] }, 'a', 'b']), {
        tools: [notingTool('pay', eur).tool],
        policy: policyOf({ pay: 'ask' }),
        ...store,
      });
    const { host, store } = make();
    for (const userId of ['ann', 'eve']) await say(await host.open('bot', { userId }), 'go');
    await host.close();
    const later = make({ store });
    expect((await later.host.approvals.list()).map(({ userId, request }) => [userId, request.args])).toEqual([
      ['ann', { eur: 5 }],
      ['eve', { eur: 6 }],
    ]);
  });
});

test.each([1000, Number.POSITIVE_INFINITY])('S3-63 other processes are asked every %d ms', async (approvalPollMs) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const store = new InMemorySessionService();
    const looks = vi.spyOn(store, 'openCalls');
    const questions = hostOf(bot(['x']), { store, approvalPollMs }).host.approvals.watch();
    const first = questions.next();
    await vi.advanceTimersByTimeAsync(1500);
    expect(looks).toHaveBeenCalledTimes(1 + Math.floor(1500 / approvalPollMs));
    await questions.return?.();
    await first;
    await vi.advanceTimersByTimeAsync(1500);
    expect(looks).toHaveBeenCalledTimes(1 + Math.floor(1500 / approvalPollMs));
  } finally {
    vi.useRealTimers();
  }
});

describe('answers', () => {
  test('S3-63 an answer is durable when respond resolves; the run goes on when somebody continues', async () => {
    const { session, question, pay } = await asking();
    expect(await session.respond(question.requestId, { kind: 'approve', reason: 'fine' })).toMatchObject({
      status: 'settled',
      by: 'ann',
    });
    expect(ofType(await all(session.events()), 'elicitation_response')).toMatchObject([
      { requestId: question.requestId, action: 'accept', by: 'ann', reason: 'fine' },
    ]);
    expect(pay.runs).toEqual([]);
    const events = await say(session, { kind: 'continue' });
    expect([results(events), endOf(events).reason]).toEqual([{ pay: 'pay done' }, 'completed']);
    expect(ofType(events, 'custom').find(({ kind }) => kind === 'policy_decision')).toMatchObject({
      data: { outcome: 'approved', by: 'user:ann' },
    });
  });

  test('S3-63 decide settles for somebody else, and the run goes on though nobody watches', async () => {
    const { host, session, question, pay } = await asking(bosses);
    const ended = turnEnd(session);
    expect(await host.approvals.decide(question.requestId, { kind: 'approve' }, { by: bob })).toEqual({
      status: 'settled',
      by: 'bob',
    });
    expect(await ended).toBe('completed');
    expect(pay.runs).toEqual([{ eur: 5 }]);
    expect(await host.approvals.list()).toEqual([]);
  });

  test('S3-63 decide on a host that holds no session: the run goes on there', async () => {
    const { store, question, pay, session } = await asking(bosses);
    const later = hostOf(bot(['done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
      principal: ann,
      store,
    });
    const watcher = await later.host.open('bot', { sessionId: session.id });
    const ended = turnEnd(watcher);
    await later.host.approvals.decide(question.requestId, { kind: 'approve' }, { by: bob });
    expect(await ended).toBe('completed');
    expect(pay.runs).toEqual([{ eur: 5 }]);
  });

  test('S3-63 a session that is deleted while the others are looked through keeps nobody from answering there', async () => {
    const gone: SessionKey[] = [];
    class Deleting extends InMemorySessionService {
      override async openCalls(scope: { app: string; userId?: string }) {
        const calls = await super.openCalls(scope);
        for (const key of gone) await this.delete(key);
        return calls;
      }
    }
    const store = new Deleting();
    const { session: first } = await asking(bosses, { store });
    const { session, question, policy, pay } = await asking(bosses, { store });
    const other = hostOf(bot(new ScriptedModel(['done'])), { tools: [pay.tool], policy, store }).host;
    gone.push({ app: 'shop', userId: 'local', id: first.id });
    const settlement = await other.approvals.decide(question.requestId, { kind: 'approve' }, { by: bob });
    expect(settlement).toMatchObject({ status: 'settled' });
    expect(await turnEnd(session)).toBe('completed');
    expect(pay.runs).toEqual([{ eur: 5 }]);
  });

  test('S3-63 F23 two approvers at once: one settles, the other learns who did; the tool runs as the first said', async () => {
    const { host, session, question, pay } = await asking(bosses);
    const ended = turnEnd(session);
    const answers = await Promise.all([
      host.approvals.decide(question.requestId, { kind: 'approve' }, { by: bob }),
      session.respond(question.requestId, { kind: 'deny', by: cat }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['already_settled', 'settled']);
    expect(new Set(answers.map(({ by }) => by)).size).toBe(1);
    if (answers[0]?.status !== 'settled') await say(session, { kind: 'continue' });
    await ended;
    expect(pay.runs).toHaveLength(answers[0]?.status === 'settled' ? 1 : 0);
  });

  test('S3-63 an answer while the stream waits is seen by it; a second click is already_settled', async () => {
    const pay = notingTool('pay', eur);
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: { outcome: 'ask', ...bosses } }),
      onApproval: () => new Promise(() => {}),
    });
    const session = await host.open('bot');
    const stream = follow(session, 'go');
    const { requestId } = await stream.seen('elicitation_request');
    expect(await host.approvals.decide(requestId, { kind: 'approve' }, { by: bob })).toMatchObject({
      status: 'settled',
    });
    expect(await session.respond(requestId, { kind: 'deny', by: cat })).toMatchObject({
      status: 'already_settled',
      by: 'bob',
    });
    const events = await stream.ended;
    expect([pay.runs.length, endOf(events).reason]).toEqual([1, 'completed']);
    expect(ofType(events, 'elicitation_response')).toMatchObject([{ requestId, action: 'accept', by: 'bob' }]);
  });

  test('S3-63 an answer at the very moment when the stream pauses is not lost', async () => {
    for (let wait = 0; wait < 120; wait++) {
      const { host, pay, session, question } = await asking(bosses);
      const ended = turnEnd(session);
      const pausing = all(session.stream({ kind: 'continue' })).catch(() => []);
      for (let n = 0; n < wait; n++) await Promise.resolve();
      await host.approvals.decide(question.requestId, { kind: 'approve' }, { by: bob });
      await pausing;
      expect([wait, await ended, pay.runs.length]).toEqual([wait, 'completed', 1]);
    }
  });

  test('S3-63 S3-29 deny: not run, the reason reaches the model', async () => {
    const { session, question, pay, model } = await asking();
    await session.respond(question.requestId, { kind: 'deny', reason: 'too dear' });
    const events = await say(session, { kind: 'continue' });
    expect([results(events).pay, pay.runs]).toEqual(['denied: too dear', []]);
    expect(JSON.stringify(model.requests[1]?.contents)).toContain('too dear');
  });

  test('S3-75 elicitation actions answer it too: accept runs, decline denies, cancel never ran', async () => {
    for (const [action, outcome] of [
      ['accept', 'pay done'],
      ['decline', 'denied'],
      ['cancel', 'cancelled: it never ran'],
    ] as const) {
      for (const way of ['respond', 'stream'] as const) {
        const { session, question, pay } = await asking();
        if (way === 'respond') await session.respond(question.requestId, { kind: 'elicitation', action });
        const response = { kind: 'elicitation_response' as const, requestId: question.requestId, response: { action } };
        const events = await say(session, way === 'stream' ? response : { kind: 'continue' });
        expect([action, way, results(events).pay, pay.runs.length]).toEqual([
          action,
          way,
          outcome,
          action === 'accept' ? 1 : 0,
        ]);
      }
    }
  });

  test('F23 unknown, foreign, forged or stale ids and wrong kinds: typed errors, nothing stored', async () => {
    const { host, session, question } = await asking();
    const other = await asking();
    const before = (await all(session.events())).length;
    const { callId = '' } = question;
    const tries: [string, Answer, string][] = [
      ['nobody', { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      ['__proto__', { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      ['', { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      [`${callId}#policy.1`, { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      [`${callId}#rerun`, { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      [`${callId}#0`, { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      [other.question.requestId, { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      [question.requestId, { kind: 'result', result: { content: [] } }, 'E_WRONG_ANSWER'],
      [question.requestId, { kind: 'approve', args: { eur: 5000 } }, 'E_WRONG_ANSWER'],
      [question.requestId, { kind: 'approve', args: { eur: 'all' } }, 'E_WRONG_ANSWER'],
      [question.requestId, { kind: 'approve', previewDigest: '0'.repeat(64) }, 'E_PREVIEW_CHANGED'],
    ];
    for (const [id, answer, code] of tries) {
      expect((await refusal(session.respond(id, answer))).code, `respond ${id}`).toBe(code);
      if (typeof answer === 'string' || answer.kind === 'result' || id === '') continue;
      const input = {
        kind: 'tool_approval' as const,
        requestId: id,
        ...('args' in answer && answer.args ? { args: answer.args } : {}),
        ...('previewDigest' in answer ? { previewDigest: answer.previewDigest ?? '' } : {}),
      };
      expect((await refusal(firstOf(session, input))).code, `stream ${id}`).toBe(code);
    }
    expect((await refusal(host.approvals.decide('nobody', { kind: 'approve' }, { by: bob }))).code).toBe(
      'E_UNKNOWN_REQUEST',
    );
    expect(await all(session.events())).toHaveLength(before);
    expect(await only(session)).toEqual(question);
  });

  test('F23 S3-24 results of tools that the host runs are taken from nobody', async () => {
    const { session, question, pay } = await asking();
    const result = { content: [{ type: 'text' as const, text: 'paid, believe me' }] };
    const { callId = '' } = question;
    expect((await refusal(session.respond(callId, { kind: 'result', result }))).code).toBe('E_WRONG_ANSWER');
    expect((await refusal(firstOf(session, { kind: 'tool_result', requestId: callId, result }))).code).toBe(
      'E_WRONG_ANSWER',
    );
    expect([pay.runs, (await only(session)).requestId]).toEqual([[], question.requestId]);
  });

  test('F23 edited arguments: validated, asked of policy again, run; both versions in the log', async () => {
    const { session, question, pay, policy } = await asking();
    await session.respond(question.requestId, { kind: 'approve', args: { eur: 3 } });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 3 }]);
    expect(policy.asked.map(({ args }) => args)).toContainEqual({ eur: 3 });
    const log = await all(session.events());
    expect(ofType(log, 'tool_request')[0]?.args).toEqual({ eur: 5 });
    expect(ofType(log, 'custom').find(({ kind }) => kind === 'policy_decision')).toMatchObject({
      data: { args: { eur: 3 } },
    });
  });

  test('F23 edited arguments that policy denies do not run', async () => {
    const { session, question, pay } = await asking(({ eur: amount }) =>
      Number(amount) > 100 ? { outcome: 'deny', reason: 'above 100' } : { outcome: 'ask' },
    );
    await session.respond(question.requestId, { kind: 'approve', args: { eur: 500 } });
    const events = await say(session, { kind: 'continue' });
    expect([results(events).pay, pay.runs]).toEqual(['denied by policy: above 100', []]);
  });

  test('F23 edited arguments that others must decide on are asked of these', async () => {
    const { host, session, question, pay } = await asking(({ eur: amount }) =>
      Number(amount) > 100 ? { outcome: 'ask', approvers: { roles: ['boss'] } } : { outcome: 'ask' },
    );
    await session.respond(question.requestId, { kind: 'approve', args: { eur: 500 } });
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('input_required');
    expect(pay.runs).toEqual([]);
    const again = await only(session);
    expect(again).toMatchObject({ args: { eur: 500 }, approval: { approvers: { roles: ['boss'] } } });
    expect((await refusal(session.respond(again.requestId, { kind: 'approve' }))).code).toBe('E_NOT_APPROVER');
    const ended = turnEnd(session);
    await host.approvals.decide(again.requestId, { kind: 'approve' }, { by: bob });
    expect([await ended, pay.runs]).toEqual(['completed', [{ eur: 500 }]]);
  });

  test('S3-63 the preview changed between question and yes: asked again under a new id', async () => {
    let price = 1;
    const preview = () => [{ type: 'text' as const, text: `costs ${price}` }];
    const { session, question, pay } = await asking({}, { extra: { preview } });
    await session.respond(question.requestId, { kind: 'approve' });
    price = 2;
    const events = await say(session, { kind: 'continue' });
    const [again] = ofType(events, 'elicitation_request');
    expect(again?.requestId).toBe(`${question.callId}#policy.1`);
    expect(again?.approval?.preview).toEqual([{ type: 'text', text: 'costs 2' }]);
    expect(pay.runs).toEqual([]);
    expect(await session.respond(question.requestId, { kind: 'approve' })).toMatchObject({ status: 'already_settled' });
    await session.respond(again?.requestId ?? '', {
      kind: 'approve',
      previewDigest: again?.approval?.previewDigest ?? '',
    });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toHaveLength(1);
  });

  test('a yes that does not say what was shown is to what was shown last, and refused where that has changed', async () => {
    let price = 1;
    const preview = () => [{ type: 'text' as const, text: `costs ${price}` }];
    const { session, question, pay } = await asking({}, { extra: { preview } });
    price = 2;
    const refused = await refusal(session.respond(question.requestId, { kind: 'approve' }));
    expect(refused).toMatchObject({ code: 'E_PREVIEW_CHANGED' });
    const [again] = ofType(await say(session, { kind: 'continue' }), 'elicitation_request');
    expect(again).toMatchObject({ requestId: question.requestId, approval: { preview: preview() } });
    expect(pay.runs).toEqual([]);
    await session.respond(question.requestId, { kind: 'approve' });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toHaveLength(1);
  });

  test('a preview that is another each time is kept so many times and no more', async () => {
    let price = 1;
    const preview = () => [{ type: 'text' as const, text: `costs ${price++}` }];
    const { session, question } = await asking({}, { extra: { preview } });
    for (let time = 0; time < 30; time++) await say(session, { kind: 'continue' });
    const { inner } = session as unknown as { inner: Session };
    const [open] = (await inner.pending()).map(({ questions = [] }) => questions);
    expect(open?.filter(({ requestId }) => requestId === question.requestId)).toHaveLength(16);
  });

  test('a yes of onApproval is to what it was shown: another preview by then is asked about again', async () => {
    let price = 1;
    const preview = () => [{ type: 'text' as const, text: `costs ${price}` }];
    const warned: string[] = [];
    const pay = notingTool('pay', { ...eur, preview });
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }]), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
      warn: (message) => void warned.push(message),
      onApproval: () => {
        price++;
        return { kind: 'approve' };
      },
    });
    expect(endOf(await say(await host.open('bot'), 'go')).reason).toBe('input_required');
    expect(pay.runs).toEqual([]);
    expect(warned).toEqual([expect.stringContaining('it stays open')]);
  });

  test('S3-63 a preview that throws or never comes is no preview; it holds nobody up', async () => {
    vi.useFakeTimers();
    try {
      const broken = await asking({}, { extra: { preview: () => Promise.reject(new Error('no page')) } });
      expect(broken.question.approval?.preview).toEqual([{ type: 'text', text: 'There is no preview: no page' }]);
      const pay = notingTool('pay', { ...eur, preview: () => new Promise<never>(() => {}) });
      const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }]), {
        tools: [pay.tool],
        policy: policyOf({ pay: 'ask' }),
      });
      const session = await host.open('bot');
      const stream = follow(session, 'go');
      await stream.seen('tool_request');
      await session.abort();
      expect(endOf(await stream.ended).reason).toBe('aborted');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('who may decide', () => {
  test('S3-65 S3-63 the requester is refused where policy says so; somebody else may', async () => {
    const { host, session, question, pay } = await asking({ approvers: { notRequester: true } });
    for (const work of [
      () => session.respond(question.requestId, { kind: 'approve' }),
      () => session.respond(question.requestId, { kind: 'deny', by: ann }),
      () => firstOf(session, { kind: 'tool_approval', requestId: question.requestId }),
      () => host.approvals.decide(question.requestId, { kind: 'approve' }, { by: ann }),
      () => session.respond(question.callId ?? '', { kind: 'approve' }),
    ]) {
      expect(await refusal(work())).toMatchObject({ status: 'PERMISSION_DENIED', code: 'E_NOT_APPROVER' });
    }
    expect(await host.approvals.list({ approver: ann })).toEqual([]);
    expect(await host.approvals.list({ approver: bob })).toHaveLength(1);
    const ended = turnEnd(session);
    await host.approvals.decide(question.requestId, { kind: 'approve' }, { by: bob });
    expect([await ended, pay.runs.length]).toEqual(['completed', 1]);
  });

  test('S3-63 a role is required', async () => {
    const { session, question, pay } = await asking({ approvers: { roles: ['boss', 'owner'] } });
    expect((await refusal(session.respond(question.requestId, { kind: 'approve' }))).message).toContain('boss, owner');
    await session.respond(question.requestId, { kind: 'approve', by: bob });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toHaveLength(1);
  });

  test('S3-63 a quorum: each person counts once, by whichever way; the last vote decides', async () => {
    const { host, session, question, pay } = await asking({ approvers: { roles: ['clerk', 'boss'], quorum: 3 } });
    const { requestId } = question;
    expect(await session.respond(requestId, { kind: 'approve' })).toMatchObject({ status: 'waiting_quorum' });
    expect((await session.respond(requestId, { kind: 'approve' })).status).not.toBe('settled');
    const voted = await say(session, { kind: 'tool_approval', requestId, by: bob });
    expect([endOf(voted).reason, pay.runs]).toEqual(['input_required', []]);
    const votes = ofType(await all(session.events()), 'custom').filter(({ kind }) => kind === 'ext:approval_vote');
    expect(votes.map(({ data }) => (data as { by: string }).by)).toEqual(['ann', 'bob']);
    const ended = turnEnd(session);
    expect(await host.approvals.decide(requestId, { kind: 'approve' }, { by: cat })).toMatchObject({
      status: 'settled',
    });
    expect([await ended, pay.runs.length]).toEqual(['completed', 1]);
  });

  test('S3-63 votes for other arguments do not add up; one no is enough', async () => {
    const { session, question, pay } = await asking({ approvers: { quorum: 2 } });
    const { requestId } = question;
    expect((await session.respond(requestId, { kind: 'approve', by: bob })).status).toBe('waiting_quorum');
    expect((await session.respond(requestId, { kind: 'approve', args: { eur: 900 }, by: cat })).status).toBe(
      'waiting_quorum',
    );
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([]);
    expect((await session.respond(requestId, { kind: 'deny', by: ann })).status).toBe('settled');
    expect(results(await say(session, { kind: 'continue' })).pay).toBe('denied');
  });

  test('S3-63 the stored answer of one who may not (any more) does not let it run', async () => {
    const { store, session, question, pay } = await asking();
    await session.respond(question.requestId, { kind: 'approve' });
    const strict = policyOf({ pay: { outcome: 'ask', approvers: { notRequester: true } } });
    const later = hostOf(bot(['done']), { tools: [pay.tool], policy: strict, principal: ann, store });
    const again = await later.host.open('bot', { sessionId: session.id });
    const [asked] = ofType(await say(again, { kind: 'continue' }), 'elicitation_request');
    expect([pay.runs, asked?.requestId]).toEqual([[], `${question.callId}#policy.1`]);
  });
});

describe('handlers', () => {
  test('F20 a handler’s yes, no, silence, nonsense and failure', async () => {
    const cases: [string, () => RequestAnswer | undefined | Promise<RequestAnswer | undefined>, string, number][] = [
      ['yes', () => ({ kind: 'approve' }), 'completed', 1],
      ['no', async () => ({ kind: 'deny', reason: 'no' }), 'completed', 0],
      ['silence', () => undefined, 'input_required', 0],
      ['nonsense', () => ({ kind: 'shrug' }) as never, 'input_required', 0],
      ['failure', () => Promise.reject(new Error('crashed')), 'input_required', 0],
      [
        'throw',
        () => {
          throw new Error('crashed');
        },
        'input_required',
        0,
      ],
    ];
    for (const [name, onApproval, reason, runs] of cases) {
      const pay = notingTool('pay', eur);
      const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }, 'done']), {
        tools: [pay.tool],
        policy: policyOf({ pay: 'ask' }),
        onApproval,
      });
      const events = await say(await host.open('bot'), 'go');
      expect([name, endOf(events).reason, pay.runs.length]).toEqual([name, reason, runs]);
    }
  });

  test('S3-63 a stream does not end while a handler still thinks; a finished sibling is settled meanwhile', async () => {
    const thinking = door();
    const goOn = door();
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }], ['look']] }, 'done']), {
      tools: [notingTool('pay', eur).tool, notingTool('look').tool],
      policy: policyOf({ pay: 'ask' }),
      onApproval: async () => {
        thinking.open();
        await goOn.opened;
        return { kind: 'approve' };
      },
    });
    const session = await host.open('bot');
    const stream = follow(session, 'go');
    await thinking.opened;
    await stream.seen('tool_response', ({ name }) => name === 'look');
    expect((await only(session)).name).toBe('pay');
    goOn.open();
    expect(endOf(await stream.ended).reason).toBe('completed');
  });

  test('F20 nobody to ask: a question is a no', async () => {
    for (const [options, word] of [
      [{ interactive: false }, 'denied: nobody can be asked here'],
      [{ permissionMode: 'dont_ask' }, 'denied by policy: This call needs approval and nobody is asked in this mode.'],
    ] as const) {
      const pay = notingTool('pay', eur);
      const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }, 'done']), {
        tools: [pay.tool],
        policy: policyOf({ pay: 'ask' }),
        ...options,
      });
      const events = await say(await host.open('bot'), 'go');
      expect([results(events).pay, pay.runs, endOf(events).reason]).toEqual([word, [], 'completed']);
    }
  });
});

describe('expiry', () => {
  test('F20 nobody answered in time: denied while the stream waits, also the earlier of two questions', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      const { host } = hostOf(
        bot([
          {
            calls: [
              ['short', {}],
              ['long', {}],
            ],
          },
          'done',
        ]),
        {
          tools: [notingTool('short').tool, notingTool('long').tool],
          policy: policyOf({
            short: { outcome: 'ask', expiresIn: 60 },
            long: { outcome: 'ask', expiresIn: 5_000_000 },
          }),
          onApproval: () => new Promise(() => {}),
        },
      );
      const session = await host.open('bot');
      const stream = follow(session, 'go');
      const first = await stream.seen('elicitation_request', ({ message }) => message.includes('long'));
      expect(Date.parse(first.expiresAt ?? '')).toBeGreaterThan(Date.now());
      await stream.seen('elicitation_request', ({ message }) => message.includes('short'));
      // Both are shown before the run waits.
      for (let n = 0; n < 50; n++) await Promise.resolve();
      await vi.advanceTimersByTimeAsync(61_000);
      const response = await stream.seen('tool_response');
      expect(response).toMatchObject({ name: 'short', errorType: 'denied' });
      expect(stream.events.some(({ type }) => type === 'stream_end')).toBe(false);
      await session.abort();
      await stream.ended;
    } finally {
      vi.useRealTimers();
    }
  });

  test('F20 after its time a question is closed: no answer reopens it, and it is denied when the session goes on', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const { session, question, pay } = await asking({ expiresIn: 60 });
      vi.setSystemTime(Date.now() + 61_000);
      expect((await only(session)).approval).toBeUndefined();
      const yes = { kind: 'approve' as const, previewDigest: question.approval?.previewDigest ?? '' };
      for (const id of [question.requestId, question.callId ?? '']) {
        expect((await refusal(session.respond(id, yes))).code).toMatch(
          /E_UNKNOWN_REQUEST|E_WRONG_ANSWER|E_REQUEST_CLOSED/,
        );
        expect((await refusal(firstOf(session, { kind: 'tool_approval', requestId: id }))).code).toMatch(
          /E_UNKNOWN_REQUEST|E_WRONG_ANSWER|E_REQUEST_CLOSED/,
        );
      }
      const events = await say(session, { kind: 'continue' });
      expect([results(events).pay, pay.runs]).toEqual(['denied: nobody answered in time', []]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('remembered answers', () => {
  const policy = () =>
    rulePolicy([{ id: 'hard', tool: 'wipe', outcome: 'ask' }], { fallback: presetPolicy('default') });

  async function remembering(options: Parameters<typeof hostOf>[1] = {}) {
    const pay = notingTool('pay', eur);
    const calls = () => ({ calls: [['pay', { eur: 5 }]] as const });
    const bench = hostOf(bot([calls(), 'a', calls(), 'b', calls(), 'c']), {
      tools: [pay.tool],
      policy: policy(),
      ...options,
    });
    const session = await bench.host.open('bot');
    await say(session, 'go');
    return { ...bench, pay, session, question: await only(session) };
  }

  test('S3-63 "always" for the session holds there and nowhere else', async () => {
    const { host, pay, session, question } = await remembering();
    expect(question.approval?.remember.map(({ scope }) => scope)).toEqual(['session', 'user']);
    await session.respond(question.requestId, { kind: 'approve', remember: 0 });
    await say(session, { kind: 'continue' });
    expect(endOf(await say(session, 'again')).reason).toBe('completed');
    expect(pay.runs).toHaveLength(2);
    const other = await host.open('bot');
    expect(endOf(await say(other, 'go')).reason).toBe('input_required');
  });

  test('S3-63 "always" for the user holds in the user’s other sessions, also in those that have rules of their own', async () => {
    const { host, pay, session, question } = await remembering();
    const other = await host.open('bot');
    await session.respond(question.requestId, { kind: 'approve', remember: 1 });
    await say(session, { kind: 'continue' });
    expect(endOf(await say(other, 'go')).reason).toBe('completed');
    expect(pay.runs).toHaveLength(2);
    const eve = await host.open('bot', { userId: 'eve' });
    expect(endOf(await say(eve, 'go')).reason).toBe('input_required');
  });

  test('S3-63 "always" is offered only for what it may loosen', async () => {
    const offered = async (
      name: string,
      extra: Parameters<typeof notingTool>[1] = {},
      options: Parameters<typeof hostOf>[1] = {},
    ) => {
      const { host } = hostOf(bot([{ calls: [[name]] }]), {
        tools: [notingTool(name, extra).tool],
        policy: policy(),
        ...options,
      });
      const session = await host.open('bot');
      await say(session, 'go');
      return (await only(session)).approval?.remember.length;
    };
    expect(await offered('pay')).toBe(2);
    // A firm rule of the organisation.
    expect(await offered('wipe')).toBe(0);
    // The author's floor stays, whatever policy says.
    expect(await offered('pay', { needsApproval: true })).toBe(0);
    expect(await offered('pay', { annotations: { readOnly: true }, needsApproval: true })).toBe(0);
    // A policy that takes no rules.
    expect(await offered('pay', {}, { policy: policyOf({ pay: 'ask' }) })).toBe(0);
    // A name that would be read as a pattern.
    expect(await offered('p*')).toBe(0);
  });

  test('S3-63 a remembered yes gives way to plan mode', async () => {
    const { pay, session, question } = await remembering();
    await session.respond(question.requestId, { kind: 'approve', remember: 1 });
    await say(session, { kind: 'continue' });
    expect(results(await say(session, 'again', { permissionMode: 'plan' })).pay).toMatch(/^denied/);
    expect(pay.runs).toHaveLength(1);
  });
});

describe('a host tool’s own question', () => {
  function confirming() {
    const confirmed: unknown[] = [];
    const pay = tool('pay', (_, context) => {
      confirmed.push(context.confirmation);
      if (!context.confirmation) context.requestConfirmation({ hint: 'Really?', payload: { n: 1 } });
      return 'paid';
    });
    return { pay, confirmed };
  }

  test('S3-26 S3-27 S3-28 is asked through the host; on yes the handler runs once more, confirmed', async () => {
    const { pay, confirmed } = confirming();
    const { host } = hostOf(bot([{ calls: [['pay']] }, 'done']), { tools: [pay], policy: policyOf({}) });
    const session = await host.open('bot');
    const [asked] = ofType(await say(session, 'go'), 'elicitation_request');
    expect(asked).toMatchObject({ kind: 'tool_confirmation', message: 'Really?', context: { payload: { n: 1 } } });
    expect(asked?.approval?.remember).toEqual([]);
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    expect(results(await say(session, { kind: 'continue' }))).toEqual({ pay: 'paid' });
    expect(confirmed).toEqual([undefined, { confirmed: true, payload: { n: 1 } }]);
  });

  test('F20 S3-28 the yes to policy’s question is no answer to the handler’s', async () => {
    const { pay, confirmed } = confirming();
    const { host } = hostOf(bot([{ calls: [['pay']] }, 'done']), {
      tools: [pay],
      policy: policyOf({ pay: 'ask' }),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    const events = await say(session, { kind: 'continue' });
    expect([endOf(events).reason, confirmed]).toEqual(['input_required', [undefined]]);
    const question = await only(session);
    expect(question.message).toBe('Really?');
    await session.respond(question.requestId, { kind: 'deny' });
    expect(results(await say(session, { kind: 'continue' })).pay).toMatch(/^denied/);
    expect(confirmed).toEqual([undefined]);
  });
});

test('S3-63 every answer, decision and outcome can be read out of the log in order', async () => {
  const { host, session, question } = await asking(bosses);
  const ended = turnEnd(session);
  await host.approvals.decide(question.requestId, { kind: 'approve', reason: 'ok' }, { by: bob });
  await ended;
  const log: AgentEvent[] = await all(session.events());
  expect(brief(log)).toEqual([
    'user: go',
    'call pay',
    'answer accept',
    'update started',
    'custom policy_decision',
    'pay = pay done',
    'agent: done',
    'end completed',
  ]);
});

describe('what an answer is made of', () => {
  test('edited arguments run as their check took them, not as they were typed', async () => {
    const { session, question, pay } = await asking();
    await session.respond(question.requestId, { kind: 'approve', args: { eur: '5' } });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 5 }]);
  });

  test('a number that is typed as text goes to those who decide on that number', async () => {
    const { session, question, pay } = await asking(({ eur: amount }) =>
      amount === 500 ? { outcome: 'ask', approvers: { roles: ['boss'] } } : { outcome: 'ask' },
    );
    await session.respond(question.requestId, { kind: 'approve', args: { eur: '500' } });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([]);
    expect(await only(session)).toMatchObject({ args: { eur: 500 }, approval: { approvers: { roles: ['boss'] } } });
  });

  const rubbish: unknown[] = [
    null,
    'yes',
    [],
    {},
    { kind: 'yes' },
    // Nobody in particular is somebody else than whoever asked.
    { kind: 'approve', by: 'ann' },
    { kind: 'approve', by: {} },
    { kind: 'approve', by: { id: '' } },
    { kind: 'approve', by: { id: 'bob', roles: 'boss' } },
    { kind: 'approve', by: null },
    { kind: 'approve', args: [1] },
    { kind: 'deny', reason: 5 },
    { kind: 'elicitation', action: 'sure' },
    { kind: 'result', result: 'paid' },
  ];
  test.each(rubbish)('%j is no answer: it is refused, nothing is stored, the question stays', async (answer) => {
    const { session, question, pay } = await asking({ approvers: { notRequester: true } });
    const before = await all(session.events());
    for (const id of [question.requestId, question.callId ?? '', 'unknown']) {
      await expect(session.respond(id, answer as RequestAnswer)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    }
    const principal = 'ann' as unknown as Principal;
    await expect(all(session.stream({ kind: 'continue' }, { principal }))).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
    });
    expect([await all(session.events()), pay.runs]).toEqual([before, []]);
    expect(await only(session)).toMatchObject({ requestId: question.requestId });
  });

  test('who somebody is and what is left out are said as they must be, or refused: no typo opens anything', async () => {
    const { host, session, question, pay } = await asking();
    const badInput = { code: 'E_BAD_INPUT' };
    // One text would be a list of letters, and leave out nothing.
    const excludeTools = 'pay' as unknown as string[];
    await expect(all(session.stream({ kind: 'continue' }, { excludeTools }))).rejects.toMatchObject(badInput);
    for (const limits of [5, { steps: 'x' }, { steps: -1 }, { usd: Number.NaN }] as never[]) {
      await expect(all(session.stream({ kind: 'continue' }, { limits }))).rejects.toMatchObject(badInput);
    }
    const nobody = {} as { by: Principal };
    await expect(host.approvals.decide(question.requestId, { kind: 'approve' }, nobody)).rejects.toMatchObject(
      badInput,
    );
    await expect(host.open('bot', { principal: 'ann' as unknown as Principal })).rejects.toMatchObject(badInput);
    expect([(await only(session)).requestId, pay.runs]).toEqual([question.requestId, []]);
  });
});
