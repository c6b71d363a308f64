import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  anthropicModel,
  findModel,
  geminiModel,
  modelFromEnv,
  modelRegistry,
  openaiChatModel,
  openaiResponsesModel,
} from '../../src/adapters/models/index.ts';
import { cedarPolicy, cedarSchema } from '../../src/adapters/policy/cedar.ts';
import { opaPolicy } from '../../src/adapters/policy/opa.ts';
import { otelTelemetry } from '../../src/adapters/telemetry/otel.ts';
import { loadMcpServers, mcpToolset, readMcpServers } from '../../src/adapters/tools/mcp.ts';
import { doorsOf, NO_OBJECTS, outcomeOf, RUBBISH, taken } from './rubbish.ts';

type Door = [string, (value: unknown) => unknown];

const folder = mkdtempSync(join(tmpdir(), 'coxswain-input-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const makers = { anthropicModel, geminiModel, openaiChatModel, openaiResponsesModel };
const settings = ['apiKey', 'baseUrl', 'headers', 'timeoutMs', 'retry', 'fetch', 'provider', 'prices', 'config'];
const own = ['maxTokens', 'strictTools', 'streamUsage', 'replayReasoning'];
const given = { apiKey: 'k' };
const models = Object.entries(makers).flatMap(([name, make]): Door[] => [
  [name, (value) => make(value as string, given)],
  [`${name} options`, (value) => make('m', value as never)],
  ...doorsOf(name, given, [...settings, ...own] as ['apiKey'], (options) => make('m', options)),
  [`${name} retries`, (value) => make('m', { ...given, retry: { retries: value as number } })],
]);
const opa = { url: 'http://127.0.0.1:8181' };
const opaMembers = [
  'url',
  'path',
  'batchPath',
  'maxBatch',
  'timeoutMs',
  'maxBytes',
  'token',
  'headers',
  'trustAnnotations',
];
const cedar = { policies: '', tools: [] };
const cedarMembers = ['policies', 'file', 'tools', 'defaultOutcome', 'trustAnnotations', 'engine'];
const mcp = { command: 'true' };
const mcpMembers = ['command', 'args', 'env', 'cwd', 'stderr', 'name', 'prefix', 'include', 'trustAnnotations', 'pins'];
const mcpMore = ['idleMs', 'connectMs', 'onElicitation', 'warn', 'url', 'headers', 'authProvider'];

const doors: Door[] = [
  ...models,
  ['modelRegistry', (value) => modelRegistry(value as never)],
  ...doorsOf(
    'modelRegistry',
    {},
    ['gemini', 'anthropic', 'openai', 'providers', 'prices', 'fallback'] as never[],
    (o) => modelRegistry(o),
  ),
  ['modelRegistry provider', (value) => modelRegistry({ providers: { p: value as never } }).findModel('p/m')],
  ['findModel', (value) => findModel(value as never, { openai: given })],
  ['findModel options', (value) => findModel('gpt', value as never)],
  ['models', (value) => modelRegistry({ openai: given }).models(value as never)],
  ['modelFromEnv', (value) => modelFromEnv(value as never)],
  ['modelFromEnv wanted', (value) => modelFromEnv({}, value as never)],
  ['otelTelemetry', (value) => otelTelemetry(value as never)],
  ['otelTelemetry provider', (value) => otelTelemetry({ provider: value as never })],
  ['opaPolicy', (value) => opaPolicy(value as never)],
  ...doorsOf('opaPolicy', opa, opaMembers as ['url'], opaPolicy),
  ['cedarPolicy', (value) => cedarPolicy(value as never)],
  ...doorsOf('cedarPolicy', cedar, cedarMembers as ['policies'], cedarPolicy),
  ['cedarPolicy source', (value) => cedarPolicy({ ...cedar, policies: [value as never] })],
  ['cedarSchema', (value) => cedarSchema(value as never)],
  ['mcpToolset', (value) => mcpToolset(value as never)],
  ...doorsOf('mcpToolset', mcp, [...mcpMembers, ...mcpMore] as ['command'], mcpToolset),
  ['loadMcpServers', (value) => loadMcpServers(value)],
  ['loadMcpServers options', (value) => loadMcpServers({ mcpServers: {} }, value as never)],
  ['loadMcpServers servers', (value) => loadMcpServers({ mcpServers: value })],
  ['loadMcpServers server', (value) => loadMcpServers({ mcpServers: { a: value } })],
  ...['command', 'args', 'env', 'cwd', 'url', 'headers', 'type', 'disabled', 'prefix'].map(
    (member): Door => [
      `loadMcpServers ${member}`,
      (value) => loadMcpServers({ mcpServers: { a: { command: 'true', [member]: value } } }, { warn: () => undefined }),
    ],
  ),
  ['readMcpServers', (value) => readMcpServers(value as never)],
  ['readMcpServers options', (value) => readMcpServers(join(folder, 'none.json'), value as never)],
];

test.each(doors)('%s', async (name, door) => {
  await taken(name, door);
});

test.each([
  ['anthropicModel options', (value: unknown) => anthropicModel('m', value as never)],
  ['modelRegistry', (value: unknown) => modelRegistry(value as never)],
  ['opaPolicy', (value: unknown) => opaPolicy(value as never)],
  ['cedarPolicy', (value: unknown) => cedarPolicy(value as never)],
  ['mcpToolset', (value: unknown) => mcpToolset(value as never)],
  ['otelTelemetry', (value: unknown) => otelTelemetry(value as never)],
])('%s takes nothing that is no object', async (name, door) => {
  for (const label of NO_OBJECTS) {
    expect(await outcomeOf(`${name} of ${label}`, () => door(RUBBISH[label]?.())), label).toBe('refused');
  }
});

test('a key in the wrong place is not repeated', () => {
  expect(() => openaiChatModel('m', 'sk-secret' as never)).toThrow('openaiChatModel: options is text; give an object');
  expect(() => mcpToolset({ url: 'http://127.0.0.1', headers: 'sk-secret' } as never)).toThrow(/headers is text/);
});
