import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/adapters/remote/index.ts';
import type { AgentEvent, AgentSession, AgentSource } from '../../src/contracts/index.ts';
import { serve, serveExecutor } from '../../src/host/websocket/index.ts';
import type { AgentHost } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import type { StreamQueue } from '../../src/session/index.ts';
import { bot, door, hostOf, refusal } from '../host/kit.ts';
import { watchRejections } from '../host/rejections.ts';
import { flaky } from './flaky.ts';
import { all, client, serving } from './kit.ts';

/** What watches approvals at a host: each resolves when it has ended. */
function watchesOf(host: AgentHost) {
  const watches: Promise<void>[] = [];
  const begun = door();
  const watch = host.approvals.watch.bind(host.approvals);
  host.approvals.watch = (filter) => {
    const questions = watch(filter) as StreamQueue<never>;
    watches.push(questions.start());
    begun.open();
    return questions;
  };
  return { watches, begun: begun.opened };
}

/** A source whose sessions tell when they are disposed of. */
function noting(source: AgentSource, change: (session: AgentSession) => object = () => ({})) {
  const disposed = door();
  const noted: AgentSource = {
    descriptor: source.descriptor,
    async open(ref, context) {
      const session = await source.open(ref, context);
      return new Proxy(session, {
        get(target, key) {
          const changed = change(target);
          if (key in changed) return changed[key as never];
          if (key === Symbol.asyncDispose) {
            return async () => {
              await target[Symbol.asyncDispose]();
              disposed.open();
            };
          }
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
  return { source: noted, disposed: disposed.opened };
}

describe('people who watch approvals', () => {
  test('SOAK-1 what a person has watched ends with the connection, though no question came that is theirs', async () => {
    const { host } = hostOf(bot(['hi']));
    const server = await serving(host);
    const { watches, begun } = watchesOf(host);
    const anna = await client(server);
    const asked = anna.approvals.watch().next();
    await begun;
    await anna.close();
    expect(await asked).toEqual({ value: undefined, done: true });
    await Promise.all(watches);
    expect(watches).toHaveLength(1);
  });

  test('SOAK-12 who leaves a watch is told no more, while the connection lives', async () => {
    const { host } = hostOf(bot(['hi']));
    const server = await serving(host);
    const { watches, begun } = watchesOf(host);
    const anna = await client(server);
    const [one, two] = [anna.approvals.watch(), anna.approvals.watch()];
    const asked = [one.next(), two.next()];
    await begun;
    await one.return?.();
    await anna.approvals.list();
    // The other one watches on.
    expect(watches).toHaveLength(2);
    await two.return?.();
    expect(await Promise.all(asked)).toEqual([1, 2].map(() => ({ value: undefined, done: true })));
    await Promise.all(watches);
    expect(anna.state).toBe('ready');
  });

  test('SOAK-12 a client that is closed while a watch is on its way ends it quietly', async () => {
    const { host } = hostOf(bot(['hi']));
    const server = await serving(host);
    const rejections = watchRejections();
    const anna = await client(server);
    const asked = anna.approvals.watch().next();
    await anna.close();
    expect(await asked).toEqual({ value: undefined, done: true });
    expect(await rejections()).toEqual([]);
  });

  test('SOAK-12 a client that is refused for good while a watch is on its way rejects it, and nothing else', async () => {
    const { host } = hostOf(bot(['hi']));
    const server = await serving(host);
    const rejections = watchRejections();
    const network = flaky([]);
    const anna = await client(server, 'anna', { WebSocket: network.WebSocket, giveUpMs: 0 });
    const refused = refusal(anna.approvals.watch().next());
    await server.close({ deadlineMs: 0 });
    network.drop();
    expect(await refused).toMatchObject({ code: 'E_CONNECTION_LOST' });
    expect(await rejections()).toEqual([]);
  });

  test('SOAK-12 a client that leaves a watch while it has no connection need not wait for one', async () => {
    const { host } = hostOf(bot(['hi']));
    const server = await serving(host);
    const network = flaky([]);
    const slow = { WebSocket: network.WebSocket, minBackoffMs: 60_000, maxBackoffMs: 60_000 };
    const anna = await client(server, 'anna', slow);
    const session = await anna.open('bot');
    network.drop();
    const watch = anna.approvals.watch();
    const log = session.events({ live: true })[Symbol.asyncIterator]();
    const asked = [watch.next(), log.next()];
    await Promise.all([watch.return?.(), log.return?.()]);
    expect(await Promise.all(asked)).toEqual([1, 2].map(() => ({ value: undefined, done: true })));
  });
});

describe('a server whose agents are remote', () => {
  /** A host that serves the agents of another server, all for the length of a test. */
  async function gateway(limits: { idleMs?: number } = {}) {
    const { source, disposed } = noting(fromAgent(bot(['hi'])));
    const store = new InMemorySessionService();
    const back = await serveExecutor({ app: 'x', agents: [source], store: store }, { limits });
    const upstream = await connect(back.url, { token: back.token ?? '' });
    const warnings: string[] = [];
    const front = await serve(createHost({ app: 'x', agents: upstream.sources }), {
      limits,
      warn: (message) => warnings.push(message),
    });
    onTestFinished(async () => {
      await front.close({ deadlineMs: 0 });
      await upstream.close();
      await back.close({ deadlineMs: 0 });
    });
    const anna = await connect(front.url, { token: front.token ?? '' });
    onTestFinished(() => anna.close());
    return { front, anna, disposed, warnings };
  }

  test('SOAK-2 a session that is idle is closed, there and here', async () => {
    const { anna, disposed, warnings } = await gateway({ idleMs: 1 });
    const session = await anna.open('bot');
    await all(session.stream('hi'));
    await session[Symbol.asyncDispose]();
    await disposed;
    expect(warnings).toEqual([]);
  });

  test('SOAK-2 it can be closed while sessions are open', async () => {
    const { front, anna, disposed, warnings } = await gateway({ idleMs: 1 });
    const session = await anna.open('bot');
    const watching = session.events({ live: true })[Symbol.asyncIterator]();
    await front.close({ deadlineMs: 0 });
    await disposed;
    expect(warnings).toEqual([]);
    await anna.close();
    await watching.return?.();
  });

  test('SOAK-2 a live log of a remote session ends while it is waited for, and where its client is closed', async () => {
    const { anna } = await gateway();
    const session = await anna.open('bot');
    const [left, closed, watched] = [
      session.events({ live: true }),
      session.events({ live: true }),
      session.watch(),
    ].map((events) => events[Symbol.asyncIterator]());
    const asked = [left, closed, watched].map((events) => events?.next());
    await left?.return?.();
    expect(await asked[0]).toEqual({ value: undefined, done: true });
    await anna.close();
    expect(await Promise.all(asked)).toEqual(asked.map(() => ({ value: undefined, done: true })));
  });
});

describe('an executor of somebody else’s', () => {
  /** Its log is an async generator: leaving it waits for its next event. */
  const generator = (session: AgentSession) => ({
    async *events(options?: { live?: boolean }): AsyncGenerator<AgentEvent> {
      yield* session.events();
      if (options?.live) await new Promise(() => {});
    },
  });

  test('SOAK-2 whose log cannot be left is disposed of all the same, and said', async () => {
    const { source, disposed } = noting(fromAgent(bot(['hi'])), generator);
    const warnings: [string, unknown][] = [];
    const server = await serve(createHost({ app: 'x', agents: [source], store: new InMemorySessionService() }), {
      limits: { closeMs: 1 },
      warn: (message, error) => warnings.push([message, error]),
    });
    const anna = await connect(server.url, { token: server.token ?? '' });
    const session = await anna.open('bot');
    await anna.close();
    await server.close({ deadlineMs: 0 });
    await disposed;
    expect(warnings).toEqual([
      [`session ${session.id} could not be closed`, expect.objectContaining({ code: 'E_EXECUTOR_SILENT' })],
    ]);
  });

  test('SOAK-2 whose session does not close keeps no server open', async () => {
    const { source } = noting(fromAgent(bot(['hi'])), () => ({ [Symbol.asyncDispose]: () => new Promise(() => {}) }));
    const warnings: string[] = [];
    const server = await serveExecutor(
      { app: 'x', agents: [source], store: new InMemorySessionService() },
      { limits: { closeMs: 1 }, warn: (message) => warnings.push(message) },
    );
    const anna = await connect(server.url, { token: server.token ?? '' });
    const { id } = await anna.open('bot');
    await anna.close();
    await server.close({ deadlineMs: 0 });
    expect(warnings).toEqual([`session ${id} could not be closed`]);
  });
});
