import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { connect } from '../../src/adapters/remote/index.ts';
import { bot, hostOf } from '../host/kit.ts';
import { flaky } from './flaky.ts';
import { all, serving } from './kit.ts';

const RUBBISH = [
  'null',
  '7',
  '[]',
  '"text"',
  '{"jsonrpc"',
  '{"method":"session/event"}',
  '{"method":"session/event","params":{"sessionId":"s","epoch":null}}',
  '{"method":"approvals/open"}',
  '{"id":1,"error":null}',
];

describe('a client of a server that sends rubbish', () => {
  test.each([...RUBBISH, '{"id":1,"result":null}', '{"id":1,"result":{}}', '{"id":1,"error":{}}'])(
    'is told so, and goes on living: %s',
    async (frame) => {
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'coxswain.v1' });
      onTestFinished(() => {
        for (const ws of server.clients) ws.terminate();
        server.close();
      });
      await new Promise((resolve) => server.on('listening', resolve));
      server.on('connection', (ws) => {
        ws.on('message', () => {
          ws.send(frame);
          ws.close();
        });
      });
      const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      await expect(connect(url, { token: 'anna' })).rejects.toMatchObject({ status: expect.any(String) });
    },
  );

  test('WS-35 on the way costs a connection, no event', async () => {
    const { host } = hostOf(bot(Array.from({ length: RUBBISH.length }, () => ({ deltas: ['a', 'b'] }))));
    const server = await serving(host);
    const network = flaky([]);
    const remote = await connect(server.url, { token: 'anna', WebSocket: network.WebSocket, minBackoffMs: 1 });
    onTestFinished(() => remote.close());
    const session = await remote.open('bot', { sessionId: 's', create: true });
    for (const frame of RUBBISH) {
      network.inject(frame);
      expect((await all(session.stream('go'))).at(-1)).toMatchObject({ reason: 'completed' });
    }
    // The first one, and one more for each frame that cannot be read: null, cut-off JSON, a question that is none.
    expect(network.made).toBe(4);
  });
});

test('ATK7-14 a server that says to be asked after longer than a timer reaches is not asked all the time', async () => {
  const timers = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => timers.mockRestore());
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'coxswain.v1' });
  onTestFinished(() => {
    for (const ws of server.clients) ws.terminate();
    server.close();
  });
  await new Promise((resolve) => server.on('listening', resolve));
  const limits = {
    maxPayload: 65_536,
    window: 64,
    ringFrames: 64,
    ringBytes: 65_536,
    heartbeatMs: 2 ** 32,
    keyMs: 1000,
  };
  const init = { protocolVersion: '1', server: { name: 'x' }, serves: 'host', capabilities: {} };
  server.on('connection', (ws) => {
    ws.on('message', (data) => {
      const { id } = JSON.parse(String(data)) as { id?: number };
      const result = { ...init, limits, principal: { id: 'anna' }, agents: [] };
      ws.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const remote = await connect(url, { token: 'anna' });
  onTestFinished(() => remote.close());
  expect(remote.state).toBe('ready');
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1]);
});
