import { expect, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { RawTool } from './raw-server.ts';
import { RawServer } from './raw-server.ts';

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
