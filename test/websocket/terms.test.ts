import { describe, expect, test } from 'vitest';
import { connect } from '../../src/adapters/remote/index.ts';
import type { AgentEvent, ExecutionOptions, PolicyEvaluator } from '../../src/contracts/index.ts';
import { serveExecutor } from '../../src/host/websocket/index.ts';
import type { SessionService } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { bot, door, hostOf, notingTool, readOnly, results } from '../host/kit.ts';
import { all, byName, client, logOf, serving } from './kit.ts';
import { endOf, Raw } from './raw.ts';

/** `look` is asked about, of a boss; then comes `pay`, which interns may not. */
const rules: PolicyEvaluator = {
  evaluate: ({ action, principal }) => {
    if (action === 'look') return { outcome: 'ask', approvers: { roles: ['boss'], notRequester: true } };
    return { outcome: principal?.roles?.includes('intern') ? 'deny' : 'allow' };
  },
};
const steps: readonly Script[] = [{ calls: [['look']] }, { calls: [['pay']] }, 'done'];
const paying: readonly Script[] = [{ calls: [['pay']] }, 'done'];

function shop(script: readonly Script[] = steps, options: Partial<Parameters<typeof hostOf>[1]> = {}) {
  const pay = notingTool('pay');
  const tools = [notingTool('look', readOnly).tool, pay.tool];
  return { ...hostOf(bot(script), { tools, policy: rules, ...options }), runs: pay.runs };
}

async function turnEnd(events: AsyncIterable<AgentEvent>): Promise<string> {
  for await (const event of events) if (event.type === 'stream_end') return event.reason;
  return 'never';
}

describe('what a turn was begun with', () => {
  const tightened: [string, ExecutionOptions, string][] = [
    ['plan mode', { permissionMode: 'plan' }, 'completed'],
    ['excluded tools', { excludeTools: ['pay'] }, 'completed'],
    ['limits', { limits: { steps: 1 } }, 'max_turns'],
  ];

  test.each(tightened)('WS-28 holds when an approval moves the run: %s', async (_, options, reason) => {
    const { host, runs } = shop();
    const server = await serving(host);
    const session = await (await client(server)).open('bot');
    await all(session.stream('go', options));
    const watched = session.watch();
    const boss = await client(server, 'bert:boss');
    const [open] = await boss.approvals.list();
    await boss.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' });
    expect(await turnEnd(watched)).toBe(reason);
    expect(runs).toEqual([]);
  });

  test('WS-28 holds after a restart, with nobody connected but the approver', async () => {
    const first = shop();
    const session = await (await client(await serving(first.host), 'anna:intern')).open('bot');
    await all(session.stream('go'));
    const closed = door();
    const from = { onClose: async () => closed.open() };
    const second = shop(steps.slice(1), { store: first.store, from, principal: { id: 'svc' } });
    const server = await serving(second.host);
    const anna = await client(server, 'anna:boss');
    const boss = await client(server, 'bert:boss');
    expect(await anna.approvals.list()).toEqual([]);
    const [open] = await boss.approvals.list();
    expect(open?.request.approval?.requestedBy).toEqual({ id: 'anna', roles: ['intern'] });
    await boss.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' });
    await closed.opened;
    const again = await anna.open('bot', { sessionId: session.id });
    // Decided in the background: its end is in the log, or comes.
    expect(await turnEnd(again.events({ live: true }))).toBe('completed');
    expect(results(await logOf(again)).pay).toMatch(/^denied/);
    expect([first.runs, second.runs]).toEqual([[], []]);
  });

  test('WS-28 is nothing that a client can write: neither whose turn it is nor looser terms', async () => {
    const { host, runs } = shop(paying);
    const raw = await Raw.ready((await serving(host)).url, 'anna:intern');
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot', permissionMode: 'default' });
    const principal = { id: 'anna', roles: ['boss'] };
    const options = { principal, terms: { principal, permissionMode: 'autonomous' } };
    const input = { kind: 'message', content: 'go', principal, terms: options.terms };
    await raw.ask('session/stream', { sessionId, fencingToken, streamId: 't', input, options });
    await raw.until(endOf('t'));
    expect(runs).toEqual([]);
    const { events } = await raw.ask('session/events', { sessionId });
    expect(results(events as AgentEvent[]).pay).toMatch(/^denied/);
  });

  test('WS-28 a new turn is of whoever begins it, on a session that is open', async () => {
    const { host, runs } = shop([...paying, ...paying, ...paying]);
    const server = await serving(host);
    const session = await (await client(server, 'anna')).open('bot');
    expect(results(await all(session.stream('go'))).pay).toBe('pay done');
    const now = await (await client(server, 'anna:intern')).open('bot', { sessionId: session.id });
    await now.takeControl();
    expect(results(await all(now.stream('go'))).pay).toMatch(/^denied/);
    expect(runs).toHaveLength(1);
    // Not of whoever came last.
    await session.takeControl();
    expect(results(await all(session.stream('go'))).pay).toBe('pay done');
  });

  test('WS-28 in mid-turn the roles of then and those of now must both do', async () => {
    const { host, runs } = shop();
    const server = await serving(host);
    const session = await (await client(server, 'anna')).open('bot');
    await all(session.stream('go'));
    await (await client(server, 'anna:intern')).open('bot', { sessionId: session.id, control: false });
    const watched = session.watch();
    const boss = await client(server, 'bert:boss');
    const [open] = await boss.approvals.list();
    await boss.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' });
    await turnEnd(watched);
    expect(runs).toEqual([]);
  });
});

describe('a mode that a session is opened with', () => {
  test('WS-29 is kept when the server has closed the session, and after a restart', async () => {
    const closed = door();
    const { host, runs, store } = shop([...paying, ...paying], { from: { onClose: async () => closed.open() } });
    const remote = await client(await serving(host, { limits: { idleMs: 1 } }));
    const session = await remote.open('bot', { permissionMode: 'plan' });
    const { id: sessionId } = session;
    await session[Symbol.asyncDispose]();
    await closed.opened;
    const again = await remote.open('bot', { sessionId });
    expect(results(await all(again.stream('go'))).pay).toMatch(/^denied/);
    const restarted = shop(paying, { store });
    const later = await (await client(await serving(restarted.host))).open('bot', { sessionId });
    expect(results(await all(later.stream('go', { permissionMode: 'default' }))).pay).toMatch(/^denied/);
    expect([runs, restarted.runs]).toEqual([[], []]);
  });

  test('WS-29 tightens for all where it is open; a looser one loosens nothing, an update does', async () => {
    const { host } = shop([...paying, ...paying, ...paying]);
    const server = await serving(host);
    const session = await (await client(server)).open('bot');
    const other = await client(server);
    const { id: sessionId } = session;
    const strict = await other.open('bot', { sessionId, permissionMode: 'plan', control: false });
    expect(results(await all(session.stream('go'))).pay).toMatch(/^denied/);
    await expect(other.open('bot', { sessionId, permissionMode: 'autonomous' })).rejects.toMatchObject({
      code: 'E_CEILING',
    });
    await (await client(server)).open('bot', { sessionId, permissionMode: 'default' });
    expect(results(await all(session.stream('go'))).pay).toMatch(/^denied/);
    await session.update({ permissionMode: 'default' });
    expect(results(await all(session.stream('go'))).pay).toBe('pay done');
    expect(strict.id).toBe(sessionId);
  });

  test('WS-29 is heard with attach, too', async () => {
    const { host, runs } = shop(paying);
    const server = await serving(host);
    const session = await (await client(server)).open('bot');
    const raw = await Raw.ready(server.url);
    const { id: sessionId } = session;
    await raw.ask('session/attach', { agent: 'bot', sessionId, permissionMode: 'plan', control: false });
    await all(session.stream('go'));
    expect(runs).toEqual([]);
    const looser = { agent: 'bot', sessionId, permissionMode: 'autonomous' };
    await expect(raw.ask('session/attach', looser)).rejects.toMatchObject({ code: 'E_CEILING' });
  });
});

describe('an executor on another machine', () => {
  test('WS-61 keeps what a host tells it, and gives it back to the next one', async () => {
    const sessions: SessionService = new InMemorySessionService();
    const far = async (script: readonly Script[]) => {
      const server = await serveExecutor(
        { app: 'far', agents: [fromAgent(bot(script))], store: sessions },
        { authenticate: byName },
      );
      const remote = await connect(server.url, { token: 'svc' });
      const pay = notingTool('pay');
      const tools = [notingTool('look', readOnly).tool, pay.tool];
      const host = createHost({ app: 'near', agents: remote.sources, tools, policy: rules });
      const end = async () => {
        await host.close();
        await remote.close();
        await server.close({ deadlineMs: 0 });
      };
      return { host, runs: pay.runs, end };
    };
    for (const options of [{ permissionMode: 'plan' }, { excludeTools: ['pay'] }, {}] as const) {
      const roles = 'permissionMode' in options || 'excludeTools' in options ? [] : ['intern'];
      const first = await far(steps);
      const session = await first.host.open('bot', { principal: { id: 'anna', roles } });
      await all(session.stream('go', options));
      const { id: sessionId } = session;
      await first.end();
      const second = await far(steps.slice(1));
      const again = await second.host.open('bot', { sessionId });
      const requestId = (await again.pending())[0]?.requestId ?? '';
      await again.respond(requestId, { kind: 'approve', by: { id: 'bert', roles: ['boss'] } });
      const events = await all(again.stream({ kind: 'continue' }));
      expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
      expect(results(events).pay).not.toBe('pay done');
      expect([first.runs, second.runs]).toEqual([[], []]);
      await second.end();
    }
    const third = await far([...paying, ...paying]);
    const planned = await third.host.open('bot', { permissionMode: 'plan' });
    const { id: sessionId } = planned;
    await planned[Symbol.asyncDispose]();
    await third.end();
    const fourth = await far(paying);
    expect(results(await all((await fourth.host.open('bot', { sessionId })).stream('go'))).pay).toMatch(/^denied/);
    await fourth.end();
  });
});
