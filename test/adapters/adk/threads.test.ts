import { expect, test } from 'vitest';
import { project } from '../../../src/adapters/adk/index.ts';
import type { AgentEvent } from '../../../src/contracts/index.ts';
import { checkStream } from '../../../src/contracts/index.ts';
import type { Agent, SessionService } from '../../../src/index.ts';
import {
  agentTool,
  CustomAgent,
  createView,
  fromAgent,
  InMemorySessionService,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  textOf,
} from '../../../src/index.ts';
import type { StoredEvent } from '../../../src/runtime/index.ts';
import { createEvent, decodeEvent, encodeEvent, exitLoopTool } from '../../../src/runtime/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { all, bot, door, ofType, only, ownTool, say, tool } from '../../host/kit.ts';

const context = { app: 'shop', userId: 'ann' };
const pay = tool('pay', () => 'paid', { needsApproval: true });
const note = ownTool('note', (_, { state, progress }) => {
  state.set('noted', true);
  progress({ progress: 1 });
  return 'noted';
});

/** Every agent has a name of its own, so that each event's thread is known by its agent. */
function team({ resumed = false } = {}): Agent {
  // A script begins anew with the process.
  const model = new ScriptedModel({
    byAgent: {
      a: ['a says'],
      b: [{ calls: [['note']] }, { text: 'b says', usage: { inputTokens: 3 } }],
      c: ['once', { calls: [['exit_loop']] }],
      d: [...(resumed ? [] : [{ calls: [['expert', { request: 'q' }] as const] }]), 'd says'],
      x: ['x says'],
      y: [...(resumed ? [] : [{ calls: [['pay'] as const] }]), 'y says'],
      e: ['e says'],
    },
  });
  const expert = new ParallelAgent({
    name: 'deep',
    subAgents: [
      bot(model, { name: 'x' }),
      new SequentialAgent({ name: 'line', subAgents: [bot(model, { name: 'y', tools: [pay] })] }),
    ],
  });
  const wide = new ParallelAgent({
    name: 'wide',
    subAgents: [
      bot(model, { name: 'b', tools: [note], outputKey: 'said' }),
      new LoopAgent({ name: 'loop', subAgents: [bot(model, { name: 'c', tools: [exitLoopTool()] })] }),
      bot(model, { name: 'd', tools: [agentTool(expert, { name: 'expert' })] }),
    ],
  });
  return new SequentialAgent({
    name: 'root',
    subAgents: [bot(model, { name: 'a' }), wide, bot(model, { name: 'e' })],
  });
}

const root = [undefined];
const threads: Record<string, readonly (string | undefined | RegExp)[]> = {
  root,
  a: root,
  wide: root,
  e: root,
  b: ['wide.b'],
  loop: ['wide.loop'],
  c: ['wide.loop'],
  d: ['wide.d'],
  deep: [/^\/1\/2\/[\w-]+$/],
  x: [/^\/1\/2\/[\w-]+\.deep\.x$/],
  line: [/^\/1\/2\/[\w-]+\.deep\.line$/],
  y: [/^\/1\/2\/[\w-]+\.deep\.line$/],
};

/** Events of an agent that stand in another thread than its own, and agents of which nothing was seen. */
function misplaced(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => {
    const [thread] = threads[event.agentId ?? ''] ?? ['no thread'];
    const fits = thread instanceof RegExp ? thread.test(event.threadId ?? '') : thread === event.threadId;
    return fits || event.agentId === 'user' || event.type === 'initialize'
      ? []
      : [`${event.type} of ${event.agentId} in ${event.threadId}`];
  });
}

async function* eachOf<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

const lifecycle = (events: readonly AgentEvent[]) =>
  events.filter((event) => event.type === 'custom' && /^(agent_|loop_)/.test(event.kind));

async function approve(sessions: SessionService, shown: AgentEvent[]) {
  const session = await fromAgent(team({ resumed: true }), { store: sessions }).open({ sessionId: 's' }, context);
  const { requestId, threadId } = await only(session);
  const events = await all(
    session.stream({ kind: 'elicitation_response', requestId, response: { action: 'accept' as const } }),
  );
  shown.push(...events);
  return { session, threadId };
}

test('everything of a branch is in its thread, beginnings and ends included, also below an agent run as a tool', async () => {
  const sessions = new InMemorySessionService();
  const first = await fromAgent(team(), { store: sessions }).open({ sessionId: 's', create: true }, context);
  const shown = await say(first, 'hi');
  expect(checkStream(shown)).toEqual([]);
  await first[Symbol.asyncDispose]();
  const { session, threadId } = await approve(sessions, shown);
  expect(threadId).toMatch(threads.y?.[0] as RegExp);
  expect(ofType(shown, 'stream_end').at(-1)?.reason).toBe('completed');
  expect(misplaced(shown)).toEqual([]);
  expect(new Set(shown.map(({ agentId }) => agentId))).toEqual(new Set([...Object.keys(threads), 'user']));

  const asked = new Map(ofType(shown, 'tool_request').map(({ requestId, threadId: thread }) => [requestId, thread]));
  const decided = shown.flatMap((event) =>
    event.type === 'custom' && event.kind === 'policy_decision'
      ? [[event.threadId, asked.get((event.data as { callId: string }).callId)]]
      : [],
  );
  expect(decided.length).toBeGreaterThan(3);
  expect(decided.filter(([at, call]) => at !== call)).toEqual([]);

  const view = createView();
  for (const event of shown) view.apply(event);
  const lines = [...view.threads].map(([id, { messages }]) => [
    id.replace(/^\/1\/2\/[\w-]+/, '/call'),
    ...messages.flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : []))),
  ]);
  expect(lines.sort()).toEqual([
    ['', 'hi', 'a says', 'e says'],
    ['/call', 'q'],
    ['/call.deep.line', 'y says'],
    ['/call.deep.x', 'x says'],
    ['wide.b', 'b says'],
    ['wide.d', 'd says'],
    ['wide.loop', 'once'],
  ]);
  expect([...view.toolCalls.values()].filter(({ id, threadId: thread }) => thread !== asked.get(id))).toEqual([]);
  const words: string[] = [];
  for await (const text of textOf(eachOf(shown))) words.push(text);
  expect(words.join('|')).toBe('a says|e says');

  const told = lifecycle(shown);
  expect(told).toHaveLength(2 * (Object.keys(threads).length - 1) + 4);
  expect(told.every(({ source }) => source === 'agent')).toBe(true);
  const history = await all(session.events());
  expect(misplaced(history)).toEqual([]);
  const placed = (event: AgentEvent) => [event.id, event.threadId, event.agentId];
  expect(lifecycle(history).map(placed)).toEqual(told.map(placed));
});

test('a log keeps a thread only where it is not that of the event, and says what it said before it had any', async () => {
  const sessions = new InMemorySessionService();
  const session = await fromAgent(team(), { store: sessions }).open({ sessionId: 's', create: true }, context);
  await say(session, 'hi');
  const events = (await sessions.get({ ...context, id: 's' }))?.events ?? [];
  const records = events.flatMap(({ iso, branch, thread, actions }) =>
    [...(actions.began ?? []), ...(actions.completed ?? [])].map((record) => [record.thread, thread ?? iso ?? branch]),
  );
  expect(records.length).toBeGreaterThan(10);
  expect(records.filter(([own, around]) => own === (around ?? ''))).toEqual([]);
  expect(records.some(([own]) => own === '')).toBe(true);
  for (const event of events) expect(decodeEvent(encodeEvent(event))).toEqual(event);

  const older = createEvent({
    author: 'b',
    path: '/1/0',
    branch: 'wide.b',
    actions: {
      began: [{ path: '/1', agent: 'wide' }],
      completed: [{ path: '/0', agent: 'a', outcome: { kind: 'done' } }],
    },
  });
  const isolated = createEvent({
    author: 'x',
    path: '/1/2/call/0',
    branch: 'wide.d.deep.x',
    iso: '/1/2/call',
    usage: {},
  });
  const shown = [older, isolated].flatMap((event: StoredEvent) => project('s', event));
  expect(shown.map(({ threadId }) => threadId)).toEqual(['wide.b', 'wide.b', '/1/2/call']);
});

test('who begins and ends between two events of the log is told in that order', async () => {
  const silent = (name: string) => new CustomAgent({ name, run: () => {} });
  const session = await fromAgent(
    new SequentialAgent({
      name: 'root',
      subAgents: [
        new LoopAgent({ name: 'loop', maxIterations: 2, subAgents: [silent('mute')] }),
        bot(['heard'], { name: 'last' }),
      ],
    }),
  ).open({}, context);
  const told = lifecycle(await say(session, 'hi')).map((event) => {
    const { kind, agentId, data } = event as Extract<AgentEvent, { type: 'custom' }>;
    return [kind, agentId, (data as { path: string }).path].join(' ');
  });
  expect(told).toEqual([
    'agent_started loop /0',
    'loop_iteration loop /0',
    'agent_started mute /0/0',
    'agent_completed mute /0/0',
    'loop_iteration loop /0',
    'agent_started mute /0/1',
    'agent_completed mute /0/1',
    'agent_completed loop /0',
    'agent_started last /1',
    'agent_completed last /1',
  ]);
});

test('of branches that begin together one that has ended is told so before the next begins', async () => {
  const silent = (name: string) => new CustomAgent({ name, run: () => {} });
  const inner = new SequentialAgent({ name: 'inner', subAgents: [silent('x')] });
  const agent = new ParallelAgent({ name: 'pair', subAgents: [silent('a'), inner, silent('b')] });
  const session = await fromAgent(agent).open({}, context);
  const told = lifecycle(await say(session, 'hi')).map((event) => {
    const { kind, agentId } = event as Extract<AgentEvent, { type: 'custom' }>;
    return `${kind} ${agentId}`;
  });
  expect(told).toEqual([
    'agent_started a',
    'agent_completed a',
    'agent_started inner',
    'agent_started b',
    'agent_started x',
    'agent_completed x',
    'agent_completed b',
    'agent_completed inner',
  ]);
});

test('a call of a branch that was left open and runs in a later turn is shown where it was made', async () => {
  const model = new ScriptedModel({
    byAgent: { left: [{ calls: [['pay']] }, 'left', 'left'], right: ['right', 'right', 'right'] },
  });
  const session = await fromAgent(
    new ParallelAgent({
      name: 'pair',
      subAgents: [bot(model, { name: 'left', tools: [pay] }), bot(model, { name: 'right' })],
    }),
  ).open({}, context);
  await say(session, 'go');
  await say(session, 'go on', { whilePending: 'proceed' });
  const { requestId, callId } = await only(session);
  const events = await say(session, { kind: 'elicitation_response', requestId, response: { action: 'accept' } });
  const about = events.filter((event) => JSON.stringify(event).includes(String(callId)));
  expect(about.map(({ type, threadId }) => [type, threadId])).toEqual(
    ['elicitation_response', 'tool_update', 'custom', 'tool_response'].map((type) => [type, 'pair.left']),
  );
});

test('what agents said side by side, run as a tool, is one answer, in the order of the tree', async () => {
  const slow = door();
  const wait = tool('wait', () => slow.opened);
  const answers = async (...last: Agent[]) => {
    const model = new ScriptedModel({
      byAgent: {
        bot: [{ calls: [['crew', { request: 'q' }]] }, 'done'],
        x: [{ calls: [['wait']] }, 'x says'],
        y: ['y says'],
        z: ['z says'],
      },
    });
    const pair = new ParallelAgent({
      name: 'pair',
      subAgents: [bot(model, { name: 'x', tools: [wait] }), bot(model, { name: 'y' })],
    });
    const first = bot(new ScriptedModel(['a word before']), { name: 'first' });
    const crew = new SequentialAgent({ name: 'crew', subAgents: [first, pair, ...last] });
    const session = await fromAgent(bot(model, { tools: [agentTool(crew)] })).open({}, context);
    const events = say(session, 'go');
    slow.open();
    return ofType(await events, 'tool_response').find(({ name }) => name === 'crew')?.structuredContent;
  };
  expect(await answers()).toEqual({ result: 'x says\n\ny says' });
  expect(await answers(bot(['z says'], { name: 'z' }))).toEqual({ result: 'z says' });
});
