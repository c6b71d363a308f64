import { describe, expect, test } from 'vitest';
import type { AgentEvent, AgentSession, AgentSource, ReportedRequest } from '../../src/contracts/index.ts';
import { placesOf } from '../../src/host/approvals/open-places.ts';
import type { ApprovalHost, WaitingSession } from '../../src/host/approvals/open-sessions.ts';
import { runInner } from '../../src/host/run/inner-stream.ts';
import { allowAll, createHost, fromAgent, InMemorySessionService, rulePolicy } from '../../src/index.ts';
import { frameOf } from './frame-kit.ts';
import { call, hosted, judgeOf } from './judge-kit.ts';
import { bot, door, hostOf, notingTool, only, say, tool } from './kit.ts';
import { fakeRun, settle } from './run-kit.ts';

/** An executor of another program, as far as its host knows. */
function elsewhere(source: AgentSource): AgentSource {
  const plain = (inner: AgentSession): AgentSession => ({
    id: inner.id,
    descriptor: inner.descriptor,
    stream: (input, options) => inner.stream(input, options),
    events: (options) => inner.events(options),
    pending: () => inner.pending(),
    respond: (requestId, answer) => inner.respond(requestId, answer),
    steer: (data) => inner.steer(data),
    update: (config) => inner.update(config),
    abort: (target) => inner.abort(target),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  });
  return { ...source, open: async (ref, context) => plain(await source.open(ref, context)) };
}

test('MUT-H38 always, said in a session of an executor elsewhere, holds when it is opened again, and not in another one of its id', async () => {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const agent = bot([
    ...Array(4)
      .fill([{ calls: [['pay', {}]] }, 'done'])
      .flat(),
  ]);
  const host = createHost({
    ...{ app: 'shop', store, tools: [pay.tool], policy: rulePolicy([]), warn: () => {} },
    agents: [elsewhere(fromAgent(agent, { store }))],
  });
  const open = () => host.open('bot', { sessionId: 's', create: true });
  let session = await open();
  await say(session, 'go');
  const question = await only(session);
  const remember = question.approval?.remember.findIndex(({ scope }) => scope === 'session') ?? -1;
  await session.respond(question.requestId, { kind: 'approve', remember });
  await say(session, { kind: 'continue' });
  await session[Symbol.asyncDispose]();
  session = await open();
  await say(session, 'again');
  expect([await session.pending(), pay.runs.length]).toEqual([[], 2]);
  await session[Symbol.asyncDispose]();
  await store.delete({ app: 'shop', userId: 'local', id: 's' });
  session = await open();
  await say(session, 'anew');
  expect([(await session.pending()).length, pay.runs.length]).toEqual([1, 2]);
  await host.close();
});

test('MUT-H39 a hook that says nothing of a result, or of an error, leaves it, and is no fault', async () => {
  const asked: string[] = [];
  const warnings: string[] = [];
  const { host } = hostOf(
    bot([
      {
        calls: [
          ['pay', {}],
          ['fail', {}],
        ],
      },
      'done',
    ]),
    {
      tools: [
        tool('pay', () => 'paid'),
        tool('fail', () => {
          throw new Error('broken');
        }),
      ],
      policy: allowAll(),
      hooks: {
        supportedHookPoints: () => ['after_tool', 'on_tool_error'],
        fire: async (point: string) => {
          asked.push(point);
          return undefined as never;
        },
      },
      warn: (message) => void warnings.push(message),
    },
  );
  await say(await host.open('bot'), 'go');
  expect([asked.sort(), warnings]).toEqual([['after_tool', 'after_tool', 'on_tool_error'], []]);
});

test('MUT-H40 a sub-agent’s session has an id where it is kept, and none below one that is kept nowhere', () => {
  expect(frameOf().made.subagentsId(call(), 's')).toBe('s.c');
  expect(frameOf({ place: { ephemeral: true } }).made.subagentsId(call(), 's')).toBeUndefined();
});

test('MUT-H41 a question that is being answered was shown before', () => {
  const question = call({
    ...{ requestId: 'c#policy', kind: 'elicitation' },
    approval: { title: 't', preview: [], previewDigest: 'd', requestedBy: { id: 'ann' }, remember: [] },
  } as never) as Parameters<ReturnType<typeof fakeRun>['run']['questions']['show']>[0];
  const { run, shown, announced } = fakeRun();
  const notTaken = run.questions.answering(question);
  expect([shown.length, announced]).toEqual([1, ['c#policy']]);
  notTaken();
  run.questions.show(question);
  expect(shown).toHaveLength(1);
});

test('MUT-H42 an inner stream is read no faster than what it shows is', async () => {
  const base = { sessionId: 's', streamId: 't', turnId: 'u', timestamp: '' };
  let given = 0;
  const inner = {
    id: 's',
    async *stream() {
      for (const text of ['a', 'b']) {
        given++;
        yield { ...base, id: text, type: 'message', role: 'agent', partial: true, content: [] } as AgentEvent;
      }
      yield { ...base, id: 'e', type: 'stream_end', reason: 'completed', data: {} } as AgentEvent;
    },
  };
  const rooms = [door(), door()];
  const asked: unknown[] = [];
  const out = {
    push: () => {},
    room: (mayDrop: boolean) => {
      asked.push(mayDrop);
      return rooms[asked.length - 1]?.opened;
    },
  };
  const ended = runInner(inner as never, [], {}, out as never, undefined, () => {});
  await settle();
  expect([given, asked]).toEqual([1, [true]]);
  rooms[0]?.open();
  await settle();
  expect([given, asked]).toEqual([2, [true, true]]);
  rooms[1]?.open();
  expect((await ended).reason).toBe('completed');
});

test('MUT-H43 whether a call is run again is nothing to remember, whatever policy would let run always', async () => {
  const { judge } = judgeOf(rulePolicy([]));
  const pay = hosted(tool('pay', () => 'paid'));
  const shown = async (more: Partial<ReportedRequest>) => {
    const step = await judge.step(call(more), pay, undefined);
    return step.kind === 'ask' ? step.question.approval.remember.map(({ scope }) => scope) : step.kind;
  };
  expect(await shown({})).toEqual(['session', 'user']);
  const decision = { outcome: 'approved', by: 'policy' } as const;
  expect(await shown({ started: true, attempts: 1, decision } as never)).toEqual([]);
});

describe('MUT-H44 where a question may be asked that no index has', () => {
  const place = (sessionId: string, more: object = {}): WaitingSession => ({
    ...{ agent: 'bot', userId: 'ann', sessionId, calls: [`of-${sessionId}`], tools: ['pay'], ...more },
  });
  const looked = async (open: WaitingSession[], agentTools: string[], requestId = 'q#policy') => {
    const host = {
      openSessions: async () => open,
      agentTools: new Set(agentTools),
      warn: () => {},
      borrow: async () => ({ session: {}, [Symbol.asyncDispose]: async () => {} }),
    } as unknown as ApprovalHost;
    const steps: string[][] = [];
    for await (const places of placesOf(host, requestId, {})) steps.push(places.map(({ sessionId }) => sessionId));
    return steps;
  };
  const { tools: _, ...without } = place('c');
  const open = [place('a'), place('b', { tools: ['pay', 'expert'] }), without, place('d', { calls: ['q'] })];

  test('is first where the index has its call, then where one may have called an agent, each once', async () => {
    expect(await looked(open, ['expert'])).toEqual([['d'], ['b', 'c']]);
    expect(await looked(open, ['expert'], 'q')).toEqual([['d'], ['b', 'c']]);
    expect(await looked(open, [])).toEqual([['d'], []]);
    expect(await looked([place('d', { calls: ['q'], tools: ['expert'] })], ['expert'])).toEqual([['d'], []]);
  });

  test('is in each session of which no call is known', async () => {
    const { calls: __, ...unknown } = place('e');
    expect(await looked([unknown, place('a')], [])).toEqual([['e'], []]);
  });

  test('is in the caller of the session that has it, too', async () => {
    expect(await looked([place('a'), place('a.x', { calls: ['q'] })], [])).toEqual([['a.x', 'a'], []]);
    const below = place('b.x', { tools: ['expert'] });
    expect(await looked([place('b'), below], ['expert'])).toEqual([[], ['b.x', 'b']]);
  });
});
