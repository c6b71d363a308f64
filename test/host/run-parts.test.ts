import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ApprovalQuestion, ReportedRequest, RequestAnswer, StreamEndEvent } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { questionId } from '../../src/contracts/values/question-id.ts';
import type { HostedSession } from '../../src/host/hosted/hosted-session.ts';
import {
  asAbort,
  callsOf,
  hasClosed,
  hasOutlived,
  isOver,
  onAbort,
  resultInput,
} from '../../src/host/questions/run-inputs.ts';
import { WaitingQuestions } from '../../src/host/questions/waiting-questions.ts';
import { answerRun, askInRun } from '../../src/host/run/ask-in-run.ts';
import { closedEnd, failedEnd, pausedEnd, shownEnd } from '../../src/host/run/run-end.ts';
import { RunHold } from '../../src/host/run/run-hold.ts';
import { hold, putQuestions } from '../../src/session/index.ts';
import { call } from './judge-kit.ts';
import { door, refusal } from './kit.ts';
import { fakeRun, settle } from './run-kit.ts';

afterEach(() => void vi.useRealTimers());

const question = (more: object = {}) =>
  call({
    requestId: 'c#policy',
    kind: 'elicitation',
    approval: { title: 'Run pay?', preview: [], previewDigest: 'd', remember: [], requestedBy: { id: 'ann' } },
    ...more,
  } as never) as ApprovalQuestion;
const busy = () => new CoxswainError('ABORTED', 'E_SESSION_BUSY', 'busy');

describe('a question of a run', () => {
  test('is shown once, as what it is', () => {
    const { run, shown, announced } = fakeRun();
    run.questions.show(
      question({ message: 'Pay?', elicitation: 'rerun_unknown', expiresAt: 'soon', context: { a: 1 }, threadId: 'x' }),
    );
    run.questions.show(question());
    expect(announced).toEqual(['c#policy']);
    expect(shown).toEqual([
      {
        ...{ id: expect.any(String), timestamp: expect.any(String), sessionId: 's', streamId: 'x', source: 'host' },
        ...{ turnId: 't', agentId: 'bot', threadId: 'x', type: 'elicitation_request', requestId: 'c#policy' },
        ...{
          kind: 'rerun_unknown',
          message: 'Pay?',
          title: 'Run pay?',
          approval: question().approval,
          args: { eur: 5 },
          callId: 'c',
        },
        ...{ context: { a: 1 }, expiresAt: 'soon' },
      },
    ]);
    const bare = fakeRun();
    bare.run.questions.show(question({ callId: undefined, agentPath: [] }));
    expect(bare.shown[0]).toMatchObject({ kind: 'tool_confirmation', message: 'Run pay?' });
    for (const none of ['callId', 'context', 'expiresAt', 'agentId', 'threadId']) {
      expect(Object.keys(bare.shown[0] ?? {})).not.toContain(none);
    }
  });

  test('is not shown before the stream has begun; behind a fatal error it is announced alone', () => {
    const early = fakeRun({ run: { accepted: false } });
    early.run.questions.show(question());
    expect([early.shown, early.announced]).toEqual([[], []]);
    early.run.accepted = true;
    early.run.questions.show(question());
    expect([early.shown.length, early.announced]).toEqual([1, ['c#policy']]);
    const failed = fakeRun({ run: { hasFailed: true } });
    failed.run.questions.show(question());
    expect([failed.shown, failed.announced]).toEqual([[], ['c#policy']]);
  });

  test('that is answered was shown before, unless the answer is not taken', () => {
    const { run, shown } = fakeRun({ run: { accepted: false } });
    run.questions.answering(question())();
    const taken = run.questions.underWay(question());
    expect(run.questions.isAsking([question()])).toBe(true);
    expect(run.questions.isAsking([question({ requestId: 'other' })])).toBe(false);
    taken(true);
    expect(run.questions.isAsking([question()])).toBe(false);
    run.accepted = true;
    run.questions.show(question());
    expect(shown).toEqual([]);
    const other = fakeRun({ run: { accepted: false } });
    other.run.questions.underWay(question())(false);
    expect(other.wakes).toBe(1);
    other.run.accepted = true;
    other.run.questions.show(question());
    expect(other.shown).toHaveLength(1);
    // What was shown already stays so.
    other.run.questions.answering(question())();
    other.run.questions.show(question());
    expect(other.shown).toHaveLength(1);
  });

  test('is handed once to whoever answers here, and the answer is theirs', async () => {
    const given: unknown[] = [];
    const answered = door<RequestAnswer | undefined>();
    const onApproval = (asked: ReportedRequest, { signal }: { signal: AbortSignal }) => {
      given.push([asked.requestId, signal.aborted]);
      return answered.opened;
    };
    const made = fakeRun({ options: { onApproval } });
    made.run.questions.ask(question());
    made.run.questions.ask(question());
    expect(made.run.questions.isAsking([question()])).toBe(true);
    answered.open({ kind: 'approve' });
    await settle();
    const yes = { kind: 'approve', previewDigest: 'd' };
    expect([given, made.answers]).toEqual([[['c#policy', false]], [['c#policy', yes]]]);
    expect([made.run.questions.isAsking([question()]), made.wakes, made.shown.length]).toEqual([false, 1, 1]);
    const nobody = fakeRun();
    nobody.run.questions.ask(question());
    expect(nobody.run.questions.isAsking([question()])).toBe(false);
  });

  test('that nobody answers, or too late, stays open', async () => {
    const silent = fakeRun({ options: { onApproval: () => undefined } });
    silent.run.questions.ask(question());
    await settle();
    expect(silent.answers).toEqual([]);
    const answered = door<RequestAnswer>();
    const late = fakeRun({ options: { onApproval: () => answered.opened } });
    late.run.questions.ask(question());
    late.abort();
    answered.open({ kind: 'approve' });
    await settle();
    expect([late.answers, late.warnings, late.wakes]).toEqual([[], [], 1]);
  });

  test('whose answer is not taken is told of, unless somebody else was faster', async () => {
    const refused = (error: unknown) =>
      fakeRun({
        options: { onApproval: () => ({ kind: 'approve' }) },
        session: { respond: () => Promise.reject(error) },
      });
    const failing = refused(new Error('lost'));
    failing.run.questions.ask(question());
    await settle();
    expect(failing.warnings).toEqual([['the answer to c#policy was not taken; it stays open', new Error('lost')]]);
    expect(failing.run.questions.isAsking([question()])).toBe(false);
    for (const code of ['E_REQUEST_CLOSED', 'E_UNKNOWN_REQUEST', 'E_SESSION_CLOSED'] as const) {
      const faster = refused(new CoxswainError('FAILED_PRECONDITION', code, 'closed'));
      faster.run.questions.ask(question());
      await settle();
      expect(faster.warnings).toEqual([]);
    }
    const other = refused(busy());
    other.run.questions.ask(question());
    await settle();
    expect(other.warnings).toHaveLength(1);
  });

  test('of the agent’s own goes to whoever answers those, and is not shown again', async () => {
    const asked: string[] = [];
    const made = fakeRun({
      options: {
        onElicitation: ({ requestId }) => void asked.push(requestId),
        onApproval: () => ({ kind: 'approve' }),
      },
    });
    const { approval: _, ...words } = question();
    made.run.questions.elicit(words);
    made.run.questions.elicit(words);
    // What a person decides on is not for whoever answers those.
    made.run.questions.elicit({ ...question(), requestId: 'd#policy' });
    await settle();
    expect([asked, made.shown, made.answers]).toEqual([['c#policy'], [], []]);
  });

  test('that runs out of time wakes the run, the first of them', async () => {
    vi.useFakeTimers();
    const made = fakeRun();
    const at = (ms: number) => question({ expiresAt: new Date(Date.now() + ms).toISOString() });
    made.run.questions.watchTime([at(500), question(), at(200), at(900)]);
    vi.advanceTimersByTime(199);
    expect(made.wakes).toBe(0);
    vi.advanceTimersByTime(2);
    expect(made.wakes).toBe(1);
    made.run.questions.watchTime([at(-5000)]);
    vi.advanceTimersByTime(1);
    expect(made.wakes).toBe(2);
    made.run.questions.watchTime([at(100)]);
    made.run.questions.watchTime([question()]);
    expect(vi.getTimerCount()).toBe(0);
    made.run.questions.watchTime([at(100)]);
    made.run.questions.watchTime([at(100)]);
    expect(vi.getTimerCount()).toBe(1);
    made.run.questions.end();
    expect(vi.getTimerCount()).toBe(0);
    made.run.questions.watchTime([at(100 * 24 * 60 * 60_000)]);
    vi.advanceTimersByTime(1000);
    expect(made.wakes).toBe(2);
  });
});

describe('what a handler asks while it runs', () => {
  const form = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
  const asking = (given: Parameters<typeof fakeRun>[0] = {}, more: object = {}, request = call()) => {
    const put: unknown[] = [];
    const stored: unknown[][] = [];
    const inner = {
      [putQuestions]: async (questions: unknown) => void put.push(questions),
      respond: async (...said: unknown[]) => {
        stored.push(said);
        return { status: 'settled' };
      },
    };
    const made = fakeRun({ inner, ...given });
    const controller = new AbortController();
    const { name } = made.run.session.frame;
    const reply = askInRun(made.run, request, { message: 'How many?', ...more } as never, controller.signal);
    const answer = (kind: object, id = 'c#asked') => answerRun(made.run.session, id, kind as RequestAnswer);
    const open = () => made.run.session.frame.runTimeQuestions.of(name);
    return { ...made, put, stored, reply, answer, open, end: () => controller.abort() };
  };

  test('is a question of its call, which is shown, put and announced', async () => {
    const { shown, put, open, announced, answer, reply, stored } = asking(
      {},
      { requestedSchema: form, context: { a: 1 } },
      call({ decision: {} as never, answers: [], questions: [], message: 'announced', threadId: 'x' }),
    );
    await settle();
    const [request] = open();
    expect(request).toStrictEqual({
      ...call({ threadId: 'x' }),
      ...{ requestId: 'c#asked', kind: 'elicitation', elicitation: 'clarification', started: true, running: true },
      ...{ message: 'How many?', requestedAt: expect.any(String), requestedSchema: form, context: { a: 1 } },
    });
    expect([put, announced]).toEqual([[[{ requestId: 'c#asked', reason: 'How many?' }]], ['c#asked']]);
    expect(shown).toMatchObject([
      {
        ...{ type: 'elicitation_request', requestId: 'c#asked', kind: 'clarification', message: 'How many?' },
        ...{ callId: 'c', requestedSchema: form, context: { a: 1 }, threadId: 'x', turnId: 't' },
      },
    ]);
    expect(await answer({ kind: 'elicitation', action: 'accept', content: { n: 5 } })).toEqual({ status: 'settled' });
    expect(await reply).toEqual({ action: 'accept', content: { n: 5 } });
    expect(stored).toEqual([
      ['c#asked', { kind: 'elicitation', action: 'accept', content: { n: 5 }, by: { id: 'ann' } }],
    ]);
    expect(open()).toEqual([]);
    expect(await answer({ kind: 'approve' })).toBeUndefined();
  });

  test('is a yes or no without a form', async () => {
    const { shown, open, answer, reply, stored } = asking();
    await settle();
    expect(open()[0]?.elicitation).toBe('user_approval');
    expect(Object.keys(shown[0] ?? {})).not.toContain('requestedSchema');
    expect(Object.keys(shown[0] ?? {})).not.toContain('context');
    await answer({ kind: 'approve', by: { id: 'bob' } });
    expect([await reply, stored[0]?.[1]]).toEqual([
      { action: 'accept' },
      { kind: 'elicitation', action: 'accept', by: { id: 'bob' } },
    ]);
    const no = asking();
    await settle();
    await no.answer({ kind: 'deny' });
    expect(await no.reply).toEqual({ action: 'decline' });
    const bare = asking({}, { message: undefined });
    await settle();
    expect([bare.put, bare.shown[0]]).toMatchObject([[[{ requestId: 'c#asked' }]], { message: '' }]);
    expect(Object.keys((bare.put[0] as object[])[0] ?? {})).toEqual(['requestId']);
    bare.end();
    expect(await bare.reply).toEqual({ action: 'cancel' });
  });

  test('is answered with what fits its form, and with no result', async () => {
    const { answer, reply } = asking({}, { requestedSchema: form });
    await settle();
    for (const wrong of [
      { kind: 'result', result: { content: [] } },
      { kind: 'elicitation', action: 'accept' },
      { kind: 'elicitation', action: 'accept', content: { n: 'x' } },
    ]) {
      expect((await refusal(answer(wrong))).code).toBe('E_WRONG_ANSWER');
    }
    expect((await refusal(answer({ kind: 'result', result: {} }))).message).toContain('accept, decline or cancel');
    await answer({ kind: 'elicitation', action: 'cancel', content: { n: 'x' } });
    expect(await reply).toEqual({ action: 'cancel' });
  });

  test('has the next number behind what was answered before', async () => {
    const made = asking();
    await settle();
    void made.end();
    await made.reply;
    const { run } = made;
    const again = (callOfIt: ReportedRequest) =>
      run.session.frame.runTimeQuestions.put('u/s', callOfIt, { message: 'm' } as never, {}, () => {}).requestId;
    expect(again(call())).toBe(questionId('c', 'asked', 1));
    run.session.frame.runTimeQuestions.over('u/s', 'c');
    expect(again(call())).toBe('c#asked');
    const answers = ['c#asked.4', 'c#policy.9'].map((requestId) => ({ requestId, action: 'accept' }));
    expect(again(call({ answers } as never))).toBe('c#asked.5');
    expect(again(call({ callId: 'd', answers } as never))).toBe('d#asked.5');
    expect(again(call({ callId: undefined, requestId: 'e' } as never))).toBe('e#asked');
    run.session.frame.runTimeQuestions.take('u/s', 'unknown');
    run.session.frame.runTimeQuestions.take('other', 'c#asked');
    expect(run.session.frame.runTimeQuestions.of('u/s').map(({ requestId }) => requestId)).toEqual([
      ...['c#asked.1', 'c#asked', 'c#asked.5', 'd#asked.5', 'e#asked'],
    ]);
  });

  test('is a cancel where nobody can be asked, or wants to know', async () => {
    const alone = asking({ frame: { grounds: () => ({ interactive: false }) } });
    expect([await alone.reply, alone.open()]).toEqual([{ action: 'cancel' }, []]);
    const over = fakeRun();
    expect(await askInRun(over.run, call(), { message: 'm' } as never, AbortSignal.abort())).toEqual({
      action: 'cancel',
    });
    expect(over.shown).toEqual([]);
    const ended = asking();
    await settle();
    ended.end();
    expect([await ended.reply, ended.open()]).toEqual([{ action: 'cancel' }, []]);
  });

  test('fails where it cannot be kept, and is open no longer', async () => {
    const inner = { [putQuestions]: () => Promise.reject(new Error('full')) };
    const made = asking({ inner });
    await expect(made.reply).rejects.toThrow('full');
    expect(made.open()).toEqual([]);
    const plain = asking({ inner: { respond: async () => ({ status: 'waiting_quorum' }) } });
    await settle();
    expect(await plain.answer({ kind: 'approve' })).toEqual({ status: 'waiting_quorum' });
    expect(plain.open()).toHaveLength(1);
    plain.end();
    expect(await plain.reply).toEqual({ action: 'cancel' });
  });

  test('is handed to whoever answers the agent’s own questions', async () => {
    const { reply } = asking({ options: { onElicitation: () => undefined } });
    await settle();
    const early = asking({ run: { accepted: false } });
    await settle();
    expect([early.shown, early.announced]).toEqual([[], ['c#asked']]);
    early.end();
    const failed = asking({ run: { hasFailed: true } });
    await settle();
    expect([failed.shown, failed.announced]).toEqual([[], ['c#asked']]);
    failed.end();
    expect(await failed.reply).toEqual({ action: 'cancel' });
    expect(await Promise.race([reply, 'waits'])).toBe('waits');
  });
});

describe('questions that wait', () => {
  const grounds = {
    policy: { evaluate: () => ({ outcome: 'allow' }) },
    principal: { id: 'ann' },
    permissionMode: 'default',
    interactive: true,
  } as never;
  const step = (more: object = {}) => ({ kind: 'ask', question: question(more) }) as never;

  test('are not judged again on the same grounds, as long as nothing was said of them', () => {
    const waiting = new WaitingQuestions();
    const request = Object.freeze(call());
    expect(waiting.of(request, grounds)).toBeUndefined();
    const kept = step();
    waiting.keep(request, grounds, kept);
    expect(waiting.of(request, grounds)).toBe(kept);
    expect(waiting.of(Object.freeze(call()), grounds)).toBeUndefined();
    for (const other of [
      { policy: {} },
      { principal: { id: 'ann' } },
      { permissionMode: 'plan' },
      { interactive: false },
    ]) {
      expect(waiting.of(request, { ...(grounds as object), ...other } as never)).toBeUndefined();
    }
    waiting.keep(request, grounds, { kind: 'leave' });
    expect(waiting.of(request, grounds)).toBe(kept);
    const open = call();
    waiting.keep(open, grounds, kept);
    expect(waiting.of(open, grounds)).toBeUndefined();
  });

  test('are judged again once their time is over', () => {
    vi.useFakeTimers();
    const waiting = new WaitingQuestions();
    const request = Object.freeze(call());
    waiting.keep(request, grounds, step({ expiresAt: new Date(Date.now() + 100).toISOString() }));
    vi.advanceTimersByTime(99);
    expect(waiting.of(request, grounds)).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(waiting.of(request, grounds)).toBeUndefined();
  });
});

describe('a session that a run holds', () => {
  const held = (
    pending: () => ReportedRequest[],
    {
      take = async () => async () => {},
      ...more
    }: { take?: () => Promise<() => Promise<void>> } & Record<string, unknown> = {},
  ) => {
    const counts = { taken: 0, back: 0 };
    const warnings: string[] = [];
    const session = {
      id: 's',
      inner: {
        pending: async () => pending(),
        [hold]: async () => {
          const back = await take();
          counts.taken++;
          return async () => {
            counts.back++;
            await back();
          };
        },
      },
      pending: async () => [],
      frame: {
        options: { approvalPollMs: 100 },
        warn: (text: string) => void warnings.push(text),
        hasSubagents: false,
      },
      ...more,
    } as unknown as HostedSession;
    return { made: new RunHold(session), counts, warnings };
  };

  test('is given back once, and told of where it cannot be', async () => {
    const { made, counts, warnings } = held(() => []);
    expect(made.isHeld).toBe(false);
    await made.letGo();
    await made.take();
    expect(made.isHeld).toBe(true);
    await made.letGo();
    await made.letGo();
    expect([made.isHeld, counts, warnings]).toEqual([false, { taken: 1, back: 1 }, []]);
    const failing = held(() => [], { take: async () => () => Promise.reject(new Error('away')) });
    await failing.made.take();
    await failing.made.letGo();
    expect([failing.made.isHeld, failing.warnings]).toEqual([false, ['session s could not be given back yet']]);
    const plain = new RunHold({ inner: {} } as never);
    await plain.take();
    expect([plain.isHeld, await plain.pause([], [])]).toEqual([false, false]);
  });

  test.each<[string, ReportedRequest[], boolean]>([
    ['nothing', [call()], false],
    ['a call more', [call(), call({ requestId: 'd', callId: 'd' })], true],
    ['a call less', [], true],
    ['another call', [call({ requestId: 'd', callId: 'd' })], true],
    ['a start', [call({ started: true })], true],
    ['a decision', [call({ decision: { outcome: 'approved', by: 'user:bob' } as never })], true],
    ['an answer', [call({ answers: [{ requestId: 'c#policy', action: 'accept' }] as never })], true],
  ])('is taken again at a pause where others have moved it: %s', async (_, now, isMoved) => {
    const { made, counts } = held(() => now);
    await made.take();
    expect(await made.pause([call()], [])).toBe(isMoved);
    expect([made.isHeld, counts]).toEqual([isMoved, { taken: isMoved ? 2 : 1, back: 1 }]);
  });

  test('moves below, too', async () => {
    const subagents = (ids: string[], hasSubagents = true) =>
      held(() => [call()], {
        pending: async () => ids.map((requestId) => ({ requestId })),
        frame: { options: {}, hasSubagents },
      });
    const asked = [{ requestId: 'q' }, { requestId: 'r' }] as ReportedRequest[];
    const cases: [string[], ReportedRequest[], boolean, boolean][] = [
      [['q', 'r'], asked, true, false],
      [['q', 'x'], asked, true, true],
      [['q', 'x'], asked, false, false],
      [['q'], [], true, false],
    ];
    for (const [ids, questions, hasSubagents, isMoved] of cases) {
      const { made } = subagents(ids, hasSubagents);
      await made.take();
      expect(await made.pause([call()], questions)).toBe(isMoved);
    }
  });

  test('is left to somebody else who has taken it meanwhile; another fault is one', async () => {
    const taking = (error: unknown) => {
      let n = 0;
      return held(() => [], { take: () => (n++ === 0 ? Promise.resolve(async () => {}) : Promise.reject(error)) });
    };
    const other = taking(busy());
    await other.made.take();
    expect(await other.made.pause([call()], [])).toBe(false);
    for (const error of [new Error('lost'), new CoxswainError('DATA_LOSS', 'E_STORE', 'lost')]) {
      const { made } = taking(error);
      await made.take();
      await expect(made.pause([call()], [])).rejects.toThrow('lost');
    }
  });

  test('is looked at now and then, one look at a time, while it is held', async () => {
    vi.useFakeTimers();
    let now = [call()];
    let looks = 0;
    let slow: Promise<void> | undefined;
    const { made, warnings } = held(() => now, {
      inner: {
        pending: async () => {
          looks++;
          await slow;
          if (now.length > 5) throw new Error('away');
          return now;
        },
        [hold]: async () => async () => {},
      },
    });
    let wakes = 0;
    made.watch([call()], [], () => wakes++)();
    expect(vi.getTimerCount()).toBe(0);
    await made.take();
    const leave = made.watch([call()], [], () => wakes++);
    await vi.advanceTimersByTimeAsync(100);
    expect([looks, wakes]).toEqual([1, 0]);
    now = [];
    await vi.advanceTimersByTimeAsync(100);
    expect([looks, wakes]).toEqual([2, 1]);
    const wait = door();
    slow = wait.opened;
    await vi.advanceTimersByTimeAsync(300);
    expect(looks).toBe(3);
    now = Array(6).fill(call());
    wait.open();
    await vi.advanceTimersByTimeAsync(0);
    expect([wakes, warnings]).toEqual([
      1,
      ['session s: what others have answered could not be read; the next look is as usual'],
    ]);
    slow = undefined;
    await vi.advanceTimersByTimeAsync(100);
    expect(looks).toBe(4);
    leave();
    await vi.advanceTimersByTimeAsync(1000);
    expect([looks, vi.getTimerCount()]).toEqual([4, 0]);
  });
});

describe('the end of a stream', () => {
  const end = (more: object = {}, data: object = {}) =>
    ({ id: 'e', type: 'stream_end', reason: 'input_required', seq: 5, data, ...more }) as unknown as StreamEndEvent;
  const transfer = { requestId: 'tr', to: 'x' };

  test('at a pause says what is open; a transfer that it is about stays one', () => {
    const asked = [question()];
    expect(pausedEnd(end({ reason: 'completed' }, { usage: {} }), asked)).toMatchObject({
      reason: 'input_required',
      data: { usage: {}, pending: asked },
    });
    const moved = { requestId: 'tr' } as ReportedRequest;
    expect(pausedEnd(end({ reason: 'transfer' }, { transfer }), [moved])).toMatchObject({
      reason: 'transfer',
      data: { transfer, pending: [moved] },
    });
    for (const open of [[question()], [moved, question()], []]) {
      const paused = pausedEnd(end({ reason: 'transfer' }, { transfer }), open);
      expect([paused.reason, 'transfer' in paused.data]).toEqual(['input_required', false]);
    }
  });

  test('shows what is open behind it as the questions that they are', async () => {
    const settled = vi.fn(async () => {});
    const open = [question(), question({ requestId: 'below' }), call({ requestId: 'd', callId: 'd' })];
    const made = fakeRun({
      session: { pending: async () => open },
      called: { settled, hasAsked: (id: string) => id === 'below' },
    });
    const given = end({ reason: 'completed' }, { pending: [call()], usage: {} });
    expect(await shownEnd(made.run, given)).toMatchObject({ data: { pending: open, usage: {} } });
    expect(made.shown.map((event) => 'requestId' in event && event.requestId)).toEqual(['c#policy']);
    expect(settled).toHaveBeenCalledTimes(1);
    const pending = [call()];
    for (const kept of [
      end({ seq: undefined }, { pending }),
      end({}, {}),
      end({}, { pending: [] }),
      end({}, { pending, transfer }),
      end({ reason: 'failed' }, { pending }),
    ]) {
      expect(await shownEnd(made.run, kept)).toBe(kept);
    }
  });

  test('of one that was accepted and failed says so, and what is open', async () => {
    const made = fakeRun({ inner: { pending: async () => [call()] } });
    const lost = await failedEnd(made.run, new CoxswainError('DATA_LOSS', 'E_STORE', 'away', { retryable: true }));
    expect(lost).toMatchObject({ type: 'stream_end', reason: 'failed', data: { pending: [{ requestId: 'c' }] } });
    expect(made.shown).toMatchObject([
      { type: 'error', status: 'DATA_LOSS', code: 'E_STORE', message: 'away', retryable: true, fatal: true },
    ]);
    const unreadable = fakeRun({ inner: { pending: () => Promise.reject(new Error('away')) } });
    expect((await failedEnd(unreadable.run, new Error('odd'))).data).toEqual({});
    expect(unreadable.shown).toMatchObject([
      { status: 'INTERNAL', code: 'E_INTERNAL', message: 'odd', retryable: false },
    ]);
    expect(unreadable.warnings).toEqual([['session s: what is open is not known', new Error('away')]]);
  });

  test('of one that was refused is the refusal, unless a sub-agent that has outlived the turn asks again', async () => {
    const completed = new CoxswainError('FAILED_PRECONDITION', 'E_TURN_COMPLETED', 'over');
    const detached = call({ detached: true, turnId: 'old' } as never);
    const of = (waits: boolean, request = detached, introducedBy: string | undefined = undefined) => {
      const released: unknown[] = [];
      const made = fakeRun({
        run: { accepted: false },
        inner: { pending: async () => [request] },
        session: { pending: async () => [question()], introducedBy },
        subagents: () => ({ waitsFor: async () => (waits ? [question()] : undefined) }),
        called: { release: (stream: unknown) => void released.push(stream) },
      });
      return { ...made, released };
    };
    const asks = of(true);
    expect(await failedEnd(asks.run, completed)).toMatchObject({
      ...{
        type: 'stream_end',
        reason: 'input_required',
        turnId: 'old',
        data: { pending: [{ requestId: 'c#policy' }] },
      },
    });
    expect(asks.shown).toMatchObject([
      { type: 'initialize', agentId: 'bot', interfaceVersion: expect.any(String) },
      { type: 'elicitation_request', requestId: 'c#policy' },
    ]);
    expect([asks.run.accepted, asks.run.session.introducedBy, asks.released]).toEqual([true, 'host', [asks.run.below]]);
    const known = of(true, detached, 'agent');
    await failedEnd(known.run, completed);
    expect(known.shown.map(({ type }) => type)).toEqual(['elicitation_request']);
    await expect(failedEnd(of(false).run, completed)).rejects.toBe(completed);
    await expect(failedEnd(of(true, call()).run, completed)).rejects.toBe(completed);
    const other = busy();
    await expect(failedEnd(of(true).run, other)).rejects.toBe(other);
    await expect(failedEnd(of(true).run, 'odd')).rejects.toBe('odd');
  });

  test('has what sub-agents have come to, and comes whatever becomes of them', async () => {
    const retained: unknown[] = [];
    const of = (closed: () => Promise<StreamEndEvent>, has = true) => {
      const made = fakeRun({
        inner: { pending: async () => [call()] },
        frame: { confirmations: { has: () => has }, judge: { retain: (open: unknown) => void retained.push(open) } },
      });
      return { ...made, run: Object.assign(made.run, { closed }) };
    };
    const given = end();
    const other = end({ id: 'f' });
    expect(await closedEnd(of(async () => other).run, given)).toBe(other);
    expect(retained).toEqual([[call({ requestedAt: expect.any(String) as never })]]);
    await closedEnd(of(async () => other, false).run, given);
    expect(retained).toHaveLength(1);
    const failing = of(() => Promise.reject(new Error('away')));
    expect(await closedEnd(failing.run, given)).toBe(given);
    expect(failing.warnings).toEqual([['session s: what its sub-agents have come to is not known', new Error('away')]]);
  });
});

describe('inputs of a run', () => {
  test('results are of the call', () => {
    const result = { content: [] };
    expect(resultInput(call({ requestId: 'q' }), result, undefined)).toStrictEqual({
      ...{ kind: 'tool_result', requestId: 'c', result },
    });
    const decision = { outcome: 'approved', by: 'policy' } as const;
    expect(resultInput(call({ requestId: 'q', callId: undefined as never }), result, decision, true)).toStrictEqual({
      ...{ kind: 'tool_result', requestId: 'q', result, decision, interim: true },
    });
  });

  test('what has closed, outlived its turn or is over is told apart', () => {
    const one = (requestId: string) => call({ requestId });
    expect(hasClosed([one('a'), one('b')], [one('b')])).toBe(true);
    expect(hasClosed([one('a')], [one('b'), one('a')])).toBe(false);
    expect(hasClosed([], [])).toBe(false);
    const said = (detached: boolean | undefined, ...answers: object[]) =>
      hasOutlived(call({ detached, answers } as never));
    expect([said(true, {}), said(true, { quorum: 2 }), said(true, { quorum: 2 }, {}), said(true)]).toEqual([
      ...[true, false, true, false],
    ]);
    expect([said(false, {}), hasOutlived(call({ detached: true } as never))]).toEqual([false, false]);
    const ended = (reason: string, data: object = {}) => isOver({ reason, data } as never);
    expect([ended('completed'), ended('input_required'), ended('completed', { transfer: {} })]).toEqual([
      ...[true, false, false],
    ]);
    const list = [call({ callId: 'a' }), call({ callId: 'b' })];
    expect([...callsOf(list)]).toEqual(['a', 'b']);
    expect(callsOf(list)).toBe(callsOf(list));
  });

  test('an abort is told now or later, once, until nobody listens', () => {
    const told: CoxswainError[] = [];
    onAbort(AbortSignal.abort('gone'), (reason) => told.push(reason));
    expect(told[0]).toMatchObject({ code: 'E_ABORTED', message: 'gone' });
    const controller = new AbortController();
    const leave = onAbort(controller.signal, (reason) => told.push(reason));
    onAbort(controller.signal, (reason) => told.push(reason))();
    expect(told).toHaveLength(1);
    const error = busy();
    controller.abort(error);
    expect(told.slice(1)).toEqual([error]);
    leave();
    expect(asAbort(error)).toBe(error);
    expect([asAbort(undefined).message, asAbort(new Error('x')).message, asAbort('y').status]).toEqual([
      ...['aborted', 'x', 'ABORTED'],
    ]);
  });
});
