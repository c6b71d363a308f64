import { mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { settleAt, stateKey } from '../../src/cli/commands/mcp.ts';
import { cleanEnv, cli, found, noTerminal, onTerminal, Place } from '../cli/coxswain.ts';
import { built } from '../packed.ts';
import type { Leg } from './clients.ts';
import { connect, textOf } from './clients.ts';

const module = built('mcp-agent.js');
const pay = { prompt: 'call pay {"amount": 5}' };

const ledgerOf = (place: Place) => readFileSync(join(place.desk, 'ledger.txt'), 'utf8');

test('F37: every line on stdout is JSON-RPC, whatever the module, its tools and their children print', async () => {
  using place = new Place();
  const running = place.start(['mcp', module, '--store', 'memory:', '--workspace', place.desk], { stdin: 'pipe' });
  const send = (message: object) => running.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'raw', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/list' });
  send({ id: 3, method: 'tools/call', params: { name: 'puppet', arguments: { prompt: 'call noisy {}' } } });
  send({ id: 4, method: 'tools/call', params: { name: 'puppet', arguments: pay } });
  for (const id of [1, 2, 3, 4]) await running.shows(`"id":${id}`);
  running.child.stdin?.end();
  const { code, stdout, stderr } = await running.ended;
  const messages = stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { jsonrpc: string; id?: number });
  expect(messages.map(({ jsonrpc }) => jsonrpc)).toEqual(messages.map(() => '2.0'));
  expect(messages.map(({ id }) => id).toSorted()).toEqual([1, 2, 3, 4]);
  for (const text of ['printed at import', 'written at import', 'past every stream', 'a grandchild', 'on stderr']) {
    expect(stderr).toContain(text);
    expect(stdout).not.toContain(text);
  }
  // In memory, and a client that cannot be asked: nobody can ever answer.
  expect(stdout).toContain('Denied or cancelled: pay.');
  expect(code).toBe(0);
});

test('a client that does not read any more: the process ends', async () => {
  using place = new Place();
  const running = place.start(['mcp', module, '--store', 'memory:', '--workspace', place.desk], { stdin: 'pipe' });
  const ping = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;
  running.child.stdin?.on('error', () => {});
  running.child.stdin?.write(ping);
  await running.shows('"id":1');
  running.child.stdout?.destroy();
  running.child.stdin?.write(ping);
  expect((await running.ended).code).toBe(0);
});

test('a client that does not read stderr: what is printed is lost, and the server lives', async () => {
  using place = new Place();
  const running = place.start(['mcp', module, '--store', 'memory:', '--workspace', place.desk], { stdin: 'pipe' });
  const send = (message: object) => running.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'raw', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  await running.shows('"id":1');
  running.child.stderr?.destroy();
  for (const id of [2, 3, 4]) {
    send({ id, method: 'tools/call', params: { name: 'puppet', arguments: { prompt: 'call chatty {}' } } });
    await running.shows(`"id":${id}`);
  }
  running.child.stdin?.end();
  expect((await running.ended).code).toBe(0);
});

test('killed between question and answer: the answer is taken by the next process, and the tool runs once', async () => {
  using place = new Place();
  const target = {
    command: process.execPath,
    args: [cli, 'mcp', module, '--workspace', place.desk],
    env: cleanEnv(),
    cwd: place.path,
  };
  const asks = { pinned: true, onElicit: () => ({ action: 'cancel' }) as const };
  let leg: Leg;
  {
    const client = await connect('v2', target, asks);
    leg = await client.leg('puppet', pay);
    process.kill(Number(found(client.stderr(), /pid (\d+)\n(?!.*pid)/s)), 'SIGKILL');
    await client.close();
  }
  const [id = ''] = Object.keys(leg.inputRequests ?? {});
  expect(() => ledgerOf(place)).toThrow(/ENOENT/);
  expect(statSync(join(place.path, '.coxswain', 'mcp.key')).mode & 0o777).toBe(0o600);
  await using again = await connect('v2', target, asks);
  const answer = {
    requestState: leg.requestState,
    inputResponses: { [id]: { action: 'accept', content: { decision: 'allow' } } },
  };
  expect(textOf(await again.leg('puppet', pay, answer))).toBe('got {"content":"paid 5"}');
  expect(textOf(await again.leg('puppet', pay, answer))).toBe('got {"content":"paid 5"}');
  expect(ledgerOf(place)).toBe('5\n');
});

test('a client that cannot be asked is told the command that settles it, and the command works', async () => {
  using place = new Place();
  const args = [cli, 'mcp', module, '--workspace', place.desk];
  await using client = await connect('v1', { command: process.execPath, args, env: cleanEnv(), cwd: place.path });
  const result = await client.call('puppet', pay);
  expect(result.isError).toBe(true);
  const folder = realpathSync(place.path);
  expect(textOf(result)).toContain(`settled by a person: cd ${folder} && npx coxswain `);
  const words = found(textOf(result), /settled by a person: cd \S+ && npx coxswain (.+)$/m)
    .replaceAll("'", '')
    .split(' ');
  const { code, stdout } = await place.run(words);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('paid 5') });
  expect(ledgerOf(place)).toBe('5\n');
});

test('a secret that is empty is told, and what to do about it', async () => {
  using place = new Place();
  mkdirSync(join(place.path, '.coxswain'));
  writeFileSync(join(place.path, '.coxswain', 'mcp.key'), '');
  const { code, stdout, stderr } = await place.run(['mcp', module, '--workspace', place.desk]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/E_MCP_KEY .*mcp\.key holds no secret .* delete it/);
});

test('the secret is kept beside the store, wherever the client starts the process', () => {
  using place = new Place();
  using elsewhere = new Place();
  const before = process.cwd();
  process.chdir(elsewhere.path);
  // No folder of that name can be made here.
  writeFileSync('.coxswain', '');
  try {
    const key = stateKey(`sqlite:${place.path}/shop.db`);
    expect(readFileSync(join(place.path, '.coxswain', 'mcp.key'), 'utf8')).toBe(key);
    expect(stateKey(`sqlite:${place.path}/.coxswain/coxswain.db`)).toBe(key);
    expect(() => stateKey('postgres://db/shop')).toThrow(/\.coxswain cannot be made/);
  } finally {
    process.chdir(before);
  }
});

test('the command that settles a question comes to the same host, and tells no password of the store', () => {
  const flags = { store: 'postgres://shop:hush-hush@db/shop', app: 'shop', user: 'anna', approve: 'ask' } as const;
  const question = { requestId: 'r1', sessionId: 's1', agent: 'puppet' };
  const line = settleAt(question, 'agent.ts', { ...flags, mode: 'plan', mcpServers: 'mcp.json' });
  expect(line).toContain('--mode plan --mcp-servers mcp.json');
  expect(line).toContain('postgres://');
  expect(line).not.toContain('hush-hush');
  const digest = 'c0ffee'.repeat(8);
  expect(settleAt({ ...question, digest }, 'agent.ts', flags)).toMatch(/ --digest c0ffeec0ffee$/);
});

describe('--mcp-servers', () => {
  test('gives the agent the tools of its servers', async () => {
    using place = new Place();
    const args = [join(import.meta.dirname, 'foreign-child.ts')];
    const file = join(place.path, 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { foreign: { command: process.execPath, args } } }));
    const words = ['run', module, 'call echo {"text": "hello"}', '--workspace', place.desk, '--approve', 'allow'];
    const { code, stdout } = await place.run([...words, '--store', 'memory:', '--mcp-servers', file]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('hello') });
  });

  test.skipIf(noTerminal() !== undefined)(
    'what a server asks in the midst of a call is asked at the terminal',
    async () => {
      using place = new Place();
      const args = [join(import.meta.dirname, 'foreign-child.ts')];
      const file = join(place.path, 'mcp.json');
      writeFileSync(file, JSON.stringify({ mcpServers: { foreign: { command: process.execPath, args } } }));
      const words = ['run', module, 'call ask {}', '--workspace', place.desk, '--approve', 'allow'];
      const { code, screen } = await onTerminal(
        place,
        [...words, '--store', 'memory:', '--mcp-servers', file],
        [['name: ', 'Anna\r']],
      );
      expect(screen).toContain('foreign asks: Who are you?');
      expect(screen).toContain('accept {\\"name\\":\\"Anna\\"}');
      expect(code).toBe(0);
    },
  );

  test('NEW-M1 a server that is gone is named and gone on without in a new session, and fails where one goes on', async () => {
    using place = new Place();
    const args = [join(import.meta.dirname, 'foreign-child.ts')];
    const file = join(place.path, 'mcp.json');
    const gone = { command: process.execPath, args: ['-e', 'process.exit(1)'] };
    writeFileSync(file, JSON.stringify({ mcpServers: { gone, foreign: { command: process.execPath, args } } }));
    const flags = ['--workspace', place.desk, '--approve', 'allow', '--mcp-servers', file, '--json'];
    const first = await place.run(['run', module, 'call echo {"text": "hello"}', ...flags]);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('hello') });
    expect(first.stderr).toContain(
      'warning: gone: the session continues without its tools: the MCP server gone cannot be reached',
    );
    const sessionId = /"session(?:Id)?":\s*"([\w-]+)"/.exec(first.stdout)?.[1] ?? '';
    expect(sessionId).not.toBe('');
    const second = await place.run(['run', module, 'say more', ...flags, '--session', sessionId]);
    expect(second.code).not.toBe(0);
    expect(second.stderr + second.stdout).toContain('E_MCP_SERVER');
  });

  test('a file that is none is a wrong usage', async () => {
    using place = new Place();
    const file = join(place.path, 'mcp.json');
    writeFileSync(file, '{"mcpServers": {"a": {"command": "x", "cwd": 5}}}');
    const { code, stderr } = await place.run(['run', module, 'say x', '--store', 'memory:', '--mcp-servers', file]);
    expect(code).toBe(2);
    expect(stderr).toContain('E_MCP_CONFIG MCP servers: mcpServers.a.cwd is no string');
  });
});

test('what cannot be served is told on stderr, with the exit code of the command', async () => {
  using place = new Place();
  const { code, stdout, stderr } = await place.run(['mcp', 'nowhere.ts']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('E_USAGE there is no agent module nowhere.ts');
});

test('a module in a package that is said to be CommonJS, as `npm init` makes it: what to do about it', async () => {
  using place = new Place();
  writeFileSync(join(place.path, 'package.json'), '{"type": "commonjs"}');
  writeFileSync(join(place.path, 'agent.ts'), 'export const agent = 1;');
  const { code, stderr } = await place.run(['mcp', 'agent.ts']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/E_USAGE agent\.ts is an ES module .* put "type": "module" into its package\.json/);
});
