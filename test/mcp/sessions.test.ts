import { expect, test } from 'vitest';
import type { McpToolset } from '../../src/adapters/tools/mcp.ts';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import { withSessions } from './old-server.ts';
import type { Behaviour } from './raw-server.ts';
import { json, RawServer, said, sse, toolsChanged } from './raw-server.ts';

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
    let calls = 0;
    await using server = await withSessions(status, (own) =>
      own.registerTool('echo', { description: 'Says hi.' }, () => {
        calls += 1;
        return { content: [{ type: 'text', text: 'hi' }] };
      }),
    );
    await using toolset = over(server.url);
    expect(await step(toolset)).toBe('ok');
    server.forget();
    // The stream for notifications broke: the list is out of date, and asked for before anything is called.
    await expect.poll(() => step(toolset)).toBe('ok');
    expect(server.seen.initialize).toBe(2);
    server.forget();
    await expect.poll(() => step(toolset)).toBe('ok');
    expect([server.seen.initialize, calls]).toEqual([3, 3]);
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
