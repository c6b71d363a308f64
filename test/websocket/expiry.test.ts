import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { bot, door, hostOf, notingTool, policyOf, say } from '../host/kit.ts';
import { byName, logOf, metric, serving } from './kit.ts';
import { Raw } from './raw.ts';

const HOUR = 3_600_000;

/** A question that is open, and a client whose credentials expire while the server asks whether it may. */
async function expiring(slow: string) {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', { amount: 3 }]] }, 'paid', 'more']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const session = await host.open('bot', { sessionId: 's', create: true, userId: 'anna' });
  await say(session, 'pay');
  const [question] = await session.pending();
  const before = await logOf(session);
  const asked = door();
  const answered = door();
  const server = await serving(host, {
    authenticate: (request) => {
      const principal = byName(request);
      return principal && { principal, expiresAt: Date.now() + HOUR };
    },
    authorize: async (_, method) => {
      if (method !== slow) return true;
      asked.open();
      await answered.opened;
      return true;
    },
  });
  const raw = await Raw.ready(server.url);
  const { fencingToken } = await raw.ask('session/open', { agent: 'bot', sessionId: 's' });
  const params = { sessionId: 's', fencingToken, requestId: question?.requestId, answer: { kind: 'approve' } };
  return { raw, params, asked: asked.opened, goOn: answered.open, session, before, pay };
}

describe('credentials that expire while the server makes up its mind', () => {
  test.each(['approvals/decide', 'session/respond', 'session/stream', 'session/steer', 'session/update'])(
    'WS-11 WS-18 %s changes nothing',
    async (method) => {
      const { raw, params, asked, goOn, session, before, pay } = await expiring(method);
      const own = { streamId: 't', input: 'more', data: { content: 'x' }, config: { permissionMode: 'plan' } };
      raw.send({ id: 99, method, params: { ...params, ...own } });
      await asked;
      const later = Date.now() + 2 * HOUR;
      const clock = vi.spyOn(Date, 'now').mockReturnValue(later);
      onTestFinished(() => clock.mockRestore());
      goOn();
      expect((await raw.closed).code).toBe(4401);
      clock.mockRestore();
      expect(await session.pending()).toHaveLength(1);
      expect(await logOf(session)).toEqual(before);
      expect(pay.runs).toEqual([]);
    },
  );

  test('WS-18 a client that has gone meanwhile changes nothing either', async () => {
    const { raw, params, asked, goOn, session, before } = await expiring('approvals/decide');
    raw.send({ id: 99, method: 'approvals/decide', params });
    await asked;
    raw.ws.terminate();
    await raw.closed;
    await expect.poll(() => metric(raw.ws, 'coxswain_connections')).toBe(0);
    goOn();
    await new Promise(setImmediate);
    expect(await session.pending()).toHaveLength(1);
    expect(await logOf(session)).toEqual(before);
  });
});

describe('credentials that are withdrawn', () => {
  const opened = async (ended: AbortSignal) => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'paid']), {
      tools: [pay.tool],
      policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
    });
    const server = await serving(host, {
      http: true,
      authenticate: ({ token = '' }) => ({ principal: { id: token, roles: ['boss'] }, ended }),
    });
    return { host, server, pay };
  };

  test('ATK9-09 end the connections and event streams that they have opened, with what these watch', async () => {
    const withdrawn = new AbortController();
    const { host, server, pay } = await opened(withdrawn.signal);
    const bert = await Raw.ready(server.url, 'bert');
    await bert.ask('approvals/watch', {});
    const http = server.url.replace('ws', 'http');
    const headers = { authorization: 'Bearer bert', accept: 'text/event-stream' };
    const watched = await fetch(`${http}/approvals`, { headers });
    withdrawn.abort();
    expect((await bert.closed).code).toBe(4401);
    expect(await watched.text()).toContain('credentials were withdrawn');
    const session = await host.open('bot', { userId: 'anna' });
    await say(session, 'pay');
    expect(bert.received.filter(({ method }) => method === 'approvals/open')).toEqual([]);
    expect((await fetch(`${http}/approvals`, { headers: { authorization: 'Bearer bert' } })).status).toBe(401);
    await expect(Raw.open(server.url, { token: 'bert' })).rejects.toThrow('HTTP 401');
    expect(pay.runs).toEqual([]);
  });

  test('ATK9-09 what is no signal lets nobody in', async () => {
    const { server } = await opened('never' as never);
    const url = `${server.url.replace('ws', 'http')}/agents`;
    expect((await fetch(url, { headers: { authorization: 'Bearer a' } })).status).toBe(503);
  });
});
