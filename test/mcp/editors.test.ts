// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how variables are written there
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadMcpServers, readMcpServers } from '../../src/adapters/tools/mcp.ts';
import { RawServer } from './raw-server.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-mcp-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A child that has one tool, described by its arguments and some of its environment. */
const script = `
  const said = JSON.stringify([process.argv.slice(1), process.env.TOKEN, process.env.OTHER, process.cwd()]);
  const tools = [{ name: 'own', description: said, inputSchema: { type: 'object' } }, { name: 'wipe', inputSchema: { type: 'object' } }];
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...message }) + '\\n');
    if (method === 'initialize') say({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
    else if (method === 'tools/list') say({ result: { tools } });
    else if (id !== undefined) say({ error: { code: -32601, message: 'no' } });
  });
`;

async function read(text: string, env: Record<string, string> = {}) {
  const file = join(folder, 'mcp.json');
  writeFileSync(file, text);
  const warnings: string[] = [];
  const toolsets = readMcpServers(file, { env, warn: (words) => warnings.push(words) });
  const listed: Record<string, unknown> = {};
  for (const toolset of toolsets) {
    const tools = await toolset.tools();
    const [{ description } = { description: '' }] = tools;
    listed[toolset.name] =
      tools.map(({ name }) => name).join() === 'own,wipe' ? JSON.parse(description) : tools.map(({ name }) => name);
    await toolset.close();
  }
  return { listed, warnings };
}

const node = JSON.stringify(process.execPath);
const run = JSON.stringify(script);

test('HUNT-P6 the file of VS Code: comments, trailing commas, inputs, a file of variables', async () => {
  writeFileSync(join(folder, '.env'), 'TOKEN=of-file\nOTHER=other // kept\n');
  const { listed, warnings } = await read(
    `{
      // What is asked for is not there.
      "inputs": [{ "type": "promptString", "id": "key", "password": true, },],
      "servers": {
        "good": {
          "type": "stdio", "command": ${node},
          "args": ["-e", ${run}, "\${workspaceFolder}/a,]", "\${userHome}", 5], /* "no" */
          "envFile": "${join(folder, '.env')}",
          "env": { "TOKEN": "\${env:TOKEN}", "NONE": null },
          "cwd": "${folder}",
        },
        "asking": { "type": "http", "url": "https://x.example", "headers": { "Key": "\${input:key}" } },
      },
    }`,
    { TOKEN: 'of-env' },
  );
  expect(listed).toEqual({ good: [[`${process.cwd()}/a,]`, homedir(), '5'], 'of-env', 'other // kept', folder] });
  expect(warnings).toEqual([
    expect.stringMatching(/^a server is left out: MCP servers: servers.asking.headers.Key: it asks for input key/),
  ]);
});

test('HUNT-P6 sibling: its settings, and the file of Cursor', async () => {
  const { listed } = await read(
    `{"mcp": {"servers": {"a": {"command": ${node}, "args": ["-e", ${run}], "disabledTools": ["wipe"]}}}}`,
  );
  expect(listed).toEqual({ a: ['own'] });
  const cursor = await read(
    `{"mcpServers": {"old": {"type": "sse", "url": "https://x.example/sse"}, "good": {"command": ${node}, "args": ["-e", ${run}], "env": {"TOKEN": "\${env:TOKEN}"}}}}`,
    { TOKEN: 'of-env' },
  );
  expect(cursor.listed).toEqual({ good: [[], 'of-env', undefined, process.cwd()].map((each) => each ?? null) });
  expect(cursor.warnings).toEqual([expect.stringContaining('mcpServers.old.type: it is an older transport')]);
});

test('HUNT-P6 sibling: the settings of gemini-cli', async () => {
  await using server = await RawServer.start();
  server.tools = ['pay', 'wipe', 'look'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const { listed, warnings } = await read(
    JSON.stringify({
      theme: 'Default',
      mcpServers: {
        web: { httpUrl: server.url, headers: { Authorization: 'Bearer $TOKEN' }, trust: true, excludeTools: ['wipe'] },
        some: { httpUrl: server.url, includeTools: ['pay(1)', 'wipe'], excludeTools: ['wipe'] },
        off: { httpUrl: server.url, enabled: false },
      },
    }),
    { TOKEN: 'good' },
  );
  expect(listed).toEqual({ web: ['pay', 'look'], some: ['pay'] });
  expect(warnings).toEqual(['mcpServers.web: trust has no effect here']);
  expect(server.authorized).toContain('Bearer good');
});

test('HUNT-P6 sibling: a dollar within a word is a dollar', async () => {
  const { listed } = await read(
    `{"mcpServers": {"a": {"command": ${node}, "args": ["-e", ${run}, "pa$TOKEN", "$NOPE", "$TOKEN"]}}}`,
    { TOKEN: 'x' },
  );
  expect(listed).toMatchObject({ a: [['pa$TOKEN', '$NOPE', 'x'], null, null, process.cwd()] });
});

test('HUNT-P6 sibling: where every entry is wrong the first fault is told', () => {
  const wrong = {
    mcpServers: { a: { type: 'sse', url: 'https://x.example/sse' }, b: {}, c: { command: 'x', disabled: true } },
  };
  expect(() => loadMcpServers(wrong)).toThrow(
    expect.objectContaining({ code: 'E_MCP_CONFIG', message: expect.stringContaining('mcpServers.a.type') }),
  );
});

test.each([
  [{ optional: 'yes' }, 'optional is neither true nor false'],
  [{ connectMs: 0 }, 'connectMs is no number above 0'],
  [{ protocol: '2025' }, 'protocol can be auto or legacy'],
  [{ excludeTools: 'wipe' }, 'excludeTools is no list of strings'],
  [{ envFile: '/nowhere/.env' }, 'envFile: /nowhere/.env cannot be read'],
])('what an entry says wrongly is told: %j', (members, message) => {
  expect(() => loadMcpServers({ mcpServers: { a: { command: 'x', ...members } } })).toThrow(
    expect.objectContaining({ code: 'E_MCP_CONFIG', message: expect.stringContaining(`mcpServers.a.${message}`) }),
  );
});

test('NEW-M1 an entry says how long it is waited for, and whether it may be missing', async () => {
  const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'], connectMs: 200 };
  const warnings: string[] = [];
  const [optional, needed] = loadMcpServers(
    { mcpServers: { optional: { ...silent, optional: true }, needed: silent } },
    { warn: (text) => warnings.push(text) },
  );
  expect(await optional?.tools()).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining('it did not answer within 200 ms')]);
  await expect(needed?.tools()).rejects.toMatchObject({ code: 'E_MCP_SERVER' });
  await Promise.all([optional?.close(), needed?.close()]);
});
