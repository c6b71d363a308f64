import { describe, expect, test, vi } from 'vitest';
import type {
  AgentEvent,
  AgentSession,
  AgentSource,
  ReportedRequest,
  TelemetrySpan,
} from '../../src/contracts/index.ts';
import { HostedSession } from '../../src/host/hosted/hosted-session.ts';
import { callOperation } from '../../src/host/run/run-spans.ts';
import { createHost, rulePolicy } from '../../src/index.ts';
import type { Heeded } from '../../src/session/index.ts';
import { heed } from '../../src/session/index.ts';
import { frameOf } from './frame-kit.ts';
import { call } from './judge-kit.ts';
import { door, refusal } from './kit.ts';
import { fakeRun, settle } from './run-kit.ts';

describe('what other processes do to a session that runs here', () => {
  function running(abort: () => Promise<void> = async () => {}) {
    const go = door();
    let tell: (heard: Heeded) => void = () => {};
    const deaf = vi.fn();
    const aborted: unknown[] = [];
    const inner = {
      ...{ id: 's', descriptor: { name: 'bot', capabilities: ['resume'] } },
      pending: async () => [],
      async *stream() {
        await go.opened;
        yield { type: 'stream_end', reason: 'completed', data: {} } as AgentEvent;
      },
      async *events() {},
      abort: async (target: unknown) => {
        aborted.push(target);
        await abort();
      },
      [heed]: (listener: typeof tell) => {
        tell = listener;
        return deaf;
      },
      [Symbol.asyncDispose]: async () => {},
    };
    const framed = frameOf({ tools: [], inner });
    const warnings: unknown[][] = [];
    Object.assign(framed.host, { warn: (...said: unknown[]) => void warnings.push(said) });
    const session = new HostedSession(inner as unknown as AgentSession, framed.made);
    framed.shared.handles.add(session);
    const ended = session.stream('go').next();
    return { session, ended, go, deaf, aborted, warnings, hear: (heard: Heeded) => tell(heard) };
  }

  test('wakes its run, or ends the part that is meant, until the run is over', async () => {
    const { session, ended, go, deaf, aborted, hear, warnings } = running();
    await settle();
    const wake = vi.spyOn(session.liveRun as NonNullable<typeof session.liveRun>, 'wake');
    hear({});
    expect([wake.mock.calls.length, deaf.mock.calls.length]).toEqual([1, 0]);
    hear({ abort: { requestId: 'c', reason: 'theirs' } });
    await settle();
    expect([aborted, warnings]).toEqual([[{ requestId: 'c', reason: 'theirs' }], []]);
    go.open(undefined);
    await ended;
    expect(deaf).toHaveBeenCalledTimes(1);
  });

  test('that cannot be done is told of', async () => {
    const { ended, go, hear, warnings } = running(() => Promise.reject(new Error('away')));
    await settle();
    hear({ abort: { requestId: 'c' } });
    await settle();
    expect(warnings).toEqual([['session s could not be aborted', new Error('away')]]);
    go.open(undefined);
    await ended;
  });
});

test('a call that runs here is an operation with the names that tracing systems know', () => {
  const spans: [string, Record<string, unknown>, unknown][] = [];
  const telemetry = {
    startSpan: (name: string, options: { attributes?: Record<string, unknown>; parent?: unknown }) => {
      spans.push([name, { ...options.attributes }, options]);
      return {
        setAttribute: () => {},
        setAttributes: () => {},
        addEvent: () => {},
        recordException: () => {},
        setStatus: () => {},
        end: () => {},
      } as unknown as TelemetrySpan;
    },
  };
  const { run } = fakeRun({ options: { telemetry: telemetry as never } });
  expect(callOperation(run, call(), 'c')).toBeDefined();
  expect(spans[0]?.[0]).toBe('execute_tool pay');
  const about = JSON.stringify(spans);
  for (const [key, value] of [
    ['gen_ai.operation.name', 'execute_tool'],
    ['gen_ai.tool.name', 'pay'],
    ['gen_ai.tool.type', 'function'],
    ['gen_ai.tool.call.id', 'c'],
    ['gen_ai.agent.name', 'bot'],
    ['gen_ai.conversation.id', 's'],
    ['gcp.vertex.agent.session_id', 's'],
  ]) {
    expect(about).toContain(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
  }
  expect(callOperation(fakeRun().run, call(), 'c')).toBeUndefined();
});

describe('a session of an executor of somebody else’s', () => {
  const descriptor = {
    ...{ name: 'bot', description: '', executor: 'x', capabilities: ['resume'], requiredTools: [] },
    ...{ subAgents: [], ownTools: [] },
  };
  /** Whatever is asked for, session `s` is opened, in which a call waits. */
  function foreign() {
    const open: ReportedRequest[] = [call({ handledBy: 'agent' })];
    const source = {
      descriptor,
      open: async () =>
        ({
          ...{ id: 's', descriptor, pending: async () => open },
          async *events() {
            yield { id: 'e1', type: 'tool_request', requestId: 'c', name: 'pay', sessionId: 's' } as AgentEvent;
          },
          respond: async () => ({ status: 'settled' }),
          abort: async () => {},
          [Symbol.asyncDispose]: async () => {},
        }) as unknown as AgentSession,
    } as unknown as AgentSource;
    return { open, host: createHost({ app: 'shop', agents: [source], policy: rulePolicy([]) }) };
  }

  test('has none of what was said always in one that was opened before, unless it is asked for by its id', async () => {
    const { host, open } = foreign();
    const first = await host.open('bot', { sessionId: 's' });
    const [question] = await first.pending();
    expect(question?.requestId).toBe('c#policy');
    const scopes = question?.approval?.remember.map(({ scope }) => scope);
    expect(scopes).toContain('session');
    await first.respond('c#policy', { kind: 'approve', remember: scopes?.indexOf('session') ?? -1 });
    open[0] = call({ requestId: 'd', callId: 'd', handledBy: 'agent' });
    const again = await host.open('bot', { sessionId: 's' });
    const asked = async (session: typeof first) =>
      (await session.pending()).some(({ approval }) => approval !== undefined);
    expect(await asked(again)).toBe(false);
    expect(await asked(await host.open('bot'))).toBe(true);
    await host.close();
    expect((await refusal(first.respond('c#policy', { kind: 'approve' }))).code).toBe('E_SESSION_CLOSED');
  });
});
