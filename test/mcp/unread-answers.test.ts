import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import { serveMcpStdio } from '../../src/host/mcp/index.ts';
import { allowAll, createHost } from '../../src/index.ts';
import { results, say } from '../host/kit.ts';
import { puppet } from './agents.ts';
import { json, sse, stopServer } from './raw-server.ts';

afterEach(() => void vi.useRealTimers());

const closed = 'it asks for more than it takes the answers to, 1,000 at once: its connection is closed';

async function called(server: { url: string } | { command: string; args: string[] }, tool: string) {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  await using toolset = mcpToolset({ ...server, name: 'flood', protocol: 'legacy', warn });
  const host = createHost({ app: 'shop', agents: [puppet()], toolProviders: [toolset], policy: allowAll(), warn });
  const events = await say(await host.open('puppet'), `call ${tool} {}`);
  await host.close();
  return { warnings, results: results(events) };
}

describe('ATK5-11 a server that asks without an end and takes no answers', () => {
  test.each(['ping', 'roots'])('is left, over stdio: %s', async (tool) => {
    const script = fileURLToPath(new URL('./flood-server.ts', import.meta.url));
    const end = await called({ command: process.execPath, args: [script] }, tool);
    expect(end.warnings).toEqual([expect.stringContaining(closed)]);
    expect(end.results).toEqual({ [tool]: expect.stringContaining('interrupted: the answer of flood was lost') });
  });

  test('is left, over HTTP, and has had few of the answers at once', async () => {
    let most = 0;
    const hanging = new Set<object>();
    const server: Server = createServer(async (request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const { id, method } = JSON.parse(text) as { id?: number; method?: string };
      if (method === undefined) {
        hanging.add(response);
        response.on('close', () => hanging.delete(response));
        most = Math.max(most, hanging.size);
        return;
      }
      if (id === undefined) return void response.writeHead(202).end();
      const reply = (result: object) => json(response, { jsonrpc: '2.0', id, result });
      const serverInfo = { name: 'flood', version: '1' };
      if (method === 'initialize') reply({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
      else if (method === 'tools/list') reply({ tools: [{ name: 'act', inputSchema: { type: 'object' } }] });
      else sse(response, ...Array.from({ length: 3000 }, (_, n) => ({ id: `q${n}`, method: 'ping' })));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => stopServer(server));
    const { port } = server.address() as AddressInfo;
    const end = await called({ url: `http://127.0.0.1:${port}/mcp` }, 'act');
    expect(end.warnings).toEqual([expect.stringContaining(closed)]);
    expect(end.results).toEqual({ act: expect.stringContaining('interrupted: the answer of flood was lost') });
    expect(most).toBeLessThanOrEqual(8);
    await expect.poll(() => hanging.size).toBe(0);
  });

  test('is served where it takes them: over HTTP each of many is answered', async () => {
    const answered = new Set<unknown>();
    const server: Server = createServer(async (request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const { id, method } = JSON.parse(text) as { id?: number | string; method?: string };
      if (method === undefined) {
        answered.add(id);
        response.writeHead(202).end();
        if (answered.size === 300) all.resolve();
        return;
      }
      if (id === undefined) return void response.writeHead(202).end();
      const reply = (result: object) => json(response, { jsonrpc: '2.0', id, result });
      const serverInfo = { name: 'many', version: '1' };
      if (method === 'initialize') reply({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
      else if (method === 'tools/list') reply({ tools: [{ name: 'act', inputSchema: { type: 'object' } }] });
      else {
        sse(response, ...Array.from({ length: 300 }, (_, n) => ({ id: `q${n}`, method: 'ping' })));
        await all.promise;
        sse(response, { id, result: { content: [{ type: 'text', text: 'done' }] } });
        response.end();
      }
    });
    const all = Promise.withResolvers<void>();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => stopServer(server));
    const { port } = server.address() as AddressInfo;
    const end = await called({ url: `http://127.0.0.1:${port}/mcp` }, 'act');
    expect([end.warnings, answered.size]).toEqual([[], 300]);
    expect(end.results).toEqual({ act: 'done' });
  });
});

describe('ATK5-13 a client over stdio that asks without an end', () => {
  async function served(requests: number) {
    const input = new PassThrough();
    const output = new PassThrough();
    const warnings: string[] = [];
    const host = createHost({ app: 'shop', agents: [puppet()] });
    const server = await serveMcpStdio(host, { input, output, warn: (text) => warnings.push(text) });
    onTestFinished(() => host.close());
    const clientInfo = { name: 'raw', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })}\n`);
    let asked = 0;
    const more = () => {
      while (asked < requests) {
        const text = Array.from({ length: 100 }, () => ({ jsonrpc: '2.0', id: `p${asked++}`, method: 'ping' }));
        if (!input.write(text.map((ping) => `${JSON.stringify(ping)}\n`).join('')))
          return void input.once('drain', more);
      }
    };
    more();
    return { server, input, output, warnings, asked: () => asked };
  }

  test('and reads nothing is read no more, and after 30 s the server ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { server, input, warnings, asked } = await served(50_000);
    let hasEnded = false;
    void server.closed.then(() => {
      hasEnded = true;
    });
    // Time passes until the server has seen that nobody reads, and 30 s more.
    const passing = async () => {
      await vi.advanceTimersByTimeAsync(10_000);
      return hasEnded;
    };
    await expect.poll(passing, { timeout: 30_000 }).toBe(true);
    expect(input.isPaused()).toBe(true);
    expect(warnings).toEqual(['the client has taken nothing of what it was sent for 30 s: the server ends']);
    expect(asked()).toBeLessThan(10_000);
  });

  test('and reads later gets each answer', async () => {
    const { server, input, output, warnings } = await served(6_000);
    await expect.poll(() => input.isPaused()).toBe(true);
    let text = '';
    output.on('data', (chunk) => {
      text += String(chunk);
    });
    await expect.poll(() => text.split('\n').length - 1, { timeout: 10_000 }).toBe(6_001);
    expect(warnings).toEqual([]);
    await server.close();
  });
});
