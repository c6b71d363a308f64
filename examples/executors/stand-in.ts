import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A Chat Completions server for trying the executors without a key: it asks for the first tool of a request once, and
 * then answers with what the tool returned. Sets the variables that `settings.ts` reads.
 */
export async function startStandIn(): Promise<AsyncDisposable> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { messages, tools = [] } = JSON.parse(body) as {
      messages: { role: string; content: string | null }[];
      tools?: { function: { name: string } }[];
    };
    const last = messages.at(-1);
    const [tool] = tools;
    const delta =
      tool && last?.role !== 'tool'
        ? { tool_calls: [{ index: 0, id: 'call-1', function: { name: tool.function.name, arguments: '{}' } }] }
        : { content: `The stand-in says: ${last?.content}` };
    response.setHeader('Content-Type', 'text/event-stream');
    response.end(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\ndata: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  Object.assign(process.env, {
    CHAT_COMPLETIONS_ENDPOINT: `http://127.0.0.1:${port}/v1/chat/completions`,
    API_KEY: 'none',
    MODEL_ID: 'stand-in',
  });
  return {
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
