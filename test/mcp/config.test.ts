// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how variables are written there
import { expect, test } from 'vitest';
import { loadMcpServers, readMcpServers } from '../../src/adapters/tools/mcp.ts';
import { Foreign, serveForeign } from './foreign.ts';

test('servers of a configuration in the customary shape', async () => {
  await using served = await serveForeign(new Foreign());
  const toolsets = loadMcpServers(
    {
      mcpServers: {
        web: { type: 'http', url: '${SHOP}', headers: { Authorization: 'Bearer ${env:TOKEN}' } },
        files: { command: 'files', args: ['${ROOT:-/tmp}'], env: { KEY: '${TOKEN}' } },
        old: { command: 'old', disabled: true },
      },
    },
    { env: { SHOP: served.url, TOKEN: 'secret' } },
  );
  expect(toolsets.map(({ name }) => name)).toEqual(['web', 'files']);
  expect((await toolsets[0]?.tools())?.map(({ name }) => name)).toContain('echo');
  await Promise.all(toolsets.map((toolset) => toolset.close()));
});

test.each([
  [{}, 'it has no member "mcpServers"'],
  [[], 'it is no object'],
  [{ mcpServers: { a: {} } }, 'mcpServers.a needs either a "command" or a "url"'],
  [{ mcpServers: { a: { command: 'x', url: 'http://y' } } }, 'mcpServers.a needs either'],
  [{ mcpServers: { a: { command: 'x', args: 'y' } } }, 'mcpServers.a.args is no list of strings'],
  [{ mcpServers: { a: { command: 'x', env: { K: 1 } } } }, 'mcpServers.a.env.K is no string'],
  [{ mcpServers: { a: { url: 'ftp://y' } } }, 'mcpServers.a.url is no http address'],
  [{ mcpServers: { a: { type: 'carrier-pigeon', url: 'http://y' } } }, 'mcpServers.a.type'],
  [{ mcpServers: { a: { url: 'http://y', headers: { A: '${NOPE}' } } } }, 'the variable NOPE is not set'],
])('%j is refused: %s', (config, message) => {
  expect(() => loadMcpServers(config, { env: { SECRET: 'hush' } })).toThrow(
    expect.objectContaining({ code: 'E_MCP_CONFIG', message: expect.stringContaining(message) }),
  );
});

test('a file that is not there, or no JSON', () => {
  expect(() => readMcpServers('/nowhere.json')).toThrow(expect.objectContaining({ code: 'E_MCP_CONFIG' }));
  expect(() => readMcpServers(import.meta.filename)).toThrow(expect.objectContaining({ code: 'E_MCP_CONFIG' }));
});
