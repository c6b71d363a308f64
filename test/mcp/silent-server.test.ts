import { expect, onTestFinished, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { say } from '../host/kit.ts';
import type { Message } from './raw-server.ts';
import { RawServer } from './raw-server.ts';

/** A server that never answers so many listings, and notes each. */
async function silentServer(times = Number.POSITIVE_INFINITY) {
  const server = await RawServer.start();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const asked: Message[] = [];
  server.lists = new Proxy(server.lists, {
    get: (lists, name) =>
      name === 'shift'
        ? () => (asked.length < times ? (_: unknown, message: Message) => void asked.push(message) : undefined)
        : Reflect.get(lists, name),
  });
  return { url: server.url, asked };
}

/** The error itself. */
const refusal = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    () => undefined,
    (error: unknown) => error,
  );

const agent = (toolsets: ReturnType<typeof mcpToolset>[] = []) =>
  new LlmAgent({ name: 'bot', model: new ScriptedModel(['one', 'two', 'three']), toolsets });

test('ATK-L4 a server that never lists its tools is a typed error that names it, once listMs is over', async () => {
  const { url, asked } = await silentServer();
  await using toolset = mcpToolset({ url, name: 'files', listMs: 50 });
  const first = await refusal(toolset.tools());
  expect(first).toMatchObject({
    status: 'UNAVAILABLE',
    code: 'E_MCP_SERVER',
    message: expect.stringContaining(
      'the tools of the MCP server files cannot be listed: it did not answer within 50 ms',
    ),
    details: { server: 'files' },
  });
  // Known to hang: nobody waits for it once more.
  expect(await refusal(toolset.tools())).toBe(first);
  const host = createHost({ app: 'shop', agents: [agent()], toolProviders: [toolset] });
  expect(await refusal(host.open('bot'))).toBe(first);
  expect(asked.length).toBeLessThan(2);
  await host.close();
});

test('ATK-L4 turns go on without its tools where it is optional, and it is told once', async () => {
  const { url, asked } = await silentServer();
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  await using toolset = mcpToolset({ url, name: 'files', listMs: 50, optional: true, warn });
  const host = createHost({ app: 'shop', agents: [agent()], toolProviders: [toolset] });
  for (let n = 0; n < 3; n++) {
    const events = await say(await host.open('bot'), 'hello');
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
  }
  expect(asked.length).toBeLessThan(2);
  expect(warnings).toEqual([expect.stringContaining('files: the session continues without its tools')]);
  await host.close();
});

test('ATK-L4 turns of an agent go on without a toolset that hangs, and it is told once', async () => {
  const { url, asked } = await silentServer();
  const warnings: string[] = [];
  await using toolset = mcpToolset({ url, name: 'files', listMs: 50 });
  const host = createHost({ app: 'shop', agents: [agent([toolset])], warn: (message) => warnings.push(message) });
  const session = await host.open('bot');
  for (let n = 0; n < 3; n++) {
    expect((await say(session, 'hello')).at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
  }
  expect(asked.length).toBeLessThan(2);
  expect(warnings).toEqual([expect.stringContaining('toolset files failed')]);
  await host.close();
});

test('ATK-L4 it is asked again once retryMs is over', async () => {
  const { url, asked } = await silentServer(1);
  await using toolset = mcpToolset({ url, name: 'files', listMs: 50, retryMs: 1 });
  expect(await refusal(toolset.tools())).toMatchObject({ code: 'E_MCP_SERVER' });
  await expect.poll(async () => (await toolset.tools().catch(() => [])).map(({ name }) => name)).toEqual(['pay']);
  expect(asked.length).toBeLessThan(2);
});

test('ATK-L4 a server that cannot be connected to in time is not waited for at each turn either', async () => {
  const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
  await using toolset = mcpToolset({ ...silent, name: 'silent', connectMs: 400 });
  const first = await refusal(toolset.tools());
  expect(first).toMatchObject({ code: 'E_MCP_SERVER', details: { server: 'silent' } });
  expect(await refusal(toolset.tools())).toBe(first);
});

test.each([{ listMs: 0 }, { retryMs: -1 }])('ATK-L4 mcpToolset refuses %j', (wrong) => {
  expect(() => mcpToolset({ url: 'http://localhost:1/', ...wrong })).toThrow('it is a number above 0');
});
