import { expect, test } from 'vitest';
import { OpenRequests } from '../../src/runtime/index.ts';
import { Folding } from './folding.ts';
import { key } from './kit.ts';

const listed = (f: Folding) => new OpenRequests(key, () => ['root', 'bot']).of(f.fold);

const base = {
  sessionId: 's1',
  turnId: 't',
  callId: 'c1',
  name: 'tool c1',
  args: { of: 'c1' },
  started: false,
  path: 'p',
  agentPath: ['root', 'bot'],
};

test('a call that waits is listed as it is', () => {
  const f = new Folding();
  f.call(['c1'], { path: 'p', timestamp: 1000 });
  expect(listed(f)).toStrictEqual([
    { ...base, handledBy: 'agent', requestId: 'c1', kind: 'tool', requestedAt: '1970-01-01T00:00:01.000Z' },
  ]);
  expect(Object.isFrozen(listed(f)[0])).toBe(true);
});

test('a call that waits for a host is listed with all that this knows of it', () => {
  const f = new Folding();
  f.act({ terms: { principal: { id: 'ann' }, permissionMode: 'plan' } });
  f.call(
    ['c1'],
    { path: 'p', branch: 'b' },
    { handledBy: 'host', ask: 'why', tool: { kind: 'read' }, asked: { hint: 'h' } },
  );
  f.act({ questions: [{ requestId: 'c1#policy', ruleId: 'r' }] });
  f.act({ answers: { 'c1#policy': { action: 'accept', by: 'kim', roles: ['boss'], content: { no: 1 } } } });
  f.act({ decisions: { c1: { outcome: 'approved', by: 'user:kim', args: { n: 1 } } }, started: ['c1'] });
  f.act({ answers: { 'c1#rerun': { action: 'decline', by: 'eve' }, 'c1#asked': { action: 'cancel' } } });
  expect(listed(f)).toStrictEqual([
    {
      ...base,
      started: true,
      handledBy: 'host',
      threadId: 'b',
      requestedBy: { id: 'ann' },
      permissionMode: 'plan',
      requestId: 'c1',
      kind: 'tool',
      requestedAt: '1970-01-01T00:00:00.000Z',
      message: 'why',
      context: { asked: { hint: 'h' } },
      attempts: 1,
      decision: { args: { n: 1 }, by: 'user:kim' },
      questions: [{ requestId: 'c1#policy', ruleId: 'r' }],
      answers: [
        // For the run before: it is no yes to the next one.
        { requestId: 'c1#policy', action: 'accept', spent: true, by: { id: 'kim', roles: ['boss'] } },
        { requestId: 'c1#rerun', action: 'decline', by: { id: 'eve' } },
        { requestId: 'c1#asked', action: 'cancel' },
      ],
    },
  ]);
});

test('of a tool that the agent runs a host is told what it is', () => {
  const f = new Folding();
  f.call(['c1'], { path: 'p' }, { tool: { kind: 'read' } });
  expect(listed(f)).toMatchObject([{ context: { tool: { kind: 'read' } } }]);
});

test('a question is listed in place of its call, with all that it shows, until it is answered', () => {
  const f = new Folding();
  f.call(['c1'], { path: 'p' });
  const ask = {
    requestId: 'c1#0',
    callId: 'c1',
    kind: 'tool_confirmation' as const,
    message: 'sure?',
    args: { n: 1 },
    context: { payload: 2 },
    requestedSchema: { type: 'object' as const },
    expiresAt: 5000,
  };
  f.act({ asks: [ask] }, { timestamp: 2000 });
  expect(listed(f)).toStrictEqual([
    {
      ...base,
      handledBy: 'agent',
      requestId: 'c1#0',
      kind: 'elicitation',
      elicitation: 'tool_confirmation',
      message: 'sure?',
      requestedAt: '1970-01-01T00:00:02.000Z',
      args: { n: 1 },
      context: { payload: 2 },
      requestedSchema: { type: 'object' },
      expiresAt: '1970-01-01T00:00:05.000Z',
    },
  ]);
  f.act({ answers: { 'c1#0': { action: 'accept' } } });
  expect(listed(f)).toEqual([]);
  f.act({ asks: [{ requestId: 'c1#1', callId: 'c1', kind: 'rerun_unknown', message: 'again?' }] });
  const [again] = listed(f);
  expect(again).toMatchObject({ requestId: 'c1#1', kind: 'rerun_unknown', args: { of: 'c1' } });
  for (const name of ['context', 'requestedSchema', 'expiresAt', 'detached', 'threadId'])
    expect(again).not.toHaveProperty(name);
});

test('a call that was approved waits for nobody where its agent runs it', () => {
  const f = new Folding();
  f.call(['c1'], { path: 'p' });
  f.act({ decisions: { c1: { outcome: 'denied', by: 'kim' } } });
  expect(listed(f)).toHaveLength(1);
  expect(listed(f)[0]).not.toHaveProperty('decision');
  f.act({ decisions: { c1: { outcome: 'approved', by: 'kim' } } });
  expect(listed(f)).toEqual([]);
});
