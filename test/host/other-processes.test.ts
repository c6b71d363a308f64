import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { elsewhere } from '../runtime/elsewhere.ts';
import { bot, door, endOf, follow, hostOf, notingTool, only, policyOf, refusal, say, slowTool, tool } from './kit.ts';

const fast = { followPollMs: 5 };

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
    const options = { tools: [notingTool('pay').tool], policy: policyOf({ pay: 'ask_user' }), ...fast };
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
    const b = hostOf(bot(model), { store: two, ...fast });
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
    const b = hostOf(bot(model), { tools: [watched], policy: policyOf({}), store: two, ...fast });
    const run = follow(await a.host.open('bot', { sessionId: 's', create: true }), 'go');
    await slow.started;
    const there = await b.host.open('bot', { sessionId: 's' });
    const [call] = await there.inner.pending();
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
