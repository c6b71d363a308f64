import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { McpListener } from '../../src/host/mcp/index.ts';
import { serveMcpHttp } from '../../src/host/mcp/index.ts';
import type { AgentHost } from '../../src/index.ts';
import { createHost, InMemorySessionService, LlmAgent } from '../../src/index.ts';
import { puppet, puppetModel } from './agents.ts';
import { connect, kinds, sessionOf, textOf } from './clients.ts';
import { Ledger } from './kit.ts';

let host: AgentHost;
let http: McpListener;

beforeAll(async () => {
  host = createHost({
    app: 'shop',
    agents: [
      puppet(),
      new LlmAgent({
        name: 'weather',
        description: 'Says {"celsius": …}.',
        model: puppetModel,
        outputSchema: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
      }),
      new LlmAgent({ name: '$sum', description: 'An agent with a name that MCP does not take.', model: puppetModel }),
      new LlmAgent({
        name: 'list',
        model: puppetModel,
        inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      }),
    ],
    store: new InMemorySessionService(),
  });
  http = await serveMcpHttp(host);
});
afterAll(async () => {
  await http.close();
  await host.close();
});

describe.each(kinds)('%s over HTTP', (kind) => {
  test('agents are tools, and a call is answered', async () => {
    await using client = await connect(kind, { url: http.url });
    if (kind === 'v2') expect(client.version).toBe('2026-07-28');
    if (kind === 'v2-2025') expect(client.version).toBe('2025-11-25');
    const tools = await client.tools();
    expect(tools.map(({ name }) => name)).toEqual([
      'puppet',
      'weather',
      expect.stringMatching(/^_sum_[0-9a-f]{10}$/),
      'list',
    ]);
    expect(tools[0]).toMatchObject({
      description: 'Does what it is told.',
      inputSchema: { type: 'object', properties: { prompt: { type: 'string' }, session_id: { type: 'string' } } },
    });
    expect(textOf(await client.call('puppet', { prompt: 'say hello' }))).toBe('hello');
  });

  test('a conversation goes on by session_id; without it a new one begins', async () => {
    await using client = await connect(kind, { url: http.url });
    const first = await client.call('puppet', { prompt: 'count' });
    expect(textOf(first)).toBe('1 said');
    expect(first.content.at(-1)?.text).toBe(`[session_id: ${sessionOf(first)}]`);
    const second = await client.call('puppet', { prompt: 'count', session_id: sessionOf(first) });
    expect(textOf(second)).toBe('2 said');
    expect(textOf(await client.call('puppet', { prompt: 'count' }))).toBe('1 said');
    const unknown = await client.call('puppet', { prompt: 'count', session_id: 'nobodys' });
    expect(unknown.isError).toBe(true);
    expect(textOf(unknown)).toContain('E_SESSION_NOT_FOUND');
  });

  test('F39: failure is isError without structured content, unknown tool and bad params are protocol errors', async () => {
    await using client = await connect(kind, { url: http.url });
    const good = await client.call('weather', { prompt: 'say {"celsius": 21}' });
    expect(good.structuredContent).toEqual({ celsius: 21 });
    expect(good.isError).toBeFalsy();
    for (const [prompt, words] of [
      ['fail', 'did not finish: failed'],
      ['say warm', 'does not fit its output schema'],
      ['say [1]', 'does not fit its output schema'],
    ]) {
      const bad = await client.call('weather', { prompt });
      expect(bad.isError, prompt).toBe(true);
      expect(bad.structuredContent).toBeUndefined();
      expect(textOf(bad)).toContain(words);
    }
    const schemas = Object.fromEntries((await client.tools()).map(({ name, outputSchema }) => [name, outputSchema]));
    expect(schemas.weather).toMatchObject({ type: 'object' });
    expect(schemas.list).toBeUndefined();
    expect((await client.call('list', { n: 1 })).structuredContent).toBeUndefined();
    await expect(client.call('nothing', {})).rejects.toMatchObject({ code: -32_602 });
    await expect(client.call('puppet', 'no object' as never)).rejects.toThrow();
    const misfit = await client.call('puppet', { prompt: 5 });
    expect(misfit.isError).toBe(true);
    expect(textOf(misfit)).toContain('prompt');
  });
});

test.each(kinds)('%s over stdio: calls, a question, F37 prints, cancel', async (kind) => {
  using ledger = new Ledger();
  const target = {
    command: process.execPath,
    args: [join(import.meta.dirname, 'stdio-server.ts')],
    env: { ...process.env, LEDGER: ledger.path } as Record<string, string>,
  };
  const asked: string[] = [];
  await using client = await connect(kind, target, {
    onElicit({ message }) {
      asked.push(message);
      return { action: 'accept', content: { decision: 'allow' } };
    },
  });
  expect((await client.tools()).map(({ name }) => name)).toEqual(['puppet']);
  expect(textOf(await client.call('puppet', { prompt: 'say hello' }))).toBe('hello');
  expect(textOf(await client.call('puppet', { prompt: 'call noisy {}' }))).toBe('got {"content":"quiet"}');
  expect(textOf(await client.call('puppet', { prompt: 'call pay {"amount": 5}' }))).toBe('got {"content":"paid 5"}');
  expect(asked).toEqual([expect.stringContaining('pays 5 euro')]);
  const controller = new AbortController();
  const call = client.call('puppet', { prompt: 'call wait {}' }, { signal: controller.signal });
  await ledger.has('wait started');
  controller.abort();
  await expect(call).rejects.toThrow();
  await ledger.has('wait aborted');
  expect(ledger.lines).toEqual(['5', 'wait started', 'wait aborted']);
});
