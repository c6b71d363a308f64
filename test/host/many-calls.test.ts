import { expect, test, vi } from 'vitest';
import { allowAll, rulePolicy } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { all, bot, endOf, follow, hostOf, notingTool, ofType, policyOf, say, slowTool } from './kit.ts';

const MANY = 600;
const calls = Array.from({ length: MANY }, (_, k) => ['look', { k }] as const);
const asksOnce = () => new ScriptedModel([{ calls }, 'done']);

/** How often the event loop has come round while `work` went on. */
async function rounds<T>(work: () => Promise<T>): Promise<[result: T, rounds: number]> {
  let count = 0;
  let isOver = false;
  const look = () => {
    count++;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const result = await work();
  isOver = true;
  return [result, count];
}

for (const where of ['host', 'agent'] as const) {
  test(`ATT-B6 many calls of a tool of the ${where} in one answer: others of the process are served on the way`, async () => {
    const { tool, runs } = notingTool('look');
    const { host } = hostOf(bot(asksOnce(), where === 'agent' ? { tools: [tool] } : {}), {
      tools: where === 'host' ? [tool] : [],
      policy: allowAll(),
    });
    const session = await host.open('bot');
    const [events, count] = await rounds(() => say(session, 'go'));
    expect(endOf(events).reason).toBe('completed');
    expect(
      ofType(events, 'tool_response')
        .map(({ requestId }) => requestId)
        .toSorted(),
    ).toEqual(
      ofType(events, 'tool_request')
        .map(({ requestId }) => requestId)
        .toSorted(),
    );
    expect(runs).toHaveLength(MANY);
    expect(count).toBeGreaterThan(MANY / 100);
  });
}

test('ATT-B6 policy is asked once about each of many calls, however many results come in between', async () => {
  const { tool, runs } = notingTool('look');
  const policy = policyOf({});
  const { host } = hostOf(bot(asksOnce()), { tools: [tool], policy, toolConcurrency: 1 });
  await say(await host.open('bot'), 'go');
  expect([runs.length, policy.asked.length]).toEqual([MANY, MANY]);
});

test('ATT-B6 an abort in the midst of many calls is heard before the last of them', async () => {
  const { tool, runs } = notingTool('look');
  const { host } = hostOf(bot(asksOnce()), { tools: [tool], policy: allowAll() });
  const session = await host.open('bot');
  const events = [];
  for await (const event of session.stream('go')) {
    events.push(event);
    if (event.type === 'tool_response') void session.abort();
  }
  expect(endOf(events).reason).toBe('aborted');
  expect(runs.length).toBeLessThan(MANY);
  expect(await session.pending()).toEqual([]);
});

test('ATT-B6 hundreds of calls of all kinds in one answer, few at a time: each comes to its own end, once', async () => {
  const kinds = ['look', 'pay', 'own', 'deny', 'wrong', 'gone'] as const;
  const mixed = Array.from({ length: 400 }, (_, k) => [kinds[k % kinds.length] as string, { k }] as const);
  const look = notingTool('look', { annotations: { readOnly: true } });
  const pay = notingTool('pay');
  const own = notingTool('own');
  const denied = notingTool('deny');
  const wrong = notingTool('wrong', { inputSchema: { type: 'object', properties: { k: { type: 'string' } } } });
  const model = new ScriptedModel([{ calls: mixed }, 'done']);
  const { host } = hostOf(bot(model, { tools: [own.tool] }), {
    tools: [look.tool, pay.tool, denied.tool, wrong.tool],
    policy: { evaluate: ({ action }) => ({ outcome: action === 'deny' ? 'deny' : 'allow' }) },
    toolConcurrency: 3,
  });
  const events = await say(await host.open('bot'), 'go');
  expect(endOf(events).reason).toBe('completed');
  const asked = ofType(events, 'tool_request');
  const ends = new Map(ofType(events, 'tool_response').map((event) => [event.requestId, event.errorType]));
  expect([asked.length, ends.size, ofType(events, 'tool_response').length]).toEqual([400, 400, 400]);
  const expected = { look: undefined, pay: undefined, own: undefined, deny: 'denied', wrong: 'invalid_args' };
  for (const { requestId, name } of asked) {
    const end = name === 'gone' ? 'not_found' : expected[name as keyof typeof expected];
    expect([name, ends.get(requestId)]).toEqual([name, end]);
  }
  for (const [{ runs }, at] of [look, pay, own].map((each, index) => [each, index] as const)) {
    const wanted = mixed.filter((_, k) => k % kinds.length === at).map(([, args]) => args);
    const ran = runs as { k: number }[];
    expect(ran.toSorted((a, b) => a.k - b.k)).toEqual(wanted);
  }
  expect([denied.runs, wrong.runs]).toEqual([[], []]);
});

test('ATT-B6 of many questions that wait beside a tool that runs, an answer to one has none judged or stored again', async () => {
  const slow = slowTool('slow');
  const { tool, runs } = notingTool('look');
  const many = 60;
  const model = new ScriptedModel([{ calls: [['slow'], ...calls.slice(0, many)] }, 'done']);
  const policy = policyOf({ slow: 'allow', look: 'ask' });
  const { host, store } = hostOf(bot(model), { tools: [slow.tool, tool], policy });
  const session = await host.open('bot', { sessionId: 's', create: true });
  const run = follow(session, 'go');
  await slow.started;
  const ids = new Set<string>();
  while (ids.size < many) {
    const { requestId } = await run.seen('elicitation_request', (event) => !ids.has(event.requestId));
    ids.add(requestId);
  }
  let answered = 0;
  for (const requestId of ids) {
    await session.respond(requestId, { kind: 'approve' });
    // Each is taken up by itself.
    await vi.waitFor(() => expect(runs).toHaveLength(answered + 1));
    answered++;
  }
  slow.finish('done');
  expect(endOf(await run.ended).reason).toBe('completed');
  expect(policy.asked.length).toBeLessThan(8 * many);
  const log = (await store.get({ app: 'shop', userId: 'local', id: 's' }))?.events ?? [];
  expect(log.flatMap(({ actions }) => actions.questions ?? [])).toHaveLength(many);
});

test('ATT-B6 what thousands of questions were put with is stored in several events, all of it before one is shown', async () => {
  const many = 2100;
  const wanted = Array.from({ length: many }, (_, k) => ['look', { k }] as const);
  const approvers = { roles: ['boss'], notRequester: true };
  const { tool } = notingTool('look');
  const policy = policyOf({ look: { outcome: 'ask', approvers } });
  const model = new ScriptedModel([{ calls: wanted }, 'done']);
  const { host, store } = hostOf(bot(model), { tools: [tool], policy, answerLimits: { calls: many } });
  const session = await host.open('bot', { sessionId: 's', create: true });
  const questions = async () => {
    const log = (await store.get({ app: 'shop', userId: 'local', id: 's' }))?.events ?? [];
    return log.map(({ actions }) => actions.questions ?? []).filter(({ length }) => length > 0);
  };
  let shown: string | undefined;
  for await (const event of session.stream('go')) {
    if (event.type !== 'elicitation_request' || shown !== undefined) continue;
    shown = event.requestId;
    expect((await questions()).flat()).toHaveLength(many);
  }
  const stored = await questions();
  expect(shown).toBeDefined();
  expect(stored.length).toBeGreaterThan(2);
  expect(new Set(stored.flat().map(({ requestId }) => requestId)).size).toBe(many);
  expect(stored.flat().every((put) => put.approvers?.roles?.[0] === 'boss')).toBe(true);
  await host.close();
});

test('ATT-B6 an "always" to one of many questions that wait lets the others go on', async () => {
  const slow = slowTool('slow');
  const { tool, runs } = notingTool('look');
  const model = new ScriptedModel([{ calls: [['slow'], ...calls.slice(0, 5)] }, 'done']);
  const policy = rulePolicy([
    { tool: 'slow', outcome: 'allow' },
    { tool: 'look', outcome: 'ask', overridable: true },
  ]);
  const { host } = hostOf(bot(model), { tools: [slow.tool, tool], policy });
  const session = await host.open('bot');
  const run = follow(session, 'go');
  await slow.started;
  const { requestId } = await run.seen('elicitation_request');
  await session.respond(requestId, { kind: 'approve', remember: 0 });
  await vi.waitFor(() => expect(runs).toHaveLength(5));
  slow.finish('done');
  expect(endOf(await run.ended).reason).toBe('completed');
});

test('ATT-B6 thousands of open calls are aborted at once, and each is closed', async () => {
  const { tool, runs } = notingTool('look');
  const thousands = Array.from({ length: 3000 }, (_, k) => ['look', { k }] as const);
  const { host } = hostOf(bot(new ScriptedModel([{ calls: thousands }, 'done'])), {
    tools: [tool],
    policy: policyOf({ look: 'ask' }),
    answerLimits: { calls: thousands.length },
  });
  const session = await host.open('bot');
  expect(endOf(await say(session, 'go')).data.pending).toHaveLength(thousands.length);
  await session.abort();
  expect(await session.pending()).toEqual([]);
  const ends = ofType(await all(session.events()), 'tool_response');
  expect([ends.length, new Set(ends.map(({ errorType }) => errorType)), runs]).toEqual([
    thousands.length,
    new Set(['cancelled']),
    [],
  ]);
});
