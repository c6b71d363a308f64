import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import { createMcpHandler, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

export const longName = `find_${'a'.repeat(85)}`;

// The SDK warns of every name that is not ASCII, for every server that is made.
const { warn } = console;
console.warn = (...words: unknown[]) => {
  if (!/tool (nam|registration)|SEP|characters/i.test(String(words[0]))) warn(...words);
};

/** Somebody else's server, on the official SDK. What it offers can be changed while it runs. */
export class Foreign {
  description = 'Says it again.';
  hasMore = false;
  readonly runs: string[] = [];
  readonly started = Promise.withResolvers<void>();
  readonly stopped = Promise.withResolvers<void>();
  readonly servers = new Set<McpServer>();

  readonly factory: McpServerFactory = () => {
    const server = new McpServer({ name: 'foreign', version: '1.0.0' });
    const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
    const say = z.object({ text: z.string() });
    const echo = { description: this.description, inputSchema: say, annotations: { readOnlyHint: true } };
    server.registerTool('echo', echo, ({ text: words }) => {
      this.runs.push(words);
      return text(words);
    });
    for (const name of ['calendar.add', 'calendar_add', '查询', longName]) {
      server.registerTool(
        name,
        { description: name, inputSchema: z.object({ m: z.record(z.string(), z.string()) }) },
        () => text(name),
      );
    }
    if (this.hasMore) server.registerTool('more', { description: 'One more.' }, () => text('more'));
    server.registerTool('wipe', { description: 'Wipes.', annotations: { destructiveHint: true } }, () => text('wiped'));
    server.registerTool('fail', { description: 'Fails.' }, () => ({ ...text('it broke'), isError: true }));
    server.registerTool('rich', { description: 'All kinds.', outputSchema: z.object({ n: z.number() }) }, () => ({
      structuredContent: { n: 1 },
      content: [
        { type: 'text', text: 'words' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside', mimeType: 'text/plain' } },
        { type: 'resource_link', uri: 'file:///b.txt', name: 'b' },
      ],
    }));
    server.registerTool('slow', { description: 'Takes its time.' }, async (context) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      for (const progress of [1, 2]) {
        const params = { progressToken: progressToken ?? '', progress, total: 2, message: `step ${progress}` };
        await context.mcpReq.notify({ method: 'notifications/progress', params });
      }
      return text('slowly done');
    });
    server.registerTool('hang', { description: 'Never ends.' }, async (context) => {
      this.started.resolve();
      await new Promise<void>((resolve) => context.mcpReq.signal.addEventListener('abort', () => resolve()));
      this.stopped.resolve();
      return text('stopped');
    });
    server.registerTool('ask', { description: 'Asks for a name.' }, (context) => {
      const reply = inputResponse(context.mcpReq.inputResponses, 'name');
      if (reply.kind === 'elicit') return text(`${reply.action} ${JSON.stringify(reply.content ?? null)}`);
      return inputRequired({
        inputRequests: {
          name: inputRequired.elicit({
            message: 'Who are you?',
            requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
          }),
        },
      });
    });
    server.registerTool('die', { description: 'Ends the process.' }, () => process.exit(1));
    this.servers.add(server);
    return server;
  };
}

/** Over HTTP; both versions, without sessions. */
export async function serveForeign(foreign: Foreign, port = 0) {
  const handler = createMcpHandler(foreign.factory);
  const handle = toNodeHandler(handler);
  const server = createServer((request, response) => void handle(request as never, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    notify: handler.notify,
    /** Breaks all connections, that of the subscription too. */
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      await handler.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
