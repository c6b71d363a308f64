import { describe, expect, test } from 'vitest';
import type { AgentEvent, AnyTool } from '../../src/contracts/index.ts';
import { allowAll, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { elsewhere } from '../runtime/elsewhere.ts';
import { bot, door, endOf, hostOf, notingTool, policyOf, slowTool, tool, whole } from './kit.ts';

const isBusy = { status: 'ABORTED', code: 'E_SESSION_BUSY' };

async function all(stream: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Leases that may be lost without their holder's knowing, as with a connection. */
class Cuttable extends InMemorySessionService {
  cut: () => Promise<void> = async () => {};
  override async acquire(...args: Parameters<InMemorySessionService['acquire']>) {
    const lease = await super.acquire(...args);
    this.cut = lease.release;
    return lease;
  }
}

/** One session, as two processes over one store have it. */
async function two(tools: AnyTool[], calls: [string, object][], options: Parameters<typeof hostOf>[1] = {}) {
  const store = new Cuttable();
  const script = [{ calls }, 'done', 'again'] as never;
  const given = { tools, policy: allowAll(), approvalPollMs: 5, ...options };
  const a = hostOf(bot(script), { ...given, store });
  const b = hostOf(bot(['hello'] as never), { ...given, onApproval: undefined as never, store: elsewhere(store) });
  const mine = await a.host.open('bot', { sessionId: 's', create: true });
  const theirs = await b.host.open('bot', { sessionId: 's' });
  return { a, b, mine, theirs, store };
}

test('ATT-B2 while a tool runs the session is held: others are refused, see a call that runs, and run nothing', async () => {
  for (const annotations of [{}, { idempotent: true }, { readOnly: true }]) {
    const pay = slowTool('pay', { annotations });
    const { b, mine, theirs } = await two([pay.tool], [['pay', {}]]);
    const turn = all(mine.stream('go'));
    await pay.started;
    await expect(all(theirs.stream('hello'))).rejects.toMatchObject(isBusy);
    await expect(all(theirs.stream({ kind: 'continue' }))).rejects.toMatchObject(isBusy);
    const [call] = await theirs.pending();
    const isRecorded = Object.keys(annotations).length === 0;
    if (isRecorded) {
      expect(call).toMatchObject({ kind: 'tool', started: true, running: true });
      expect(await b.host.approvals.list()).toEqual([]);
      await expect(theirs.respond(`${call?.callId}`, { kind: 'deny' })).rejects.toMatchObject({
        code: 'E_WRONG_ANSWER',
      });
      await expect(theirs.respond(`${call?.callId}#rerun`, { kind: 'approve' })).rejects.toMatchObject({
        code: 'E_UNKNOWN_REQUEST',
      });
    }
    pay.finish({ paid: true });
    const events = await turn;
    expect(endOf(events).reason).toBe('completed');
    expect(events.find(({ type }) => type === 'tool_response')).not.toHaveProperty('isError');
    expect(pay.runs).toHaveLength(1);
    // Whoever has seen the end may go on.
    expect(endOf(await all(theirs.stream('hello'))).reason).toBe('completed');
  }
});

test('ATT-B2 the session is held while a person is asked in process, and given up when the stream pauses', async () => {
  const asked = door();
  const answer = door<undefined>();
  const pay = notingTool('pay');
  const { mine, theirs, store } = await two([pay.tool], [['pay', {}]], {
    policy: policyOf({ pay: 'ask' }),
    onApproval: () => {
      asked.open();
      return answer.opened;
    },
  });
  const turn = all(mine.stream('go'));
  await asked.opened;
  await expect(all(theirs.stream('hello'))).rejects.toMatchObject(isBusy);
  answer.open(undefined);
  expect(endOf(await turn).reason).toBe('input_required');
  expect(await store.holder({ app: 'shop', userId: 'local', id: 's' })).toBeUndefined();
  expect(endOf(await all(theirs.stream('hello'))).reason).toBe('completed');
  expect(pay.runs).toEqual([]);
});

test('ATT-B2 an answer of another process reaches the run that waits for a handler, or for other tools', async () => {
  const asked = door();
  const slow = slowTool('slow');
  const pay = notingTool('pay');
  const { b, mine } = await two(
    [slow.tool, pay.tool],
    [
      ['slow', {}],
      ['pay', {}],
    ],
    {
      policy: policyOf({ pay: 'ask' }),
      onApproval: () => {
        asked.open();
        return new Promise(() => {});
      },
    },
  );
  const responses: unknown[] = [];
  const turn = (async () => {
    for await (const event of mine.stream('go')) {
      if (event.type === 'tool_response') {
        responses.push(event.name);
        if (event.name === 'pay') slow.finish('slow done');
      }
      if (event.type === 'stream_end') return event.reason;
    }
    return undefined;
  })();
  await Promise.all([asked.opened, slow.started]);
  const [open] = await b.host.approvals.list();
  await b.host.approvals.decide(`${open?.request.requestId}`, { kind: 'approve' }, { by: { id: 'local' } });
  expect(await turn).toBe('completed');
  expect(responses).toEqual(['pay', 'slow']);
});

test('ATT-B2 no answer is left to nobody: one that comes while the session is being given up is gone on with', async () => {
  const release = door();
  /** Whoever answers while the lease is still held is refused. */
  class Late extends InMemorySessionService {
    override async acquire(...args: Parameters<InMemorySessionService['acquire']>) {
      const lease = await super.acquire(...args);
      return {
        ...lease,
        release: async () => {
          release.open();
          await answered.opened;
          await lease.release();
        },
      };
    }
  }
  const answered = door();
  const late = new Late();
  const pay = notingTool('pay');
  const policy = policyOf({ pay: 'ask' });
  const a = hostOf(bot([{ calls: [['pay', {}]] }, 'done'] as never), { store: late, tools: [pay.tool], policy });
  const b = hostOf(bot([] as never), { store: elsewhere(late), tools: [pay.tool], policy });
  const mine = await a.host.open('bot', { sessionId: 's', create: true });
  const turn = all(mine.stream('go'));
  await release.opened;
  const [open] = await b.host.approvals.list();
  const theirs = await b.host.open('bot', { sessionId: 's' });
  await theirs.respond(`${open?.request.requestId}`, { kind: 'approve' });
  await expect(whole(theirs).resume()).rejects.toMatchObject(isBusy);
  answered.open();
  expect(endOf(await turn).reason).toBe('completed');
  expect(pay.runs).toHaveLength(1);
});

test('ATT-B2 who takes over with a newer epoch asks about what was started; the old one starts nothing more', async () => {
  const first = slowTool('first');
  const second = notingTool('second', { annotations: { exclusive: true } });
  const { mine, theirs, store } = await two(
    [first.tool, second.tool],
    [
      ['first', {}],
      ['second', {}],
    ],
  );
  const turn = all(mine.stream('go'));
  await first.started;
  const key = { app: 'shop', userId: 'local', id: 's' };
  const [call] = await theirs.pending();
  expect(call).toMatchObject({ started: true, running: true });
  await store.cut();
  const lease = await store.acquire(key);
  await lease.release();
  expect((await theirs.pending()).find(({ name }) => name === 'first')).toMatchObject({
    elicitation: 'rerun_unknown',
  });
  first.finish('first done');
  expect(endOf(await turn).reason).toBe('failed');
  expect(second.runs).toEqual([]);
});

test('SOAK-3 whoever has seen the end of a stream goes on at once', async () => {
  const { host } = hostOf(bot(['one', 'two'] as never));
  const session = await host.open('bot');
  const reasons: string[] = [];
  for await (const event of session.stream('one')) {
    if (event.type !== 'stream_end') continue;
    reasons.push(event.reason);
    for await (const next of session.stream('two')) if (next.type === 'stream_end') reasons.push(next.reason);
  }
  expect(reasons).toEqual(['completed', 'completed']);
});

test.each([
  ['exclusive', { annotations: { exclusive: true } }, {}],
  ['one at a time', {}, { toolConcurrency: 1 }],
])('CASE-F6 calls that wait for their turn have not been started: %s', async (_, extra, options) => {
  const one = slowTool('one', extra);
  const [second, third] = [notingTool('two', extra), notingTool('three', extra)];
  const { host } = hostOf(bot([{ calls: ['one', 'two', 'three'].map((name) => [name, {}]) }] as never), {
    tools: [one.tool, second.tool, third.tool],
    policy: allowAll(),
    ...options,
  });
  const session = await host.open('bot');
  const turn = all(session.stream('go'));
  await one.started;
  await session.abort();
  const events = await turn;
  const came = events.flatMap((event) => (event.type === 'tool_response' ? [[event.name, event.errorType]] : []));
  expect(Object.fromEntries(came)).toEqual({ one: 'interrupted', two: 'cancelled', three: 'cancelled' });
  expect(events.filter((event) => event.type === 'tool_update' && event.status === 'started')).toHaveLength(1);
  expect([...second.runs, ...third.runs]).toEqual([]);
});

test('CASE-F6 calls that begin together are started together, and each that waited goes with the result before it', async () => {
  const starts: number[] = [];
  class Notes extends InMemorySessionService {
    override async append(...args: Parameters<InMemorySessionService['append']>) {
      const started = args[1].reduce((sum, { actions }) => sum + (actions.started?.length ?? 0), 0);
      if (started > 0) starts.push(started);
      return super.append(...args);
    }
  }
  const begun: string[] = [];
  const calls = ['a', 'b', 'c', 'd'];
  const { host } = hostOf(bot([{ calls: calls.map((name) => [name, {}]) }, 'done'] as never), {
    store: new Notes(),
    tools: calls.map((name) => tool(name, () => void begun.push(name))),
    policy: allowAll(),
    toolConcurrency: 3,
  });
  const session = await host.open('bot');
  expect(endOf(await all(session.stream('go'))).reason).toBe('completed');
  expect(begun).toEqual(calls);
  expect(starts).toEqual([3, 1]);
});

describe.each([
  ['without a host', false],
  ['under a host', true],
])('CASE-F6 tools that the agent runs %s', (_, isHosted) => {
  test.each([
    ['exclusive', { annotations: { exclusive: true } }, {}],
    ['one at a time', {}, { toolConcurrency: 1 }],
  ])('are not started while they wait for their turn: %s', async (__, extra, from) => {
    const one = slowTool('one', extra);
    const rest = [notingTool('two', extra), notingTool('three', extra)];
    const agent = bot([{ calls: ['one', 'two', 'three'].map((name) => [name, {}]) }, 'done'] as never, {
      tools: [one.tool, ...rest.map(({ tool: made }) => made)],
    });
    const store = new InMemorySessionService();
    const policy = allowAll();
    const place = { app: 'shop', userId: 'local', store, policy };
    const session = isHosted
      ? await hostOf(agent, { store, policy, from }).host.open('bot', { sessionId: 's', create: true })
      : await fromAgent(agent, from).open({ sessionId: 's', create: true }, place);
    const turn = all(session.stream('go'));
    await one.started;
    const begun = (await store.get({ app: 'shop', userId: 'local', id: 's' }))?.events.flatMap(
      ({ actions }) => actions.started ?? [],
    );
    expect(begun).toHaveLength(1);
    await session.abort();
    const events = await turn;
    const came = events.flatMap((event) => (event.type === 'tool_response' ? [[event.name, event.errorType]] : []));
    expect(Object.fromEntries(came)).toEqual({ one: 'interrupted', two: 'cancelled', three: 'cancelled' });
    expect(rest.flatMap(({ runs }) => runs)).toEqual([]);
  });

  test('start together where they begin together, each before its handler', async () => {
    const store = new InMemorySessionService();
    const policy = allowAll();
    const key = { app: 'shop', userId: 'local', id: 's' };
    const startsIn = async () =>
      (await store.get(key))?.events.flatMap(({ actions }) => (actions.started ? [actions.started.length] : [])) ?? [];
    const seen: number[] = [];
    const calls = ['a', 'b', 'c', 'd', 'e'];
    const tools = calls.map((name) =>
      tool(
        name,
        async () => {
          seen.push((await startsIn()).reduce((sum, count) => sum + count, 0));
          await new Promise((resolve) => setImmediate(resolve));
        },
        name === 'c' ? { annotations: { exclusive: true } } : {},
      ),
    );
    const agent = bot([{ calls: calls.map((name) => [name, {}]) }, 'done'] as never, { tools });
    const session = isHosted
      ? await hostOf(agent, { store, policy }).host.open('bot', { sessionId: 's', create: true })
      : await fromAgent(agent).open({ sessionId: 's', create: true }, { app: 'shop', userId: 'local', store, policy });
    expect(endOf(await all(session.stream('go'))).reason).toBe('completed');
    expect(await startsIn()).toEqual([2, 1, 2]);
    expect(seen).toEqual([2, 2, 3, 5, 5]);
  });
});

test.each(['this', 'another'])(
  'SOAK-3 who follows from %s process and has seen the end goes on at once',
  async (which) => {
    /** Gives leases back slowly, as a server far away does. */
    class Slow extends InMemorySessionService {
      override async acquire(...args: Parameters<InMemorySessionService['acquire']>) {
        const lease = await super.acquire(...args);
        const release = async () => {
          for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
          await lease.release();
        };
        return { ...lease, release };
      }
    }
    const store = new Slow();
    const { host } = hostOf(bot(['one', 'two', 'three'] as never), { store });
    const other = hostOf(bot(['four'] as never), { store: elsewhere(store), followPollMs: 1 });
    const mine = await host.open('bot', { sessionId: 's', create: true });
    const follower = which === 'this' ? mine : await other.host.open('bot', { sessionId: 's' });
    const seen: string[] = [];
    const following = (async () => {
      for await (const event of follower.events({ live: true })) {
        if (event.type !== 'stream_end') continue;
        seen.push(event.reason);
        const end = endOf(await all((which === 'this' ? mine : follower).stream('next')));
        seen.push(end.reason);
        return;
      }
    })();
    expect(endOf(await all(mine.stream('go'))).reason).toBe('completed');
    await following;
    expect(seen).toEqual(['completed', 'completed']);
  },
);

test('ATT-B2 a session that somebody runs is not deleted', async () => {
  const pay = slowTool('pay');
  const { a, b, mine } = await two([pay.tool], [['pay', {}]]);
  const turn = all(mine.stream('go'));
  await pay.started;
  for (const { host } of [a, b]) await expect(host.sessions().delete('s')).rejects.toMatchObject(isBusy);
  pay.finish('paid');
  expect(endOf(await turn).reason).toBe('completed');
  await b.host.sessions().delete('s');
  expect(await a.host.sessions().load('s')).toBeUndefined();
  await b.host.sessions().delete('s');
});
