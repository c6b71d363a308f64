import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { expect, test } from 'vitest';
import type { McpToolset } from '../../src/adapters/tools/mcp.ts';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { Behaviour } from './raw-server.ts';
import { json, RawServer, said, sse, stopServer, toolsChanged } from './raw-server.ts';

/** The 1.x SDK's server, with sessions, as most servers are; it can forget them all as by a restart. */
async function withSessions(status: number) {
  const known = new Map<string, StreamableHTTPServerTransport>();
  const seen = { initialize: 0, calls: 0 };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const message = text === '' ? undefined : (JSON.parse(text) as { method?: string; id?: number });
    const id = request.headers['mcp-session-id'];
    if (message?.method === 'initialize') {
      seen.initialize += 1;
      const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (session) => void known.set(session, transport),
      });
      await own(seen).connect(transport as never);
      return transport.handleRequest(request, response, message);
    }
    const transport = known.get(String(id));
    if (transport) return transport.handleRequest(request, response, message);
    const error = { code: -32_001, message: 'Session not found' };
    const answer = id === undefined ? 400 : status;
    json(response, { jsonrpc: '2.0', id: answer === 200 ? message?.id : null, error }, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    forget() {
      known.clear();
      server.closeAllConnections();
    },
    [Symbol.asyncDispose]: () => stopServer(server),
  };
}

function own(seen: { calls: number }): McpServer {
  const server = new McpServer({ name: 'own', version: '1' });
  server.registerTool('echo', { description: 'Says hi.' }, () => {
    seen.calls += 1;
    return { content: [{ type: 'text', text: 'hi' }] };
  });
  return server;
}

const over = (url: string) => mcpToolset({ url, name: 'web', warn: () => {} });

/** As one step of an agent does it: asks for the tools, then calls one. */
async function step(toolset: McpToolset): Promise<string> {
  await toolset.tools();
  const result = await toolset
    .execute({ callId: 'c', name: 'echo', args: {} }, AbortSignal.timeout(30_000))
    .catch((error: { code?: string }) => ({ errorType: error.code }));
  return (result as { errorType?: string }).errorType ?? 'ok';
}

test.each([404, 400, 401, 503, 200])(
  'HUNT-F1 a restarted server that answers an unknown session with %d is found again at the next step',
  async (status) => {
    await using server = await withSessions(status);
    await using toolset = over(server.url);
    expect(await step(toolset)).toBe('ok');
    server.forget();
    // The stream for notifications broke: the list is out of date, and asked for before anything is called.
    await expect.poll(() => step(toolset)).toBe('ok');
    expect(server.seen.initialize).toBe(2);
    server.forget();
    await expect.poll(() => step(toolset)).toBe('ok');
    expect(server.seen).toEqual({ initialize: 3, calls: 3 });
  },
);

test('HUNT-F1 sibling: a session that is given up while a call works in it stays until the call has its answer', async () => {
  await using server = await RawServer.start();
  await using toolset = over(server.url);
  await toolset.tools();
  const begun = Promise.withResolvers<() => void>();
  const slow: Behaviour = (response, { id }) => {
    sse(response, toolsChanged);
    begun.resolve(() => {
      sse(response, { id, result: said('paid') });
      response.end();
    });
  };
  server.behaviours = [slow];
  const call = toolset.execute({ callId: 'c', name: 'pay', args: {} }, AbortSignal.timeout(30_000));
  const finish = await begun.promise;
  server.lists = [(response) => json(response, {}, 400)];
  const sessions = async () => {
    await toolset.tools();
    return server.initialized.length;
  };
  await expect.poll(sessions).toBe(2);
  finish();
  expect(await call).toMatchObject(said('paid'));
  expect(server.calls).toHaveLength(1);
});

test('HUNT-F1 sibling: a server that refuses to list in a new session too is asked again with the next step, in another', async () => {
  await using server = await RawServer.start();
  await using toolset = over(server.url);
  const refuse: Behaviour = (response) => json(response, {}, 500);
  server.lists = [refuse];
  await expect(toolset.tools()).rejects.toMatchObject({ code: 'E_MCP_SERVER' });
  expect(await toolset.tools()).toHaveLength(1);
  expect(server.initialized).toHaveLength(2);
});
