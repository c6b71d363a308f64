// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how variables are written there
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { loadMcpServers, mcpToolset, readMcpServers } from '../../src/adapters/tools/mcp.ts';
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
  [{ mcpServers: { a: { command: 'x', env: { K: {} } } } }, 'mcpServers.a.env.K is no string'],
  [{ mcpServers: { a: { url: 'ftp://y' } } }, 'mcpServers.a.url is no http address'],
  [{ mcpServers: { a: { type: 'carrier-pigeon', url: 'http://y' } } }, 'mcpServers.a.type'],
  [{ mcpServers: { a: { url: 'http://y', headers: { A: '${NOPE}' } } } }, 'the variable NOPE is not set'],
  [{ mcpServers: { a: { command: 'x', cwd: 5 } } }, 'mcpServers.a.cwd is no string'],
  [{ mcpServers: { a: { command: 'x', disabled: 'true' } } }, 'mcpServers.a.disabled is neither true nor false'],
  [{ mcpServers: { a: { command: 'x', prefix: 5 } } }, 'mcpServers.a.prefix is no string'],
  [{ mcpServers: { a: { type: 'stdio', url: 'http://y' } } }, 'the one that its type says'],
])('%j is refused: %s', (config, message) => {
  expect(() => loadMcpServers(config, { env: { SECRET: 'hush' } })).toThrow(
    expect.objectContaining({ code: 'E_MCP_CONFIG', message: expect.stringContaining(message) }),
  );
});

test('two servers with the same tools live side by side by prefix', async () => {
  await using served = await serveForeign(new Foreign());
  const [one, two] = loadMcpServers({
    mcpServers: { one: { url: served.url }, two: { url: served.url, prefix: 'two_' } },
  });
  expect((await one?.tools())?.map(({ name }) => name)).toContain('echo');
  expect((await two?.tools())?.map(({ name }) => name)).toContain('two_echo');
  await Promise.all([one?.close(), two?.close()]);
});

test('members that have no effect are told, by name alone', () => {
  const warnings: string[] = [];
  const a = { url: 'http://localhost:1/', header: { Authorization: 'hush' }, alwaysAllow: ['wipe'] };
  loadMcpServers({ mcpServers: { a } }, { warn: (text) => warnings.push(text) });
  expect(warnings).toEqual(['mcpServers.a: header, alwaysAllow has no effect here']);
});

test('a file with a mark at its start is read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-mcp-'));
  writeFileSync(join(folder, 'mcp.json'), '\ufeff{"mcpServers": {"a": {"command": "x"}}}');
  expect(readMcpServers(join(folder, 'mcp.json')).map(({ name }) => name)).toEqual(['a']);
  rmSync(folder, { recursive: true });
});

describe('what is secret is in no error', () => {
  const secret = 'ghp_0123456789abcdef';
  const errorOf = async (work: () => unknown): Promise<string> => {
    try {
      await work();
      return 'no error';
    } catch (error) {
      return inspect(error, { depth: 9 });
    }
  };

  test.each([
    ['a password in the url', { url: `http://user:${secret}@localhost:1/` }, 'a.url holds a user or a password'],
    [
      'a line break in a header',
      { url: 'http://localhost:1/', headers: { Auth: `x\n${secret}` } },
      'a.headers.Auth has',
    ],
    ['an unknown type', { type: secret, url: 'http://localhost:1/' }, 'a.type'],
  ])('%s', async (_, entry, message) => {
    const said = await errorOf(() => loadMcpServers({ mcpServers: { a: entry } }));
    expect(said).toContain(`mcpServers.${message}`);
    expect(said).not.toContain(secret);
  });

  test('a file that is a bare token', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-mcp-'));
    const file = join(folder, 'mcp.json');
    writeFileSync(file, secret);
    const said = await errorOf(() => readMcpServers(file));
    rmSync(folder, { recursive: true });
    expect(said).toContain('mcp.json is no JSON');
    expect(said).not.toContain(secret);
  });

  test('a server that repeats the token of the query and of a header', async () => {
    const server = createServer((request, response) => {
      const { authorization } = request.headers;
      response.writeHead(403).end(`not with ${request.url} nor ${authorization} nor ${decodeURI(request.url ?? '')}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?key=${secret}`;
    const headers = { Authorization: `Bearer other-${secret}` };
    const warnings: unknown[] = [];
    await using toolset = mcpToolset({ url, name: 'a', headers, warn: (...words) => warnings.push(words) });
    const said = await errorOf(() => toolset.tools());
    server.close();
    expect(said).toContain('E_MCP_SERVER');
    expect(said + inspect(warnings)).not.toContain(secret);
  });
});

test('a child that ends at once: what it printed is told, without what it was given', async () => {
  const script = 'console.error(`no such folder; key ${process.env.KEY}`); process.exit(1)';
  const env = { KEY: 'hush-hush-hush' };
  await using toolset = mcpToolset({ command: process.execPath, args: ['-e', script], env, name: 'files' });
  await expect(toolset.tools()).rejects.toMatchObject({
    code: 'E_MCP_SERVER',
    message: 'the MCP server files cannot be reached: Connection closed; it printed: no such folder; key ***',
  });
});

test('EDGE-C1 what it printed is cut after the secrets are out, and not in the midst of one', async () => {
  const script = "console.error(process.env.KEY + 'y'.repeat(980)); process.exit(1)";
  const env = { KEY: 'hush-hush-hush-0123456789-hush-hush' };
  await using toolset = mcpToolset({ command: process.execPath, args: ['-e', script], env, name: 'files' });
  const said = await toolset.tools().then(String, String);
  // The end of it is what is shown, and all of the secret stood before that.
  expect(said).toContain('it printed: ***yyy');
  expect(said).not.toContain('hush');
});

test('a server that is silent is waited for once, as long as connectMs says', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const target of [{ url }, { command: process.execPath, args: ['-e', 'process.stdin.resume()'] }]) {
    await using toolset = mcpToolset({ ...target, name: 'silent', connectMs: 400 });
    await expect(toolset.tools()).rejects.toMatchObject({
      code: 'E_MCP_SERVER',
      message: 'the MCP server silent cannot be reached: it did not answer within 400 ms',
    });
  }
  server.closeAllConnections();
  server.close();
});

test('a file that is not there, or no JSON', () => {
  expect(() => readMcpServers('/nowhere.json')).toThrow(expect.objectContaining({ code: 'E_MCP_CONFIG' }));
  expect(() => readMcpServers(import.meta.filename)).toThrow(expect.objectContaining({ code: 'E_MCP_CONFIG' }));
});
