import { describe, expect, test } from 'vitest';
import { serveExecutor } from '../../src/host/websocket/index.ts';
import { fromAgent, InMemorySessionService } from '../../src/index.ts';
import { bot, hostOf } from '../host/kit.ts';
import { byName, serving } from './kit.ts';
import { endOf, Raw } from './raw.ts';

const opened = async (raw: Raw, ids: readonly string[]) => {
  for (const sessionId of ids) await raw.ask('session/open', { agent: 'bot', sessionId, create: true, attach: false });
};

describe('what one request is answered', () => {
  test('a list says that there is more where there is, and not where all are on the page', async () => {
    const { host } = hostOf(bot([]));
    const raw = await Raw.ready((await serving(host)).url);
    await opened(raw, ['a', 'b', 'c']);
    const page = async (params: object) => {
      const { sessions, more } = await raw.ask('session/list', { agent: 'bot', ...params });
      return [sessions.length, more];
    };
    expect(await page({ limit: 2 })).toEqual([2, true]);
    expect(await page({ limit: 3 })).toEqual([3, false]);
    expect(await page({ limit: 4 })).toEqual([3, false]);
    const first = await raw.ask('session/list', { agent: 'bot', limit: 2 });
    expect(await page({ limit: 2, after: first.sessions.at(-1).id })).toEqual([1, false]);
  });

  test('a session that is opened without its frames gives a token to whoever controls it, and to nobody else', async () => {
    const { host } = hostOf(bot([]));
    const server = await serving(host);
    const [raw, other] = [await Raw.ready(server.url), await Raw.ready(server.url)];
    const params = { agent: 'bot', sessionId: 's', create: true, attach: false };
    expect(await raw.ask('session/open', params)).toMatchObject({ sessionId: 's', fencingToken: expect.any(String) });
    expect(Object.keys(await other.ask('session/open', { ...params, control: false }))).not.toContain('fencingToken');
  });

  test('attached again, a client is told each event once', async () => {
    const { host } = hostOf(bot(['hello']));
    const raw = await Raw.ready((await serving(host)).url);
    let { fencingToken } = await raw.ask('session/open', { agent: 'bot', sessionId: 's', create: true });
    for (let times = 0; times < 3; times++) {
      ({ fencingToken } = await raw.ask('session/attach', { sessionId: 's', fencingToken }));
    }
    const input = 'hi';
    const streamId = 'stream-1';
    await raw.ask('session/stream', { sessionId: 's', streamId, fencingToken, input });
    await raw.until(endOf(streamId));
    // An answer to what is asked after the end: whatever was sent twice is there by then.
    await raw.ask('session/list', { agent: 'bot' });
    const offsets = raw.frames().flatMap(({ offset }) => (offset === undefined ? [] : [offset]));
    expect(offsets.length).toBeGreaterThan(2);
    expect(new Set(offsets).size).toBe(offsets.length);
  });

  test('a server of bare executors has no approvals, and says whose they are', async () => {
    const sources = { app: 'far', agents: [fromAgent(bot([]))], sessions: new InMemorySessionService() };
    const server = await serveExecutor(sources, { authenticate: byName });
    try {
      const raw = await Raw.ready(server.url);
      await expect(raw.ask('approvals/list')).rejects.toMatchObject({
        code: 'E_UNSUPPORTED',
        message: expect.stringContaining('approvals are with its client'),
      });
    } finally {
      await server.close({ deadlineMs: 0 });
    }
  });

  test('whoever has all places loses the session that was idle for longest, and costs nobody else one', async () => {
    const { host } = hostOf(bot([]));
    const server = await serving(host, { limits: { maxSessionsPerPrincipal: 2 } });
    const [bob, anna] = [await Raw.ready(server.url, 'bob'), await Raw.ready(server.url, 'anna')];
    const epochOf = async (raw: Raw, sessionId: string) =>
      (await raw.ask('session/open', { agent: 'bot', sessionId, create: true, attach: false })).epoch as string;
    const close = (raw: Raw, sessionId: string) => raw.ask('session/close', { sessionId });
    const before = await epochOf(bob, 'b');
    await close(bob, 'b');
    for (const id of ['a1', 'a2', 'a3']) {
      await epochOf(anna, id);
      await close(anna, id);
    }
    // It is the very one that was open before: an epoch is that of a session's opening.
    expect(await epochOf(bob, 'b')).toBe(before);
  });
});
