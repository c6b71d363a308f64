import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { Behaviour, Message } from './raw-server.ts';
import { RawServer, said, sse, toolsChanged } from './raw-server.ts';

const call = { callId: 'c', name: 'pay', args: {} };
const MiB = 1024 * 1024;
const answer = ({ id }: Message, text: string) => ({ id, result: said(text) });
const event = (id: Message['id'], text: string) =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: said(text) })}\n\n`;

async function paid(behaviour: Behaviour): Promise<{ said: unknown; calls: number }> {
  await using server = await RawServer.start({ behaviours: [behaviour] });
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: () => {} });
  await toolset.tools();
  const result = await toolset.execute(call, AbortSignal.timeout(30_000));
  return { said: result, calls: server.calls.length };
}

const zipped = (response: ServerResponse, type: string, bytes: Buffer) =>
  response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(gzipSync(bytes));

test.each<[string, Behaviour]>([
  [
    'a response',
    (response, message) =>
      zipped(response, 'application/json', Buffer.from(JSON.stringify(answer(message, ' '.repeat(40 * MiB))))),
  ],
  [
    'an event',
    (response, { id }) => zipped(response, 'text/event-stream', Buffer.from(event(id, ' '.repeat(40 * MiB)))),
  ],
])(
  'EDGE-H1 %s that is larger than a process should hold is lost, and the call is not sent again',
  async (_, behaviour) => {
    const { said: result, calls } = await paid(behaviour);
    expect(result).toMatchObject({ isError: true, errorType: 'interrupted' });
    expect(calls).toBe(1);
  },
);

test('EDGE-H1 a long stream of small events is none, however its pieces are cut', async () => {
  const filler = Buffer.from(`: ${'x'.repeat(MiB)}\n\n`);
  const { said: result } = await paid((response, message) => {
    sse(response, toolsChanged);
    for (let n = 0; n < 40; n += 1) {
      response.write(filler.subarray(0, -1));
      response.write(filler.subarray(-1));
    }
    sse(response, answer(message, 'paid'));
    response.end();
  });
  expect(result).toMatchObject({ content: [{ type: 'text', text: 'paid' }] });
});
