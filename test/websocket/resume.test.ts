import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkStream } from '../../src/contracts/index.ts';
import type { AgentEvent } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService, textOf } from '../../src/index.ts';
import { bot, door, hostOf, notingTool, policyOf, readOnly, slowTool } from '../host/kit.ts';
import { flaky } from './flaky.ts';
import { all, client, durable, idsOf, logOf, serving } from './kit.ts';
import { endOf, Raw } from './raw.ts';

/** Words in so many pieces. */
const pieces = (count: number, word = 'w') => Array.from({ length: count }, (_, index) => `${word}${index} `);

const isPartial = (event: AgentEvent) => event.type === 'message' && event.partial === true;
const textIn = (events: readonly AgentEvent[]) =>
  events
    .filter(isPartial)
    .map((event) => (event as unknown as { content: { text?: string }[] }).content[0]?.text ?? '')
    .join('');

describe('resume', () => {
  test('WS-35 F41 random traffic, random drops: the durable events are the log, in order, once; deltas once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 25 }),
        async (drops, observerDrops, size) => {
          const look = notingTool('look', readOnly);
          const { host } = hostOf(
            bot([
              {
                deltas: pieces(size),
                calls: [
                  ['look', {}],
                  ['look', { n: 2 }],
                ],
              },
              { deltas: pieces(size, 'x') },
            ]),
            { tools: [look.tool] },
          );
          const server = await serving(host);
          const network = flaky(drops);
          const remote = await client(server, 'anna', { WebSocket: network.WebSocket });
          const session = await remote.open('bot', { sessionId: 's', create: true });
          const watcher = await client(server, 'anna', { WebSocket: flaky(observerDrops).WebSocket });
          const seen = watcher.open('bot', { sessionId: 's', control: false }).then((view) => view.watch());
          const watched = (async () => {
            const events: AgentEvent[] = [];
            for await (const event of await seen) {
              events.push(event);
              if (event.type === 'stream_end') return events;
            }
            return events;
          })();
          await seen;
          const events = await all(session.stream('go'));
          expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
          expect(checkStream(events)).toEqual([]);
          const log = await logOf(session);
          expect(idsOf(durable(events))).toEqual(idsOf(log));
          expect(textIn(events)).toBe([...pieces(size), ...pieces(size, 'x')].join(''));
          const others = await watched;
          expect(idsOf(durable(others))).toEqual(idsOf(log));
          expect(textIn(others)).toBe(textIn(events));
          expect(look.runs).toHaveLength(2);
          await remote.close();
          await watcher.close();
          await server.close({ deadlineMs: 0 });
          await host.close();
        },
      ),
      { numRuns: 15, endOnFailure: true },
    );
  });

  test('WS-35 F43 the same with a ring that is too small: the durable events are the log, and each character is read once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 25 }), { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 2, max: 12 }),
        async (drops, size, ringFrames) => {
          const look = notingTool('look', readOnly);
          const { host } = hostOf(
            bot([{ deltas: pieces(size), calls: [['look', {}]] }, { deltas: pieces(size, 'x') }]),
            {
              tools: [look.tool],
            },
          );
          const server = await serving(host, { limits: { ringFrames, window: 8 } });
          const remote = await client(server, 'anna', { WebSocket: flaky(drops).WebSocket });
          const session = await remote.open('bot', { sessionId: 's', create: true });
          const events = await all(session.stream('go'));
          expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
          expect(checkStream(events)).toEqual([]);
          expect(idsOf(durable(events))).toEqual(idsOf(await logOf(session)));
          const read: string[] = [];
          for await (const text of textOf(ReadableStream.from(events))) read.push(text);
          expect(read.join('')).toBe([...pieces(size), ...pieces(size, 'x')].join(''));
          await remote.close();
          await server.close({ deadlineMs: 0 });
          await host.close();
        },
      ),
      { numRuns: 15, endOnFailure: true },
    );
  });

  test('WS-31 WS-30 F41 a random place in the ring: exactly the missing frames, and the live ones behind them', async () => {
    const { host } = hostOf(bot([{ deltas: pieces(20) }, { deltas: pieces(5, 'later') }]));
    const server = await serving(host);
    const one = await Raw.ready(server.url);
    const at = await one.ask('session/open', { agent: 'bot' });
    const { sessionId, fencingToken } = at;
    await one.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await one.until(endOf('a'));
    const whole = one.frames();
    expect(whole.map(({ offset }) => offset)).toEqual(whole.map((_, index) => index + 1));
    for (const offset of [0, 1, 7, whole.length - 1, whole.length]) {
      const two = await Raw.ready(server.url);
      const place = { agent: 'bot', sessionId, epoch: at.epoch, offset, control: false };
      expect(await two.ask('session/attach', place)).toMatchObject({ recovered: true, offset });
      if (offset < whole.length) await two.until(({ params }) => params?.offset === whole.length);
      expect(two.frames()).toEqual(whole.slice(offset));
      two.ws.close();
    }
    const three = await Raw.ready(server.url);
    await three.ask('session/attach', { agent: 'bot', sessionId, epoch: at.epoch, offset: 5, control: false });
    await one.ask('session/stream', { sessionId, fencingToken, streamId: 'b', input: 'more' });
    await three.until(endOf('b'));
    expect(three.frames()).toEqual(one.frames().slice(5));
  });

  test('WS-32 F43 the ring has gone on: the client is told and gets the durable history, then what is live', async () => {
    const { host } = hostOf(bot([{ deltas: pieces(60) }, 'second']));
    const server = await serving(host, { limits: { ringFrames: 10 } });
    const one = await Raw.ready(server.url);
    const at = await one.ask('session/open', { agent: 'bot' });
    const { sessionId, fencingToken } = at;
    await one.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await one.until(endOf('a'));
    const two = await Raw.ready(server.url);
    const place = await two.ask('session/attach', {
      agent: 'bot',
      sessionId,
      epoch: at.epoch,
      offset: 3,
      control: false,
    });
    expect(place.recovered).toBe(false);
    await two.until(({ method }) => method === 'session/live');
    const { events } = await two.ask('session/events', { sessionId });
    const history = two.frames();
    expect(history.map(({ event }) => event.id)).toEqual((events as AgentEvent[]).map(({ id }) => id));
    expect(history.every(({ offset }) => offset === undefined)).toBe(true);
    await one.ask('session/stream', { sessionId, fencingToken, streamId: 'b', input: 'more' });
    await two.until(endOf('b'));
    const live = two.frames().slice(history.length);
    expect(live[0]?.offset).toBe(place.offset + 1);
  });

  test('WS-33 F43 an offset of another epoch, of a count that began anew, or of the future is not believed', async () => {
    const { host } = hostOf(bot(['one', 'two']));
    const server = await serving(host);
    const one = await Raw.ready(server.url);
    const { sessionId, fencingToken, epoch } = await one.ask('session/open', { agent: 'bot' });
    await one.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await one.until(endOf('a'));
    for (const place of [
      { epoch: 'another', offset: 1 },
      { epoch, offset: 40_000 },
    ]) {
      const two = await Raw.ready(server.url);
      const answer = await two.ask('session/attach', { agent: 'bot', sessionId, ...place, control: false });
      expect(answer).toMatchObject({ recovered: false, epoch });
      two.ws.close();
    }
  });

  test.each(['rubbish', '9999.0', '1.x', '-1.0', 'NaN.0'])(
    'WS-33 %s, which is no cursor of the session, is refused wherever it comes, and changes nothing',
    async (cursor) => {
      const { host } = hostOf(bot(['one']));
      const server = await serving(host);
      const one = await Raw.ready(server.url);
      const { sessionId, fencingToken, epoch } = await one.ask('session/open', { agent: 'bot' });
      await one.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
      await one.until(endOf('a'));
      const two = await Raw.ready(server.url);
      const place = { agent: 'bot', sessionId, cursor };
      const refused = { code: -32000, data: { status: 'INVALID_ARGUMENT', code: 'E_BAD_INPUT' } };
      for (const [method, params] of [
        ['session/attach', place],
        ['session/attach', { ...place, epoch, offset: 1 }],
        ['session/open', place],
      ] as const) {
        expect((await two.request(method, params)).error).toMatchObject(refused);
        await expect(two.ask('session/pending', { sessionId })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
      }
      expect((await one.request('session/attach', place)).error).toMatchObject(refused);
      expect((await one.request('session/events', { sessionId, after: cursor })).error).toMatchObject(refused);
      const { error } = await two.request('session/fork', { agent: 'bot', sessionId, after: cursor });
      expect(error).toMatchObject(refused);
      expect(error?.message).toContain(cursor);
      expect((await two.ask('session/list')).sessions).toHaveLength(1);
      expect((await one.ask('session/events', { sessionId })).events.length).toBeGreaterThan(0);
    },
  );

  test('WS-27 a run goes on without its client, which returns and sees all of it', async () => {
    const slow = slowTool('slow', readOnly);
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, { deltas: ['do', 'ne'] }]), { tools: [slow.tool] });
    const server = await serving(host);
    const network = flaky([]);
    const back = door();
    const remote = await client(server, 'anna', {
      WebSocket: network.WebSocket,
      onState: (state) => void (state === 'ready' && network.made > 1 && back.open()),
    });
    const session = await remote.open('bot');
    const events: AgentEvent[] = [];
    const streaming = (async () => {
      for await (const event of session.stream('go')) events.push(event);
    })();
    await slow.started;
    network.drop();
    slow.finish('found');
    await back.opened;
    await streaming;
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    expect(idsOf(durable(events))).toEqual(idsOf(await logOf(session)));
    expect(textIn(events)).toBe('done');
  });

  test('WS-40 deltas that were lost with the ring come with the message, each character once', async () => {
    const parts = pieces(60);
    const half = door();
    const { host } = hostOf(bot([{ deltas: ['begin '], calls: [['slow', {}]] }, { deltas: parts }]), {
      tools: [{ ...notingTool('slow', readOnly).tool, execute: () => half.opened.then(() => 'ok') }],
    });
    const server = await serving(host, { limits: { ringFrames: 8 } });
    const network = flaky([]);
    const remote = await client(server, 'anna', { WebSocket: network.WebSocket, minBackoffMs: 30 });
    const session = await remote.open('bot');
    const texts: string[] = [];
    const started = door();
    const reading = (async () => {
      for await (const text of textOf(session.stream('go'))) {
        texts.push(text);
        started.open();
      }
    })();
    await started.opened;
    network.drop();
    half.open();
    await reading;
    expect(texts.join('')).toBe(`begin ${parts.join('')}`);
  });

  test('WS-34 F43 a restarted server: the client is told, gets the log, and its stream ends as lost or paused', async () => {
    const store = new InMemorySessionService();
    const slow = slowTool('slow', readOnly);
    const make = (tools = [slow.tool]) =>
      createHost({ app: 'shop', agents: [fromAgent(bot([{ calls: [['slow', {}]] }]))], store: store, tools });
    const first = make();
    const server = await serving(first);
    const network = flaky([]);
    const remote = await client(server, 'anna', { WebSocket: network.WebSocket });
    const session = await remote.open('bot', { sessionId: 's', create: true });
    const events: AgentEvent[] = [];
    const streaming = (async () => {
      for await (const event of session.stream('go')) events.push(event);
    })();
    await slow.started;
    const { port } = server;
    // The process dies: nothing is written any more, nobody says goodbye.
    server.http.closeAllConnections();
    const gone = new Promise((resolve) => server.http.close(resolve));
    network.drop();
    await gone;
    const copy = new InMemorySessionService();
    const record = await store.get({ app: 'shop', userId: 'anna', id: 's' });
    await copy.create(record!.key);
    await copy.append(record!.key, record!.events);
    const second = createHost({ app: 'shop', agents: [fromAgent(bot(['after']))], store: copy, tools: [slow.tool] });
    await serving(second, { port });
    await streaming;
    const end = events.at(-1);
    expect(end).toMatchObject({ type: 'stream_end' });
    expect(['input_required', 'failed']).toContain((end as { reason: string }).reason);
    expect(idsOf(durable(events))).toEqual(idsOf(record ? await logOf(session) : []));
    slow.finish('late');
  });

  test('WS-24 a request that was under way is done once, whichever frame was lost', async () => {
    for (let frames = 0; frames < 8; frames++) {
      const pay = notingTool('pay');
      const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'paid']), {
        tools: [pay.tool],
        policy: policyOf({ pay: 'ask' }),
      });
      const server = await serving(host);
      const remote = await client(server, 'anna', { WebSocket: flaky([1000, frames, 1, frames]).WebSocket });
      const session = await remote.open('bot');
      await all(session.stream('pay'));
      const [question] = await session.pending();
      await session.respond(question!.requestId, { kind: 'approve' });
      const end = (await all(session.stream({ kind: 'continue' }))).at(-1);
      expect(end).toMatchObject({ type: 'stream_end', reason: 'completed' });
      expect(pay.runs).toHaveLength(1);
    }
  });
});
