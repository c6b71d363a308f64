import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { newestOf } from '../../src/adapters/remote/log.ts';
import type { AgentEvent, AgentSession, HostContext, SessionRef } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { Ceiling } from '../../src/host/connection/server/ceiling.ts';
import { servedExecutor } from '../../src/host/connection/server/served-executor.ts';
import { servedHost } from '../../src/host/connection/server/served-host.ts';
import { storeAnswers } from '../../src/host/connection/server/store-answers.ts';
import { Control } from '../../src/host/connection/stream/control.ts';
import { lastEvents } from '../../src/host/connection/stream/event-pages.ts';
import { serveExecutor } from '../../src/host/websocket/index.ts';
import type { AgentSource } from '../../src/index.ts';
import { fromAgent, InMemorySessionService } from '../../src/index.ts';
import { Offsets } from '../../src/session/resume/index.ts';
import { bot, hostOf } from '../host/kit.ts';
import { byName, serving } from './kit.ts';
import { Raw } from './raw.ts';

afterEach(() => void vi.restoreAllMocks());
const DAY = 86_400_000;

describe('what a client may ask of a stream', () => {
  test('the context of its trace comes along where it gives one', () => {
    const ceiling = new Ceiling({});
    const traceContext = { traceparent: '00-1-2-01' };
    expect(ceiling.stream({ traceContext })).toEqual({ traceContext });
    expect(Object.keys(ceiling.stream({}))).toEqual([]);
  });
});

test('only deltas of messages have a place in one', () => {
  const offsets = new Offsets();
  const event = { type: 'tool_update', partial: true, content: [], _meta: { messageId: 'm' } };
  expect(offsets.of(event as unknown as AgentEvent)).toBeUndefined();
});

describe('who controls a session', () => {
  const client = () => {
    const lost: unknown[] = [];
    return { lost, controlLost: (channel: unknown) => void lost.push(channel) };
  };
  const channel = { session: { id: 's' } };

  test('one that never had it takes it from nobody by leaving', () => {
    const control = new Control(channel);
    const [holder, other] = [client(), client()];
    const token = control.offer(holder, undefined, true);
    control.leave(other);
    expect([control.holds(holder), control.holds(other)]).toEqual([true, false]);
    expect(control.offer(other, undefined, true)).toBeUndefined();
    control.leave(holder);
    expect(control.offer(other, 'wrong', false)).toBeUndefined();
    expect(control.offer(other, token, false)).toBe(token);
    expect(() => control.assert(other, 'wrong')).toThrow(expect.objectContaining({ code: 'E_CONTROL_LOST' }));
    expect([holder.lost, other.lost]).toEqual([[], []]);
  });

  test('whoever had it is told of the one that takes it', () => {
    const control = new Control(channel);
    const [before, after] = [client(), client()];
    const old = control.take(before);
    const token = control.take(after);
    expect(before.lost).toEqual([channel]);
    expect(token).not.toBe(old);
    expect(control.offer(before, old, true)).toBeUndefined();
  });
});

describe('an executor as it is served', () => {
  test('is given what there is, and no member without a value', async () => {
    const contexts: HostContext[] = [];
    const source: AgentSource = {
      descriptor: { name: 'far' } as AgentSource['descriptor'],
      async open(_: SessionRef, context: HostContext) {
        contexts.push(context);
        throw new CoxswainError('UNAVAILABLE', 'E_EXECUTOR', 'not now');
      },
    } as unknown as AgentSource;
    const store = new InMemorySessionService();
    for (const options of [{}, { store }, { sessions: store }]) {
      const served = servedExecutor({ app: 'far', agents: [source], ...options });
      await expect(
        served.open('far', { permissionMode: 'plan' }, { userId: 'ann', principal: { id: 'ann' } }),
      ).rejects.toThrow('not now');
    }
    const who = { app: 'far', userId: 'ann', principal: { id: 'ann' } };
    expect(contexts.map((context) => Object.keys(context))).toEqual([
      Object.keys(who),
      [...Object.keys(who), 'store'],
      [...Object.keys(who), 'store'],
    ]);
  });

  /** The session of an agent whose stream, and perhaps more, is the given one. */
  const changed = (members: (closed: AbortSignal) => Record<string, unknown>): AgentSource => {
    const source = fromAgent(bot(['never']));
    return {
      descriptor: source.descriptor,
      async open(...given: Parameters<AgentSource['open']>) {
        const session = await source.open(...given);
        const closed = new AbortController();
        const own = members(closed.signal);
        return new Proxy(session, {
          get(target, name) {
            if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name];
            if (name === Symbol.asyncDispose) closed.abort();
            const value = Reflect.get(target, name, target) as unknown;
            return typeof value === 'function' ? value.bind(target) : value;
          },
        });
      },
    } as AgentSource;
  };
  const streaming = (events: AsyncGenerator<unknown>) => Object.assign(events, { streamId: 'one' });

  async function serveAgent(agent: AgentSource, warnings: string[]) {
    const server = await serveExecutor(
      { app: 'far', agents: [agent], store: new InMemorySessionService() },
      { authenticate: byName, warn: (message) => warnings.push(message) },
    );
    onTestFinished(() => server.close({ deadlineMs: 0 }));
    const raw = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    await raw.ask('session/stream', { sessionId, streamId: 'one', input: 'go', fencingToken });
    return { server, raw };
  }

  test('a run that breaks ends for its client, and is told to the host', async () => {
    const warnings: string[] = [];
    const broken = async function* () {
      yield { type: 'custom', id: 'e', sessionId: 's', name: 'first' };
      throw new Error('its own words');
    };
    const { raw } = await serveAgent(
      changed(() => ({ stream: () => streaming(broken()) })),
      warnings,
    );
    await raw.until(({ params }) => (params?.event as AgentEvent | undefined)?.type === 'stream_end');
    expect(raw.frames().at(-1)?.event).toMatchObject({ type: 'stream_end', reason: 'failed' });
    expect(warnings.filter((text) => text.startsWith('a stream of session'))).toHaveLength(1);
    expect(JSON.stringify(raw.received)).not.toContain('its own words');
  });

  test('a run that cannot be aborted is told to the host, and is closed with its session', async () => {
    const warnings: string[] = [];
    const agent = changed((closed) => ({
      stream: () =>
        streaming(
          (async function* () {
            yield { type: 'custom', id: 'e', sessionId: 's', name: 'first' };
            await new Promise((resolve) => closed.addEventListener('abort', resolve, { once: true }));
          })(),
        ),
      abort: () => Promise.reject(new Error('stuck')),
    }));
    const { server } = await serveAgent(agent, warnings);
    await server.close({ deadlineMs: 0 });
    expect(warnings).toContain('a run could not be aborted');
  });
});

describe('a host as it is served', () => {
  test('opens no snapshot of a client: its history would be taken for the host’s own', async () => {
    const { host } = hostOf(bot(['hello']));
    const served = servedHost(host, {}, () => {});
    const snapshot = { events: [] } as never;
    await expect(served.open('bot', { snapshot }, { userId: 'ann' })).rejects.toMatchObject({ code: 'E_CEILING' });
    await host.close();
  });

  test('a store is asked for as little as tells that it is there; agents without one have none that is away', async () => {
    const asked: unknown[] = [];
    const failing = (error: Error) => storeAnswers(() => ({ list: () => Promise.reject(error) }) as never);
    await storeAnswers(() => ({ list: async (query: unknown) => void asked.push(query) }) as never);
    await storeAnswers(() => undefined);
    await failing(new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', 'none'));
    expect(asked).toEqual([{ limit: 1 }]);
    await expect(failing(new CoxswainError('UNAVAILABLE', 'E_STORE', 'away'))).rejects.toMatchObject({
      code: 'E_STORE',
    });
    await expect(failing(new Error('broken'))).rejects.toThrow('broken');
  });
});

describe('a connection', () => {
  const quiet = () => hostOf(bot(['hello'])).host;

  test('is looked after though its client may do nothing', async () => {
    const server = await serving(quiet(), { authorize: () => false });
    const raw = await Raw.ready(server.url);
    await expect(raw.ask('session/list', {})).rejects.toThrow();
    await expect(raw.ask('ping', {})).resolves.toBeDefined();
  });

  test('of credentials that are good for longer than a timer lasts does not end with the timer', async () => {
    const real = globalThis.setTimeout;
    const long: (() => void)[] = [];
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms: number) => {
      if (ms > 20 * DAY) long.push(work);
      return real(ms > 20 * DAY ? () => {} : work, ms);
    }) as typeof setTimeout);
    const expiresAt = Date.now() + 30 * DAY;
    const server = await serving(quiet(), { authenticate: () => ({ principal: { id: 'ann' }, expiresAt }) });
    const raw = await Raw.ready(server.url);
    expect(long).toHaveLength(1);
    long[0]?.();
    expect(long).toHaveLength(2);
    await expect(raw.ask('ping', {})).resolves.toBeDefined();
  });

  test('opened without watching is told that nothing was recovered, and is sent nothing', async () => {
    const server = await serving(quiet());
    const raw = await Raw.ready(server.url);
    const opened = await raw.ask('session/open', { agent: 'bot', attach: false });
    expect(opened).toMatchObject({ recovered: false, offset: expect.any(Number) });
    expect(raw.received.filter(({ method }) => method === 'session/live')).toEqual([]);
  });
});

describe('the newest events of a log', () => {
  const events = Array.from(
    { length: 25 },
    (_, at) => ({ id: `e${at}`, cursor: `place-${at}` }) as unknown as AgentEvent,
  );
  const logWith = (knows: (cursor: string) => boolean) => {
    const asked: (string | undefined)[] = [];
    const session = {
      async *events({ after }: { after?: string } = {}) {
        asked.push(after);
        if (after !== undefined && !knows(after))
          throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', 'no place');
        yield* events;
      },
    } as unknown as AgentSession;
    return { asked, session };
  };

  test('are found where places are no numbers, or numbers that cannot be counted back', async () => {
    for (const [newest, asked] of [
      ['place-24', [undefined]],
      ['90.0', ['87.999999', undefined]],
    ] as const) {
      const log = logWith(() => false);
      const page = await lastEvents(log.session, newest, 3, 65_536);
      expect(page.events).toEqual(events.slice(-3));
      expect(page.more).toBe(true);
      expect(log.asked).toEqual(asked);
    }
  });

  test('a fault of the log is none of its places', async () => {
    const session = {
      async *events() {
        throw new CoxswainError('UNAVAILABLE', 'E_STORE_UNAVAILABLE', 'away');
        // biome-ignore lint/correctness/noUnreachable: makes it an iterator.
        yield* events;
      },
    } as unknown as AgentSession;
    await expect(lastEvents(session, '90.0', 3, 65_536)).rejects.toMatchObject({ code: 'E_STORE_UNAVAILABLE' });
  });

  test('a server that does not know the word is not believed', async () => {
    const first = { events: events.slice(0, 3), more: true };
    await expect(newestOf(3, async () => first)).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
    expect(await newestOf(3, async () => ({ ...first, more: false }))).toMatchObject({ events: first.events });
  });
});
