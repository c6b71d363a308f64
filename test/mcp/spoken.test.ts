import type { McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import { allowAll, createHost } from '../../src/index.ts';
import { ofType, results, say } from '../host/kit.ts';
import { puppet } from './agents.ts';
import { Foreign, serveForeign } from './foreign.ts';
import { withSessions } from './old-server.ts';
import { RawServer, said } from './raw-server.ts';

const call = { callId: 'c', name: 'pay', args: {} };
const soon = () => AbortSignal.timeout(30_000);

test.each([
  ['auto', 'modern'],
  ['legacy', 'legacy'],
  [undefined, 'modern'],
] as const)('IOP-S3 protocol %s speaks the %s version with a server of both', async (protocol, era) => {
  const foreign = new Foreign();
  const eras = new Set<string>();
  const served = await serveForeign({
    ...foreign,
    factory: (context) => {
      eras.add(context.era);
      return foreign.factory(context);
    },
  } as Foreign);
  const toolset = mcpToolset({ url: served.url, name: 'foreign', ...(protocol ? { protocol } : {}) });
  await toolset.tools();
  expect([...eras]).toEqual([era]);
  await toolset.close();
  await served[Symbol.asyncDispose]();
});

test('IOP-S7 a server is told the version of this package', async () => {
  const { version } = (await import('../../package.json', { with: { type: 'json' } })).default;
  const told: unknown[] = [];
  await using server = await withSessions(404, (own) => {
    own.registerTool('who', { description: 'Tells.' }, () => {
      told.push(own.server.getClientVersion());
      return { content: [] };
    });
  });
  await using toolset = mcpToolset({ url: server.url, name: 'own' });
  await toolset.tools();
  await toolset.execute({ ...call, name: 'who' }, soon());
  expect(told).toEqual([{ name: 'coxswain', version }]);
});

test.each([
  [undefined, { size: 'L', hot: true }],
  [{}, { size: 'L', hot: true }],
  [{ size: 'S' }, { size: 'S', hot: true }],
])('IOP-S4 of a form that is accepted with %j the defaults are filled in', async (content, filled) => {
  const answers: unknown[] = [];
  await using server = await withSessions(404, (own) => {
    own.registerTool('order', { description: 'Orders.' }, async () => {
      const requestedSchema = {
        type: 'object' as const,
        properties: {
          size: { type: 'string' as const, default: 'L' },
          hot: { type: 'boolean' as const, default: true },
        },
      };
      answers.push(await own.server.elicitInput({ mode: 'form', message: 'How?', requestedSchema }));
      return { content: [] };
    });
  });
  await using toolset = mcpToolset({
    url: server.url,
    name: 'own',
    onElicitation: () => ({ action: 'accept', ...(content ? { content } : {}) }),
  });
  await toolset.tools();
  await toolset.execute({ ...call, name: 'order' }, soon());
  expect(answers).toEqual([{ action: 'accept', content: filled }]);
});

const child = `
  const lines = require('node:readline').createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const text = (message) => JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n';
    const say = (result) => process.stdout.write(text({ id, result }));
    if (method === 'initialize') say({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
    else if (method === 'tools/list') say({ tools: [{ name: 'pay', inputSchema: { type: 'object' } }] });
    else if (method === 'tools/call') process.stdout.write(
      [1, 2, 3].map((progress) => text({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress } })).join('')
      + text({ id, result: { content: [{ type: 'text', text: 'paid' }] } }));
    else if (id !== undefined) process.stdout.write(text({ id, error: { code: -32601, message: 'no' } }));
  });
`;

test('IOP-S6 progress that comes with the result, in one piece, is not lost: of a child, and over HTTP', async () => {
  await using server = await RawServer.start({
    behaviours: [
      (response, { id, params }) => {
        const token = (params as { _meta?: { progressToken?: unknown } })._meta?.progressToken;
        const progress = [1, 2, 3].map((n) => ({
          method: 'notifications/progress',
          params: { progressToken: token, progress: n },
        }));
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const messages = [...progress, { id, result: said('paid') }];
        response.end(messages.map((message) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`).join(''));
      },
    ],
  });
  for (const given of [{ url: server.url }, { command: process.execPath, args: ['-e', child] }]) {
    await using toolset = mcpToolset({ ...given, name: 'x' });
    const host = createHost({ app: 'shop', agents: [puppet()], toolProviders: [toolset], policy: allowAll() });
    const events = await say(await host.open('puppet'), 'call pay {}');
    expect(results(events)).toEqual({ pay: 'paid' });
    const seen = ofType(events, 'tool_update').flatMap(({ progress }) => progress ?? []);
    expect(seen).toEqual([1, 2, 3]);
    await host.close();
  }
  expect(server.calls).toHaveLength(1);
});

/** A server of both versions with a resource, and a tool that links to it. */
function library(server: McpServer): void {
  const read = (uri: URL) => ({
    contents: [
      uri.href.endsWith('.png')
        ? { uri: uri.href, mimeType: 'image/png', blob: 'AAAA' }
        : { uri: uri.href, mimeType: 'text/plain', text: 'chapter one' },
    ],
  });
  server.registerResource('book', 'book://one.txt', {}, read);
  server.registerResource('cover', 'book://one.png', {}, read);
  server.registerTool('find', { description: 'Finds.' }, () => ({
    content: [
      {
        type: 'resource_link',
        uri: 'book://one.txt',
        name: 'one.txt',
        title: 'One',
        description: 'The first.',
        size: 11,
        annotations: { priority: 1 },
      },
      { type: 'resource_link', uri: 'book://one.png', name: 'one.png' },
      { type: 'resource', resource: { uri: 'book://one.png', mimeType: 'image/png', blob: 'AAAA' } },
    ],
  }));
}

async function withLibrary(options: object = {}) {
  const foreign = new Foreign();
  const factory: Foreign['factory'] = async (context) => {
    const server = (await foreign.factory(context)) as McpServer;
    library(server);
    return server;
  };
  const served = await serveForeign({ ...foreign, factory } as Foreign);
  const toolset = mcpToolset({ url: served.url, name: 'lib', ...options });
  return {
    toolset,
    async [Symbol.asyncDispose]() {
      await toolset.close();
      await served[Symbol.asyncDispose]();
    },
  };
}

test('IOP-S5 a link keeps what is said of it, bytes keep where they are from', async () => {
  await using it = await withLibrary();
  await it.toolset.tools();
  expect(await it.toolset.execute({ ...call, name: 'find' }, soon())).toEqual({
    content: [
      {
        type: 'reference',
        text: 'One: The first.',
        uri: 'book://one.txt',
        _meta: { 'mcp/link': { name: 'one.txt', title: 'One', size: 11, annotations: { priority: 1 } } },
      },
      { type: 'reference', text: 'one.png', uri: 'book://one.png', _meta: { 'mcp/link': { name: 'one.png' } } },
      { type: 'media', mimeType: 'image/png', data: 'AAAA', uri: 'book://one.png' },
    ],
  });
});

test.each([
  [{}, 'lib_read_resource'],
  [{ prefix: 'books_', protocol: 'legacy' }, 'books_read_resource'],
])('IOP-S5 a link is read by a tool, through the gate (%j)', async (options, name) => {
  await using it = await withLibrary(options);
  const host = createHost({
    app: 'shop',
    agents: [puppet()],
    toolProviders: [it.toolset],
    onApproval: async (question) => {
      asked.push(JSON.stringify(question.approval?.preview));
      return { kind: 'approve' };
    },
  });
  const asked: string[] = [];
  const read = async (uri: string) => {
    const [response] = ofType(await say(await host.open('puppet'), `call ${name} {"uri": "${uri}"}`), 'tool_response');
    return response;
  };
  expect((await read('book://one.txt'))?.content).toEqual([
    { type: 'reference', text: 'chapter one', uri: 'book://one.txt', mimeType: 'text/plain' },
  ]);
  expect(asked).toEqual([expect.stringContaining('book://one.txt')]);
  expect((await read('book://one.png'))?.content).toMatchObject([{ type: 'media', data: 'AAAA' }]);
  expect(await read('book://two.txt')).toMatchObject({ isError: true, errorType: 'failed' });
  await host.close();
});

test('IOP-S5 sibling: a resource that is not there is an answer: the session stays', async () => {
  await using server = await withSessions(404, (own) => {
    own.registerResource('book', 'book://one.txt', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));
    own.registerTool('find', { description: 'Finds.' }, () => ({ content: [] }));
  });
  await using toolset = mcpToolset({ url: server.url, name: 'lib' });
  await toolset.tools();
  const read = (uri: string) => toolset.execute({ callId: 'c', name: 'lib_read_resource', args: { uri } }, soon());
  expect(await read('book://two.txt')).toMatchObject({ errorType: 'failed' });
  expect(await read('book://one.txt')).toMatchObject({ content: [{ text: 'one' }] });
  expect(server.seen.initialize).toBe(1);
});

test.each([{ readResources: false }, { include: (tool: string) => tool !== 'lib_read_resource' }])(
  'IOP-S5 sibling: without it where it is not wanted: %j',
  async (options) => {
    await using it = await withLibrary(options);
    const names = (await it.toolset.tools()).map(({ name }) => name);
    expect(names).toContain('find');
    expect(names).not.toContain('lib_read_resource');
  },
);

test('IOP-S5 sibling: a server without resources is offered without it', async () => {
  await using server = await RawServer.start();
  await using toolset = mcpToolset({ url: server.url, name: 'raw' });
  expect((await toolset.tools()).map(({ name }) => name)).toEqual(['pay']);
});

test('NEW-M1 a server that is optional and cannot be reached is told and gone on without, until it is there', async () => {
  await using server = await RawServer.start();
  const down = mcpToolset({
    command: process.execPath,
    args: ['-e', 'process.exit(1)'],
    name: 'down',
    optional: true,
    warn: (text) => warnings.push(text),
  });
  const warnings: string[] = [];
  await using up = mcpToolset({ url: server.url, name: 'up' });
  const host = createHost({ app: 'shop', agents: [puppet()], toolProviders: [down, up], policy: allowAll() });
  expect(results(await say(await host.open('puppet'), 'call pay {}'))).toEqual({ pay: 'paid' });
  expect(warnings).toEqual([
    expect.stringMatching(/^down: the session continues without its tools: the MCP server down cannot/),
  ]);
  await down.close();
  await expect(down.tools()).rejects.toMatchObject({ code: 'E_SESSION_CLOSED' });
  await host.close();
});

test('NEW-M1 sibling: one that is not optional is an error of whoever opens a session', async () => {
  await using down = mcpToolset({ command: process.execPath, args: ['-e', 'process.exit(1)'], name: 'down' });
  const host = createHost({ app: 'shop', agents: [puppet()], toolProviders: [down] });
  await expect(host.open('puppet')).rejects.toMatchObject({ code: 'E_MCP_SERVER' });
  await host.close();
});
