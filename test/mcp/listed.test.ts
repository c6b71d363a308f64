import { expect, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { Behaviour, RawTool } from './raw-server.ts';
import { json, RawServer } from './raw-server.ts';

const pay: RawTool = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };
const odd = (members: object) => ({ ...pay, name: 'odd', ...members }) as RawTool;

async function offered(tools: RawTool[], isModern: boolean) {
  await using server = await RawServer.start({ isModern });
  server.tools = tools;
  const warnings: string[] = [];
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: (text) => warnings.push(text) });
  return { names: (await toolset.tools()).map(({ name }) => name), warnings: warnings.join('\n') };
}

test.each([
  ['a schema that is no object’s', odd({ inputSchema: { type: 'string' } }), 'raw: its tool odd is left out: it.input'],
  ['no schema', odd({ inputSchema: undefined }), 'raw: its tool odd is left out: it.inputSchema: '],
  ['a description that is no text', odd({ description: 5 }), 'raw: its tool odd is left out: it.description: '],
  ['nothing at all', null as unknown as RawTool, 'raw: its tool number 1 is left out: '],
])('%s: that tool is left out with a warning, the others are there', async (_, tool, warning) => {
  for (const isModern of [false, true]) {
    const { names, warnings } = await offered([tool, pay], isModern);
    expect(names).toEqual(['pay']);
    expect(warnings).toContain(warning);
  }
});

test('EDGE-C2 a warning is one line of some length, whatever the names in it hold', async () => {
  const long = odd({ name: 'x'.repeat(100_000), inputSchema: { type: 'string' } });
  const twice = odd({ name: `two\n\u001b[2J\u202e${'y'.repeat(5_000)}` });
  const { names, warnings } = await offered(
    [long, odd({ name: 'a\u001b[2Jb\nc', inputSchema: { type: 'string' } }), twice, { ...twice, title: 'T' }, pay],
    false,
  );
  expect(names).toEqual(['pay']);
  const lines = warnings.split('\n');
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    expect(line).toMatch(/^raw: its tools? /);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(line.length).toBeLessThan(1_100);
  }
});

test('EDGE-C3 of a list of very many tools the first are taken, over all of its pages', async () => {
  const many = Array.from({ length: 1_500 }, (_, n) => ({ ...pay, name: `pay${n}` }));
  await using server = await RawServer.start();
  const warnings: string[] = [];
  server.lists = [
    page(many, 'next'),
    page(
      many.map((tool) => ({ ...tool, name: `more_${tool.name}` })),
      'last',
    ),
  ];
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: (text) => warnings.push(text) });
  const tools = await toolset.tools();
  expect(tools).toHaveLength(2_000);
  expect(tools.at(-1)?.name).toBe('more_pay499');
  expect(warnings).toEqual(['raw: its list of tools is taken as far as it goes: it has more than 2000 tools']);
});

test('an output schema of a list: 2026 has such, before it the tool is left out', async () => {
  const tools = [odd({ outputSchema: { type: 'array' } }), pay];
  expect((await offered(tools, true)).names).toEqual(['odd', 'pay']);
  expect(await offered(tools, false)).toEqual({
    names: ['pay'],
    warnings: "raw: its tool odd is left out: outputSchema is no object's",
  });
});

test('two tools of one name: which would run cannot be told, so neither is offered', async () => {
  const { names, warnings } = await offered([odd({ description: 'one' }), pay, odd({ description: 'two' })], false);
  expect(names).toEqual(['pay']);
  expect(warnings).toBe('raw: its tools odd are left out: more than one has the name');
});

test('HUNT-F6 null for what is absent, in a tool and beside the tools: read as absent', async () => {
  const nulls = { description: null, title: null, annotations: null, outputSchema: null, _meta: null };
  for (const isModern of [false, true]) {
    expect(await offered([odd(nulls), odd({ name: 'more', annotations: { title: null } }), pay], isModern)).toEqual({
      names: ['odd', 'more', 'pay'],
      warnings: '',
    });
  }
  await using server = await RawServer.start();
  server.lists = [page([pay], null)];
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: (text) => expect(text).toBe('') });
  expect(await toolset.tools()).toHaveLength(1);
});

const page =
  (tools: RawTool[], nextCursor: unknown): Behaviour =>
  (response, { id }) =>
    json(response, { jsonrpc: '2.0', id, result: { tools, nextCursor } });

test.each<[string, unknown[], string]>([
  ['go round', ['p2', '', 'p2'], 'raw: its list of tools is taken as far as it goes: its cursors go round'],
  ['stay where they are', ['p2', 'p2'], 'raw: its list of tools is taken as far as it goes: its cursors go round'],
  ['are no text', ['p2', 5], 'raw: its list of tools is taken as far as it goes: its cursor is no text'],
  ['end', ['', 'p2', undefined], ''],
])('HUNT-F6 cursors that %s: the pages so far are the list', async (_, cursors, warning) => {
  await using server = await RawServer.start();
  server.lists = cursors.map((cursor, n) => page([{ ...pay, name: n % 2 === 0 ? 'a' : 'b' }], cursor));
  const warnings: string[] = [];
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: (text) => warnings.push(text) });
  expect((await toolset.tools()).map(({ name }) => name)).toEqual(['a', 'b']);
  expect(warnings.join()).toBe(warning);
});

test('HUNT-F6 sibling: a list without end is cut after 256 pages', async () => {
  await using server = await RawServer.start();
  server.lists = Array.from({ length: 300 }, (_, n) => page([{ ...pay, name: `t${n}` }], `p${n}`));
  const warnings: string[] = [];
  await using toolset = mcpToolset({ url: server.url, name: 'raw', warn: (text) => warnings.push(text) });
  expect(await toolset.tools()).toHaveLength(256);
  expect(warnings).toEqual(['raw: its list of tools is taken as far as it goes: it has more than 256 pages']);
});

test.each([
  [
    { type: 'text', text: 'words', annotations: null, _meta: null },
    { type: 'text', text: 'words' },
  ],
  [{ type: 'hologram', data: 'x' }, leftOut('of type "hologram"')],
  [{ type: 'image', mimeType: 'image/png' }, leftOut('of type "image"')],
  [null, leftOut('of no type')],
  [
    { type: 'resource', resource: { uri: 'file:///a', text: null, blob: 'AAAA', mimeType: null } },
    { type: 'media', mimeType: 'application/octet-stream', data: 'AAAA' },
  ],
])('HUNT-F6 one block that is odd costs no other: %j', async (block, shown) => {
  await using server = await RawServer.start();
  server.behaviours = [
    (response, { id }) =>
      json(response, {
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text: 'paid' }, block], isError: null, structuredContent: null },
      }),
  ];
  await using toolset = mcpToolset({ url: server.url, name: 'raw' });
  await toolset.tools();
  const call = toolset.execute({ callId: 'c', name: 'pay', args: {} }, AbortSignal.timeout(30_000));
  expect(await call).toMatchObject({ content: [{ type: 'text', text: 'paid' }, shown] });
});

function leftOut(what: string) {
  return { type: 'text', text: `[a part ${what} was left out: it is not one that is understood here]` };
}
