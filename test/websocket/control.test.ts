import { describe, expect, test } from 'vitest';
import { createHost, InMemorySessionService } from '../../src/index.ts';
import { bot, hostOf, notingTool, policyOf, readOnly, slowTool } from '../host/kit.ts';
import { flaky } from './flaky.ts';
import { all, client, logOf, serving } from './kit.ts';
import { endOf, Raw } from './raw.ts';

describe('sessions and their control', () => {
  test('WS-20 WS-21 are opened, found, copied, closed and deleted by their owner alone', async () => {
    const { host } = hostOf(bot(['hello', 'hello']));
    const server = await serving(host);
    const anna = await client(server, 'anna');
    const bert = await client(server, 'bert');
    const session = await anna.open('bot', { sessionId: 's', create: true });
    await all(session.stream('hi'));
    await expect(bert.open('bot', { sessionId: 's' })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
    await expect(anna.open('bot', { sessionId: 'nothing' })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
    expect(await bert.sessions().list()).toEqual([]);
    expect(await anna.sessions().list()).toMatchObject([{ id: 's', userId: 'anna' }]);
    const raw = await Raw.ready(server.url, 'anna');
    const { sessionId } = await raw.ask('session/fork', { agent: 'bot', sessionId: 's' });
    const copy = await anna.sessions('bot').load(sessionId);
    expect(copy?.events.length).toBe((await logOf(session)).length);
    expect(await anna.sessions().load('nothing')).toBeUndefined();
    // Of bert's there is none of that name; anna's stays.
    await bert.sessions().delete('s');
    await expect(anna.sessions().delete('s')).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    await session[Symbol.asyncDispose]();
    await anna.sessions().delete('s');
    await expect(anna.open('bot', { sessionId: 's' })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
    await expect(raw.ask('session/pending', { sessionId: 's' })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
  });

  test('WS-22 have one controller; watchers and whoever lost control are refused', async () => {
    const { host } = hostOf(bot(['one', 'two']));
    const server = await serving(host);
    const first = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await first.ask('session/open', { agent: 'bot' });
    const second = await Raw.ready(server.url);
    expect(await second.ask('session/attach', { agent: 'bot', sessionId })).not.toHaveProperty('fencingToken');
    const stream = { sessionId, streamId: 'x', input: 'hi' };
    await expect(second.ask('session/stream', { ...stream, fencingToken })).rejects.toMatchObject({
      code: 'E_CONTROL_LOST',
    });
    const { fencingToken: fresh } = await second.ask('session/takeControl', { sessionId });
    expect((await first.until(({ method }) => method === 'session/control')).params).toMatchObject({ controls: false });
    await expect(first.ask('session/stream', { ...stream, fencingToken })).rejects.toMatchObject({
      code: 'E_CONTROL_LOST',
    });
    await expect(first.ask('session/steer', { sessionId, fencingToken, data: { content: 'x' } })).rejects.toMatchObject(
      { code: 'E_CONTROL_LOST' },
    );
    expect(await second.ask('session/stream', { ...stream, fencingToken: fresh })).toEqual({ streamId: 'x' });
  });

  test('WS-23 answer a stream on acceptance; a refusal stores nothing', async () => {
    const slow = slowTool('slow', readOnly);
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done']), { tools: [slow.tool] });
    const remote = await client(await serving(host));
    const session = await remote.open('bot');
    await expect(all(session.stream({ kind: 'continue' }))).rejects.toMatchObject({ code: 'E_NO_TURN' });
    expect(await logOf(session)).toEqual([]);
    const running = all(session.stream('go'));
    await slow.started;
    await expect(all(session.stream('again'))).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    expect(await session.steer({ content: 'hurry' })).toMatchObject({ disposition: 'current_turn' });
    await session.abort({ reason: 'enough' });
    expect((await running).at(-1)).toMatchObject({ type: 'stream_end', reason: 'aborted' });
  });

  test('WS-24 do a change once for its key, and refuse the key of another', async () => {
    const { host } = hostOf(bot(['one', 'two']));
    const server = await serving(host);
    const raw = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    const steer = { sessionId, fencingToken, key: 'k', data: { content: 'x' } };
    const [one, two] = [await raw.ask('session/steer', steer), await raw.ask('session/steer', steer)];
    expect(two).toEqual(one);
    const other = { ...steer, data: { content: 'y' } };
    await expect(raw.ask('session/steer', other)).rejects.toMatchObject({ code: 'E_IDEMPOTENCY_CONFLICT' });
    const { events } = await raw.ask('session/events', { sessionId });
    expect(events).toHaveLength(1);
  });

  test('WS-25 take no more than the server allows: modes, models, tools, settings, state', async () => {
    const { host } = hostOf(bot(['one']));
    const server = await serving(host, { ceiling: { models: ['small'] } });
    const remote = await client(server);
    const session = await remote.open('bot');
    const refused = { code: 'E_CEILING', status: 'PERMISSION_DENIED' };
    for (const permissionMode of ['autonomous', 'auto_edit', 'whatever'] as const) {
      await expect(all(session.stream('x', { permissionMode }))).rejects.toMatchObject(refused);
      await expect(session.update({ permissionMode })).rejects.toMatchObject(refused);
      await expect(remote.open('bot', { permissionMode })).rejects.toMatchObject(refused);
    }
    await expect(all(session.stream('x', { model: 'large' }))).rejects.toMatchObject(refused);
    await expect(
      all(session.stream('x', { tools: [{ name: 'mine', description: 'x', inputSchema: {} }] })),
    ).rejects.toMatchObject(refused);
    await expect(session.update({ config: { temperature: 2 } })).rejects.toMatchObject(refused);
    await expect(remote.open('bot', { state: { 'app:x': 1 } })).rejects.toMatchObject(refused);
    await session.update({ permissionMode: 'plan' });
    expect((await all(session.stream('x', { permissionMode: 'plan' }))).at(-1)).toMatchObject({ reason: 'completed' });
  });

  test('WS-25 take no mode that is looser than the host’s own', async () => {
    const { host } = hostOf(bot(['one']), { permissionMode: 'plan' });
    const session = await (await client(await serving(host))).open('bot');
    const loose = { permissionMode: 'default' as const };
    await expect(all(session.stream('x', loose))).rejects.toMatchObject({ code: 'E_CEILING' });
    await expect(session.update(loose)).rejects.toMatchObject({ code: 'E_CEILING' });
  });

  test('WS-25 take a ceiling for the mode of whoever names none', async () => {
    const pay = notingTool('pay');
    const script = [{ calls: [['pay']] }, 'a', { calls: [['pay']] }, 'b'] as const;
    const { host } = hostOf(bot(script), { tools: [pay.tool], policy: policyOf({}) });
    const server = await serving(host, { ceiling: { permissionMode: 'plan' } });
    const session = await (await client(server)).open('bot');
    await all(session.stream('go'));
    await session.update({ permissionMode: null });
    await all(session.stream('go'));
    expect(pay.runs).toEqual([]);
  });

  test('WS-26 name whoever answers by the connection, not by the message', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'paid']), {
      tools: [pay.tool],
      policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
    });
    const server = await serving(host);
    const session = await (await client(server)).open('bot');
    await all(session.stream('pay'));
    const [question] = await session.pending();
    const requestId = question!.requestId;
    const by = { id: 'boss', roles: ['boss'] };
    const forged = { kind: 'approve', by, starts: true, decision: { outcome: 'approved', by: 'policy' } } as never;
    await expect(session.respond(requestId, forged)).rejects.toMatchObject({ code: 'E_NOT_APPROVER' });
    const input = { kind: 'tool_approval', requestId, by, rerun: true, decision: { outcome: 'approved', by: 'x' } };
    await expect(all(session.stream(input as never))).rejects.toMatchObject({ code: 'E_NOT_APPROVER' });
    const result = { content: [{ type: 'text' as const, text: 'done' }] };
    await expect(session.respond(requestId, { kind: 'result', result, by } as never)).rejects.toThrow();
    expect(pay.runs).toEqual([]);
  });

  test('WS-27 end with their connection where the server wants it so', async () => {
    const slow = slowTool('slow', readOnly);
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }]), { tools: [slow.tool] });
    const server = await serving(host, { onDisconnect: 'abort' });
    const watcher = await client(server);
    const remote = await client(server);
    const session = await remote.open('bot', { sessionId: 's', create: true });
    const view = await watcher.open('bot', { sessionId: 's', control: false });
    const events = view.watch();
    void all(session.stream('go')).catch(() => {});
    await slow.started;
    await remote.close();
    const seen = [];
    for await (const event of events) {
      seen.push(event);
      if (event.type === 'stream_end') break;
    }
    expect(seen.at(-1)).toMatchObject({ reason: 'aborted' });
  });

  test('WS-22 control that was taken later is kept at a lost connection, and at a restart', async () => {
    const { host } = hostOf(bot(['one', 'two', 'three']));
    const server = await serving(host);
    const first = await client(server);
    await first.open('bot', { sessionId: 's', create: true });
    const network = flaky([]);
    const second = await client(server, 'anna', { WebSocket: network.WebSocket });
    const session = await second.open('bot', { sessionId: 's', control: false });
    await session.takeControl();
    for (const text of ['one', 'two']) {
      network.drop();
      expect((await all(session.stream(text))).at(-1)).toMatchObject({ reason: 'completed' });
      expect(session.controls).toBe(true);
    }
    const { port } = server;
    await first.close();
    await server.close();
    await serving(host, { port });
    expect((await all(session.stream('three'))).at(-1)).toMatchObject({ reason: 'completed' });
  });

  test('WS-22 the current token gives control back also to whoever would only watch; an old one does not', async () => {
    const { host } = hostOf(bot(['one']));
    const server = await serving(host);
    const first = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await first.ask('session/open', { agent: 'bot' });
    const second = await Raw.ready(server.url);
    const place = { agent: 'bot', sessionId, control: false };
    // Nobody has it, and whoever would only watch is not given it.
    expect(await second.ask('session/open', { agent: 'bot', control: false })).not.toHaveProperty('fencingToken');
    expect(await second.ask('session/attach', { ...place, fencingToken: 'old' })).not.toHaveProperty('fencingToken');
    expect(await second.ask('session/attach', { ...place, fencingToken })).toMatchObject({ fencingToken });
    expect((await first.until(({ method }) => method === 'session/control')).params).toMatchObject({ controls: false });
  });

  test('WS-21 a session that runs is not deleted, though nobody holds it', async () => {
    const slow = slowTool('slow', readOnly);
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done']), { tools: [slow.tool] });
    const server = await serving(host);
    const raw = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    await raw.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await slow.started;
    await raw.ask('session/close', { sessionId });
    await expect(raw.ask('session/delete', { sessionId })).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    const back = await raw.ask('session/attach', { agent: 'bot', sessionId });
    expect(back.streamId).toBe('a');
    slow.finish('ok');
    expect((await raw.until(endOf('a'))).params?.event).toMatchObject({ reason: 'completed' });
    await raw.ask('session/close', { sessionId });
    await raw.ask('session/delete', { sessionId });
    await expect(raw.ask('session/open', { agent: 'bot', sessionId })).rejects.toMatchObject({
      code: 'E_SESSION_NOT_FOUND',
    });
  });

  test('WS-20 a session that is held under one agent is not attached under another, as it is not opened', async () => {
    const sessions = new InMemorySessionService();
    const host = createHost({ app: 'shop', agents: [bot(['x']), bot(['x'], { name: 'other' })], store: sessions });
    const raw = await Raw.ready((await serving(host)).url);
    await raw.ask('session/open', { agent: 'bot', sessionId: 's', create: true });
    for (const method of ['session/open', 'session/attach']) {
      const { error } = await raw.request(method, { agent: 'other', sessionId: 's' });
      expect([method, error?.data?.code]).toEqual([method, 'E_SESSION_BUSY']);
    }
    expect(await raw.ask('session/attach', { sessionId: 's' })).toMatchObject({ descriptor: { name: 'bot' } });
  });

  test('WS-21 a session that is opened while it is being deleted is either open or deleted, never both', async () => {
    const server = await serving(hostOf(bot(['x'])).host);
    const raw = await Raw.ready(server.url);
    await raw.ask('session/open', { agent: 'bot', sessionId: 'a', create: true });
    await raw.ask('session/close', { sessionId: 'a' });
    // In one packet: both are read before either is done.
    raw.socket.cork();
    const deleting = raw.request('session/delete', { sessionId: 'a' });
    const opening = raw.request('session/open', { agent: 'bot', sessionId: 'a' });
    raw.socket.uncork();
    const codes = [(await deleting).error?.data?.code, (await opening).error?.data?.code];
    expect([
      ['E_SESSION_BUSY', undefined],
      [undefined, 'E_SESSION_NOT_FOUND'],
    ]).toContainEqual(codes);
    const { sessions } = await raw.ask('session/list');
    expect(sessions).toHaveLength(codes[0] === undefined ? 0 : 1);
  });

  test('WS-70 a server that goes away says so, lets what runs finish, and closes with 1001', async () => {
    const slow = slowTool('slow', readOnly);
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done']), { tools: [slow.tool] });
    const server = await serving(host);
    const raw = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    await raw.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await slow.started;
    const closing = server.close({ deadlineMs: 20_000 });
    expect((await raw.until(({ method }) => method === 'session/goAway')).params).toEqual({ deadlineMs: 20_000 });
    slow.finish('ok');
    expect(await raw.closed).toMatchObject({ code: 1001 });
    await closing;
    expect(raw.frames().at(-1)?.event).toMatchObject({ type: 'stream_end', reason: 'completed' });
  });

  test('WS-70 a server that goes away begins nothing: no session, no stream; a client of this package waits for the next one', async () => {
    const slow = slowTool('slow', readOnly);
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done', 'again']), { tools: [slow.tool] });
    const server = await serving(host);
    const raw = await Raw.ready(server.url);
    const remote = await client(server);
    const idle = await remote.open('bot', { sessionId: 'idle', create: true });
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    await raw.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await slow.started;
    const closing = server.close({ deadlineMs: 20_000 });
    await raw.until(({ method }) => method === 'session/goAway');
    const refused = { status: 'UNAVAILABLE', code: 'E_GOING_AWAY', retryable: true };
    expect((await raw.request('session/open', { agent: 'bot' })).error?.data).toMatchObject(refused);
    const other = await raw.ask('session/attach', { agent: 'bot', sessionId: 'idle', control: false });
    expect(other.sessionId).toBe('idle');
    const { fencingToken: taken } = await raw.ask('session/takeControl', { sessionId: 'idle' });
    const stream = { sessionId: 'idle', fencingToken: taken, streamId: 'b', input: 'go' };
    expect((await raw.request('session/stream', stream)).error?.data).toMatchObject(refused);
    await idle.takeControl();
    const later = all(idle.stream('once more'));
    expect(await idle.pending()).toEqual([]);
    slow.finish('ok');
    expect(await raw.closed).toMatchObject({ code: 1001 });
    await closing;
    await serving(host, { port: server.port });
    expect((await later).at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
  });

  test('WS-70 what still runs at the deadline is aborted: its end is stored and shown before the connection closes', async () => {
    const slow = slowTool('slow', readOnly);
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, { calls: [['slow', {}]] }]), {
      tools: [slow.tool, pay.tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const server = await serving(host);
    const raw = await Raw.ready(server.url);
    const paused = await raw.ask('session/open', { agent: 'bot' });
    const controlOf = ({ sessionId, fencingToken }: typeof paused) => ({ sessionId, fencingToken });
    await raw.ask('session/stream', { ...controlOf(paused), streamId: 'p', input: 'pay' });
    await raw.until(endOf('p'));
    const runs = await raw.ask('session/open', { agent: 'bot' });
    await raw.ask('session/stream', { ...controlOf(runs), streamId: 'a', input: 'go' });
    await slow.started;
    await server.close({ deadlineMs: 0 });
    expect(await raw.closed).toMatchObject({ code: 1001 });
    const end = (await raw.until(endOf('a'))).params?.event as { id: string };
    expect(end).toMatchObject({ reason: 'aborted' });
    const log = await logOf(await host.open('bot', { sessionId: runs.sessionId, userId: 'anna' }));
    expect(log.at(-1)?.id).toBe(end.id);
    // A pause is no run: its question stays open.
    expect(await host.approvals.list({ sessionId: paused.sessionId })).toHaveLength(1);
  });
});
