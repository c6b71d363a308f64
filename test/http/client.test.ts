import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HttpSocket } from '../../src/adapters/remote/http-socket.ts';
import { connect } from '../../src/adapters/remote/index.ts';
import { findTarget } from '../../src/cli/commands/conformance-target.ts';
import { requirements, runConformance } from '../../src/conformance/index.ts';
import { checkStream, isCoxswainError } from '../../src/contracts/index.ts';
import { serveExecutor } from '../../src/host/websocket/index.ts';
import type { AgentEvent } from '../../src/index.ts';
import { fromAgent, LlmAgent } from '../../src/index.ts';
import { fixtureModel } from '../conformance/fixture-model.ts';
import { bot, hostOf, notingTool, policyOf, readOnly, slowTool } from '../host/kit.ts';
import { flaky } from '../websocket/flaky.ts';
import { all, client, durable, idsOf, logOf, serving } from '../websocket/kit.ts';
import { fronting } from './kit.ts';

const httpOf = ({ url }: { url: string }) => ({ url: url.replace('ws', 'http') });
const pieces = (count: number, word = 'w') => Array.from({ length: count }, (_, index) => `${word}${index} `);
const textIn = (events: readonly AgentEvent[]) =>
  events
    .flatMap((event) => (event.type === 'message' && event.partial ? event.content : []))
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');

describe('connect over plain HTTP', () => {
  test('HTTP-22 HTTP-1 a session behaves as over a socket: streams, questions, answers, control, an end', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'paid']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const front = await fronting(host);
    const anna = await client({ url: `${front.url}/v1` });
    expect([anna.state, anna.principal, anna.serves]).toEqual(['ready', { id: 'anna' }, 'host']);
    const session = await anna.open('bot', { sessionId: 's', create: true });
    const asked = await all(session.stream('go'));
    expect(asked.at(-1)).toMatchObject({ reason: 'input_required' });
    const [question] = await session.pending();
    expect(await session.respond(question?.requestId ?? '', { kind: 'approve' })).toMatchObject({ status: 'settled' });
    const done = await all(session.stream({ kind: 'continue' }));
    expect(done.at(-1)).toMatchObject({ reason: 'completed' });
    expect(checkStream(asked)).toEqual([]);
    const other = await client({ url: `${front.url}/v1` });
    const second = await other.open('bot', { sessionId: 's' });
    expect([session.controls, second.controls]).toEqual([true, false]);
    await second.takeControl();
    await expect(session.steer({ content: 'x' })).rejects.toMatchObject({ code: 'E_CONTROL_LOST' });
    await anna.close();
    await other.close();
  });

  test('HTTP-22 what is refused says why, and is not asked for again', async () => {
    const front = await fronting(hostOf(bot(['x'])).host, { limits: { maxConnectionsPerPrincipal: 1 } });
    const url = `${front.url}/v1`;
    await expect(connect(url, { token: 'wrong' })).rejects.toMatchObject({ code: 'E_UNAUTHENTICATED' });
    await expect(connect(front.url, { token: 'anna' })).rejects.toMatchObject({ code: 'E_PROTOCOL' });
    await expect(connect('http://127.0.0.1:1/v1')).rejects.toMatchObject({
      code: 'E_CONNECTION_LOST',
      retryable: true,
    });
    await client({ url });
    await expect(connect(url, { token: 'anna' })).rejects.toMatchObject({ code: 'E_RATE_LIMIT' });
  });

  test('HTTP-22 messages for a connection are taken from whoever made it alone', async () => {
    const front = await fronting(hostOf(bot(['x'])).host);
    const opened = await fetch(`${front.url}/v1/connections`, {
      method: 'POST',
      headers: { authorization: 'Bearer anna', 'content-type': 'application/json', accept: 'text/event-stream' },
      body: '{}',
    });
    const reader = opened.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: open')) text += (await reader?.read())?.value ?? '';
    const [, id] = /"id":"([^"]+)"/.exec(text) ?? [];
    const send = async (token: string, body: string) => {
      const response = await fetch(`${front.url}/v1/connections/${id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
      });
      return response.status;
    };
    const hello = '{"messages":[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1"}}]}';
    expect(await send('mallory', hello)).toBe(503);
    expect(await send('anna', '{"messages":7}')).toBe(400);
    expect(await send('anna', hello)).toBe(202);
    text = '';
    while (!text.includes('"result"')) text += (await reader?.read())?.value ?? '';
    expect(text).toContain('"principal":{"id":"anna"}');
    await reader?.cancel();
  });

  test('HTTP-22 HTTP-12 random traffic, random drops: the durable events are the log, in order, once; deltas once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 25 }),
        async (drops, size) => {
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
          const front = await fronting(host);
          const remote = await client({ url: `${front.url}/v1` }, 'anna', {
            WebSocket: flaky(drops, HttpSocket).WebSocket,
          });
          const session = await remote.open('bot', { sessionId: 's', create: true });
          const events = await all(session.stream('go'));
          expect(checkStream(events)).toEqual([]);
          expect(idsOf(durable(events))).toEqual(idsOf(await logOf(session)));
          expect(textIn(events)).toBe([...pieces(size), ...pieces(size, 'x')].join(''));
          expect(look.runs).toHaveLength(2);
          await remote.close();
          await front.close();
        },
      ),
      { numRuns: 10, endOnFailure: true },
    );
  });

  test('HTTP-22 HTTP-18 a server that goes away says so, and lets what runs finish', async () => {
    const slow = slowTool('slow');
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done']), { tools: [slow.tool], policy: policyOf({}) });
    const server = await serving(host, { http: true });
    const states: string[] = [];
    const remote = await client(httpOf(server), 'anna', { onState: (state) => states.push(state) });
    const session = await remote.open('bot', { sessionId: 's', create: true });
    const stream = all(session.stream('go'));
    await slow.started;
    const closing = server.close({ deadlineMs: 60_000 });
    slow.finish('late');
    expect((await stream).at(-1)).toMatchObject({ reason: 'completed' });
    await closing;
    await expect.poll(() => states).toContain('waiting');
  });

  test('HTTP-22 the conformance kit judges a server over plain HTTP', async () => {
    const server = await serveExecutor(
      {
        app: 'conformance',
        agents: [fromAgent(new LlmAgent({ name: 'bot', model: fixtureModel() }))],
      },
      { http: true, warn: () => {} },
    );
    try {
      const target = await findTarget([httpOf(server).url], { token: String(server.token) });
      const chosen = requirements.filter(({ id }) => /^CX-(TURN-0[13]|TOOL-02|RESUME-03)$/.test(id));
      const findings = await runConformance(chosen, target);
      expect(findings.map(({ status, found }) => found ?? status)).toEqual(['passed', 'passed', 'passed', 'passed']);
      expect(isCoxswainError(undefined)).toBe(false);
    } finally {
      await server.close({ deadlineMs: 0 });
    }
  });
});
