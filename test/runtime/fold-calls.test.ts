import { describe, expect, test } from 'vitest';
import type { Ask, EventInit } from '../../src/runtime/index.ts';
import { Folding } from './folding.ts';

const ask = (requestId: string, kind: Ask['kind'] = 'tool_confirmation'): Ask => ({
  requestId,
  callId: requestId.split('#')[0] ?? '',
  kind,
  message: '?',
});

describe('a call', () => {
  test('is open as the model has made it, and counts once', () => {
    const f = new Folding();
    f.call(['c1', 'c2'], { branch: 'b', thread: 'b.x', path: 'p', longRunningToolIds: ['c2'], timestamp: 7 });
    expect([...f.fold.open.keys()]).toEqual(['c1', 'c2']);
    expect(f.fold.totalCalls).toBe(2);
    const { cutIds: _, ...call } = f.fold.calls.get('c1') ?? { cutIds: new Set() };
    expect(call).toStrictEqual({
      id: 'c1',
      name: 'tool c1',
      args: { of: 'c1' },
      path: 'p',
      author: 'bot',
      turnId: 't',
      requestedAt: 7,
      longRunning: false,
      handledBy: 'agent',
      hooked: false,
      version: 0,
      started: false,
      attempts: 0,
      asks: [],
      hostAnswers: [],
      branch: 'b',
      thread: 'b.x',
    });
    expect(f.fold.calls.get('c2')?.longRunning).toBe(true);
  });

  test('brings what was announced with it', () => {
    const f = new Folding();
    const signals = { escalate: true };
    const meta = { handledBy: 'host', hooked: true, ask: 'why', asked: { hint: 'h' }, tool: { kind: 'read' }, signals };
    f.call(['c1'], { iso: 'i' }, meta);
    expect(f.fold.calls.get('c1')).toMatchObject({
      handledBy: 'host',
      hooked: true,
      floor: 'why',
      asked: { hint: 'h' },
      tool: { kind: 'read' },
      signals,
      iso: 'i',
    });
    f.call(['c2'], {}, { handledBy: 'agent', hooked: 'yes', ask: 1, signals: 'none' });
    const plain = f.fold.calls.get('c2');
    expect(plain).toMatchObject({ handledBy: 'agent', hooked: false });
    expect(Object.keys(plain ?? {})).not.toEqual(expect.arrayContaining(['floor']));
    expect([plain?.floor, plain?.signals, plain?.asked, plain?.tool]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(
      Object.keys(plain ?? {}).filter((name) => ['signals', 'asked', 'tool', 'branch', 'iso', 'thread'].includes(name)),
    ).toEqual([]);
  });

  test('is made in pieces beforehand, and the same', async () => {
    const f = new Folding();
    const event = { ...f.call(['c1', 'c2']), id: 'other', seq: 9 };
    const other = new Folding();
    await other.fold.prepare(event);
    expect(other.fold.calls.size).toBe(0);
    other.fold.apply(event);
    expect([...other.fold.open.keys()]).toEqual(['c1', 'c2']);
  });

  test('is started under the lease that the event names, each time anew', () => {
    const f = new Folding();
    f.call(['c1', 'c2']);
    f.act({ started: ['gone', 'c1'], startedIn: 4 });
    expect(f.fold.calls.get('c1')).toMatchObject({ started: true, attempts: 1, startedIn: 4, version: 1 });
    f.act({ started: ['c1'] });
    expect(f.fold.calls.get('c1')).toMatchObject({ started: true, attempts: 2, startedIn: 4, version: 2 });
    expect(f.fold.calls.get('c2')).toMatchObject({ started: false, attempts: 0 });
  });

  test('keeps when its decision was taken, between its starts and questions', () => {
    const f = new Folding();
    f.call(['c1']);
    f.act({ started: ['c1'] });
    f.act({ asks: [ask('c1#0')] });
    const decision = { outcome: 'approved' as const, by: 'kim' };
    f.act({ decisions: { gone: decision, c1: decision } });
    expect(f.fold.calls.get('c1')).toMatchObject({ decision, decidedAt: 2 });
    expect(f.fold.answers).toBe(2);
  });

  test('with a question is not under way any more, unless the question is whether it is to run again', () => {
    const f = new Folding();
    f.call(['c1', 'c2']);
    f.act({ started: ['c1', 'c2'] });
    f.act({ asks: [ask('gone#0'), ask('c1#0', 'rerun_unknown'), ask('c2#0')] }, { timestamp: 40 });
    expect(f.fold.calls.get('c1')).toMatchObject({ started: true });
    expect(f.fold.calls.get('c2')).toMatchObject({ started: false });
    expect(f.fold.calls.get('c2')?.asks).toEqual([{ ...ask('c2#0'), requestedAt: 40, attempt: 1 }]);
  });

  test('takes the answer to the question that was asked, and to no other', () => {
    const f = new Folding();
    f.call(['c1']);
    f.act({ asks: [ask('c1#0')] });
    f.act({ asks: [ask('c1#1')] });
    f.act({ answers: { 'c1#1': { action: 'accept' } } });
    f.act({ answers: { 'c1#9': { action: 'decline' }, 'gone#0': { action: 'decline' } } });
    expect(f.fold.calls.get('c1')?.asks.map(({ answer }) => answer)).toEqual([undefined, { action: 'accept' }]);
    expect(f.fold.calls.get('c1')?.hostAnswers).toEqual([]);
    expect(f.fold.answers).toBe(3);
  });

  test('keeps what the host put, and what was answered to it, with the start that it was for', () => {
    const f = new Folding();
    f.call(['c1']);
    f.act({ questions: [{ requestId: 'gone#policy' }, { requestId: 'c1#policy', ruleId: 'r' }] });
    f.act({ questions: [{ requestId: 'c1#policy', ruleId: 's' }] });
    f.act({ started: ['c1'] });
    f.act({ answers: { 'c1#policy': { action: 'accept', by: 'kim' } } });
    expect(f.fold.calls.get('c1')).toMatchObject({
      questions: [{ ruleId: 'r' }, { ruleId: 's' }],
      hostAnswers: [{ requestId: 'c1#policy', action: 'accept', by: 'kim', attempt: 1 }],
      asks: [],
    });
  });

  test('with a first word is not under way', () => {
    const f = new Folding();
    f.call(['c1']);
    f.act({ started: ['c1'] });
    f.act({ interim: { gone: {}, c1: { status: 'sent' } } });
    expect(f.fold.calls.get('c1')).toMatchObject({ started: false, interim: { status: 'sent' } });
    expect([...f.fold.open.keys()]).toEqual(['c1']);
  });

  test('that runs an agent is entered once that has been asked', () => {
    const f = new Folding();
    f.call(['c1'], { path: 'p' });
    const words = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'do' }] };
    f.add({ author: 'user', path: 'p/c1', iso: 'elsewhere', content: words });
    expect(f.fold.calls.get('c1')?.entered).toBeUndefined();
    expect(f.fold.activation('p/c1').input).toBe(false);
    f.add({ author: 'user', path: 'p/c1', iso: 'p/c1', content: words });
    expect(f.fold.calls.get('c1')?.entered).toBe(true);
    expect(f.fold.activation('p/c1').input).toBe(true);
    expect(f.fold.activation('p/c1').own).toEqual([]);
  });
});

describe('a response', () => {
  test('closes its call, and says how and by whom', () => {
    const f = new Folding();
    f.call(['c1', 'c2']);
    f.act({ started: ['c1'] });
    const seq = f.respond('c1', { customMetadata: { settledBy: 'kim' } }, { isError: true, errorType: 'failed' }).seq;
    f.respond('c2', { customMetadata: { settledBy: 3 } });
    expect(f.fold.open.size).toBe(0);
    const call = f.fold.calls.get('c1');
    expect(call?.started).toBe(false);
    expect(call?.settled).toStrictEqual({ seq, isError: true, errorType: 'failed', by: 'kim' });
    expect(f.fold.calls.get('c2')?.settled).toStrictEqual({ seq: seq + 1, isError: false });
  });

  test('that comes second changes nothing', () => {
    const f = new Folding();
    f.call(['c1']);
    f.respond('c1');
    f.respond('c1', {}, { isError: true });
    f.respond('gone');
    expect(f.fold.calls.get('c1')?.settled?.isError).toBe(false);
  });

  test('does what its event does, and what the hooks before its call wanted', () => {
    const f = new Folding();
    f.call(['c1'], {}, { signals: { transferToAgent: 'eve' } });
    f.call(['c2']);
    f.respond('c1', { actions: { escalate: true } });
    f.respond('c2', { actions: { skipSummarization: true } });
    expect(f.fold.calls.get('c1')?.effects).toMatchObject({ escalate: true, transferToAgent: 'eve' });
    expect(f.fold.calls.get('c2')?.effects).toMatchObject({ skipSummarization: true });
    expect(f.fold.calls.get('c2')?.effects?.transferToAgent).toBeUndefined();
  });

  const ended: Partial<EventInit> = { actions: { end: { reason: 'completed' } } };
  test.each<[string, boolean, boolean, { isError?: true; errorType?: string }, boolean]>([
    ['of a long-running call after the end is news', true, true, {}, true],
    ['of a long-running call within the turn is none', true, false, {}, false],
    ['of another call is none', false, true, {}, false],
    ['that gives the call up is none', true, true, { errorType: 'interrupted' }, false],
    ['that cancels the call is none', true, true, { errorType: 'cancelled' }, false],
    ['that says it has failed is news', true, true, { isError: true, errorType: 'failed' }, true],
  ])('%s', (_, isLong, isOver, part, expected) => {
    const f = new Folding();
    f.call(['c1'], isLong ? { longRunningToolIds: ['c1'] } : {});
    if (isOver) f.add(ended);
    f.respond('c1', {}, part);
    expect(f.fold.hasLateResult).toBe(expected);
    f.act({ turn: { start: 'bot' } }, { turnId: 'u' });
    expect(f.fold.hasLateResult).toBe(false);
  });
});

describe('a new turn', () => {
  test('keeps how the calls of the one before were closed, and those that are open', () => {
    const f = new Folding();
    f.call(['c1', 'c2']);
    f.respond('c1');
    f.act({ turn: { start: 'eve' }, trace: { traceparent: 'x' } }, { turnId: 'u' });
    expect([...f.fold.calls.keys()]).toEqual(['c2']);
    expect([...f.fold.closed.keys()]).toEqual(['c1']);
    expect(f.fold.turn).toEqual({
      id: 'u',
      start: 'eve',
      seq: 4,
      llmCalls: 0,
      usage: {},
      activeMs: 0,
      trace: { traceparent: 'x' },
    });
    f.respond('c2');
    expect([...f.fold.calls.keys()]).toEqual([]);
    expect([...f.fold.closed.keys()]).toEqual(['c1', 'c2']);
  });

  test('has no trace of its own unless one was given', () => {
    expect(Object.keys(new Folding().fold.turn ?? {})).not.toContain('trace');
  });

  test('forgets the terms of turns for which nothing is open', () => {
    const f = new Folding();
    f.act({ terms: { principal: { id: 'ann' } } });
    f.call(['c1']);
    f.act({ turn: { start: 'bot' }, terms: { principal: { id: 'bob' } } }, { turnId: 'u' });
    expect([...f.fold.terms.keys()]).toEqual(['t', 'u']);
    f.respond('c1');
    f.act({ turn: { start: 'bot' } }, { turnId: 'v' });
    expect([...f.fold.terms.keys()]).toEqual([]);
  });

  test('begins with no places, but for those in an agent that an open call runs', () => {
    const f = new Folding();
    f.call(['c1', 'c2'], { path: 'p' });
    const words = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'do' }] };
    f.add({ author: 'user', path: 'p/c1', iso: 'p/c1', content: words });
    f.speak('within', { path: 'p/c1/q', iso: 'p/c1' });
    f.speak('of another', { path: 'p/c2/q', iso: 'p/c2' });
    f.act({ stateDelta: { k: 1 } }, { iso: 'p/c1' });
    f.act({ stateDelta: { k: 2 } }, { iso: 'p/c2' });
    f.act({ turn: { start: 'bot' } }, { turnId: 'u' });
    expect([...f.fold.activations.keys()]).toEqual(['p/c1', 'p/c1/q']);
    expect([...f.fold.isolated.keys()]).toEqual(['p/c1']);
    expect([...f.fold.isolatedText.keys()]).toEqual(['p/c1']);
    f.respond('c1', { path: 'p' });
    f.act({ turn: { start: 'bot' } }, { turnId: 'v' });
    expect([f.fold.activations.size, f.fold.isolated.size, f.fold.isolatedText.size]).toEqual([0, 0, 0]);
  });
});
