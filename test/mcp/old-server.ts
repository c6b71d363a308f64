import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { json, stopServer } from './raw-server.ts';

/** The 1.x SDK's server, with sessions, as most servers are; it can forget them all as by a restart. */
export async function withSessions(status: number, configure: (server: McpServer) => void) {
  const known = new Map<string, StreamableHTTPServerTransport>();
  const seen = { initialize: 0 };
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
      const own = new McpServer({ name: 'own', version: '1' });
      configure(own);
      await own.connect(transport as never);
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
