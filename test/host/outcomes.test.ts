import { describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../src/adapters/nodes/public-address.ts';
import { webhooks } from '../../src/adapters/nodes/webhooks.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { isSigned, outcomeSuite, receiver, secret } from '../suites/outcomes.ts';
import { refusal } from './kit.ts';

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
