import { describe, expect, onTestFinished, test } from 'vitest';
import { checkStream } from '../../src/contracts/index.ts';
import { serveExecutor } from '../../src/host/websocket/index.ts';
import type { AgentHost, AgentSession, AgentSource, AgentStream } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { bot, door, notingTool, policyOf, readOnly } from '../host/kit.ts';
import { flaky } from './flaky.ts';
import { all, byName, client, durable, idsOf, logOf } from './kit.ts';

async function executors(script: readonly Script[], sessions = new InMemorySessionService()) {
  const server = await serveExecutor(
    { app: 'far', agents: [fromAgent(bot(script))], store: sessions },
    { authenticate: byName },
  );
  onTestFinished(() => server.close({ deadlineMs: 0 }));
  return { server, sessions };
}

/** Its streams show their end and settle later: when `settles` says so. */
function settlingLate(source: AgentSource, settles: Promise<void>): AgentSource {
  return {
    descriptor: source.descriptor,
    async open(ref, context) {
      const session = await source.open(ref, context);
      const late = (stream: AgentStream): AgentStream => {
        const events = (async function* () {
          yield* stream;
          await settles;
        })();
        const { streamId } = stream;
        return Object.assign(events, { streamId, abort: stream.abort.bind(stream) });
      };
      return new Proxy(session, {
        get(target, key) {
          if (key === 'stream') return (...given: Parameters<AgentSession['stream']>) => late(target.stream(...given));
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

function hostHere(
  sources: readonly AgentSource[],
  options: Omit<Parameters<typeof createHost>[0], 'app' | 'agents'>,
): AgentHost {
  const host = createHost({ app: 'near', agents: sources, ...options });
  onTestFinished(() => host.close());
  return host;
}

describe('an executor on another machine', () => {
  test('WS-60 is run by a host here: policy, tools and results are on this side', async () => {
    const { server } = await executors([
      {
        deltas: ['le', 't me'],
        calls: [
          ['look', { at: 1 }],
          ['wipe', {}],
        ],
      },
      'done',
    ]);
    const remote = await client(server);
    expect(remote.serves).toBe('executor');
    const look = notingTool('look', readOnly);
    const wipe = notingTool('wipe');
    const host = hostHere(remote.sources, {
      tools: [look.tool, wipe.tool],
      policy: policyOf({ wipe: { outcome: 'deny', reason: 'never' } }),
    });
    const session = await host.open('bot');
    const events = await all(session.stream('go'));
    expect(checkStream(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    expect(look.runs).toEqual([{ at: 1 }]);
    expect(wipe.runs).toEqual([]);
    const log = await logOf(session);
    expect(idsOf(durable(events))).toEqual(idsOf(log));
    const answers = log.flatMap((event) => (event.type === 'tool_response' ? [event.errorType ?? 'ok'] : []));
    expect(answers.sort()).toEqual(['denied', 'ok']);
  });

  test('WS-60 a question here is answered here, and the run there goes on', async () => {
    const { server } = await executors([{ calls: [['pay', {}]] }, 'paid']);
    const remote = await client(server);
    const pay = notingTool('pay');
    const host = hostHere(remote.sources, { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
    const session = await host.open('bot');
    expect((await all(session.stream('go'))).at(-1)).toMatchObject({ reason: 'input_required' });
    const [open] = await host.approvals.list();
    expect(open?.request.name).toBe('pay');
    await session.respond(open!.request.requestId, { kind: 'approve' });
    expect((await all(session.stream({ kind: 'continue' }))).at(-1)).toMatchObject({ reason: 'completed' });
    expect(pay.runs).toHaveLength(1);
  });

  test('WS-60 each tool runs once, whichever frames are lost', async () => {
    for (const drops of [
      [3, 5, 2],
      [9, 1, 1, 4],
      [14, 0, 6],
      [20, 2],
    ]) {
      const { server } = await executors([
        { deltas: ['a', 'b'], calls: [['note', { n: 1 }]] },
        { deltas: ['c'], calls: [['note', { n: 2 }]] },
        'done',
      ]);
      const network = flaky([1000]);
      const lossy = flaky(drops);
      const remote = await client(server, 'anna', {
        WebSocket: drops.length > 0 ? lossy.WebSocket : network.WebSocket,
      });
      const note = notingTool('note');
      const host = hostHere(remote.sources, { tools: [note.tool], policy: policyOf({}) });
      const session = await host.open('bot');
      const events = await all(session.stream('go'));
      expect(events.at(-1)).toMatchObject({ reason: 'completed' });
      expect(note.runs).toEqual([{ n: 1 }, { n: 2 }]);
      expect(idsOf(durable(events))).toEqual(idsOf(await logOf(session)));
    }
  });

  test('WS-60 runs no tool by itself, whatever a client asks', async () => {
    const ran: unknown[] = [];
    const agent = bot([{ calls: [['own', {}]] }, 'done'], {
      tools: [{ name: 'own', description: 'x', inputSchema: {}, execute: () => ran.push(1) } as never],
    });
    const server = await serveExecutor({ app: 'far', agents: [fromAgent(agent)] }, { authenticate: byName });
    onTestFinished(() => server.close({ deadlineMs: 0 }));
    const session = await (await client(server)).open('bot');
    const events = await all(session.stream('go', { hostToolExecution: false }));
    expect(events.at(-1)).toMatchObject({ reason: 'input_required' });
    expect(ran).toEqual([]);
  });
});

describe('a stream whose end was shown', () => {
  test('WS-60 runs no more, for whoever asks or opens the session before its executor has settled', async () => {
    const settles = door();
    const source = settlingLate(fromAgent(bot(['hi'])), settles.opened);
    const server = await serveExecutor(
      { app: 'far', agents: [source], store: new InMemorySessionService() },
      { authenticate: byName },
    );
    onTestFinished(() => server.close({ deadlineMs: 0 }));
    onTestFinished(() => settles.open());
    const session = await (await client(server)).open('bot', { sessionId: 's', create: true });
    await all(session.stream('hi'));
    await session.pending();
    expect(session.isRunning).toBe(false);
    const second = await (await client(server)).open('bot', { sessionId: 's', control: false });
    expect(second.isRunning).toBe(false);
  });
});
