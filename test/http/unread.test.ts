import { connect } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HttpOptions } from '../../src/host/http/index.ts';
import { createHttp } from '../../src/host/http/index.ts';
import { all, bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { byName } from '../websocket/kit.ts';
import { fronting } from './kit.ts';

const MILLION = 1_000_000;
// Of one unit and of two: a piece may end between any of them.
const WORDS = '😀Ü'.repeat(MILLION / 4);

/** A host with a session of so many turns of 750,000 characters, the last of which waits for a boss. */
async function longSession(turns: number) {
  const script = Array.from({ length: turns }, (_, turn) =>
    turn === turns - 1 ? { text: WORDS, calls: [['pay', {}] as const] } : WORDS,
  );
  const { host } = hostOf(bot(script as never), {
    tools: [notingTool('pay').tool],
    policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
  });
  const session = await host.open('bot', { sessionId: 's', create: true, userId: 'anna' });
  for (let turn = 0; turn < turns; turn++) await all(session.stream('go'));
  await session[Symbol.asyncDispose]();
  return host;
}

/** The same behind a handler, and what that logs. */
async function long(turns: number, limits: HttpOptions['limits'] = {}) {
  const host = await longSession(turns);
  const log: string[] = [];
  const handler = createHttp(host, {
    authenticate: byName,
    limits,
    log: ({ event, gone }) => void log.push(gone === undefined ? event : `${event}, gone: ${gone}`),
  });
  onTestFinished(async () => {
    await handler.close({ deadlineMs: 0 });
    await host.close();
  });
  const ask = (path: string, body?: object, accept = 'application/json') =>
    handler(
      new Request(`http://localhost/v1/agents/bot/${path}`, {
        headers: { authorization: 'Bearer anna', accept, 'content-type': 'application/json' },
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      }),
    );
  return { ask, log };
}

type Ask = Awaited<ReturnType<typeof long>>['ask'];
const agUi = { threadId: 's', runId: 'r', messages: [], tools: [], context: [], state: {}, forwardedProps: {} };
const loads: [string, (ask: Ask) => Promise<Response>][] = [
  ['the messages of a chat page', (ask) => ask('chat/s')],
  ['the turn of a chat page', (ask) => ask('chat/s/stream?wait=true')],
  ['a session of AG-UI', (ask) => ask('ag-ui', agUi)],
  ['the events of a session', (ask) => ask('sessions/s/events', undefined, 'text/event-stream')],
];

describe('ATK3-12 a reader that does not read', () => {
  test.each(loads)('is cut off once it has taken nothing for stallMs: %s', async (_, load) => {
    const { ask, log } = await long(3, { stallMs: 20, closeMs: 20 });
    const response = await load(ask);
    expect(response.status).toBe(200);
    await vi.waitFor(() => expect(log).toContain('stream_closed, gone: true'), { timeout: 10_000 });
    await expect(response.text()).rejects.toThrow('did not take what was left of it');
  });

  test.each(loads.slice(0, 3))('is given pieces of at most 64 Ki characters, as it asks: %s', async (_, load) => {
    const { ask, log } = await long(3);
    const response = await load(ask);
    const decoder = new TextDecoder();
    let text = '';
    const reader = response.body?.getReader();
    const { resolve: halfway, promise } = Promise.withResolvers<void>();
    const read = async () => {
      for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
        const piece = decoder.decode(next.value, { stream: true });
        expect(piece.length).toBeLessThanOrEqual(64 * 1024);
        text += piece;
        if (text.length > 600_000) halfway();
      }
    };
    const reading = read();
    await promise;
    expect(text).not.toContain('\uFFFD');
    const [first] = text.split(WORDS.slice(0, 1000));
    expect(first).not.toBe(text);
    await reader?.cancel();
    await reading;
    expect(log).toContain('stream_closed, gone: true');
  });

  test('the messages of a page that is read are whole', async () => {
    const { ask } = await long(3);
    const { messages } = (await (await ask('chat/s')).json()) as { messages: { parts: { text?: string }[] }[] };
    const said = messages.map(({ parts }) => parts.map(({ text = '' }) => text).join(''));
    expect(said.filter((text) => text === WORDS)).toHaveLength(3);
  });

  test('over a socket, its connection is cut, so that it takes nothing for whole', async () => {
    const gone = Promise.withResolvers<void>();
    const front = await fronting(await longSession(16), {
      limits: { stallMs: 50, closeMs: 50 },
      log: ({ event, gone: isGone }) => {
        if (event === 'stream_closed' && isGone) gone.resolve();
      },
    });
    const socket = connect(Number(new URL(front.url).port), '127.0.0.1');
    socket.pause();
    socket.write('GET /v1/agents/bot/chat/s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer anna\r\n\r\n');
    await gone.promise;
    let end = '';
    socket.on('data', (data) => {
      end = (end + data.toString('latin1')).slice(-64);
    });
    const closed = new Promise<void>((resolve) => socket.on('error', () => {}).on('close', () => resolve()));
    socket.resume();
    await closed;
    // The last chunk of a body that is whole is empty.
    expect(end).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  test('many of them hold no more than one principal may, and others come once that is read', async () => {
    const { ask } = await long(16);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('chat/s')));
    const unread = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(unread.length).toBeLessThanOrEqual(4);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 429));
    expect((await refused[0]?.json()) as object).toMatchObject({
      error: { code: 'E_RATE_LIMIT', retryable: true, message: expect.stringContaining('come back later') },
    });
    for (const answer of unread) await answer.text();
    expect((await ask('chat/s')).status).toBe(200);
  });

  test('a small answer is given, whatever is held', async () => {
    const { ask } = await long(16);
    await Promise.all(Array.from({ length: 8 }, () => ask('chat/s')));
    expect((await ask('sessions/s/events?limit=2')).status).toBe(200);
  });
});
