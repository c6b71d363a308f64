import { expect, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import { signingIn, withSignIn } from './oauth.ts';

test('IOP-C2 a sign-in is ended through the toolset, at the place that the server has named', async () => {
  await using server = await withSignIn();
  const authProvider = signingIn();
  await using toolset = mcpToolset({ url: server.url, name: 'guarded', authProvider, warn: () => {} });
  await expect(toolset.tools()).rejects.toMatchObject({ code: 'E_MCP_SERVER' });
  expect(authProvider.sentTo.map(({ pathname }) => pathname)).toContain('/as/authorize');
  await toolset.finishAuth(server.signIn());
  expect((await toolset.tools()).map(({ name }) => name)).toContain('echo');
  const call = { callId: 'c', name: 'echo', args: { text: 'in' } };
  expect(await toolset.execute(call, AbortSignal.timeout(30_000))).toMatchObject({ content: [{ text: 'in' }] });
});

test('IOP-C2 sibling: an answer of another issuer is refused, and one that nobody waits for too', async () => {
  await using server = await withSignIn();
  const authProvider = signingIn();
  await using toolset = mcpToolset({ url: server.url, name: 'guarded', authProvider, warn: () => {} });
  const refused = { status: 'UNAUTHENTICATED', code: 'E_MCP_SERVER' };
  await expect(toolset.finishAuth(server.signIn())).rejects.toMatchObject(refused);
  await expect(toolset.tools()).rejects.toMatchObject({ code: 'E_MCP_SERVER' });
  const callback = server.signIn();
  callback.set('iss', 'https://evil.test');
  await expect(toolset.finishAuth(callback)).rejects.toMatchObject(refused);
  expect(server.seen).not.toContain('/as/token');
  await using other = mcpToolset({ url: server.url, name: 'plain', warn: () => {} });
  await expect(other.tools()).rejects.toMatchObject({ code: 'E_MCP_SERVER' });
  await expect(other.finishAuth(callback)).rejects.toMatchObject(refused);
});
