import { expect, test } from 'vitest';
import type { Served, Transport } from '../../src/host/connection/index.ts';
import { Connection, DEFAULT_LIMITS, Hub } from '../../src/host/connection/index.ts';

test('ATT-B15 a stranger is cut off soon after the close that it does not answer; a client has longer', async () => {
  const hub = new Hub({ kind: 'host', agents: [] } as unknown as Served, { limits: DEFAULT_LIMITS, warn() {} });
  const open = () => {
    const closes: (number | undefined)[] = [];
    const answered = Promise.withResolvers<void>();
    let receive = (_: string) => {};
    const transport: Transport = {
      protocol: 'coxswain.v1',
      send: () => answered.resolve(),
      close: (_, __, patienceMs) => closes.push(patienceMs),
      pause() {},
      resume() {},
      onMessage: (listener) => {
        receive = listener;
      },
      bufferedAmount: 0,
      unwritten: 0,
      onDrain() {},
    };
    const identity = { principal: { id: 'anna' } };
    const connection = new Connection(hub, transport, { identity, identify: async () => identity });
    return { connection, closes, receive, answered: answered.promise };
  };
  const stranger = open();
  stranger.connection.close(4408, 'initialize did not come');
  const client = open();
  client.receive(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '1' } }));
  await client.answered;
  client.connection.close(1001, 'the server goes away');
  expect([stranger.closes, client.closes]).toEqual([[500], [undefined]]);
});
