import { describe, expect, test, vi } from 'vitest';
import type { HostAnswer, RequestAnswer, ToolResult } from '../../src/contracts/index.ts';
import type { AnswerOrigin, Ask } from '../../src/runtime/index.ts';
import { abandoned, answerEvent, answerId, responseEvent, settlementOf } from '../../src/runtime/index.ts';
import { Folding } from './folding.ts';

const host: AnswerOrigin = { streamId: 'st', invocationId: 'in', starts: true };
const other: AnswerOrigin = { ...host, starts: false };
const ok: ToolResult = { content: [{ type: 'text', text: 'done' }] };
const by = { id: 'kim', roles: ['boss'] };

function question(f: Folding, kind: Ask['kind'] = 'tool_confirmation', more: Partial<Ask> = {}): string {
  f.act({ asks: [{ requestId: 'c1#0', callId: 'c1', kind, message: '?', ...more }] });
  return 'c1#0';
}

function withCall(handledBy: 'host' | 'agent' = 'host'): Folding {
  const f = new Folding();
  f.call(['c1'], { path: 'p', branch: 'b', iso: 'i', thread: 'th' }, { handledBy });
  return f;
}

/** What is stored of an answer, or why it is refused. */
function given(f: Folding, requestId: string, answer: HostAnswer, origin = host) {
  try {
    return answerEvent(f.fold, requestId, answer, origin);
  } catch (error) {
    const { code, details } = error as { code: string; details: { how?: string } };
    return details.how === undefined ? code : `${code}: ${details.how}`;
  }
}

const actionsOf = (...about: Parameters<typeof given>) => {
  const event = given(...about);
  return typeof event === 'string' ? event : event.actions;
};

describe('an approval of a call', () => {
  test('stands where the call does, and has a name that two who give it at once share', () => {
    const f = withCall();
    const event = given(f, 'c1', { kind: 'approve' }, other);
    expect(event).toMatchObject({
      id: 'ok:c1',
      author: 'user',
      turnId: 't',
      streamId: 'st',
      invocationId: 'in',
      path: 'p',
      branch: 'b',
      iso: 'i',
      thread: 'th',
    });
    const plain = new Folding();
    plain.call(['c1']);
    const bare = Object.keys(given(plain, 'c1', { kind: 'approve' }, other));
    expect(bare.filter((name) => ['branch', 'iso', 'thread'].includes(name))).toEqual([]);
  });

  test('by somebody is theirs, with what they changed and why', () => {
    const f = withCall();
    expect(actionsOf(f, 'c1', { kind: 'approve' }, other)).toMatchObject({
      decisions: { c1: { outcome: 'approved', by: 'host' } },
    });
    const answer: RequestAnswer = { kind: 'approve', by, args: { n: 1 }, reason: 'fine' };
    const actions = actionsOf(f, 'c1', answer, other) as { decisions: object; started?: string[] };
    expect(actions.decisions).toStrictEqual({
      c1: { outcome: 'approved', by: 'user:kim', args: { n: 1 }, reason: 'fine' },
    });
    expect(actions.started).toBeUndefined();
  });

  test('by whoever runs it starts it, under the decision that was taken there', () => {
    const f = withCall();
    const decision = { outcome: 'approved' as const, by: 'policy' as const };
    const event = given(f, 'c1', { kind: 'approve', decision });
    expect(event).toMatchObject({ id: 'go.0:c1', actions: { started: ['c1'], decisions: { c1: decision } } });
    // Nobody else's word on a decision is taken.
    expect(actionsOf(f, 'c1', { kind: 'approve', decision }, other)).toMatchObject({
      decisions: { c1: { by: 'host' } },
    });
  });

  test('does not start what its agent runs', () => {
    const event = given(withCall('agent'), 'c1', { kind: 'approve' });
    expect(event).toMatchObject({ id: 'ok:c1' });
    expect((event as { actions: object }).actions).not.toHaveProperty('started');
  });

  test('is taken once', () => {
    const f = withCall();
    f.act({ decisions: { c1: { outcome: 'approved', by: 'kim' } } });
    expect(given(f, 'c1', { kind: 'approve' }, other)).toBe('E_REQUEST_CLOSED: approved');
    // The host starts what was approved before it came.
    expect(given(f, 'c1', { kind: 'approve' })).toMatchObject({ id: 'go.0:c1' });
    f.act({ started: ['c1'] });
    expect(given(f, 'c1', { kind: 'approve' })).toBe('E_REQUEST_CLOSED: approved');
    expect(given(f, 'c1', { kind: 'approve' }, { ...host, rerun: true })).toMatchObject({ id: 'go.1:c1' });
    expect(given(f, 'c1', { kind: 'approve' }, { ...other, rerun: true })).toBe('E_REQUEST_CLOSED: approved');
    f.act({ interim: { c1: {} } });
    expect(given(f, 'c1', { kind: 'approve' }, { ...host, rerun: true })).toBe('E_REQUEST_CLOSED: approved');
  });

  test('that was refused before may still be given', () => {
    const f = withCall();
    f.act({ decisions: { c1: { outcome: 'denied', by: 'kim' } } });
    expect(given(f, 'c1', { kind: 'approve' }, other)).toMatchObject({ id: 'ok:c1' });
  });
});

describe('a no, and a result', () => {
  test('close the call', () => {
    const f = withCall();
    const no = given(f, 'c1', { kind: 'deny', by, reason: 'too dear' }, other);
    expect(no).toMatchObject({
      id: 'res:c1',
      author: 'bot',
      customMetadata: { settledBy: 'kim' },
      content: { role: 'user', parts: [{ type: 'function_response', id: 'c1', name: 'tool c1', isError: true }] },
      actions: { decisions: { c1: { outcome: 'denied', by: 'user:kim', reason: 'too dear' } } },
    });
    expect(actionsOf(f, 'c1', { kind: 'deny' }, other)).toHaveProperty('decisions.c1', {
      outcome: 'denied',
      by: 'host',
    });
    const decision = { outcome: 'approved' as const, by: 'policy' as const };
    const result = given(f, 'c1', { kind: 'result', result: ok, by, decision });
    expect(result).toMatchObject({ customMetadata: { settledBy: 'kim' }, actions: { decisions: { c1: decision } } });
    const plain = given(f, 'c1', { kind: 'result', result: ok });
    expect(plain).not.toHaveProperty('customMetadata');
    expect((plain as { actions: object }).actions).not.toHaveProperty('decisions');
  });

  test('are all that a request to run something takes', () => {
    expect(given(withCall(), 'c1', { kind: 'elicitation', action: 'accept' })).toBe('E_WRONG_ANSWER');
  });
});

describe('a response', () => {
  test('has what the result has, and nothing beside', () => {
    const f = withCall();
    const call = f.fold.calls.get('c1');
    if (!call) throw new Error('there is no call');
    const part = (result: ToolResult) => responseEvent(call, result, host).content?.parts[0];
    expect(part(ok)).toStrictEqual({
      type: 'function_response',
      id: 'c1',
      name: 'tool c1',
      response: { content: 'done' },
    });
    const media = { type: 'media' as const, mimeType: 'image/png', data: 'AAAA' };
    const display = [{ type: 'text' as const, text: 'T' }];
    expect(part({ content: [media], isError: true, errorType: 'failed', display })).toMatchObject({
      content: [media],
      isError: true,
      errorType: 'failed',
      _meta: { display },
    });
    expect(responseEvent(call, ok, host, { actions: { escalate: true } }).actions.escalate).toBe(true);
  });

  test('to a call that nobody will answer says whether it may have run', () => {
    const f = new Folding();
    f.call(['c1', 'c2', 'c3', 'c4']);
    f.act({ started: ['c2'] });
    f.act({ interim: { c3: {} } });
    const words = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'do' }] };
    f.add({ author: 'user', path: '/c4', iso: '/c4', content: words });
    const types = [...f.fold.open.values()].map((call) => abandoned(call, 'why').errorType);
    expect(types).toEqual(['cancelled', 'interrupted', 'interrupted', 'interrupted']);
    for (const call of f.fold.open.values()) expect(abandoned(call, 'why', 'never').errorType).toBe('cancelled');
  });

  test('ATK10-02 says of a tool that may run again that it may have run, unless somebody is asked about it', () => {
    const f = new Folding();
    f.call(['c1', 'c2', 'c3', 'c4', 'c5'], {}, { handledBy: 'host', tool: { annotations: { idempotent: true } } });
    f.call(['c6'], {}, { handledBy: 'host', tool: { annotations: { destructive: true } } });
    const put = { answers: [], digest: 'd' };
    f.act({ questions: ['c2', 'c3', 'c4'].map((id) => ({ requestId: `${id}#policy`, ...put })) });
    f.act({ answers: { 'c3#policy': { action: 'accept', by: 'ann' } } });
    f.act({ answers: { 'c4#policy': { action: 'accept', by: 'ann', quorum: 2 } } });
    f.act({ asks: [{ requestId: 'c5#0', callId: 'c5', kind: 'confirmation', message: 'm' }] });
    const said = [...f.fold.open.values()].map((call) => [call.id, abandoned(call, 'why').content]);
    const text = (words: string) => [{ type: 'text', text: words }];
    const mayHave = text('cancelled (why): it may have run, its effects are unknown');
    const never = text('cancelled (why): it never ran');
    expect(said).toEqual([
      ['c1', mayHave],
      ['c2', never],
      ['c3', mayHave],
      ['c4', mayHave],
      ['c5', never],
      ['c6', never],
    ]);
  });
});

describe('the name of an answer', () => {
  test('is another one for each time that a rewind has cut it', () => {
    const id = (...cut: string[]) => answerId({ cutIds: new Set(cut) } as never, 'res:c1');
    expect(id()).toBe('res:c1');
    expect(id('res:c1')).toBe('res:c1~2');
    expect(id('res:c1', 'res:c1~2')).toBe('res:c1~3');
  });
});

describe('an answer to a question', () => {
  const stored = (f: Folding, answer: RequestAnswer) => {
    const actions = actionsOf(f, 'c1#0', answer);
    return typeof actions === 'string' ? actions : actions.answers?.['c1#0'];
  };

  test('is kept as it was given', () => {
    const f = withCall();
    question(f);
    expect(given(f, 'c1#0', { kind: 'approve' })).toMatchObject({ id: 'ans:c1#0', author: 'user', path: 'p' });
    expect(stored(f, { kind: 'approve' })).toStrictEqual({ action: 'accept' });
    expect(
      stored(f, { kind: 'approve', by: { id: 'kim' }, args: { n: 1 }, previewDigest: 'd', reason: 'r' }),
    ).toStrictEqual({
      action: 'accept',
      by: 'kim',
      args: { n: 1 },
      digest: 'd',
      reason: 'r',
    });
    expect(stored(f, { kind: 'deny', by, reason: 'no' })).toStrictEqual({
      action: 'decline',
      by: 'kim',
      roles: ['boss'],
      reason: 'no',
    });
    expect(stored(f, { kind: 'deny', reason: undefined })).toStrictEqual({ action: 'decline' });
    for (const action of ['accept', 'decline', 'cancel'] as const) {
      const content = { size: 3 };
      expect(stored(f, { kind: 'elicitation', action, content })).toStrictEqual({ action, content });
    }
    expect(stored(f, { kind: 'elicitation', action: 'maybe' as never })).toBe('E_WRONG_ANSWER');
    expect(stored(f, { kind: 'result', result: ok })).toBe('E_WRONG_ANSWER');
  });

  test('never holds a credential', () => {
    const f = withCall();
    question(f, 'auth_required');
    const content = { credential: 'secret' };
    expect(stored(f, { kind: 'elicitation', action: 'accept', content })).toStrictEqual({ action: 'accept' });
    expect(stored(f, { kind: 'approve', args: content })).toBe('E_WRONG_ANSWER');
  });

  test('is taken once, in time, and of a question that was asked', () => {
    const f = withCall();
    expect(given(f, 'c1#0', { kind: 'approve' })).toBe('E_UNKNOWN_REQUEST');
    expect(given(f, 'gone', { kind: 'approve' })).toBe('E_UNKNOWN_REQUEST');
    question(f, 'tool_confirmation', { expiresAt: Date.now() - 1 });
    expect(given(f, 'c1#0', { kind: 'approve' })).toBe('E_REQUEST_CLOSED: expired');
    // In the very millisecond, too: whoever looks at the call then settles it as out of time.
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const atTheEnd = withCall();
    question(atTheEnd, 'tool_confirmation', { expiresAt: Date.now() });
    expect(given(atTheEnd, 'c1#0', { kind: 'approve' })).toBe('E_REQUEST_CLOSED: expired');
    now.mockRestore();
    const g = withCall();
    question(g, 'tool_confirmation', { expiresAt: Date.now() + 60_000 });
    expect(given(g, 'c1#0', { kind: 'approve' })).toMatchObject({ id: 'ans:c1#0' });
    g.act({ answers: { 'c1#0': { action: 'decline' } } });
    expect(given(g, 'c1#0', { kind: 'approve' })).toBe('E_REQUEST_CLOSED: decline');
    g.respond('c1', {}, { errorType: 'denied' });
    expect(given(g, 'c1#0', { kind: 'approve' })).toBe('E_REQUEST_CLOSED: denied');
    g.act({ turn: { start: 'bot' } }, { turnId: 'u' });
    expect(given(g, 'c1#0', { kind: 'approve' })).toBe('E_REQUEST_CLOSED: denied');
    const h = withCall();
    h.respond('c1');
    expect(given(h, 'c1', { kind: 'approve' })).toBe('E_REQUEST_CLOSED: answered');
  });

  test('of the host is one for all, or one for each of several people and for what they were shown', () => {
    const f = withCall();
    const vote = (answer: object) => given(f, 'c1#policy', { kind: 'approve', ...answer } as RequestAnswer);
    const idOf = (answer: object) => (vote(answer) as { id: string }).id;
    expect(idOf({ by })).toBe('ans:c1#policy');
    expect(idOf({ by, quorum: 1 })).toBe('ans:c1#policy');
    expect(vote({ by, quorum: 2 })).toMatchObject({ actions: { answers: { 'c1#policy': { quorum: 2, by: 'kim' } } } });
    expect(vote({ by, quorum: '2' })).not.toMatchObject({ actions: { answers: { 'c1#policy': { quorum: '2' } } } });
    const one = { by, quorum: 2, previewDigest: 'd', args: { n: 1 } };
    const votes = [
      one,
      { ...one, by: { id: 'eve' } },
      { ...one, previewDigest: 'e' },
      { ...one, args: { n: 2 } },
      { by, quorum: 2 },
      { quorum: 2 },
    ].map(idOf);
    expect(new Set(votes).size).toBe(votes.length);
    expect(idOf({ ...one, reason: 'other words' })).toBe(votes[0]);
    f.act({ answers: { 'c1#policy': { action: 'accept', by: 'kim', quorum: 2 } } });
    expect(vote({ by: { id: 'eve' }, quorum: 2 })).toMatchObject({ author: 'user' });
    f.act({ answers: { 'c1#policy': { action: 'decline', by: 'eve' } } });
    expect(vote({ by })).toBe('E_REQUEST_CLOSED: decline');
  });
});

describe('how a request was answered', () => {
  test('is told to whoever comes second', () => {
    const f = withCall();
    expect(settlementOf(f.fold, 'gone')).toBeUndefined();
    expect(settlementOf(f.fold, 'c1')).toBeUndefined();
    question(f);
    expect(settlementOf(f.fold, 'c1#0')).toBeUndefined();
    f.act({ answers: { 'c1#0': { action: 'decline', by: 'kim' } } });
    expect(settlementOf(f.fold, 'c1#0')).toStrictEqual({ status: 'already_settled', outcome: 'decline', by: 'kim' });
  });

  test('is told of a question of the host, but not of one vote of several', () => {
    const f = withCall();
    f.act({ answers: { 'c1#policy': { action: 'accept', by: 'kim', quorum: 2 } } });
    expect(settlementOf(f.fold, 'c1#policy')).toBeUndefined();
    f.act({ answers: { 'c1#policy': { action: 'accept' } } });
    expect(settlementOf(f.fold, 'c1#policy')).toStrictEqual({ status: 'already_settled', outcome: 'accept' });
    expect(settlementOf(f.fold, 'c1#other')).toBeUndefined();
  });

  test.each<['approved' | 'denied', boolean, string | undefined, object]>([
    ['approved', false, undefined, { outcome: 'approve', by: 'ann' }],
    ['denied', false, undefined, { outcome: 'deny', by: 'ann' }],
    ['approved', true, undefined, { outcome: 'result', by: 'ann' }],
    ['approved', true, 'kim', { outcome: 'result', by: 'kim' }],
    ['denied', true, 'kim', { outcome: 'deny', by: 'ann' }],
  ])('%s, has a result: %s, by %s', (outcome, hasResult, settledBy, expected) => {
    const f = withCall();
    f.act({ decisions: { c1: { outcome, by: 'user:ann' } } });
    if (hasResult) f.respond('c1', settledBy === undefined ? {} : { customMetadata: { settledBy } });
    expect(settlementOf(f.fold, 'c1')).toStrictEqual({ status: 'already_settled', ...expected });
    expect(settlementOf(f.fold, 'c1#0')).toBeUndefined();
    const late = settlementOf(f.fold, 'c1', { kind: 'result', result: ok });
    // One that may run still waits for its result.
    expect(late === undefined).toBe(!hasResult);
  });
});
