import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { InMemorySessionService, LlmAgent, ParallelAgent } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { elsewhere } from '../runtime/elsewhere.ts';
import { mortal } from '../runtime/kit.ts';
import {
  bot,
  door,
  endOf,
  follow,
  hostOf,
  notingTool,
  ofType,
  only,
  policyOf,
  refusal,
  say,
  slowTool,
  tool,
  whole,
} from './kit.ts';
import { askExpert, team } from './subagents/kit.ts';

const fast = { followPollMs: 5 };
/** Asks for an end, and waits for it long enough for any machine. */
const patient = { followPollMs: 3000 };

/** The events of a session until its turn has ended, by whichever process. */
async function untilEnd(events: AsyncIterable<AgentEvent>): Promise<string[]> {
  const types: string[] = [];
  for await (const event of events) {
    types.push(event.type);
    if (event.type === 'stream_end') break;
  }
  return types;
}

/** Two processes over one store. */
function twoStores(): [SessionService, SessionService] {
  const store = new InMemorySessionService();
  return [elsewhere(store), elsewhere(store)];
}

describe('a session that another process runs', () => {
  test('APP-B4 events({ live: true }) shows what that writes, and looks into the store only while somebody follows', async () => {
    const [one, two] = twoStores();
    let looks = 0;
    const get = one.get.bind(one);
    one.get = (...args) => {
      looks++;
      return get(...args);
    };
    const model = new ScriptedModel([{ calls: [['pay', {}]] }, 'paid']);
    const options = { tools: [notingTool('pay').tool], policy: policyOf({ pay: 'ask' }), ...fast };
    const a = hostOf(bot(model), { ...options, store: one });
    const b = hostOf(bot(model), { ...options, store: two });
    const session = await a.host.open('bot', { sessionId: 's', create: true });
    const cursor = endOf(await say(session, 'go')).cursor;
    const last = (await session.events()[Symbol.asyncIterator]().next()).value;
    const seen = untilEnd(session.events({ after: cursor ?? last.cursor, live: true }));
    const elsewhereOpen = await b.host.open('bot', { sessionId: 's' });
    await elsewhereOpen.respond((await only(elsewhereOpen)).requestId, { kind: 'approve' });
    await say(elsewhereOpen, { kind: 'continue' });
    expect(await seen).toEqual(
      expect.arrayContaining(['elicitation_response', 'tool_response', 'message', 'stream_end']),
    );
    const after = looks;
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(looks).toBe(after);
  });

  test('APP-B4 nothing is looked for in a store that only this process can write', async () => {
    const store = new InMemorySessionService();
    const { host } = hostOf(bot(['hello']), { store, ...fast });
    const session = await host.open('bot');
    const log = session.events({ live: true })[Symbol.asyncIterator]();
    await say(session, 'hi');
    expect((await log.next()).value.type).toBe('message');
    let looks = 0;
    const get = store.get.bind(store);
    store.get = (...args) => {
      looks++;
      return get(...args);
    };
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(looks).toBe(0);
    for (let event = await log.next(); event.value.type !== 'stream_end'; event = await log.next());
    const next = log.next();
    await session[Symbol.asyncDispose]();
    expect(await next).toMatchObject({ done: true });
  });

  test('APP-B5 abort() ends it there, also while a tool runs, and resolves when it has ended', async () => {
    const [one, two] = twoStores();
    const slow = slowTool('slow');
    const signals: AbortSignal[] = [];
    const watched = tool('slow', (args, context) => {
      signals.push((context as { signal: AbortSignal }).signal);
      return slow.tool.execute?.(args as never, context as never);
    });
    const model = new ScriptedModel([{ calls: [['slow', {}]] }, 'I went on.']);
    // The agent's own tool: its run holds the session.
    const a = hostOf(bot(model, { tools: [watched] }), { store: one, policy: policyOf({}), ...fast });
    const b = hostOf(bot(model), { store: two, ...patient });
    const run = follow(await a.host.open('bot', { sessionId: 's', create: true }), 'go');
    await slow.started;
    const there = await b.host.open('bot', { sessionId: 's' });
    await there.abort({ reason: 'stop' });
    expect(await there.standing()).toMatchObject({ isOver: true });
    expect(await there.pending()).toEqual([]);
    expect(endOf(await run.ended).reason).toBe('aborted');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('APP-B5 an abort of one call ends that call there', async () => {
    const [one, two] = twoStores();
    const slow = slowTool('slow');
    const stopped = door<void>();
    const watched = tool('slow', (args, context) => {
      (context as { signal: AbortSignal }).signal.addEventListener('abort', () => stopped.open());
      return slow.tool.execute?.(args as never, context as never);
    });
    const model = new ScriptedModel([{ calls: [['slow', {}]] }, 'I went on.']);
    const a = hostOf(bot(model), { tools: [watched], policy: policyOf({}), store: one, ...fast });
    const b = hostOf(bot(model), { tools: [watched], policy: policyOf({}), store: two, ...patient });
    const run = follow(await a.host.open('bot', { sessionId: 's', create: true }), 'go');
    await slow.started;
    const there = await b.host.open('bot', { sessionId: 's' });
    const [call] = await whole(there).inner.pending();
    await there.abort({ requestId: call?.requestId ?? '' });
    await stopped.opened;
    const events = await run.ended;
    expect(endOf(events).reason).toBe('completed');
    expect(events.filter(({ type }) => type === 'tool_response')).toHaveLength(1);
  });

  test('APP-B5 where the process does not react, abort() says so', async () => {
    const [one, two] = twoStores();
    const slow = slowTool('slow');
    const model = new ScriptedModel([{ calls: [['slow', {}]] }, 'I went on.']);
    // It looks so rarely that it hears nothing before its next append.
    const a = hostOf(bot(model, { tools: [slow.tool] }), { store: one, policy: policyOf({}), followPollMs: 600_000 });
    const b = hostOf(bot(model), { store: two, ...fast });
    const run = follow(await a.host.open('bot', { sessionId: 's', create: true }), 'go');
    await slow.started;
    const there = await b.host.open('bot', { sessionId: 's' });
    expect(await refusal(there.abort({ reason: 'stop' }))).toMatchObject({ status: 'ABORTED', code: 'E_SESSION_BUSY' });
    slow.finish('done');
    // With its next append it hears of it.
    expect(endOf(await run.ended).reason).toBe('aborted');
  });
});

describe('a wish to abort what another process runs', () => {
  test('APP-B5 reaches a run whose host runs the tool: it ends, and the session is free', async () => {
    const [one, two] = twoStores();
    const slow = slowTool('slow');
    const options = { tools: [slow.tool], policy: policyOf({}) };
    const a = hostOf(bot([{ calls: [['slow', {}]] }, 'I went on.']), { ...options, store: one, ...fast });
    const b = hostOf(bot(['Again.']), { ...options, store: two, ...patient });
    const run = follow(await a.host.open('bot', { sessionId: 's', create: true }), 'go');
    const { signal } = await slow.started;
    const there = await b.host.open('bot', { sessionId: 's' });
    await there.abort({ reason: 'stop' });
    expect(signal.aborted).toBe(true);
    expect(await there.standing()).toMatchObject({ isOver: true });
    expect(endOf(await run.ended).reason).toBe('aborted');
    expect(endOf(await say(there, 'next')).reason).toBe('completed');
  });

  test('APP-B5 is waited for also by a handle that was opened before the turn began', async () => {
    const [one, two] = twoStores();
    const slow = slowTool('slow');
    const options = { tools: [slow.tool], policy: policyOf({}) };
    const a = hostOf(bot(['Hello.', { calls: [['slow', {}]] }, 'I went on.']), { ...options, store: one, ...fast });
    const b = hostOf(bot([]), { ...options, store: two, ...patient });
    const mine = await a.host.open('bot', { sessionId: 's', create: true });
    await say(mine, 'hello');
    const there = await b.host.open('bot', { sessionId: 's' });
    const run = follow(mine, 'go');
    await slow.started;
    await whole(there).inner.abort({ reason: 'stop' });
    expect(await there.standing()).toMatchObject({ isOver: true });
    expect(endOf(await run.ended).reason).toBe('aborted');
  });

  test('APP-B5 of a branch ends that branch alone', async () => {
    const [one, two] = twoStores();
    const [left, right] = [slowTool('left'), slowTool('right')];
    const models = Object.fromEntries(
      ['left', 'right'].map((name) => [name, new ScriptedModel([{ calls: [[name, {}]] }, `${name} is done.`])]),
    );
    const branch = (name: string, { tool: own }: typeof left) =>
      new LlmAgent({ name, model: models[name] as ScriptedModel, tools: [own] });
    const both = new ParallelAgent({ name: 'bot', subAgents: [branch('left', left), branch('right', right)] });
    const a = hostOf(both, { policy: policyOf({}), store: one, ...fast });
    const b = hostOf(both, { policy: policyOf({}), store: two, ...patient });
    const run = follow(await a.host.open('bot', { sessionId: 's', create: true }), 'go');
    const [context] = await Promise.all([left.started, right.started]);
    const there = await b.host.open('bot', { sessionId: 's' });
    const { threadId } = await run.seen('tool_request', ({ name }) => name === 'left');
    const aborted = there.abort({ threadId: threadId ?? '' });
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
    right.finish('ok');
    await aborted;
    const events = await run.ended;
    expect(endOf(events).reason).toBe('completed');
    const came = ofType(events, 'tool_response').map(({ name, errorType }) => [name, errorType]);
    expect(Object.fromEntries(came)).toEqual({ left: 'interrupted', right: undefined });
    expect(ofType(events, 'message').flatMap(({ content }) => content)).toContainEqual(
      expect.objectContaining({ text: 'right is done.' }),
    );
  });

  test('APP-B5 that nobody has heard in time does not end what somebody does on purpose later', async () => {
    const [one, two] = twoStores();
    const slow = slowTool('slow');
    const options = { tools: [slow.tool], policy: policyOf({}) };
    // It looks so rarely that it hears nothing, and dies then.
    const deaf = mortal(one, (events) => events.some(({ content }) => content?.parts.some(isResponse)));
    const a = hostOf(bot([{ calls: [['slow', {}]] }]), { ...options, store: deaf, followPollMs: 600_000 });
    const b = hostOf(bot([]), { ...options, store: two, ...fast });
    const c = hostOf(bot(['On purpose.']), { ...options, store: elsewhere(one), ...fast });
    const dying = say(await a.host.open('bot', { sessionId: 's', create: true }), 'go').catch(() => {});
    await slow.started;
    const later = await c.host.open('bot', { sessionId: 's' });
    const there = await b.host.open('bot', { sessionId: 's' });
    expect(await refusal(there.abort())).toMatchObject({ code: 'E_SESSION_BUSY' });
    slow.finish('done');
    await dying;
    // It learns of the wish as it begins.
    const events: AgentEvent[] = [];
    for await (const event of later.stream('something else')) events.push(event);
    expect(endOf(events).reason).toBe('completed');
  });

  test('APP-B5 ends a sub-agent together with its caller, which does not go on with what that has come to', async () => {
    const [one, two] = twoStores();
    const slow = slowTool('slow');
    const given = { tools: [slow.tool], host: { policy: policyOf({}), ...fast } };
    const asking = { ...given, host: { ...given.host, ...patient } };
    const written: (string | undefined)[][] = [];
    const append = two.append.bind(two);
    two.append = (key, events, ...rest) => {
      written.push([key.id, ...events.map(({ actions }) => actions.abort?.reason)]);
      return append(key, events, ...rest);
    };
    const a = team({
      ...given,
      boss: [askExpert, 'I went on.'],
      expert: [{ calls: [['slow', {}]] }, 'So did I.'],
      store: one,
    });
    const b = team({ ...asking, boss: [], expert: [], store: two });
    const run = follow(await a.host.open('boss', { sessionId: 's', create: true }), 'go');
    const { signal } = await slow.started;
    const there = await b.host.open('boss', { sessionId: 's' });
    await there.abort({ reason: 'stop' });
    expect(signal.aborted).toBe(true);
    expect(await there.standing()).toMatchObject({ isOver: true });
    expect(await there.pending()).toEqual([]);
    expect(endOf(await run.ended).reason).toBe('aborted');
    expect([a.boss.requests.length, a.expert.requests.length]).toEqual([1, 1]);
    expect(written).toEqual([['s', 'stop']]);
  });

  test('APP-B5 ends a sub-agent that waits for a person where nobody runs anything', async () => {
    const [one, two] = twoStores();
    const pay = notingTool('pay');
    const given = { tools: [pay.tool], host: { policy: policyOf({ pay: 'ask' }), ...fast } };
    const a = team({ ...given, boss: [askExpert, 'I went on.'], expert: [{ calls: [['pay', {}]] }], store: one });
    const b = team({ ...given, boss: ['Next.'], expert: [], store: two });
    await say(await a.host.open('boss', { sessionId: 's', create: true }), 'go');
    const there = await b.host.open('boss', { sessionId: 's' });
    await there.abort({ reason: 'stop' });
    expect(await there.pending()).toEqual([]);
    expect(await b.host.approvals.list()).toEqual([]);
    expect(endOf(await say(there, 'next')).reason).toBe('completed');
    expect(pay.runs).toEqual([]);
  });
});

describe('an answer while somebody else holds the session', () => {
  test('ATT-B2 is gone on with by whoever gave it, once that one has let go', async () => {
    const [one, two] = twoStores();
    const pay = notingTool('pay');
    const options = { tools: [pay.tool], policy: policyOf({ pay: 'ask' }), ...fast };
    const a = hostOf(bot([{ calls: [['pay', {}]] }]), { ...options, store: one });
    const b = hostOf(bot(['Paid.']), { ...options, store: two });
    await say(await a.host.open('bot', { sessionId: 's', create: true }), 'go');
    const [open] = await b.host.approvals.list();
    // One that holds it, and looks at nothing any more.
    const lease = await one.acquire({ app: 'shop', userId: 'local', id: 's' });
    await b.host.approvals.decide(`${open?.request.requestId}`, { kind: 'approve' }, { by: { id: 'local' } });
    expect(pay.runs).toEqual([]);
    await lease.release();
    await b.host.idle();
    expect(pay.runs).toHaveLength(1);
    expect(await (await b.host.open('bot', { sessionId: 's' })).standing()).toMatchObject({ isOver: true });
    expect(b.warnings).toEqual([]);
  });
});

const isResponse = ({ type }: { type: string }) => type === 'function_response';
