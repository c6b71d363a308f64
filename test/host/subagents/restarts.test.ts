import { expect, test } from 'vitest';
import type { ReportedRequest } from '../../../src/contracts/index.ts';
import {
  allowAll,
  createHost,
  fromAgent,
  InMemorySessionService,
  LlmAgent,
  ParallelAgent,
  subagentTool,
} from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { door, endOf, follow, notingTool, policyOf, readOnly, results, say, slowTool, tool } from '../kit.ts';
import { askExpert, team } from './kit.ts';

const asks = policyOf({ pay: 'ask', ship: 'ask' });

function idOf(open: readonly ReportedRequest[], name: string): string {
  const found = open.find((request) => request.name === name);
  if (!found) throw new Error(`${name} is not open: ${open.map((request) => request.name).join()}`);
  return found.requestId;
}

test('S3-56 F19 two sub-agents wait, the process ends: a new one is answered out of order, each tool runs once', async () => {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const ship = notingTool('ship');
  const note = notingTool('note');
  const tools = [pay.tool, ship.tool, note.tool];
  const clerk = (name: string, script: readonly Script[]) =>
    subagentTool(fromAgent(new LlmAgent({ name, model: new ScriptedModel(script) })));
  const start = () => ({
    boss: new ScriptedModel([
      { calls: [['payer', { request: 'pay' }], ['shipper', { request: 'ship' }], ['note']] },
      'done',
    ]),
    payer: [{ calls: [['pay', { n: 1 }] as const] }, 'paid'],
    shipper: [{ calls: [['ship', { n: 2 }] as const] }, 'shipped'],
  });
  const host = (boss: ScriptedModel, payer: readonly Script[], shipper: readonly Script[]) =>
    createHost({
      app: 'shop',
      agents: [fromAgent(new LlmAgent({ name: 'boss', model: boss }))],
      tools: [...tools, clerk('payer', payer), clerk('shipper', shipper)],
      store: store,
      policy: asks,
    });
  const { boss, payer, shipper } = start();
  const first = await host(boss, payer, shipper).open('boss', { sessionId: 's', create: true });
  expect(
    endOf(await say(first, 'go'))
      .data.pending?.map(({ name }) => name)
      .sort(),
  ).toEqual(['pay', 'ship']);
  expect(note.runs).toHaveLength(1);

  // Nothing is left of it but the log.
  const second = host(new ScriptedModel(['done']), ['paid'], ['shipped']);
  const session = await second.open('boss', { sessionId: 's' });
  const open = await session.pending();
  expect(open.map(({ agentPath }) => agentPath.join('/')).sort()).toEqual(['boss/payer', 'boss/shipper']);
  const answered = await say(session, { kind: 'tool_approval', requestId: idOf(open, 'ship') });
  expect(endOf(answered)).toMatchObject({ reason: 'input_required' });
  expect([ship.runs.length, pay.runs.length]).toEqual([1, 0]);
  expect(results(answered)).toMatchObject({ shipper: 'shipped' });
  const last = await say(session, {
    kind: 'elicitation_response',
    requestId: idOf(open, 'pay'),
    response: { action: 'accept' },
  });
  expect(endOf(last).reason).toBe('completed');
  expect(results(last)).toMatchObject({ payer: 'paid' });
  expect([ship.runs, pay.runs, note.runs]).toEqual([[{ n: 2 }], [{ n: 1 }], [{}]]);
});

test('S3-56 a sub-agent that had ended when the process died is not asked again', async () => {
  const store = new InMemorySessionService();
  const first = team({ boss: [askExpert], expert: ['forty-two'], host: { policy: allowAll() }, store });
  // The host dies when it would store the result.
  const append = store.append.bind(store);
  let dead = false;
  const died = door();
  store.append = (key, events, options) => {
    const isResult = events.some(({ content }) => content?.parts.some(({ type }) => type === 'function_response'));
    if (dead || isResult) {
      dead = true;
      return died.opened.then(() => Promise.reject(new Error('the process is gone')));
    }
    return append(key, events, options);
  };
  const session = await first.host.open('boss', { sessionId: 's', create: true });
  const running = follow(session, 'what?');
  await running.seen('message', ({ threadId, role }) => threadId !== undefined && role === 'agent');
  while (!dead) await new Promise((resolve) => setImmediate(resolve));

  const log = (await store.get({ app: 'shop', userId: 'local', id: 's' }))?.events ?? [];
  const [call] = log.flatMap(({ content }) => content?.parts ?? []).filter(({ type }) => type === 'function_call');
  const childId = `s.${(call as { id: string }).id}`;
  const copy = new InMemorySessionService();
  for (const id of ['s', childId]) {
    const record = await store.get({ app: 'shop', userId: 'local', id });
    await copy.create({ app: 'shop', userId: 'local', id });
    await copy.append(
      { app: 'shop', userId: 'local', id },
      (record?.events ?? []).map((event) => ({ ...event, seq: 0 })),
    );
  }
  const second = team({ boss: ['done'], expert: [], host: { policy: allowAll() }, store: copy });
  const again = await second.host.open('boss', { sessionId: 's' });
  expect(await again.pending()).toMatchObject([{ name: 'expert', started: true }]);
  const events = await say(again, { kind: 'continue' });
  expect([results(events), endOf(events).reason]).toEqual([{ expert: 'forty-two' }, 'completed']);
  expect(second.expert.requests).toHaveLength(0);
  // What a process that is gone has begun would be kept here for good.
  died.open();
  expect(endOf(await running.ended).reason).toBe('failed');
});

test('S3-56 an answer while a sibling still runs: the sub-agent goes on in the same stream', async () => {
  const pay = notingTool('pay');
  const slow = slowTool('slow');
  const { host } = team({
    boss: [{ calls: [['expert', { request: 'go' }], ['slow']] }, 'done'],
    expert: [{ calls: [['pay', { n: 1 }]] }, 'paid'],
    tools: [pay.tool, slow.tool],
    host: { policy: asks },
  });
  const session = await host.open('boss');
  const running = follow(session, 'go');
  const question = await running.seen('elicitation_request');
  await slow.started;
  await session.respond(question.requestId, { kind: 'approve' });
  await running.seen('tool_response', ({ name }) => name === 'expert');
  slow.finish('slow done');
  const events = await running.ended;
  expect([endOf(events).reason, pay.runs.length, results(events).slow]).toEqual(['completed', 1, 'slow done']);
});

test('S3-56 an executor without resume is gone on with by its handle; in a new process a person is asked', async () => {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const hostWith = (boss: ScriptedModel, expert: ScriptedModel) => {
    const source = fromAgent(new LlmAgent({ name: 'expert', model: expert }));
    const descriptor = { ...source.descriptor, capabilities: ['streaming'] };
    const memory = new InMemorySessionService();
    const tool = subagentTool({
      descriptor,
      open: (_, context) => source.open({}, { ...context, store: memory }),
    });
    return createHost({
      app: 'shop',
      agents: [fromAgent(new LlmAgent({ name: 'boss', model: boss }))],
      tools: [tool, pay.tool],
      store: store,
      policy: asks,
    });
  };
  const script = () => new ScriptedModel([{ calls: [['pay', { n: 1 }]] }, 'paid']);
  const first = await hostWith(new ScriptedModel([askExpert]), script()).open('boss', { sessionId: 's', create: true });
  await say(first, 'go');
  expect(await first.pending()).toMatchObject([{ name: 'pay', agentPath: ['boss', 'expert'] }]);

  const second = await hostWith(new ScriptedModel(['done']), script()).open('boss', { sessionId: 's' });
  const [lost] = await second.pending();
  expect(lost).toMatchObject({ name: 'expert', elicitation: 'rerun_unknown' });
  await second.respond(String(lost?.requestId), { kind: 'deny' });
  const events = await say(second, { kind: 'continue' });
  expect([endOf(events).reason, results(events).expert?.split(':')[0], pay.runs]).toEqual([
    'completed',
    'interrupted',
    [],
  ]);
});

test('S3-56 F22 a message goes on beside a waiting sub-agent: a late yes runs it once, the model hears of it in a new turn', async () => {
  const pay = notingTool('pay');
  const { host, store, boss } = team({
    boss: [askExpert, 'meanwhile', 'now it is paid'],
    expert: [{ calls: [['pay', { n: 1 }]] }, 'paid'],
    tools: [pay.tool],
    host: { policy: asks },
  });
  const session = await host.open('boss');
  await say(session, 'go');
  const aside = await say(session, 'what else?', { whilePending: 'proceed' });
  expect(endOf(aside)).toMatchObject({ reason: 'completed', data: { pending: [{ name: 'pay' }] } });
  expect(pay.runs).toEqual([]);
  const answer = { kind: 'tool_approval' as const, requestId: idOf(await session.pending(), 'pay') };
  const events = await say(session, answer);
  expect([endOf(events).reason, results(events).expert, pay.runs]).toEqual(['completed', 'paid', [{ n: 1 }]]);
  expect(JSON.stringify(boss.requests.at(-1)?.contents)).toContain('paid');
  expect([await session.pending(), await store.openCalls({ app: 'shop' })]).toEqual([[], []]);
});

test('S3-56 nothing of a sub-agent is shown behind a fatal error of its caller', async () => {
  const held = slowTool('held', readOnly);
  const boss = new ParallelAgent({
    name: 'boss',
    subAgents: [
      new LlmAgent({ name: 'left', model: new ScriptedModel([askExpert, 'done']) }),
      new LlmAgent({ name: 'right', model: new ScriptedModel([{ calls: [['quick']] }, { error: new Error('down') }]) }),
    ],
  });
  const expert = new LlmAgent({ name: 'expert', model: new ScriptedModel([{ calls: [['held']] }, 'too late']) });
  const store = new InMemorySessionService();
  const quick = tool('quick', async () => void (await held.started), readOnly);
  const host = createHost({
    app: 'shop',
    agents: [fromAgent(boss)],
    tools: [held.tool, quick, subagentTool(fromAgent(expert))],
    store: store,
    policy: allowAll(),
  });
  const events = await say(await host.open('boss'), 'go');
  expect(endOf(events).reason).toBe('failed');
  expect(events.at(-2)).toMatchObject({ type: 'error', fatal: true });
  expect(await store.openCalls({ app: 'shop' })).toEqual([]);
});

/** `expert` pays, which policy allows, and then waits: its model says from what it is shown where it stands. */
function payingTeam(store: InMemorySessionService) {
  const pay = notingTool('pay');
  const ship = notingTool('ship');
  const bench = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay', { n: 1 }]] }, { calls: [['ship', { n: 2 }]] }, 'shipped'],
    tools: [pay.tool, ship.tool],
    host: { policy: policyOf({ expert: 'allow', pay: 'allow', ship: 'ask' }) },
    store,
  });
  return { ...bench, pay, ship };
}

test.each([
  ['no: it is told as interrupted', 'deny', ['interrupted', 1]],
  ['yes: it begins anew', 'approve', ['done', 2]],
] as const)(
  'ATK2-28 a sub-agent whose session is gone runs nothing again unasked; %s',
  async (_, kind, [end, paid]) => {
    const store = new InMemorySessionService();
    const first = payingTeam(store);
    const session = await first.host.open('boss', { sessionId: 's', create: true });
    await say(session, 'go');
    expect(first.pay.runs).toHaveLength(1);
    await session[Symbol.asyncDispose]();
    const gone = (await store.list({ app: 'shop', userId: 'local' })).map(({ id }) => id).filter((id) => id !== 's');
    for (const id of gone) await store.delete({ app: 'shop', userId: 'local', id });

    const script: Script[] = kind === 'approve' ? [{ calls: [['pay', { n: 1 }]] }, 'done'] : [];
    const second = team({
      boss: ['over'],
      expert: script,
      tools: [first.pay.tool, first.ship.tool],
      host: { policy: policyOf({ expert: 'allow', pay: 'allow', ship: 'ask' }) },
      store,
    });
    const again = await second.host.open('boss', { sessionId: 's' });
    const asked = await say(again, { kind: 'continue' });
    expect([endOf(asked).reason, first.pay.runs.length]).toEqual(['input_required', 1]);
    const [question] = await again.pending();
    expect(question).toMatchObject({ name: 'expert', elicitation: 'rerun_unknown' });
    // By a handle that has looked at nothing.
    await (await second.host.open('boss', { sessionId: 's' })).respond(String(question?.requestId), { kind });
    const events = await say(again, { kind: 'continue' });
    expect([endOf(events).reason, results(events).expert?.split(':')[0]]).toEqual(['completed', end]);
    expect(first.pay.runs).toHaveLength(paid);
  },
);

test('ATK2-28 sibling: the process dies as the start of a sub-agent is stored: nothing has begun, and nobody is asked', async () => {
  const store = new InMemorySessionService();
  const first = team({ boss: [askExpert], expert: [], host: { policy: allowAll() }, store });
  const append = store.append.bind(store);
  const [dead, died] = [door(), door()];
  store.append = async (key, events, options) => {
    const stored = await append(key, events, options);
    if (!events.some(({ actions }) => actions.started)) return stored;
    dead.open();
    return died.opened.then(() => Promise.reject(new Error('the process is gone')));
  };
  const session = await first.host.open('boss', { sessionId: 's', create: true });
  const running = follow(session, 'what?');
  await dead.opened;

  const copy = new InMemorySessionService();
  for (const { id } of await store.list({ app: 'shop', userId: 'local' })) {
    const key = { app: 'shop', userId: 'local', id };
    await copy.create(key);
    const { events = [] } = (await store.get(key)) ?? {};
    if (events.length > 0)
      await copy.append(
        key,
        events.map((event) => ({ ...event, seq: 0 })),
      );
  }
  const second = team({ boss: ['done'], expert: ['forty-two'], host: { policy: allowAll() }, store: copy });
  const again = await second.host.open('boss', { sessionId: 's' });
  expect(await again.pending()).toMatchObject([{ kind: 'tool', name: 'expert', started: true }]);
  const events = await say(again, { kind: 'continue' });
  expect([results(events), endOf(events).reason]).toEqual([{ expert: 'forty-two' }, 'completed']);
  expect(second.expert.requests).toHaveLength(1);
  died.open();
  expect(endOf(await running.ended).reason).toBe('failed');
});

test('ATK2-28 sibling: the session is taken away while the caller is open; an abort makes none anew', async () => {
  const store = new InMemorySessionService();
  const { host, pay, expert } = payingTeam(store);
  const session = await host.open('boss', { sessionId: 's', create: true });
  await say(session, 'go');
  await session[Symbol.asyncDispose]();
  const list = async () => (await store.list({ app: 'shop', userId: 'local' })).map(({ id }) => id);
  for (const id of (await list()).filter((one) => one !== 's'))
    await store.delete({ app: 'shop', userId: 'local', id });
  const again = await host.open('boss', { sessionId: 's' });
  expect(await again.pending()).toMatchObject([{ elicitation: 'rerun_unknown' }]);
  await again.abort({ reason: 'enough' });
  expect(await list()).toEqual(['s']);
  expect([pay.runs.length, expert.requests.length, await again.pending()]).toEqual([1, 2, []]);
});

test('ATK2-27 what stands in the session of a sub-agent before it is called is not its answer', async () => {
  const store = new InMemorySessionService();
  const { host, expert } = team({
    boss: [askExpert, 'done'],
    expert: ['refused'],
    host: { policy: policyOf({ expert: 'ask' }) },
    store,
  });
  const session = await host.open('boss', { sessionId: 's', create: true });
  await say(session, 'go');
  const [call] = await session.pending();
  const planting = fromAgent(new LlmAgent({ name: 'other', model: new ScriptedModel(['all is well']) }));
  const other = createHost({ app: 'shop', agents: [planting], store });
  await say(await other.open('other', { sessionId: `s.${call?.callId}`, create: true }), 'say so');
  await session.respond(String(call?.requestId), { kind: 'approve' });
  const events = await say(session, { kind: 'continue' });
  expect(results(events).expert).toContain('was there before agent expert was called');
  expect([expert.requests.length, JSON.stringify(events).includes('all is well')]).toEqual([0, false]);
});
