import { expect, test } from 'vitest';
import type { AgentHost, HostOptions, SessionService } from '../../src/index.ts';
import { fromAgent, InMemorySessionService, subagentTool } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { all, bot, endOf, hostOf, notingTool, only, policyOf, refusal } from './kit.ts';

type Changed = NonNullable<HostOptions['onAgentChanged']>;

const asks = policyOf({ pay: 'ask' });

/** A program of one version, over the same store as the others. */
function program(
  version: string | undefined,
  { store, script = ['done'], onAgentChanged }: { store: SessionService; script?: Script[]; onAgentChanged?: Changed },
) {
  const pay = notingTool('pay');
  const model = new ScriptedModel(script);
  const { host } = hostOf(bot(model), {
    tools: [pay.tool],
    policy: asks,
    store,
    from: version === undefined ? {} : { version },
    ...(onAgentChanged ? { onAgentChanged } : {}),
  });
  return { host, pay, model };
}

/** A turn of version 1 whose one question is answered there, and that nobody has gone on with. */
async function answered() {
  const store = new InMemorySessionService();
  const { host } = program('1', { store, script: [{ calls: [['pay']] }] });
  const session = await host.open('bot', { sessionId: 's', create: true });
  const { reason } = endOf(await all(session.stream('go')));
  expect(reason).toBe('input_required');
  await session.respond((await only(session)).requestId, 'approve');
  await session[Symbol.asyncDispose]();
  return store;
}

const versions = async (store: SessionService) => {
  const record = await store.get({ app: 'shop', userId: 'local', id: 's' });
  return record?.events.flatMap(({ actions }) => (actions.terms ? [actions.terms] : []));
};

test('AC-01 by default a turn goes on under another version, and what was approved for the first one is asked again', async () => {
  const store = await answered();
  const { host, pay } = program('2', { store });
  const session = await host.open('bot', { sessionId: 's' });
  const first = endOf(await all(session.stream({ kind: 'continue' })));
  expect([first.reason, pay.runs.length]).toEqual(['input_required', 0]);
  await session.respond((await only(session)).requestId, 'approve');
  const second = endOf(await all(session.stream({ kind: 'continue' })));
  expect([second.reason, pay.runs.length]).toEqual(['completed', 1]);
  expect((await versions(store))?.map(({ version, approvedFor }) => [version, approvedFor])).toEqual([
    ['1', undefined],
    ['2', '2'],
  ]);
});

test('AC-02 who is asked by the second version already is asked once', async () => {
  const store = new InMemorySessionService();
  const one = program('1', { store, script: [{ calls: [['pay']] }] });
  const begun = await one.host.open('bot', { sessionId: 's', create: true });
  endOf(await all(begun.stream('go')));
  await begun[Symbol.asyncDispose]();
  const { host, pay } = program('2', { store });
  const session = await host.open('bot', { sessionId: 's' });
  const [asked] = await session.pending();
  await session.respond(asked?.requestId ?? '', {
    kind: 'approve',
    previewDigest: asked?.approval?.previewDigest ?? '',
  });
  const end = endOf(await all(session.stream({ kind: 'continue' })));
  expect([end.reason, pay.runs.length]).toEqual(['completed', 1]);
});

test('AC-03 go: approvals count, and the log says which version has run it', async () => {
  const store = await answered();
  const { host, pay } = program('2', { store, onAgentChanged: 'go' });
  const session = await host.open('bot', { sessionId: 's' });
  const end = endOf(await all(session.stream({ kind: 'continue' })));
  expect([end.reason, pay.runs.length]).toEqual(['completed', 1]);
  expect((await versions(store))?.at(-1)).toMatchObject({ version: '2' });
  expect((await versions(store))?.at(-1)).not.toHaveProperty('approvedFor');
});

test('AC-04 hold: another version does not go on, and writes nothing; the first one does, and a new message is heard', async () => {
  const store = await answered();
  const before = await store.get({ app: 'shop', userId: 'local', id: 's' });
  const two = program('2', { store, onAgentChanged: 'hold' });
  const session = await two.host.open('bot', { sessionId: 's' });
  expect(await refusal(all(session.stream({ kind: 'continue' })))).toMatchObject({
    code: 'E_AGENT_CHANGED',
    message: expect.stringContaining('begun by version 1 of the agent, this program has 2'),
  });
  expect((await store.get({ app: 'shop', userId: 'local', id: 's' }))?.events.length).toBe(before?.events.length);
  await session[Symbol.asyncDispose]();
  const one = program('1', { store, onAgentChanged: 'hold' });
  const again = await one.host.open('bot', { sessionId: 's' });
  const end = endOf(await all(again.stream({ kind: 'continue' })));
  expect([end.reason, one.pay.runs.length]).toEqual(['completed', 1]);
  await again[Symbol.asyncDispose]();
  const next = await two.host.open('bot', { sessionId: 's' });
  expect(endOf(await all(next.stream('more'))).reason).toBe('completed');
});

test('AC-05 without a name of its own a version is what agent and tools say of themselves', async () => {
  const store = new InMemorySessionService();
  const one = program(undefined, { store, script: [{ calls: [['pay']] }] });
  const begun = await one.host.open('bot', { sessionId: 's', create: true });
  endOf(await all(begun.stream('go')));
  await begun[Symbol.asyncDispose]();
  const same = program(undefined, { store, onAgentChanged: 'hold' });
  const unchanged = await same.host.open('bot', { sessionId: 's' });
  expect(endOf(await all(unchanged.stream({ kind: 'continue' }))).reason).toBe('input_required');
  await unchanged[Symbol.asyncDispose]();
  const { host } = hostOf(bot(new ScriptedModel(['done'])), {
    tools: [notingTool('pay', { description: 'pays twice' }).tool],
    policy: asks,
    store,
    onAgentChanged: 'hold',
  });
  const session = await host.open('bot', { sessionId: 's' });
  expect(await refusal(all(session.stream({ kind: 'continue' })))).toMatchObject({ code: 'E_AGENT_CHANGED' });
});

test('AC-06 a held turn can be aborted', async () => {
  const store = await answered();
  const { host } = program('2', { store, onAgentChanged: 'hold' });
  const session = await host.open('bot', { sessionId: 's' });
  await session.abort();
  expect(await session.pending()).toEqual([]);
  expect(await session.standing()).toMatchObject({ isOver: true });
});

/** The same of an agent that calls another one, whose call is asked about. */
function callers(
  version: string | undefined,
  { store, scripts, onAgentChanged, says = 'Pays.' }: Calling,
): { host: AgentHost; pay: ReturnType<typeof notingTool> } {
  const pay = notingTool('pay');
  const named = version === undefined ? {} : { version };
  const [boss = [], expert = []] = scripts;
  const own = { name: 'look', description: says, inputSchema: { type: 'object' }, execute: () => 'seen' };
  const called = bot(new ScriptedModel(expert), { name: 'expert', description: 'Knows.', tools: [own] });
  const { host } = hostOf(bot(new ScriptedModel(boss)), {
    tools: [pay.tool, subagentTool(fromAgent(called, named))],
    policy: asks,
    store,
    from: named,
    ...(onAgentChanged ? { onAgentChanged } : {}),
  });
  return { host, pay };
}

interface Calling {
  store: SessionService;
  scripts: Script[][];
  onAgentChanged?: Changed;
  says?: string;
}

/** A turn of such an agent; what its expert has asked is approved, and nobody has gone on with it. */
async function answeredBelow(version: string | undefined) {
  const store = new InMemorySessionService();
  const scripts: Script[][] = [[{ calls: [['expert', { request: 'go' }]] }], [{ calls: [['pay']] }]];
  const { host } = callers(version, { store, scripts });
  const session = await host.open('bot', { sessionId: 's', create: true });
  expect(endOf(await all(session.stream('go'))).reason).toBe('input_required');
  await session.respond((await only(session)).requestId, 'approve');
  await session[Symbol.asyncDispose]();
  return store;
}

const goesOn: Script[][] = [['done'], ['paid']];

test('ATK8-01 what was approved inside an agent that another one calls is asked again under another version of the caller', async () => {
  const store = await answeredBelow('1');
  const { host, pay } = callers('2', { store, scripts: goesOn });
  const session = await host.open('bot', { sessionId: 's' });
  const first = endOf(await all(session.stream({ kind: 'continue' })));
  expect([first.reason, pay.runs.length]).toEqual(['input_required', 0]);
  const { requestId, sessionId } = await only(session);
  await session[Symbol.asyncDispose]();
  const settlement = await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' }, sessionId });
  await host.idle();
  expect([settlement.status, pay.runs.length, await host.unfinished()]).toEqual(['settled', 1, []]);
});

test.each<[Changed, number]>([
  ['go', 1],
  ['ask', 0],
])('ATK8-01 with %s it has run %d times when the turn has gone on', async (onAgentChanged, runs) => {
  const { host, pay } = callers('2', { store: await answeredBelow('1'), scripts: goesOn, onAgentChanged });
  const session = await host.open('bot', { sessionId: 's' });
  await all(session.stream({ kind: 'continue' }));
  expect(pay.runs).toHaveLength(runs);
});

test('ATK8-01 an agent that is called and says something else of itself is another version of its caller', async () => {
  const store = await answeredBelow(undefined);
  const other = callers(undefined, { store, scripts: goesOn, onAgentChanged: 'hold', says: 'Pays twice.' });
  const held = await other.host.open('bot', { sessionId: 's' });
  expect(await refusal(all(held.stream({ kind: 'continue' })))).toMatchObject({ code: 'E_AGENT_CHANGED' });
  await held[Symbol.asyncDispose]();
  const same = callers(undefined, { store, scripts: goesOn, onAgentChanged: 'hold' });
  const session = await same.host.open('bot', { sessionId: 's' });
  const end = endOf(await all(session.stream({ kind: 'continue' })));
  expect([end.reason, other.pay.runs.length, same.pay.runs.length]).toEqual(['completed', 0, 1]);
});
