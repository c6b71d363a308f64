import { describe, expect, test } from 'vitest';
import type { AnyTool, ExecutionOptions, SessionInput } from '../../src/contracts/index.ts';
import type { EventActions, EventInit } from '../../src/runtime/index.ts';
import { InMemoryArtifactService } from '../../src/runtime/index.ts';
import { joined } from '../../src/session/index.ts';
import type { Folding } from './folding.ts';
import { brief, collect, key, tool } from './kit.ts';
import type { Resumed } from './resumed.ts';
import { reasonOf, resumed } from './resumed.ts';

const text = (words: string) => [{ type: 'text' as const, text: words }];
const message = (words: string, role?: 'developer'): SessionInput => ({
  kind: 'message',
  content: text(words),
  ...(role ? { role } : {}),
});
const yes: SessionInput = { kind: 'elicitation_response', requestId: 'c1#0', response: { action: 'accept' } };
const no: SessionInput = { kind: 'elicitation_response', requestId: 'c1#0', response: { action: 'decline' } };
const result = (requestId = 'c1', words = 'theirs'): SessionInput => ({
  kind: 'tool_result',
  requestId,
  result: { content: text(words) },
});
const question = {
  asks: [{ requestId: 'c1#0', callId: 'c1', kind: 'tool_confirmation' as const, message: '?' }],
} satisfies Partial<EventActions>;

/** `c1` is asked about. */
const asked = (f: Folding) => {
  f.call(['c1']);
  f.act(question);
};
/** `c1` waits for the host. */
const hostCalls = (f: Folding) => void f.call(['c1', 'c2'], {}, { handledBy: 'host' });
const hostTools = [tool('tool c1', undefined), tool('tool c2', undefined)];
const end = (f: Folding, reason: string) => f.act({ end: { reason } });

const refusalOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    (error: { code?: string }) => error.code,
  );

const turnsOf = async (r: Resumed) => new Set((await r.log()).map(({ turnId }) => turnId)).size;
const newest = async (r: Resumed, of: (init: EventInit) => boolean) => (await r.log()).findLast(of);

describe('words beside a yes', () => {
  test('join the turn of the call, which runs', async () => {
    const r = await resumed(asked);
    const events = await r.go([yes, message('and be quick')], { terms: { principal: { id: 'ann' } } });
    expect(reasonOf(events)).toBe('completed');
    expect(r.ran).toEqual([{ of: 'c1' }]);
    expect(await turnsOf(r)).toBe(1);
    const log = await r.log();
    const place = (is: (actions: EventActions) => unknown) => log.findIndex(({ actions }) => is(actions));
    expect(place(({ terms }) => terms)).toBeGreaterThan(0);
    expect(place(({ terms }) => terms)).toBeLessThan(place(({ steer }) => steer));
    expect(brief(r.model.requests[0]?.contents).at(-1)).toBe('user: and be quick');
    expect(log.find(({ actions }) => actions.steer)).not.toHaveProperty('customMetadata');
  });

  test('of a developer stay a developer’s', async () => {
    const r = await resumed(asked);
    await r.go([yes, message('be brief', 'developer')]);
    expect((await newest(r, ({ actions }) => actions?.steer === true))?.customMetadata).toEqual({ role: 'developer' });
    const other = await resumed(asked);
    await other.go(message('be brief', 'developer'));
    expect((await newest(other, ({ actions }) => actions?.turn !== undefined))?.customMetadata).toEqual({
      role: 'developer',
    });
  });

  test('join it too where the yes came before them', async () => {
    const r = await resumed(asked);
    await r.session.respond('c1#0', { kind: 'approve' });
    await r.go(message('and be quick'));
    expect([r.ran.length, await turnsOf(r)]).toEqual([1, 1]);
  });

  test('under a host join only what it has named', async () => {
    for (const [named, turns] of [
      [['c1'], 1],
      [[], 2],
    ] as const) {
      const r = await resumed(asked);
      await r.session.respond('c1#0', { kind: 'approve' });
      await r.go(message('quick'), { hostToolExecution: true, [joined]: named } as ExecutionOptions);
      expect([named.length, await turnsOf(r)]).toEqual([named.length, turns]);
    }
  });

  test('that are for a turn which is over are refused where a host says so, and else begin one', async () => {
    const over = (f: Folding) => {
      asked(f);
      f.respond('c1');
      end(f, 'completed');
    };
    const named = { [joined]: ['c1'] } as ExecutionOptions;
    expect(await refusalOf((await resumed(over)).go(message('quick'), named))).toBe('E_TURN_COMPLETED');
    const r = await resumed(over);
    await r.go(message('quick'));
    expect(await turnsOf(r)).toBe(2);
  });

  test('take back the other calls of the turn', async () => {
    const r = await resumed(
      (f) => {
        f.call(['c1', 'c2']);
        f.act(question);
        f.act({ asks: [{ ...question.asks[0], requestId: 'c2#0', callId: 'c2' } as never] });
      },
      { tools: ['tool c1', 'tool c2'].map((name) => tool(name, () => 'ran')) },
    );
    await r.go([yes, message('only that')]);
    expect(await r.responses()).toEqual({ c1: 'ran', c2: expect.stringContaining('a new message came') });
  });

  test('and a no are heard as well', async () => {
    const r = await resumed(asked);
    await r.go([no, message('rather not')]);
    expect([r.ran, await turnsOf(r)]).toEqual([[], 1]);
    expect(brief(r.model.requests[0]?.contents).at(-1)).toBe('user: rather not');
  });
});

describe('a message while something is open', () => {
  const go = async (whilePending?: 'cancel' | 'hold' | 'proceed', left = asked) => {
    const r = await resumed(left);
    const taken = await refusalOf(r.go(message('next'), whilePending ? { whilePending } : {}));
    return [taken, (await r.responses()).c1, await turnsOf(r)];
  };

  test('closes it, is refused, or leaves it open, as is wanted', async () => {
    const closed = ['taken', expect.stringContaining('cancelled'), 2];
    expect(await go()).toEqual(closed);
    expect(await go('cancel')).toEqual(closed);
    expect(await go('hold')).toEqual(['E_INPUT_REQUIRED', undefined, 1]);
    expect(await go('proceed')).toEqual(['taken', undefined, 2]);
  });

  test('leaves a long-running call alone, and does not wait for it', async () => {
    const longRunning = (f: Folding) => {
      f.call(['c1'], { longRunningToolIds: ['c1'] });
      f.act({ interim: { c1: { status: 'sent' } } });
    };
    expect(await go('hold', longRunning)).toEqual(['taken', undefined, 2]);
    expect(await go('cancel', longRunning)).toEqual(['taken', undefined, 2]);
  });

  test('that answers it as well does not close it twice', async () => {
    const r = await resumed(hostCalls, { tools: hostTools });
    await r.go([result('c1'), message('next')], { whilePending: 'cancel' });
    expect(await r.responses()).toEqual({ c1: 'theirs', c2: expect.stringContaining('cancelled') });
    const held = await resumed((f) => void f.call(['c1'], {}, { handledBy: 'host' }), { tools: hostTools });
    expect(await refusalOf(held.go([result('c1'), message('next')], { whilePending: 'hold' }))).toBe('taken');
  });
});

describe('a turn', () => {
  test('is begun with the trace and the terms that came with it, and with words that came too late for the last', async () => {
    const r = await resumed((f) => {
      f.act({ steer: true }, { id: 'late', content: { role: 'user', parts: text('wait') } });
      f.speak('hello');
      end(f, 'completed');
    });
    const traceContext = { traceparent: '00-a-b-01', tracestate: 'x=y', other: 'z' };
    const terms = { principal: { id: 'ann' } };
    await r.go(message('next'), { traceContext, terms });
    const began = await newest(r, ({ actions }) => actions?.turn !== undefined);
    expect(began?.actions).toMatchObject({
      turn: { start: 'bot' },
      trace: { traceparent: '00-a-b-01', tracestate: 'x=y' },
      delivered: ['late'],
      terms,
    });
    expect(began?.actions.trace).not.toHaveProperty('other');
    expect(brief(r.model.requests[0]?.contents).slice(-2)).toEqual(['user: wait', 'user: next']);
    await r.go(message('again'), { traceContext: { traceparent: '00-c-d-01' } });
    const next = await newest(r, ({ actions }) => actions?.turn !== undefined);
    expect(next?.actions.trace).toStrictEqual({ traceparent: '00-c-d-01' });
    await r.go(message('more'), { traceContext: { tracestate: 'x=y' } });
    const last = await newest(r, ({ actions }) => actions?.turn !== undefined);
    for (const name of ['trace', 'terms', 'delivered']) expect(last?.actions).not.toHaveProperty(name);
  });

  const ended =
    (reason: string, more: (f: Folding) => void = () => {}) =>
    (f: Folding) => {
      f.speak('hello');
      more(f);
      end(f, reason);
    };
  const pending = (f: Folding) => f.call(['c1'], { longRunningToolIds: ['c1'] });

  test.each<[string, (f: Folding) => void, SessionInput[], string, number]>([
    ['completed, goes on with nothing', ended('completed'), [], 'E_TURN_COMPLETED', 1],
    ['refused, goes on with nothing', ended('refusal'), [], 'E_TURN_COMPLETED', 1],
    ['aborted, goes on', ended('aborted'), [], 'taken', 1],
    ['at its limit, goes on', ended('max_turns'), [], 'taken', 1],
    ['completed, with a long-running result begins another', ended('completed', pending), [result()], 'taken', 2],
    ['aborted, with a long-running result begins another', ended('aborted', pending), [result()], 'taken', 2],
    [
      'completed, after a late result begins another',
      (f) => {
        ended('completed', pending)(f);
        f.respond('c1');
      },
      [],
      'taken',
      2,
    ],
    [
      'completed, with a yes that nobody has acted upon begins another',
      (f) => {
        asked(f);
        end(f, 'completed');
        f.act({ answers: { 'c1#0': { action: 'accept' } } });
      },
      [],
      'taken',
      2,
    ],
    [
      'completed, with the answer of a call of its own begins another',
      (f) => {
        hostCalls(f);
        end(f, 'completed');
      },
      [result()],
      'taken',
      2,
    ],
  ])('that is %s', async (_, left, inputs, outcome, turns) => {
    const tools = [tool('tool c1', undefined), tool('tool c2', undefined)];
    const r = await resumed(left, { tools });
    const taken = await refusalOf(r.go([...inputs, { kind: 'continue' }]));
    expect([taken, await turnsOf(r)]).toEqual([outcome, turns]);
  });

  test('that goes on is held to what comes with that, or else to what it was held to', async () => {
    const terms = { principal: { id: 'ann' } };
    const begun = (f: Folding) => void f.act({ terms: { principal: { id: 'bob' } } });
    const termsOf = async (r: Resumed) => (await r.log()).slice(3).flatMap(({ actions }) => actions.terms ?? []);
    const reopened = await resumed((f) => {
      begun(f);
      end(f, 'aborted');
    });
    await reopened.go({ kind: 'continue' }, { terms });
    expect(await termsOf(reopened)).toEqual([terms]);
    const paused = await resumed((f) => {
      begun(f);
      asked(f);
    });
    await paused.go(yes, { terms });
    expect((await paused.log())[4]?.actions.terms).toEqual(terms);
    expect((await paused.log())[5]?.actions.answers).toBeDefined();
    const plain = await resumed((f) => {
      begun(f);
      end(f, 'aborted');
    });
    await plain.go();
    expect(await termsOf(plain)).toEqual([]);
    const late = await resumed(
      (f) => {
        begun(f);
        pending(f);
        end(f, 'completed');
      },
      { tools: hostTools },
    );
    await late.go(result());
    expect((await newest(late, ({ actions }) => actions?.turn !== undefined))?.actions.terms).toEqual({
      principal: { id: 'bob' },
    });
  });

  test('is what there must be to go on with', async () => {
    expect(await refusalOf((await resumed(() => {}, { empty: true })).go())).toBe('E_NO_TURN');
  });
});

describe('a result from outside', () => {
  test('is taken once', async () => {
    const r = await resumed(hostCalls, { tools: hostTools });
    expect(await refusalOf(r.go([result('c1'), result('c1', 'other')]))).toBe('E_REQUEST_CLOSED');
    expect(await r.responses()).toEqual({});
    expect(await refusalOf(r.go([result('c1'), result('c2')]))).toBe('taken');
    expect(await r.responses()).toEqual({ c1: 'theirs', c2: 'theirs' });
    expect(await refusalOf(r.go(result('gone')))).toBe('E_UNKNOWN_REQUEST');
  });

  test('may be a first word, after which the call is open still', async () => {
    const r = await resumed((f) => void f.call(['c1'], { longRunningToolIds: ['c1'] }, { handledBy: 'host' }), {
      tools: hostTools,
    });
    await r.go({ ...result('c1', 'sent'), interim: true } as SessionInput);
    const interim = (await r.log()).find(({ actions }) => actions.interim);
    expect(interim).toMatchObject({ id: 'int:c1', actions: { interim: { c1: { content: 'sent' } } } });
    expect(interim).not.toHaveProperty('content');
    expect((await r.sessions.openCalls({ app: key.app })).map(({ callId }) => callId)).toEqual(['c1']);
    expect(brief(r.model.requests[0]?.contents).at(-1)).toBe('user: tool c1 = {"content":"sent"}');
  });

  test('that is large is kept whole beside the log', async () => {
    const artifacts = new InMemoryArtifactService();
    const r = await resumed(hostCalls, { tools: hostTools, source: { services: { artifacts } } });
    const large = 'x'.repeat(3 * 1024 * 1024);
    await r.go([result('c1', large), result('c2')]);
    const delta = (await r.log()).find(({ actions }) => Object.keys(actions.artifactDelta).length > 0);
    const [name = ''] = await artifacts.list(key);
    expect(delta?.actions.artifactDelta).toEqual({ [name]: 1 });
    expect(Buffer.from((await artifacts.load(key, name))?.data ?? '', 'base64').toString()).toBe(large);
    expect(String((await r.responses()).c1).length).toBeLessThan(2 * 1024 * 1024);
  });
});

describe('an approval with other arguments', () => {
  const own: AnyTool = tool('tool c1', ({ n }) => `ran ${typeof n} ${n}`, {
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  });
  const approve = (args?: Record<string, unknown>): SessionInput => ({
    kind: 'tool_approval',
    requestId: 'c1#0',
    ...(args ? { args } : {}),
  });

  test('is checked as any arguments are, and runs with them', async () => {
    const r = await resumed(asked, { tools: [own] });
    expect(await refusalOf(r.go(approve({ n: 'many' })))).toBe('E_WRONG_ANSWER');
    expect(await refusalOf(r.go(approve({})))).toBe('E_WRONG_ANSWER');
    expect(await refusalOf(r.go(approve({ n: 4 })))).toBe('taken');
    expect(await r.responses()).toEqual({ c1: 'ran number 4' });
  });

  test('of a tool that is not known yet is taken as it is', async () => {
    const toolset = { name: 'remote', tools: async () => [own] };
    const r = await resumed(asked, { tools: [], toolsets: [toolset] });
    expect(await refusalOf(r.go(approve({ n: 5 })))).toBe('taken');
    expect(await r.responses()).toEqual({ c1: 'ran number 5' });
  });
});

test('an approval of a call that a host is to decide says who, and under which preview', async () => {
  const r = await resumed((f) => void f.call(['c1', 'c2'], {}, { handledBy: 'host' }), { tools: hostTools });
  const by = { id: 'kim', roles: ['boss'] };
  const decision = { outcome: 'approved' as const, by: 'policy' as const, ruleId: 'r' };
  await r.go([
    { kind: 'tool_approval', requestId: 'c1', by, decision },
    { kind: 'tool_approval', requestId: 'c2#policy', by, previewDigest: 'd', args: { n: 1 } },
  ]);
  const actions = (await r.log()).map((event) => event.actions);
  expect(actions.flatMap(({ decisions }) => decisions?.c1 ?? [])).toEqual([decision]);
  expect(actions.flatMap(({ started }) => started ?? [])).toEqual(['c1']);
  expect(actions.flatMap(({ answers }) => answers?.['c2#policy'] ?? [])).toEqual([
    { action: 'accept', by: 'kim', roles: ['boss'], args: { n: 1 }, digest: 'd' },
  ]);
  expect(await collect(r.session.events({}))).not.toEqual([]);
});
