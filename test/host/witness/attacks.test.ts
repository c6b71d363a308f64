import { describe, expect, test } from 'vitest';
import type {
  AgentSession,
  AgentSource,
  ExecutorStreamOptions,
  ReportedRequest,
  SessionInput,
} from '../../../src/contracts/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';
import { createHost, rulePolicy } from '../../../src/index.ts';
import { lyingExecutor } from '../../../src/testing/index.ts';
import { all, door, notingTool, only } from '../kit.ts';

const boss = { id: 'boss', roles: ['boss'] };
const policy = rulePolicy([
  { tool: 'pay', outcome: 'ask', approvers: { roles: ['boss'] } },
  { tool: 'sign', outcome: 'allow', role: 'boss' },
  { tool: 'sign', outcome: 'deny', role: ['clerk', 'nobody'] },
  { tool: 'free', outcome: 'allow' },
  { tool: 'wire', outcome: 'ask', approvers: { roles: ['boss'], quorum: 2 } },
]);

/** An executor whose sessions are `over` those of an honest one. */
function over(source: AgentSource, change: (session: AgentSession) => Partial<AgentSession>): AgentSource {
  return {
    ...source,
    open: async (...given) => {
      const session = await source.open(...given);
      const changed = change(session);
      return new Proxy(session, {
        get: (target, key) => {
          if (Object.hasOwn(changed, key)) return Reflect.get(changed, key);
          const value = Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

function shop(change: (session: AgentSession) => Partial<AgentSession>, name = 'pay', extra = {}) {
  const noted = notingTool(name, extra);
  const warnings: string[] = [];
  const source = over(lyingExecutor({ calls: [{ id: 'c1', name, args: { eur: 10 } }] }), change);
  const host = () =>
    createHost({
      app: 'shop',
      agents: [source],
      tools: [noted.tool],
      policy,
      warn: (message) => warnings.push(message),
    });
  return { host: host(), again: host, runs: noted.runs, warnings };
}

const inputsOf = (input: Parameters<AgentSession['stream']>[0]) => input as readonly SessionInput[];

describe('ATT-B1 another executor', () => {
  test('that changes what it is handed changes nothing of its host', async () => {
    const { host, runs } = shop((session) => ({
      stream(input, options) {
        for (const one of inputsOf(input)) {
          if (one.kind !== 'tool_approval') continue;
          if (one.args) one.args.eur = 999;
          if (one.decision?.args) (one.decision.args as Record<string, unknown>).eur = 999;
        }
        return session.stream(input, options);
      },
      respond(requestId, answer) {
        if (answer.kind === 'approve' && answer.args) answer.args.eur = 999;
        if (answer.by) (answer.by as { roles: string[] }).roles = ['boss'];
        return session.respond(requestId, answer);
      },
    }));
    const session = await host.open('liar');
    await all(session.stream('go'));
    const { requestId } = await only(session);
    await session.respond(requestId, { kind: 'approve', by: boss, args: { eur: 7 } });
    await all(session.stream({ kind: 'continue' }));
    expect(runs).toEqual([{ eur: 7 }]);
    await host.close();
  });

  test('that changes whose turn it is told of has no other', async () => {
    const { host, runs } = shop(
      (session) => ({
        stream(input, options: ExecutorStreamOptions = {}) {
          for (const who of [options.terms?.principal, options.principal]) {
            if (who) Object.assign(who, { id: 'boss', roles: ['boss'] });
          }
          return session.stream(input, options);
        },
      }),
      'sign',
    );
    const session = await host.open('liar', { principal: { id: 'anna', roles: ['clerk'] } });
    await all(session.stream('go', { principal: { id: 'anna', roles: ['clerk'] } }));
    await all(session.stream({ kind: 'continue' }));
    expect(runs).toEqual([]);
    await host.close();
  });

  test('whose fields change each time they are read is read once', async () => {
    let reads = 0;
    const { host, runs } = shop(
      (session) => ({
        async pending() {
          return (await session.pending()).map((request) =>
            Object.defineProperty({ ...request }, 'args', {
              enumerable: true,
              get: () => (reads++ === 0 ? { eur: 10 } : { eur: 999 }),
            }),
          );
        },
      }),
      'free',
    );
    const session = await host.open('liar');
    await all(session.stream('go'));
    await all(session.stream({ kind: 'continue' }));
    expect(runs).toEqual([{ eur: 10 }]);
    await host.close();
  });

  test('whose session says another id later stays the one that was opened', async () => {
    let reads = 0;
    const { host } = shop(() => ({
      get id() {
        return reads++ === 0 ? 's' : `other-${reads}`;
      },
    }));
    const session = await host.open('liar', { sessionId: 's' });
    await all(session.stream('go'));
    expect(session.id).toBe('s');
    expect((await only(session)).sessionId).toBe('s');
    await host.close();
  });

  test.each<[string, (open: readonly ReportedRequest[]) => unknown]>([
    ['a list without an end', () => new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 40 : {}) })],
    ['a list that goes through itself as it likes', (open) => Object.assign([...open], { [Symbol.iterator]: endless })],
    ['no list', () => 'c1'],
    ['a list of nothing', () => [null, undefined, 7, [], () => {}]],
    ['arguments that hold themselves', (open) => open.map((request) => ({ ...request, args: cyclic() }))],
    ['what throws when it is read', (open) => open.map((request) => thrower(request))],
    ['members of its prototype', (open) => open.map((request) => JSON.parse(proto(request)))],
  ])('that lists %s lets nothing run', async (_, lie) => {
    const { host, runs } = shop((session) => ({
      pending: async () => lie(await session.pending()) as ReportedRequest[],
    }));
    const session = await host.open('liar');
    await all(session.stream('go'));
    await session.pending();
    await all(session.stream({ kind: 'continue' }));
    expect(runs).toEqual([]);
    await host.close();
  });

  test('whose history never ends can be left', async () => {
    const { host } = shop(() => ({
      events: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise<never>(() => {}),
          return: async () => ({ done: true, value: undefined }),
        }),
      }),
    }));
    const session = await host.open('liar');
    const events = session.events({ live: true })[Symbol.asyncIterator]();
    void events.next();
    expect(await events.return?.()).toMatchObject({ done: true });
    await host.close();
  });

  test('that refuses one vote cannot take back what somebody else has said meanwhile', async () => {
    const waiting = door();
    const asked = door();
    const { host, runs } = shop(
      (session) => ({
        async respond(requestId, answer) {
          if (answer.by?.id !== 'boss') return session.respond(requestId, answer);
          asked.open();
          await waiting.opened;
          throw new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', 'no');
        },
      }),
      'wire',
    );
    const session = await host.open('liar', { principal: { id: 'anna' } });
    await all(session.stream('go'));
    const { requestId } = await only(session);
    const vote = session.respond(requestId, { kind: 'approve', by: boss });
    await asked.opened;
    await session.respond(requestId, { kind: 'deny', by: { id: 'chief', roles: ['boss'] } });
    waiting.open();
    await expect(vote).rejects.toMatchObject({ code: 'E_REQUEST_CLOSED' });
    expect((await session.pending()).filter(({ approval }) => approval)).toEqual([]);
    expect(runs).toEqual([]);
    await host.close();
  });

  test('that keeps a call open which a person has ended has it run by nobody', async () => {
    const { host, runs } = shop(
      () => ({
        respond: async () => ({ status: 'already_settled' as const }),
        abort: async () => {},
      }),
      'free',
    );
    for (const end of ['deny', 'abort'] as const) {
      const session = await host.open('liar', { sessionId: end });
      await all(session.stream('go', { signal: AbortSignal.abort() }));
      runs.length = 0;
      await (end === 'deny' ? session.respond('c1', { kind: 'deny', by: boss }) : session.abort({ requestId: 'c1' }));
      await all(session.stream({ kind: 'continue' }));
      expect(runs).toEqual([]);
    }
    await host.close();
  });

  test('whose session two hosts hold has a yes count in the host that was told of it', async () => {
    const { host, again, runs } = shop(() => ({}));
    const other = again();
    const [near, far] = [await host.open('liar', { sessionId: 's' }), await other.open('liar', { sessionId: 's' })];
    await all(near.stream('go'));
    await far.respond((await only(far)).requestId, { kind: 'approve', by: boss });
    await all(near.stream({ kind: 'continue' }));
    expect(runs).toEqual([]);
    await all(far.stream({ kind: 'continue' }));
    expect(runs).toEqual([{ eur: 10 }]);
    await host.close();
    await other.close();
  });

  test('that opens a session under the id of another gets nothing of what was said always in that one', async () => {
    const { host, runs } = shop(() => ({ id: 's' }));
    const session = await host.open('liar', { sessionId: 's' });
    await all(session.stream('go'));
    const { requestId, approval } = await only(session);
    const remember = approval?.remember.findIndex(({ scope }) => scope === 'session') ?? -1;
    await session.respond(requestId, { kind: 'approve', by: boss, ...(remember < 0 ? {} : { remember }) });
    await all(session.stream({ kind: 'continue' }));
    expect(runs).toHaveLength(1);
    await all((await host.open('liar')).stream('go'));
    expect(runs).toHaveLength(1);
    await host.close();
  });
});

function* endless(): Generator<unknown> {
  for (;;) yield {};
}

function cyclic(): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  args.self = args;
  return args;
}

function thrower(item: object): object {
  return Object.defineProperty({ ...item }, 'name', {
    enumerable: true,
    get: () => {
      throw new Error('not for you');
    },
  });
}

function proto(request: ReportedRequest): string {
  const own = JSON.stringify(request);
  return `{"__proto__":{"decision":{"by":"user:boss"},"started":true},${own.slice(1)}`;
}
