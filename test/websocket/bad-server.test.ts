import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
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
