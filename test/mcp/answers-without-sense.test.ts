import { expect, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { Behaviour } from './raw-server.ts';
import { json, RawServer, said } from './raw-server.ts';

const call = { callId: 'c', name: 'pay', args: {} };

async function paid(behaviour: Behaviour, isModern = false) {
  await using server = await RawServer.start({ behaviours: [behaviour], isModern });
  await using toolset = mcpToolset({ url: server.url, name: 'raw', idleMs: 500, warn: () => {} });
  await toolset.tools();
  const result = await toolset.execute(call, AbortSignal.timeout(30_000));
  return { result: result as { isError?: boolean; errorType?: string }, calls: server.calls.length };
}

const answering =
  (result: unknown): Behaviour =>
  (response, { id }) =>
    json(response, { jsonrpc: '2.0', id, result });
const streaming =
  (before: string, after = '\n\n'): Behaviour =>
  (response, { id }) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`${before}data: ${JSON.stringify({ jsonrpc: '2.0', id, result: said('paid') })}${after}`);
const body =
  (text: (id: unknown) => string): Behaviour =>
  (response, { id }) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(text(id));
const answer = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result: said('paid') });

test.each<[string, Behaviour]>([
  ['a verdict that is a word', answering({ ...said('paid'), isError: 'yes' })],
  ['a verdict that is a number', answering({ ...said('paid'), isError: 0 })],
  ['no object', answering('paid')],
  ['null', answering(null)],
  ['content that is text', answering({ content: 'paid' })],
  ['content that is one block', answering({ content: said('paid').content[0] })],
  ['neither answer nor error', body((id) => JSON.stringify({ jsonrpc: '2.0', id }))],
  ['an answer to something else', body(() => answer(4_711))],
  ['half of an answer', body((id) => answer(id).slice(0, -10))],
  ['an envelope that the protocol does not have', answering({ ...said('paid'), _meta: null })],
  ['no JSON', body(() => 'paid')],
])('EDGE-M1 %s is no success: the call may have run, and is not sent again', async (_, behaviour) => {
  const { result, calls } = await paid(behaviour);
  expect(result.isError).toBe(true);
  expect(['interrupted', 'timeout', 'failed']).toContain(result.errorType);
  expect(calls).toBe(1);
});

test.each<[string, Behaviour]>([
  ['a byte order mark before the body', body((id) => `\ufeff${answer(id)}`)],
  ['a byte order mark before a stream', streaming('\ufeff')],
  [
    'a comment, another event, and Windows line ends',
    streaming(': hello\r\n\r\nevent: ping\r\ndata: \r\n\r\n', '\r\n\r\n'),
  ],
  ['null for what is absent', answering({ ...said('paid'), isError: null, structuredContent: null })],
])('EDGE-M2 harmless: %s', async (_, behaviour) => {
  const { result, calls } = await paid(behaviour);
  expect(result).toEqual({ content: [{ type: 'text', text: 'paid' }] });
  expect(calls).toBe(1);
});
