import { expect, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import { allowAll, createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { ofType, say } from '../host/kit.ts';
import type { Behaviour, RawTool } from './raw-server.ts';
import { RawServer } from './raw-server.ts';

const pay: RawTool = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };
const taking = (properties: object, more: object = {}): RawTool => ({
  ...pay,
  name: 'odd',
  inputSchema: { type: 'object', properties, ...more },
});

/** What is offered, and what comes of one call of `odd` under a host. */
async function tried(tool: RawTool, args: Record<string, unknown> = {}) {
  await using server = await RawServer.start();
  server.tools = [tool, pay];
  const warnings: string[] = [];
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: (text) => warnings.push(text) });
  const names = (await toolset.tools()).map(({ name }) => name);
  const model = new ScriptedModel([{ calls: [['odd', args]] }, 'done']);
  const agents = [new LlmAgent({ name: 'bot', model })];
  const host = createHost({ app: 'shop', agents, toolProviders: [toolset], policy: allowAll() });
  const [response] = ofType(await say(await host.open('bot'), 'go'), 'tool_response');
  await host.close();
  return { names, warnings, came: response?.errorType ?? 'ran', sent: server.calls[0]?.params?.arguments };
}

test.each<[string, RawTool, Record<string, unknown>]>([
  ['required at a member', taking({ a: { type: 'string', required: true } }), { a: 'x' }],
  ['the type any', taking({ a: { type: 'any' } }), { a: 'x' }],
  ['the type any among others', taking({ a: { type: ['string', 'any'] } }), { a: 5 }],
  ['required twice', taking({ a: { type: 'string' } }, { required: ['a', 'a'] }), { a: 'x' }],
  ['an enum of nothing', taking({ a: { type: 'string', enum: [] } }), { a: 'x' }],
  ['a pattern of another dialect', taking({ a: { type: 'string', pattern: '(?<x>a)(?<x>b)(*)' } }), { a: 'abc' }],
  [
    'the same as the name of members',
    taking({ a: {} }, { patternProperties: { '(*)': { type: 'number' } } }),
    { a: 1 },
  ],
  [
    'null for absent keywords',
    taking({ a: { type: 'string', description: null, default: null } }, { required: null }),
    {},
  ],
  ['an empty list of members', { ...pay, name: 'odd', inputSchema: { type: 'object', properties: [] } }, {}],
  ['all of it in a branch', taking({ a: { anyOf: [{ type: 'any', required: false }, { enum: [] }] } }), { a: 1 }],
])('HUNT-P4 %s is read as it was meant', async (_, tool, args) => {
  expect(await tried(tool, args)).toEqual({ names: ['odd', 'pay'], warnings: [], came: 'ran', sent: { ...args } });
});

test('HUNT-P4 sibling: what was said at a member still holds', async () => {
  const { came } = await tried(taking({ a: { type: 'string', required: true } }), {});
  expect(came).toBe('invalid_args');
});

test.each<[string, RawTool, RegExp]>([
  [
    'a reference that leads nowhere',
    taking({ f: { type: 'object', properties: { x: { $ref: '#/$defs/P' } }, $defs: { P: { type: 'string' } } } }),
    /resolve reference/,
  ],
  ['a reference to elsewhere', taking({ a: { $ref: 'https://schemas.example/other.json' } }), /resolve reference/],
  ['a type that there is not', taking({ a: { type: 'file' } }), /its tool odd is left out: .*type/],
  ['a task', { ...pay, name: 'odd', execution: { taskSupport: 'required' } }, /only be called as a task/],
])('HUNT-P4 %s: a tool that could never be called is not offered, and that is told once', async (_, tool, why) => {
  const { names, warnings, came } = await tried(tool);
  expect([names, came]).toEqual([['pay'], 'not_found']);
  expect(warnings).toEqual([expect.stringMatching(why)]);
  expect(warnings[0]).toMatch(/^raw: its tool odd is left out: /);
});

test('IOP-S2 a tool that may be called as a task is called as any other', async () => {
  const tool = { ...pay, name: 'odd', execution: { taskSupport: 'optional' } };
  expect(await tried(tool)).toMatchObject({ names: ['odd', 'pay'], warnings: [], came: 'ran' });
});

test('an output schema that cannot be understood costs the tool nothing but that', async () => {
  const tool = { ...pay, name: 'odd', outputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } };
  expect(await tried(tool)).toMatchObject({
    names: ['odd', 'pay'],
    warnings: [expect.stringContaining('raw: the output schema of its tool odd is left out: ')],
    came: 'ran',
  });
});

test.each([
  ['an escape', 'pay\u001b[2K'],
  ['a turn of direction', 'pay\u202egnp'],
  ['no room', 'p\u200bay'],
  ['a line break', 'pay\nall'],
  ['space around', ' pay'],
  ['nothing', ''],
  ['the name that every object has', '__proto__'],
  ['129 characters', 'p'.repeat(129)],
])('ATT-B12 a name of %s is not offered', async (_, name) => {
  await using server = await RawServer.start();
  server.tools = [{ ...pay, name }, pay];
  const warnings: string[] = [];
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: (text) => warnings.push(text) });
  expect((await toolset.tools()).map((tool) => tool.name)).toEqual(['pay']);
  expect(warnings).toEqual([expect.stringContaining('is left out: its name')]);
});

/** Answers one request with JSON text, which no object need be made of. */
const writes =
  (result: string): Behaviour =>
  (response, { id }) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);

const nestedText = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

test.each([
  [10, undefined],
  [150, 'schema is nested deeper than 200 levels'],
  [300, 'its schemas are nested too deeply'],
  [5_000, 'its schemas are nested too deeply'],
  [50_000, 'its schemas are nested too deeply'],
])('ATT-B12 sibling: a schema of %s members in one another costs the others nothing', async (depth, why) => {
  await using server = await RawServer.start();
  const text = `{"type":"object","properties":${'{"a":{"properties":'.repeat(depth)}{}${'}}'.repeat(depth)}}`;
  server.lists = [writes(`{"tools":[{"name":"odd","inputSchema":${text}},${JSON.stringify(pay)}]}`)];
  const warnings: string[] = [];
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: (told) => warnings.push(told) });
  const listed = (await toolset.tools()).map((tool) => tool.name);
  expect(listed).toEqual(why === undefined ? ['odd', 'pay'] : ['pay']);
  expect(warnings).toEqual(
    why === undefined ? [] : [expect.stringMatching(new RegExp(`^raw: its tool odd is left out: .*${why}`))],
  );
});

test.each([10, 150, 300, 5_000, 50_000])(
  'ATT-B12 sibling: what is said %s levels deep beside the schema of a tool costs the others nothing',
  async (depth) => {
    await using server = await RawServer.start();
    const deep = nestedText(depth);
    const odd = `{"name":"odd","inputSchema":{"type":"object"},"_meta":${deep}}`;
    server.lists = [writes(`{"tools":[${odd},${JSON.stringify(pay)}],"_meta":${deep},"more":${deep}}`)];
    await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: () => {} });
    expect((await toolset.tools()).map((tool) => tool.name)).toEqual(depth < 400 ? ['odd', 'pay'] : ['pay']);
  },
);

test.each([10, 150, 300, 5_000, 50_000])(
  'ATT-B12 sibling: of a result that is nested %s levels deep what can be read is there',
  async (depth) => {
    await using server = await RawServer.start();
    const deep = nestedText(depth);
    server.behaviours = [
      writes(
        `{"content":[{"type":"text","text":"done"},{"type":"text","text":"well","_meta":${deep}}],"structuredContent":${deep},"_meta":${deep}}`,
      ),
    ];
    await using toolset = mcpToolset({ url: server.url, name: 'raw' });
    await toolset.tools();
    const call = { callId: 'c', name: 'pay', args: {} };
    const result = await toolset.execute(call, AbortSignal.timeout(30_000));
    const cut = depth <= 200 ? deep : nestedText(200).replace('1', '"[Too deep]"');
    expect(result).toMatchObject({ content: [{ text: 'done' }, { text: 'well' }], structuredContent: JSON.parse(cut) });
  },
);

test.each([
  { description: 'x'.repeat(100_001) },
  { inputSchema: { type: 'object', properties: { a: { description: 'x'.repeat(100_001) } } } },
])('ATT-B12 sibling: what is said of a tool at such length that nobody reads it is not offered', async (said) => {
  await using server = await RawServer.start();
  server.tools = [{ ...pay, name: 'odd', ...said }, pay];
  const warnings: string[] = [];
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: (text) => warnings.push(text) });
  expect((await toolset.tools()).map((tool) => tool.name)).toEqual(['pay']);
  expect(warnings).toEqual([expect.stringMatching(/what is said of it takes \d+ characters; 100000 are taken$/)]);
});
