import { describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../src/adapters/nodes/public-address.ts';
import { webhooks } from '../../src/adapters/nodes/webhooks.ts';
import type { SessionPlace } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { isSigned, outcomeSuite, receiver, secret } from '../suites/outcomes.ts';
import { bot, hostOf, policyOf, refusal } from './kit.ts';

outcomeSuite('in one process', async () => {
  const store = new InMemorySessionService();
  return { store: async () => store, close: async () => {} };
});

describe('webhooks', () => {
  const message = { id: 'msg_1', at: 1_700_000_000_500, body: '{"type":"turn.ended"}' };
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

  test('OU-05 no redirect is followed; who wants no more is asked no more; who says nothing is left', async () => {
    const away = await receiver(302);
    const gone = await receiver(410);
    const silent = await receiver(0);
    const hooks = webhooks({
      away: { url: away.url, secret, private: true },
      gone: { url: gone.url, secret: [other, secret], private: true },
      silent: { url: silent.url, secret, private: true, timeoutMs: 200 },
    });
    const failed = async (name: string) => {
      try {
        return await hooks.deliver(name, message);
      } catch (error) {
        return String(error);
      }
    };
    expect(await failed('away')).toBe('Error: the receiver has answered 302');
    expect(away.got).toHaveLength(1);
    expect(await failed('gone')).toBe('gone');
    const [taken] = gone.got;
    expect(taken && [isSigned(taken), isSigned(taken, other), taken.headers['webhook-timestamp']]).toEqual([
      true,
      true,
      '1700000000',
    ]);
    expect(await failed('silent')).toBe('Error: the receiver has not answered within 200 ms');
    for (const one of [away, gone, silent]) await one.close();
    expect(await failed('away')).toMatch(/ECONNREFUSED/);
  });

  test('OU-06 what is not public is not connected to, by name or by address; what cannot be a receiver is refused, its secret unsaid', async () => {
    const hooks = webhooks({ here: { url: 'https://localhost:9/', secret } });
    await expect(hooks.deliver('here', message)).rejects.toThrow('localhost has an address that is not public');
    const bad = [
      { url: 'http://example.com/', secret },
      { url: 'https://127.0.0.1/', secret },
      { url: 'https://[::1]/', secret },
      { url: 'https://2130706433/', secret },
      { url: 'https://user:word@example.com/', secret },
      { url: 'file:///etc/passwd', secret, private: true },
      { url: 'https://example.com/', secret: 'whsec_c2hvcnQ=' },
      { url: 'https://example.com/', secret: 'a plain password of some length' },
      { url: 'https://example.com/', secret: [] },
      { url: 'https://example.com/', secret, retries: 3 },
      // ATK7-14: a timer that is too long ends at once.
      ...[0, 600_001, 2 ** 32, Number.POSITIVE_INFINITY].map((timeoutMs) => ({
        ...{ url: 'https://example.com/', secret, timeoutMs },
      })),
    ];
    for (const wrong of bad) {
      const { code, message: said } = await refusal((async () => webhooks({ one: wrong }))());
      expect([wrong.url, code]).toEqual([wrong.url, 'E_BAD_INPUT']);
      for (const word of [wrong.secret].flat()) expect(said).not.toContain(word);
    }
    const addresses = [
      '10.1.2.3',
      '169.254.169.254',
      '100.64.0.1',
      '::ffff:10.0.0.1',
      'fd00::1',
      'fe80::1',
      '64:ff9b::a00:1',
    ];
    expect(addresses.filter(isPublicAddress)).toEqual([]);
    expect(['93.184.216.34', '2606:2800:220:1::1'].filter(isPublicAddress)).toHaveLength(2);
  });
});

/** As the host does when its dispatcher brings the place. */
const lookAt = (part: object, place: SessionPlace) => (part as { look(at: SessionPlace): Promise<void> }).look(place);

describe('what a webhook is sent beside the end, and what it was not sent', () => {
  const pay = { name: 'pay', description: 'pays', inputSchema: { type: 'object' }, execute: () => 'paid' } as const;
  const script = [{ calls: [['pay']] as [string][] }, 'done'];

  /** A clock of the store that is moved by hand. */
  async function world(status: number[], options: Parameters<typeof hostOf>[1] = {}) {
    const hook = await receiver(...status);
    const store = new InMemorySessionService();
    let at = Date.UTC(2026, 10, 30, 9, 0);
    Object.assign(store.journal, { now: async () => at });
    const crm = { url: hook.url, secret, private: true };
    const outcomes = webhooks({ crm, all: { ...crm, waits: true } });
    const { host, warnings } = hostOf(bot(script), {
      store,
      tools: [pay],
      outcomes,
      userId: 'ann',
      policy: policyOf({}),
      ...options,
    });
    const move = (ms: number) => {
      at += ms;
    };
    const close = async () => {
      await host.close();
      await hook.close();
    };
    return { hook, host, warnings, move, close };
  }

  test('OU-07 that a turn waits for a person is sent to who wants it, once; its end follows', async () => {
    const { hook, host, move, close } = await world([204], {
      policy: policyOf({ pay: 'ask' }),
      approvers: { roles: ['boss'] },
    });
    const { turnId, sessionId } = await host.submit('bot', 'Pay.', { webhook: 'all' });
    await hook.reached(1);
    const [open] = await host.approvals.list();
    const requestId = open?.request.requestId ?? '';
    expect(JSON.parse(hook.got[0]?.body ?? '')).toEqual({
      type: 'turn.waits',
      timestamp: open?.request.requestedAt,
      data: { app: 'shop', agent: 'bot', userId: 'ann', sessionId, turnId, requestIds: [requestId] },
    });
    const by = { id: 'boss', roles: ['boss'] };
    await host.approvals.decide(requestId, { kind: 'approve' }, { by, sessionId, userId: 'ann' });
    await host.idle();
    move(3_600_000);
    await hook.reached(2);
    expect(JSON.parse(hook.got[1]?.body ?? '')).toMatchObject({ type: 'turn.ended', data: { reason: 'completed' } });
    expect(new Set(hook.got.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    await host.idle();
    expect(hook.got).toHaveLength(2);
    await close();
  });

  test('OU-08 what was given up is listed with its last failure, and sent again when somebody asks for it', async () => {
    const { hook, host, move, close } = await world([...Array.from({ length: 11 }, () => 503), 204]);
    const { turnId, sessionId } = await host.submit('bot', 'Pay.', { webhook: 'crm' });
    await hook.reached(1);
    const id = String(hook.got[0]?.headers['webhook-id']);
    const look = () => lookAt(host.webhooks, { agent: '@outcome', userId: 'ann', sessionId: `${id}/${sessionId}` });
    for (let tries = 2; tries <= 11; tries++) {
      move(2 * 86_400_000);
      const sent = async () => {
        await look();
        return hook.got.length;
      };
      await expect.poll(sent).toBe(tries);
    }
    const place = { agent: 'bot', userId: 'ann', sessionId };
    const error = 'the receiver has answered 503';
    await expect
      .poll(() => host.webhooks.givenUp())
      .toEqual([
        { id, ...place, turnId, webhook: 'crm', type: 'turn.ended', tries: 11, givenUpAt: expect.any(String), error },
      ]);
    move(2 * 86_400_000);
    await look();
    expect(hook.got).toHaveLength(11);
    const work = await host.work({ lookMs: 20 });
    expect(work.figures.givenUp).toBe(1);
    expect(await host.webhooks.sendAgain('msg_of_nobody')).toBe(false);
    expect(await host.webhooks.sendAgain(id)).toBe(true);
    await hook.reached(12);
    await expect.poll(() => host.webhooks.givenUp()).toEqual([]);
    expect(hook.got[11]?.headers['webhook-id']).toBe(id);
    await close();
  });

  test('OU-09 turns that begin by the clock have a webhook, too; one that nobody knows is refused', async () => {
    const { hook, host, move, close } = await world([204]);
    const schedule = { name: 'report', cron: '0 10 * * *', agent: 'bot', input: 'Report.' };
    expect(await refusal(host.schedules.set({ ...schedule, webhook: 'nobody' }))).toMatchObject({
      code: 'E_BAD_INPUT',
      message: 'schedules.set: schedule.webhook: one of crm, all',
    });
    await host.schedules.set({ ...schedule, webhook: 'crm' });
    move(3_600_000);
    await lookAt(host.schedules, { agent: '@schedule', userId: 'ann', sessionId: 'report' });
    await hook.reached(1);
    expect(JSON.parse(hook.got[0]?.body ?? '')).toMatchObject({
      type: 'turn.ended',
      data: { sessionId: 'report-20261130T1000Z', reason: 'completed' },
    });
    await close();
  });
});
