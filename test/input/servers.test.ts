import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromAcp, serveAcp } from '../../src/adapters/acp/index.ts';
import { fromGoogleAdk } from '../../src/adapters/google-adk/index.ts';
import type { ConnectOptions, RemoteHost, RemoteSession } from '../../src/adapters/remote/index.ts';
import { connect } from '../../src/adapters/remote/index.ts';
import { createMcpFactory, createMcpHttp, serveMcpHttp, serveMcpStdio } from '../../src/host/mcp/index.ts';
import type { AgentServer, ServeOptions } from '../../src/host/websocket/index.ts';
import { serve, serveExecutor } from '../../src/host/websocket/index.ts';
import { createHost, fromAgent } from '../../src/index.ts';
import { bot } from '../host/kit.ts';
import { watchRejections } from '../host/rejections.ts';
import { CALLED, doorsOf, NO_OBJECTS, outcomeOf, RUBBISH, taken } from './rubbish.ts';
import { drain, sessionDoors } from './session-doors.ts';

type Door = [string, (value: unknown) => unknown];

const agents = [fromAgent(bot(Array.from({ length: 500 }, () => 'ok')))];
const host = createHost({ app: 'shop', agents });
const executor = { app: 'shop', agents };
const closed = async (server: Promise<{ close(): unknown }>) => {
  await (await server).close();
};

const serving = ['port', 'host', 'authenticate', 'principal', 'authorize', 'allowedOrigins', 'allowedHosts'];
const more = ['lateCredentials', 'limits', 'onDisconnect', 'routes', 'figures', 'log', 'warn', 'ceiling'];
const ceiling = ['permissionMode', 'models', 'clientTools', 'config'];
const mcp = [
  'agents',
  'name',
  'version',
  'instructions',
  'progressMs',
  'answerMs',
  'stateKey',
  'unanswerable',
  'settleAt',
];
const mcpMore = ['conversations', 'permissionMode', 'limits', 'configure', 'warn'];
const http = ['authenticate', 'allowedHosts', 'allowedOrigins', 'maxSessions', 'sessionIdleMs', 'resumeBytes'];
const acp = ['name', 'description', 'command', 'args', 'folder', 'env', 'onStderr', 'connect', 'cwd', 'mcpServers'];
const acpMore = [
  'authMethod',
  'mode',
  'files',
  'unasked',
  'startTimeoutMs',
  'cancelTimeoutMs',
  'watchdog',
  'store',
  'sessions',
];
const adk = [
  'adk',
  'agent',
  'plugins',
  'annotations',
  'maxLlmCalls',
  'streaming',
  'watchdog',
  'store',
  'sessions',
  'constraints',
];
const aModule = { Runner: class {}, isBaseAgent: () => false };
const stream = () => ({ input: new ReadableStream(), output: new WritableStream() });

const doors: Door[] = [
  ['serve', (value) => closed(serve(value as never))],
  ['serve options', (value) => closed(serve(host, value as never))],
  ...doorsOf('serve', {} as ServeOptions, [...serving, ...more] as 'port'[], (options) => closed(serve(host, options))),
  ...doorsOf('ceiling', {}, ceiling as never[], (given) => closed(serve(host, { ceiling: given }))),
  ['serve limit', (value) => closed(serve(host, { limits: { window: value as number } }))],
  ['serveExecutor', (value) => closed(serveExecutor(value as never))],
  ['serveExecutor agents', (value) => closed(serveExecutor({ ...executor, agents: value as never }))],
  ['serveExecutor options', (value) => closed(serveExecutor(executor, value as never))],
  ['createMcpFactory', (value) => createMcpFactory(value as never)],
  ['createMcpFactory options', (value) => createMcpFactory(host, value as never)],
  ...doorsOf('createMcpFactory', {}, [...mcp, ...mcpMore] as never[], (options) => createMcpFactory(host, options)),
  ['createMcpHttp', (value) => createMcpHttp(value as never)],
  ['createMcpHttp options', (value) => createMcpHttp(host, value as never)],
  ...doorsOf('createMcpHttp', {}, [...http, 'maxBodyBytes'] as never[], (options) => createMcpHttp(host, options)),
  ['serveMcpHttp', (value) => closed(serveMcpHttp(value as never))],
  ...doorsOf('serveMcpHttp', {}, ['port', 'hostname', 'path'] as never[], (options) =>
    closed(serveMcpHttp(host, options)),
  ),
  ['serveMcpStdio', (value) => serveMcpStdio(value as never, { input: new PassThrough(), output: new PassThrough() })],
  ['serveMcpStdio input', (value) => serveMcpStdio(host, { input: (value ?? 5) as never, output: new PassThrough() })],
  ['serveMcpStdio output', (value) => serveMcpStdio(host, { input: new PassThrough(), output: (value ?? 5) as never })],
  ['fromAcp', (value) => fromAcp(value as never)],
  ...doorsOf('fromAcp', { name: 'a', command: 'true' }, [...acp, ...acpMore] as ['name'], fromAcp),
  ['serveAcp', (value) => serveAcp(value as never, stream())],
  ...doorsOf('serveAcp', {}, ['open', 'list', 'limits', 'name', 'version', 'warn'] as never[], (options) =>
    serveAcp({ open: async () => host.open('bot'), ...options }, stream()),
  ),
  ['serveAcp transport', (value) => serveAcp({ open: async () => host.open('bot') }, value as never)],
  ['fromGoogleAdk', (value) => fromGoogleAdk(value as never)],
  ...doorsOf('fromGoogleAdk', { adk: aModule as never, agent: {} as never }, adk as ['adk'], fromGoogleAdk),
];

test.each(doors)('%s', async (name, door) => {
  const rejections = watchRejections();
  await taken(name, door);
  expect(await rejections()).toEqual([]);
});

test.each([
  ['serve', (value: unknown) => closed(serve(value as never))],
  ['serve options', (value: unknown) => closed(serve(host, value as never))],
  ['serveExecutor', (value: unknown) => closed(serveExecutor(value as never))],
  ['createMcpFactory', (value: unknown) => createMcpFactory(value as never)],
  ['serveMcpHttp options', (value: unknown) => closed(serveMcpHttp(host, value as never))],
  ['fromAcp', (value: unknown) => fromAcp(value as never)],
  ['serveAcp', (value: unknown) => serveAcp(value as never, stream())],
  ['fromGoogleAdk', (value: unknown) => fromGoogleAdk(value as never)],
])('%s takes nothing that is no object', async (name, door) => {
  for (const label of NO_OBJECTS) {
    expect(await outcomeOf(`${name} of ${label}`, () => door(RUBBISH[label]?.())), label).toBe('refused');
  }
});

test.each([
  ['authenticate', true],
  ['authorize', true],
  ['ceiling', { permissionMode: 'autonomus' }],
  ['ceiling', { clientTools: 'no' }],
  ['ceiling', { models: 'gpt' }],
  ['ceiling', { tools: true }],
  ['onDisconnect', 'stop'],
  ['principal', {}],
])('a server is not opened with %s %j', async (option, value) => {
  expect(await outcomeOf(option, () => closed(serve(host, { [option]: value })))).toBe('refused');
});

describe('a client', () => {
  let server: AgentServer;
  let client: RemoteHost;
  let session: RemoteSession;

  beforeAll(async () => {
    server = await serve(host);
    client = await connect(server.url, { token: server.token ?? '' });
    session = await client.open('bot');
  });
  afterAll(async () => {
    await client.close();
    await server.close({ deadlineMs: 0 });
  });

  const connecting = async (options: ConnectOptions) =>
    closed(connect(server.url, { token: server.token ?? '', ...options }));
  const by: Door[] = [
    ['connect', (value) => closed(connect(value as string))],
    ['connect options', (value) => closed(connect('rubbish', value as never))],
    ...doorsOf('connect', {} as ConnectOptions, ['token', 'getToken', 'WebSocket', 'onState', 'random'], connecting),
    ['open', (value) => client.open(value as string)],
    ['open options', (value) => client.open('bot', value as never)],
    ...['sessionId', 'snapshot', 'create', 'fork', 'state', 'permissionMode', 'control'].map(
      (member): Door => [`open ${member}`, (value) => client.open('bot', { [member]: value })],
    ),
    ['sessions', (value) => client.sessions(value as never).list()],
    ['sessions.list', (value) => client.sessions().list(value as never)],
    ['sessions.load', (value) => client.sessions().load(value as never)],
    ['sessions.create', (value) => client.sessions().create(value as never)],
    ['sessions.delete', (value) => client.sessions().delete(value as never)],
    ['approvals.list', (value) => client.approvals.list(value as never)],
    ['approvals.decide', (value) => client.approvals.decide(value as never, { kind: 'deny' })],
    ['approvals.decide answer', (value) => client.approvals.decide('q', value as never)],
    ['approvals.decide place', (value) => client.approvals.decide('q', { kind: 'deny' }, value as never)],
  ];
  const waits = ['a function', 'a class', 'a throwing function'];

  test.each(by)('%s', async (name, door) => {
    await taken(name, door, name === 'connect.WebSocket' ? waits : CALLED);
  });

  test.each(sessionDoors(() => session))('a remote session: %s', async (name, door) => {
    const rejections = watchRejections();
    await taken(name, door);
    expect(await rejections()).toEqual([]);
  });

  test('a stream that cannot be sent leaves the session free', async () => {
    const other = await client.open('bot');
    const tools = [{ name: 'a', description: 'a', inputSchema: { a: () => 1 } }] as never;
    await expect(other.stream('hi', { tools }).next()).rejects.toMatchObject({ code: 'E_NOT_JSON' });
    await drain(other, 'hi');
    await other[Symbol.asyncDispose]();
  });

  test('and its session works after all that', async () => {
    await session.abort();
    await drain(session, 'hi');
  });
});
