import { describe, expect, test } from 'vitest';
import { checkStream } from '../../src/contracts/index.ts';
import { textOf } from '../../src/index.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { all, client, durable, idsOf, logOf, serving } from './kit.ts';
import { Raw } from './raw.ts';

describe('a session over WebSocket', () => {
  test('streams like a local one: the same events, in order, each once', async () => {
    const { host } = hostOf(bot([{ deltas: ['Hel', 'lo ', 'there'] }]));
    const server = await serving(host);
    const remote = await client(server);
    const session = await remote.open('bot');
    const events = await all(session.stream('hi'));
    expect(checkStream(events)).toEqual([]);
    expect(events[0]?.type).toBe('initialize');
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    const log = await logOf(session);
    expect(idsOf(durable(events))).toEqual(idsOf(log));
    const partials = events.filter((event) => event.type === 'message' && event.partial);
    expect(partials.map((event) => (event as never as { content: { text: string }[] }).content[0]?.text)).toEqual([
      'Hel',
      'lo ',
      'there',
    ]);
  });

  test('runs tools on the server, under its policy, and answers its questions', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', { amount: 3 }]] }, 'paid']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const remote = await client(await serving(host));
    const session = await remote.open('bot');
    const first = await all(session.stream('pay'));
    expect(first.at(-1)).toMatchObject({ type: 'stream_end', reason: 'input_required' });
    expect(pay.runs).toEqual([]);
    const [question] = await session.pending();
    expect(question?.approval?.requestedBy).toEqual({ id: 'anna' });
    const settled = await session.respond(question?.requestId ?? '', { kind: 'approve' });
    expect(settled).toEqual({ status: 'settled', by: 'anna' });
    const second = await all(session.stream({ kind: 'continue' }));
    expect(second.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    expect(pay.runs).toEqual([{ amount: 3 }]);
  });

  test('text of a stream comes whole', async () => {
    const { host } = hostOf(bot([{ deltas: ['a', 'b', 'c'] }]));
    const session = await (await client(await serving(host))).open('bot');
    const texts: string[] = [];
    for await (const text of textOf(session.stream('go'))) texts.push(text);
    expect(texts.join('')).toBe('abc');
  });

  test('WS-19 the newest events come without the others: as many as are asked for, or as go into one page', async () => {
    const { host } = hostOf(bot([{ deltas: ['one'] }, { deltas: ['two'] }, { deltas: ['three'] }]));
    const remote = await client(await serving(host));
    const session = await remote.open('bot', { sessionId: 's', create: true });
    expect(await session.newest(5)).toEqual({ events: [], more: false });
    for (const words of ['a', 'b'.repeat(300_000), 'c'.repeat(300_000)]) await all(session.stream(words));
    const log = await logOf(session);
    expect(await session.newest(3)).toEqual({ events: log.slice(-3), more: true });
    const page = await session.newest(1000);
    expect(page.more).toBe(true);
    expect(page.events).toEqual(log.slice(-page.events.length));
    expect(page.events.length).toBeGreaterThan(3);
    expect(JSON.stringify(page.events).length).toBeLessThan(512 * 1024);
    // Of a log that fits there are no older ones.
    const short = await remote.open('bot');
    await all(short.stream('a'));
    expect(await short.newest(1000)).toEqual({ events: await logOf(short), more: false });
    await expect(short.newest(0)).rejects.toMatchObject({ code: 'E_PROTOCOL' });
    await expect(short.newest(0.5)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
  });

  test('WS-19 newest events behind a place are refused', async () => {
    const { host } = hostOf(bot(['one']));
    const raw = await Raw.ready((await serving(host)).url);
    const { sessionId } = await raw.ask('session/open', { agent: 'bot' });
    const { error } = await raw.request('session/events', { sessionId, newest: true, after: '1.0' });
    expect(error).toMatchObject({ data: { code: 'E_PROTOCOL' } });
  });
});
