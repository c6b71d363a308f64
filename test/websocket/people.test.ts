import { describe, expect, test } from 'vitest';
import type { AgentEvent, AnyTool } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, hostOf, notingTool, policyOf, slowTool } from '../host/kit.ts';
import { elsewhere } from '../runtime/elsewhere.ts';
import { flaky } from './flaky.ts';
import { all, client, durable, idsOf, logOf, serving } from './kit.ts';

const boss = { outcome: 'ask' as const, approvers: { roles: ['boss'], notRequester: true } };

function shop(decision: Parameters<typeof policyOf>[0][string] = boss) {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', { amount: 30 }]] }, { deltas: ['pa', 'id'] }]), {
    tools: [pay.tool],
    policy: policyOf({ pay: decision }),
  });
  return { host, runs: pay.runs };
}

async function* untilEnd(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent> {
  for await (const event of events) {
    yield event;
    if (event.type === 'stream_end') return;
  }
}

describe('people who hold no session', () => {
  test('WS-50 WS-51 another person finds the question, edits and approves; the run goes on with nobody attached; the requester returns and sees all', async () => {
    const { host, runs } = shop();
    const server = await serving(host);
    const network = flaky([]);
    const requester = await client(server, 'anna', {
      WebSocket: network.WebSocket,
      minBackoffMs: 150,
      maxBackoffMs: 150,
    });
    const approver = await client(server, 'bert:boss');
    const questions = approver.approvals.watch();
    const asked = questions.next();
    // The watch is on once its answer is here; this one is behind it.
    expect(await approver.approvals.list()).toEqual([]);
    const session = await requester.open('bot', { sessionId: 's', create: true });
    const seen = durable(await all(session.stream('pay')));
    const later = session.watch();
    network.drop();
    const open = (await asked).value;
    expect(open).toMatchObject({ agent: 'bot', userId: 'anna', request: { name: 'pay', args: { amount: 30 } } });
    expect(await approver.approvals.list()).toEqual([{ ...open, cursor: expect.any(String) }]);
    const requestId = open?.request.requestId ?? '';
    const settled = await approver.approvals.decide(requestId, { kind: 'approve', args: { amount: 20 } });
    expect(settled).toEqual({ status: 'settled', by: 'bert' });
    for await (const event of later) {
      if (event.cursor !== undefined) seen.push(event);
      if (event.type === 'stream_end') break;
    }
    expect(runs).toEqual([{ amount: 20 }]);
    const log = await logOf(session);
    expect(idsOf(seen)).toEqual(idsOf(log));
    expect(log.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    expect(log.find(({ type }) => type === 'elicitation_response')).toMatchObject({ by: 'bert' });
    expect(await approver.approvals.list()).toEqual([]);
    await questions.return?.();
  });

  test('WS-72 whoever was shown a question is told that it was answered, by whom and what came of it; nobody else knows of it', async () => {
    const { host, runs } = shop();
    const server = await serving(host);
    const [anna, bert, carl, eve] = [
      await client(server, 'anna'),
      await client(server, 'bert:boss'),
      await client(server, 'carl:boss'),
      await client(server, 'eve'),
    ];
    const session = await anna.open('bot', { sessionId: 's', create: true });
    await all(session.stream('pay'));
    const shown = carl.approvals.watch();
    const changes = carl.approvals.changes();
    const change = changes.next();
    const { agent, userId, request } = (await shown.next()).value ?? {};
    const { requestId = '', sessionId = '' } = request ?? {};
    const place = { agent: agent ?? '', userId: userId ?? '', sessionId };
    // While it is open: with the tool, and for the requester with why it is not theirs.
    expect(await carl.approvals.outcome(requestId, place)).toMatchObject({
      isOpen: true,
      request: { requestId, args: { amount: 30 } },
      tool: { name: 'pay' },
    });
    expect(await anna.approvals.outcome(requestId, place)).toMatchObject({
      isOpen: true,
      whyNot: 'the requester may not approve',
    });
    expect(await anna.approvals.list()).toEqual([]);
    expect(await anna.approvals.list({ own: true })).toMatchObject([
      { request: { requestId }, whyNot: 'the requester may not approve' },
    ]);
    expect(await eve.approvals.list({ own: true })).toEqual([]);
    const unknown = { code: 'E_UNKNOWN_REQUEST' };
    await expect(eve.approvals.outcome(requestId, place)).rejects.toMatchObject(unknown);
    await bert.approvals.decide(requestId, { kind: 'approve', reason: 'it is right' }, place);
    expect((await change).value).toEqual({ requestId, ...place });
    await host.idle();
    const came = {
      isOpen: false,
      call: {
        answers: [{ requestId, action: 'accept', by: 'bert' }],
        decisions: [{ outcome: 'approved', by: 'user:bert' }],
        outcome: 'completed',
      },
    };
    for (const who of [carl, bert, anna]) {
      await expect.poll(() => who.approvals.outcome(requestId, place)).toMatchObject(came);
    }
    expect(runs).toEqual([{ amount: 30 }]);
    await expect(eve.approvals.outcome(requestId, place)).rejects.toMatchObject(unknown);
    const elsewhere = { ...place, sessionId: 'other' };
    await expect(carl.approvals.outcome(requestId, elsewhere)).rejects.toMatchObject(unknown);
    await shown.return?.();
    await changes.return?.();
  });

  test('NEW-R1 somebody who comes later is shown what is open already, once, and what is asked after that', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'paid', { calls: [['pay', {}]] }, 'paid again']), {
      tools: [pay.tool],
      policy: policyOf({ pay: { outcome: 'ask' } }),
    });
    const server = await serving(host);
    const anna = await client(server, 'anna');
    const session = await anna.open('bot', { sessionId: 's', create: true });
    await all(session.stream('pay'));
    const page = await client(server, 'anna');
    const questions = page.approvals.watch();
    const first = (await questions.next()).value;
    expect(first).toMatchObject({ agent: 'bot', userId: 'anna', request: { name: 'pay' } });
    await page.approvals.decide(first?.request.requestId ?? '', { kind: 'approve' });
    await all(session.stream('and again'));
    const second = (await questions.next()).value;
    expect(second?.request.name).toBe('pay');
    expect(second?.request.requestId).not.toBe(first?.request.requestId);
    await questions.return?.();
  });

  test('APP-F3 after a decision of a program beside the server, watchers see the run as it streams', async () => {
    const { host } = shop();
    const server = await serving(host);
    const requester = await client(server, 'anna');
    const session = await requester.open('bot', { sessionId: 's', create: true });
    await all(session.stream('pay'));
    const later = session.watch();
    const [open] = await host.approvals.list();
    const by = { id: 'bert', roles: ['boss'] };
    await host.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' }, { by });
    const partial: string[] = [];
    for await (const event of later) {
      if (event.type === 'message' && event.partial)
        partial.push(...event.content.map((part) => ('text' in part ? String(part.text) : '')));
      if (event.type === 'stream_end') break;
    }
    expect(partial).toEqual(['pa', 'id']);
    await host.idle();
  });

  test('APP-B4 APP-B5 clients of one server see, and end, what another server over the store runs', async () => {
    const store = new InMemorySessionService();
    const slow = slowTool('slow');
    const make = (tools: AnyTool[]) =>
      hostOf(bot([{ calls: [['slow', {}]] }, 'never'], { tools }), {
        store: elsewhere(store),
        policy: policyOf({}),
        followPollMs: 5,
      });
    const one = await client(await serving(make([slow.tool]).host));
    const two = await client(await serving(make([]).host));
    const session = await one.open('bot', { sessionId: 's', create: true });
    const there = await two.open('bot', { sessionId: 's' });
    const seen = all(untilEnd(there.watch()));
    const going = all(session.stream('go'));
    await slow.started;
    await there.abort({ reason: 'stop' });
    expect((await going).at(-1)).toMatchObject({ type: 'stream_end', reason: 'aborted' });
    expect((await seen).at(-1)).toMatchObject({ type: 'stream_end', reason: 'aborted' });
  });

  test('WS-52 without the role, by the requester, twice, or after expiry: refused', async () => {
    const { host, runs } = shop({ ...boss, expiresIn: 60 });
    const server = await serving(host);
    const anna = await client(server, 'anna:boss');
    const session = await anna.open('bot');
    await all(session.stream('pay'));
    const requestId = (await session.pending())[0]?.requestId ?? '';
    const carl = await client(server, 'carl:clerk');
    expect(await carl.approvals.list()).toEqual([]);
    const refused = { code: 'E_NOT_APPROVER', status: 'PERMISSION_DENIED' };
    await expect(carl.approvals.decide(requestId, { kind: 'approve' })).rejects.toMatchObject(refused);
    await expect(carl.approvals.decide(requestId, { kind: 'deny' })).rejects.toMatchObject(refused);
    await expect(anna.approvals.decide(requestId, { kind: 'approve' })).rejects.toMatchObject(refused);
    await expect(session.respond(requestId, { kind: 'approve' })).rejects.toMatchObject(refused);
    expect(runs).toEqual([]);
    const bert = await client(server, 'bert:boss');
    const dora = await client(server, 'dora:boss');
    const answers = await Promise.allSettled([
      bert.approvals.decide(requestId, { kind: 'approve' }),
      dora.approvals.decide(requestId, { kind: 'approve' }),
    ]);
    const words = answers.map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.code));
    expect(words.filter((word) => word === 'settled')).toHaveLength(1);
    expect(words.filter((word) => word !== 'settled')[0]).toMatch(/already_settled|E_REQUEST_CLOSED|E_UNKNOWN_REQUEST/);
    expect(runs.length).toBeLessThanOrEqual(1);
  });

  test('WS-52 an expired question is a no, whoever says yes', async () => {
    const { host, runs } = shop({ ...boss, expiresIn: 0.001 });
    const server = await serving(host);
    const session = await (await client(server, 'anna')).open('bot');
    const events = await all(session.stream('pay'));
    const asked = events.find(({ type }) => type === 'elicitation_request') as { requestId?: string } | undefined;
    const bert = await client(server, 'bert:boss');
    const requestId = asked?.requestId ?? (await session.pending())[0]?.requestId ?? 'gone#0';
    await expect(bert.approvals.decide(requestId, { kind: 'approve' })).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
    });
    expect(runs).toEqual([]);
  });

  test('WS-51 WS-21 a run that goes on with nobody attached is this server’s: it is not deleted, and shown to who comes', async () => {
    const slow = slowTool('slow');
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done']), {
      tools: [slow.tool],
      policy: policyOf({ slow: 'ask' }),
    });
    const session = await host.open('bot', { sessionId: 's', create: true, userId: 'anna' });
    await all(session.stream('go'));
    await session[Symbol.asyncDispose]();
    const server = await serving(host);
    const anna = await client(server, 'anna');
    const [open] = await anna.approvals.list();
    await anna.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' });
    await slow.started;
    await expect(anna.sessions().delete('s')).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    const view = await anna.open('bot', { sessionId: 's', control: false });
    const events = view.watch();
    const closing = server.close({ deadlineMs: 20_000 });
    slow.finish('ok');
    for await (const event of events) {
      if (event.type !== 'stream_end') continue;
      expect(event).toMatchObject({ reason: 'completed' });
      break;
    }
    await closing;
  });

  test('WS-50 a question that another process asks over the same store comes too, once, behind what was open', async () => {
    const store = new InMemorySessionService();
    const policy = policyOf({ pay: boss });
    const ask = (sessionId: string) =>
      hostOf(bot([{ calls: [['pay', { of: sessionId }]] }]), { store, policy, tools: [notingTool('pay').tool] })
        .host.open('bot', { sessionId, create: true, userId: 'anna' })
        .then((session) => all(session.stream('pay')));
    await ask('before');
    const { host } = hostOf(bot(['x']), { store, policy, tools: [notingTool('pay').tool], approvalPollMs: 20 });
    const bert = await client(await serving(host), 'bert:boss');
    const questions = bert.approvals.watch();
    const asked = questions.next();
    expect(await bert.approvals.list()).toHaveLength(1);
    expect((await asked).value).toMatchObject({ userId: 'anna', request: { args: { of: 'before' } } });
    await ask('elsewhere');
    expect((await questions.next()).value).toMatchObject({ request: { args: { of: 'elsewhere' } } });
    await ask('later');
    expect((await questions.next()).value).toMatchObject({ request: { args: { of: 'later' } } });
    await questions.return?.();
  });

  test('WS-51 a yes to a question whose id another session has too reaches the one that is named, and without a name none', async () => {
    const pay = notingTool('pay');
    const store = new InMemorySessionService();
    const { host } = hostOf(bot([{ calls: [['pay', { amount: 1 }]] }]), {
      tools: [pay.tool],
      policy: policyOf({ pay: boss }),
      store,
    });
    const server = await serving(host);
    const session = await (await client(server)).open('bot', { sessionId: 's', create: true });
    await all(session.stream('pay'));
    // As of an executor that numbers its calls: ids are unique in their session.
    await store.create({ app: 'shop', userId: 'carl', id: 's' });
    const twin = (await store.get({ app: 'shop', userId: 'anna', id: 's' }))?.events ?? [];
    const other = JSON.stringify(twin).replaceAll('"amount":1', '"amount":2');
    await store.append({ app: 'shop', userId: 'carl', id: 's' }, JSON.parse(other));
    const approver = await client(server, 'bert:boss');
    const open = await approver.approvals.list();
    expect(new Set(open.map(({ request }) => request.requestId)).size).toBe(1);
    const { requestId = '' } = open[0]?.request ?? {};
    const yes = { kind: 'approve' } as const;
    await expect(approver.approvals.decide(requestId, yes)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    await expect(host.approvals.decide(requestId, yes, { by: { id: 'bert', roles: ['boss'] } })).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
    });
    expect(pay.runs).toEqual([]);
    const carl = await (await client(server, 'carl')).open('bot', { sessionId: 's' });
    const watched = carl.watch();
    const carls = open.find(({ userId }) => userId === 'carl')?.request.approval;
    // Kept with the question is what the other session showed.
    await expect(approver.approvals.decide(requestId, yes, { sessionId: 's', userId: 'carl' })).rejects.toMatchObject({
      code: 'E_PREVIEW_CHANGED',
    });
    const seen = { ...yes, previewDigest: carls?.previewDigest ?? '' };
    expect(await approver.approvals.decide(requestId, seen, { sessionId: 's', userId: 'carl' })).toMatchObject({
      status: 'settled',
    });
    for await (const { type } of watched) if (type === 'stream_end') break;
    expect(pay.runs).toEqual([{ amount: 2 }]);
    // One is left: no name is needed.
    expect((await approver.approvals.decide(requestId, { kind: 'deny' })).status).toBe('settled');
  });

  test('WS-50 what policy leaves to nobody is the owner’s alone', async () => {
    const { host, runs } = shop('ask');
    const server = await serving(host);
    const session = await (await client(server, 'anna')).open('bot');
    await all(session.stream('pay'));
    const requestId = (await session.pending())[0]?.requestId ?? '';
    const bert = await client(server, 'bert:boss');
    expect(await bert.approvals.list()).toEqual([]);
    await expect(bert.approvals.decide(requestId, { kind: 'approve' })).rejects.toMatchObject({
      code: 'E_NOT_APPROVER',
    });
    // The call's own id is no way around the question.
    const callId = requestId.split('#')[0] ?? '';
    for (const id of [callId, `${callId}#`, `${callId}#other`, `${requestId}#1`]) {
      for (const answer of [{ kind: 'approve', args: { amount: 999 } }, { kind: 'deny' }] as const) {
        await expect(bert.approvals.decide(id, answer)).rejects.toMatchObject({ code: 'E_UNKNOWN_REQUEST' });
      }
    }
    expect(runs).toEqual([]);
    const again = await client(server, 'anna');
    expect(await again.approvals.list()).toHaveLength(1);
    const events = session.watch();
    await again.approvals.decide(requestId, { kind: 'approve' });
    for await (const event of events) if (event.type === 'stream_end') break;
    expect(runs).toHaveLength(1);
  });
});
