import { describe, expect, test } from 'vitest';
import type { AnyTool, ElicitationAction, PolicyEvaluator } from '../../src/contracts/index.ts';
import type { Ask } from '../../src/runtime/index.ts';
import type { Folding } from './folding.ts';
import { tool } from './kit.ts';
import { reasonOf, resumed } from './resumed.ts';

const ask = (more: Partial<Ask> = {}): Ask => ({
  requestId: 'c1#0',
  callId: 'c1',
  kind: 'tool_confirmation',
  message: '?',
  ...more,
});

/** `c1` was called, and this was written of it. */
const left =
  (...actions: Parameters<Folding['act']>[0][]) =>
  (f: Folding) => {
    f.call(['c1']);
    for (const one of actions) f.act(one);
  };

const answered = (action: ElicitationAction, more = {}) => ({ answers: { 'c1#0': { action, ...more } } });
const approved = { decisions: { c1: { outcome: 'approved' as const, by: 'user:ann', args: { n: 2 } } } };
const asks = (evaluate: PolicyEvaluator['evaluate']): PolicyEvaluator => ({ evaluate });

describe('a call that was not answered', () => {
  test('runs where nothing was decided of it', async () => {
    const r = await resumed(left());
    expect(reasonOf(await r.go())).toBe('completed');
    expect(r.ran).toEqual([{ of: 'c1' }]);
    expect(await r.responses()).toEqual({ c1: 'ran' });
  });

  test('does not run where somebody has said no', async () => {
    const r = await resumed(left({ decisions: { c1: { outcome: 'denied', by: 'user:ann', reason: 'not today' } } }));
    await r.go();
    expect([r.ran, await r.responses()]).toEqual([[], { c1: expect.stringContaining('not today') }]);
  });

  test('runs with what was approved, and the decision is that one', async () => {
    const r = await resumed(left(approved));
    await r.go();
    expect(r.ran).toEqual([{ n: 2 }]);
    const decided = (await r.log()).flatMap(({ actions }) => Object.values(actions.decisions ?? {}));
    expect(decided.every(({ outcome, by }) => outcome === 'approved' && by === 'user:ann')).toBe(true);
  });

  test('waits for the host where that runs it, approved or not', async () => {
    const own: AnyTool = tool('tool c1', undefined);
    for (const actions of [[], [approved], [{ asks: [ask()] }, answered('accept')]]) {
      const r = await resumed(left(...actions), { tools: [own] });
      expect([actions.length, reasonOf(await r.go())]).toEqual([actions.length, 'input_required']);
      expect(await r.responses()).toEqual({});
    }
  });

  test('is said not to be there where its tool is not', async () => {
    const r = await resumed(left(), { tools: [] });
    await r.go();
    expect((await r.responses()).c1).toContain('tool c1');
  });
});

describe('a call that was asked about', () => {
  test('waits while nobody has answered', async () => {
    const r = await resumed(left({ asks: [ask({ expiresAt: Date.now() + 60_000 })] }));
    expect(reasonOf(await r.go())).toBe('input_required');
    expect((await r.pending()).map(({ requestId }) => requestId)).toEqual(['c1#0']);
    expect(r.ran).toEqual([]);
  });

  test.each<[string, Partial<Ask>, ReturnType<typeof answered> | undefined, string]>([
    ['nobody has answered in time', { expiresAt: 1 }, undefined, 'nobody answered in time'],
    ['the answer is no', {}, answered('decline', { reason: 'too dear' }), 'too dear'],
    ['it was cancelled', {}, answered('cancel'), 'cancelled'],
  ])('does not run where %s', async (_, more, answer, message) => {
    const r = await resumed(left({ asks: [ask(more)] }, ...(answer ? [answer] : [])));
    expect(reasonOf(await r.go())).toBe('completed');
    expect([r.ran, (await r.responses()).c1]).toEqual([[], expect.stringContaining(message)]);
  });

  test('runs with what was shown, or with what the answer made of it', async () => {
    const shown = await resumed(left({ asks: [ask({ args: { n: 5 } })] }, answered('accept')));
    await shown.go();
    expect(shown.ran).toEqual([{ n: 5 }]);
    const edited = await resumed(left({ asks: [ask({ args: { n: 5 } })] }, answered('accept', { args: { n: 6 } })));
    await edited.go();
    expect(edited.ran).toEqual([{ n: 6 }]);
  });

  test('is decided by whoever has answered, under the rule that asked, and hides what that hides', async () => {
    const question = ask({ ruleId: 'r1', redact: ['/of'] });
    const r = await resumed(left({ asks: [question] }, answered('accept', { by: 'kim', reason: 'fine' })));
    await r.go();
    const [decided] = (await r.log()).flatMap(({ actions }) => Object.values(actions.decisions ?? {}));
    expect(decided).toMatchObject({
      outcome: 'approved',
      by: 'user:kim',
      reason: 'fine',
      ruleId: 'r1',
      redact: ['/of'],
    });
    const nameless = await resumed(left({ asks: [ask()] }, answered('accept')));
    await nameless.go();
    const [other] = (await nameless.log()).flatMap(({ actions }) => Object.values(actions.decisions ?? {}));
    expect(other?.by).toBe('user');
    expect(other).not.toHaveProperty('ruleId');
  });

  test('by its handler hears what was answered; one that policy has asked about does not', async () => {
    const heard: unknown[] = [];
    const listening = {
      execute: (_: unknown, context: { confirmation?: unknown }) => void heard.push(context.confirmation),
    };
    const options = { tool: listening as Partial<AnyTool> };
    const content = { size: 3 };
    for (const [question, answer] of [
      [ask({ context: { payload: 1 } }), answered('accept', { content })],
      [ask({ context: {} }), answered('accept')],
      [ask(), answered('accept', { content })],
      [ask({ kind: 'auth_required', context: {} }), answered('accept')],
    ] as const) {
      await (await resumed(left({ asks: [question] }, answer), options)).go();
    }
    expect(heard).toEqual([{ confirmed: true, payload: content }, { confirmed: true }, undefined, undefined]);
  });
});

describe('a call that was started and of which nothing was heard', () => {
  const started = { started: ['c1'] };

  test('is asked about, once', async () => {
    const r = await resumed(left(started));
    expect(reasonOf(await r.go())).toBe('input_required');
    expect(reasonOf(await r.go())).toBe('input_required');
    expect(await r.pending()).toMatchObject([{ requestId: 'c1#0', kind: 'rerun_unknown', callId: 'c1' }]);
    expect((await r.log()).flatMap(({ actions }) => actions.asks ?? [])).toHaveLength(1);
    expect(r.ran).toEqual([]);
  });

  test('runs again with a yes, with the arguments that were approved, by whoever says so', async () => {
    const rerun = { asks: [ask({ kind: 'rerun_unknown' })] };
    for (const [by, expected] of [
      ['kim', 'user:kim'],
      [undefined, 'user'],
    ]) {
      const r = await resumed(left(approved, started, rerun, answered('accept', by === undefined ? {} : { by })));
      await r.go();
      expect(r.ran).toEqual([{ n: 2 }]);
      const decisions = (await r.log()).flatMap(({ actions }) => Object.values(actions.decisions ?? {}));
      expect(decisions.at(-1)?.by).toBe(expected);
    }
  });

  test('is asked about anew where the yes was for the run before', async () => {
    const rerun = { asks: [ask({ kind: 'rerun_unknown' })] };
    const r = await resumed(left(started, rerun, answered('accept'), started));
    expect(reasonOf(await r.go())).toBe('input_required');
    expect((await r.pending()).map(({ requestId }) => requestId)).toEqual(['c1#1']);
    expect(r.ran).toEqual([]);
  });

  test('is not run with a yes that was for another question', async () => {
    const r = await resumed(left({ asks: [ask()] }, answered('accept'), started));
    await r.go();
    expect(r.ran).toEqual([]);
    expect((await r.pending()).map(({ kind }) => kind)).toEqual(['rerun_unknown']);
  });

  test.each<[string, ElicitationAction]>([
    ['no', 'decline'],
    ['nothing', 'cancel'],
  ])('does not run again where the answer is %s', async (_, action) => {
    const r = await resumed(left(started, { asks: [ask({ kind: 'rerun_unknown' })] }, answered(action)));
    expect(reasonOf(await r.go())).toBe('completed');
    expect([r.ran, (await r.responses()).c1]).toEqual([[], 'its outcome is unknown; it was not run again']);
  });

  test('whose tool is gone cannot run again, and is asked about all the same', async () => {
    const r = await resumed(left(started), { tools: [] });
    expect(reasonOf(await r.go())).toBe('input_required');
    expect((await r.pending()).map(({ kind }) => kind)).toEqual(['rerun_unknown']);
    const yes = await resumed(left(started, { asks: [ask({ kind: 'rerun_unknown' })] }, answered('accept')), {
      tools: [],
    });
    await yes.go();
    expect((await yes.responses()).c1).toContain('its tool is not there to be run again');
  });

  test.each<[string, Partial<AnyTool>, unknown[], string | undefined, number]>([
    ['retry', { onUnknownOutcome: () => 'retry' }, [{ n: 2 }], 'ran', 0],
    ['ask', { onUnknownOutcome: () => 'ask' }, [], undefined, 0],
    ['nothing', { onUnknownOutcome: (() => undefined) as never }, [], undefined, 0],
    ['what has become of it', { onUnknownOutcome: () => ({ result: 'found' }) }, [], 'found', 0],
    [
      'only that it failed to find out',
      {
        onUnknownOutcome: () => {
          throw new Error('no');
        },
      },
      [],
      undefined,
      1,
    ],
  ])('is as its author says: %s', async (_, own, ran, response, warnings) => {
    const r = await resumed(left(approved, started), { tool: own });
    await r.go();
    expect([r.ran, (await r.responses()).c1, r.warnings.length]).toEqual([ran, response, warnings]);
    expect((await r.pending()).map(({ kind }) => kind)).toEqual(response === undefined ? ['rerun_unknown'] : []);
  });

  test('asks its author about the arguments that were approved, or its own', async () => {
    const asked: unknown[] = [];
    const own: Partial<AnyTool> = {
      onUnknownOutcome: (about) => {
        asked.push(about);
        return 'ask';
      },
    };
    await (await resumed(left(approved, started), { tool: own })).go();
    await (await resumed(left(started), { tool: own })).go();
    const who = { sessionId: 's1', userId: 'ann', principal: { id: 'ann' }, agentPath: ['bot'] };
    expect(asked).toMatchObject([
      { ...who, callId: 'c1', args: { n: 2 } },
      { ...who, callId: 'c1', args: { of: 'c1' } },
    ]);
  });

  test('and that may run again does, without a question', async () => {
    const r = await resumed(left(started), { tool: { annotations: { idempotent: true } } });
    expect(reasonOf(await r.go())).toBe('completed');
    expect(r.ran).toEqual([{ of: 'c1' }]);
  });

  test('waits for the host where that has started it', async () => {
    const r = await resumed(left(started), { tools: [tool('tool c1', undefined)] });
    expect(reasonOf(await r.go())).toBe('input_required');
    expect((await r.pending()).map(({ kind }) => kind)).toEqual(['tool']);
  });
});

describe('what policy says of a call', () => {
  test('is asked as it says it, and holds the arguments that would run', async () => {
    const policy = asks(() => ({
      outcome: 'ask',
      ruleId: 'r1',
      reason: 'money',
      redact: ['/of'],
      expiresIn: 60,
    }));
    const r = await resumed(left(), { policy });
    const before = Date.now();
    expect(reasonOf(await r.go())).toBe('input_required');
    const [question] = (await r.log()).flatMap(({ actions }) => actions.asks ?? []);
    expect(question).toMatchObject({
      requestId: 'c1#0',
      kind: 'tool_confirmation',
      message: 'money',
      ruleId: 'r1',
      redact: ['/of'],
    });
    expect(question).not.toHaveProperty('args');
    expect(question).not.toHaveProperty('context');
    expect((question?.expiresAt ?? 0) - before).toBeGreaterThanOrEqual(60_000);
    expect((question?.expiresAt ?? 0) - before).toBeLessThan(120_000);
  });

  test('without more is a plain question', async () => {
    const r = await resumed(left(), { policy: asks(() => ({ outcome: 'ask' })) });
    await r.go();
    const [question] = (await r.log()).flatMap(({ actions }) => actions.asks ?? []);
    expect(question).toStrictEqual({
      requestId: 'c1#0',
      callId: 'c1',
      kind: 'tool_confirmation',
      message: 'Run tool c1?',
    });
  });

  test('is no where only some may answer, since nobody can check that here', async () => {
    const policy = asks(() => ({ outcome: 'ask', ruleId: 'r1', redact: ['/of'], approvers: { roles: ['boss'] } }));
    const r = await resumed(left(), { policy });
    expect(reasonOf(await r.go())).toBe('completed');
    const [decided] = (await r.log()).flatMap(({ actions }) => Object.values(actions.decisions ?? {}));
    expect(decided).toMatchObject({ outcome: 'denied', by: 'policy', ruleId: 'r1', redact: ['/of'] });
    expect([r.ran, (await r.responses()).c1]).toEqual([[], expect.stringContaining('only a host can check')]);
  });

  test('is asked about the call as it is, and how much was done and spent', async () => {
    const asked: Parameters<PolicyEvaluator['evaluate']>[0][] = [];
    const policy = asks((about) => {
      asked.push(about);
      return { outcome: 'deny', reason: 'no' };
    });
    const r = await resumed(
      (f) => {
        f.speak('before', { usage: { inputTokens: 1, cost: { usd: 0.5 } } as never });
        f.act({ config: { permissionMode: 'plan' } });
        f.call(['c1']);
      },
      { policy },
    );
    await r.go();
    expect(asked[0]).toMatchObject({ action: 'tool c1', args: { of: 'c1' } });
    expect(asked[0]?.context).toMatchObject({
      agentPath: ['bot'],
      interactive: true,
      permissionMode: 'plan',
      session: { id: 's1', calls: 1, usd: 0.5 },
    });
    const decided = (await r.log()).flatMap(({ actions }) => Object.values(actions.decisions ?? {}));
    expect(decided).toMatchObject([{ outcome: 'denied', reason: 'no' }]);
  });

  test('is not asked at all where a host has its own', async () => {
    const policy = asks(() => {
      throw new Error('it was asked');
    });
    const r = await resumed(left(approved), { policy });
    expect(reasonOf(await r.go({ kind: 'continue' }, { hostToolExecution: true }))).toBe('completed');
    expect(r.ran).toEqual([{ n: 2 }]);
  });
});

describe('calls of one answer', () => {
  test('that come after others wait for them, and for nobody where all wait for one another', async () => {
    const order: string[] = [];
    const own = (name: string, after?: string[]): AnyTool =>
      tool(`tool ${name}`, () => order.push(name), after ? { annotations: { after } as never } : {});
    const tools = [own('c1', ['tool c2', 'tool c1']), own('c2'), own('c3', ['tool c9'])];
    const r = await resumed((f) => void f.call(['c1', 'c2', 'c3']), { tools });
    expect(reasonOf(await r.go())).toBe('completed');
    expect(order).toEqual(['c2', 'c3', 'c1']);
    const circle = [own('c1', ['tool c2']), own('c2', ['tool c1'])];
    const other = await resumed((f) => void f.call(['c1', 'c2']), { tools: circle });
    expect(reasonOf(await other.go())).toBe('completed');
    expect(Object.keys(await other.responses())).toEqual(['c1', 'c2']);
  });

  test('that wait for one whose answer is outstanding do not run', async () => {
    const order: string[] = [];
    const first = tool('tool c1', () => order.push('c1'), { needsApproval: true });
    const second = tool('tool c2', () => order.push('c2'), { annotations: { after: ['tool c1'] } as never });
    const r = await resumed((f) => void f.call(['c1', 'c2']), { tools: [first, second] });
    expect(reasonOf(await r.go())).toBe('input_required');
    expect(order).toEqual([]);
    const [question] = await r.pending();
    await r.go({
      kind: 'elicitation_response',
      requestId: String(question?.requestId),
      response: { action: 'accept' },
    });
    expect(order).toEqual(['c1', 'c2']);
  });
});
