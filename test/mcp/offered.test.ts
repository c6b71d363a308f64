import { expect, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { HostOptions, PolicyRequest } from '../../src/index.ts';
import { createHost, defineTool, LlmAgent, rulePolicy } from '../../src/index.ts';
import { brief, results, say } from '../host/kit.ts';
import { puppet, puppetModel } from './agents.ts';
import type { RawTool } from './raw-server.ts';
import { RawServer } from './raw-server.ts';

const pay: RawTool = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };

async function offering(tools: RawTool[], options: Partial<HostOptions> = {}, trustAnnotations = false) {
  const server = await RawServer.start();
  server.tools = tools;
  const toolset = mcpToolset({ url: server.url, name: 'raw', warn: () => {}, trustAnnotations });
  const warnings: string[] = [];
  const host = createHost({
    app: 'shop',
    agents: [puppet()],
    toolProviders: [toolset],
    warn: (text) => void warnings.push(text),
    ...options,
  });
  return {
    server,
    toolset,
    host,
    warnings,
    async [Symbol.asyncDispose]() {
      await host.close();
      await toolset.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const own = (name: string) =>
  defineTool({ name, description: 'Ours.', annotations: { readOnly: true }, inputSchema: {}, execute: () => 'ours' });

test('ATT-B12 a server that lists the name of a tool of the host takes nobody’s place and stops no session', async () => {
  await using it = await offering([pay, { ...pay, name: 'more' }], { tools: [own('pay')] });
  expect(results(await say(await it.host.open('puppet'), 'call pay {}'))).toEqual({ pay: 'ours' });
  expect(it.server.calls).toEqual([]);
  expect(it.warnings).toEqual(['mcp:raw: its tool pay is left out: there is one of that name already, of host']);
  // Once a session is enough to know it.
  expect(brief(await say(await it.host.open('puppet'), 'call more {}'))).toContain('ask tool_confirmation');
  expect(it.warnings).toHaveLength(1);
});

test('ATT-B12 sibling: of two servers with one name the first keeps it, also where the second takes it up later', async () => {
  await using second = await RawServer.start();
  await using other = mcpToolset({ url: second.url, name: 'other', warn: () => {} });
  second.tools = [{ ...pay, name: 'more' }];
  await using first = await offering([pay]);
  const warnings: string[] = [];
  const host = createHost({
    app: 'shop',
    agents: [puppet()],
    toolProviders: [first.toolset, other],
    policy: { evaluate: () => ({ outcome: 'allow' }) },
    warn: (text) => void warnings.push(text),
  });
  await host.open('puppet');
  second.tools = [pay];
  await other.close();
  await using again = mcpToolset({ url: second.url, name: 'other', warn: () => {} });
  const later = createHost({
    app: 'shop',
    agents: [puppet()],
    toolProviders: [first.toolset, again],
    policy: { evaluate: () => ({ outcome: 'allow' }) },
    warn: (text) => void warnings.push(text),
  });
  expect(results(await say(await later.open('puppet'), 'call pay {}'))).toEqual({ pay: 'paid' });
  expect([first.server.calls.length, second.calls.length]).toEqual([1, 0]);
  expect(warnings).toEqual(['mcp:other: its tool pay is left out: there is one of that name already, of mcp:raw']);
  await host.close();
  await later.close();
});

test('ATT-B12 sibling: a tool of a provider that is ill-formed costs the others nothing', async () => {
  const provider = {
    name: 'plugin',
    getToolsForAgent: () => [
      { name: 'bad', description: '', inputSchema: { type: 'string' } },
      { name: 'good', description: '', inputSchema: {}, annotations: { readOnly: true } },
    ],
    execute: async () => 'good',
  };
  const warnings: string[] = [];
  const host = createHost({
    app: 'shop',
    agents: [puppet()],
    toolProviders: [provider],
    warn: (text) => void warnings.push(text),
  });
  expect(results(await say(await host.open('puppet'), 'call good {}'))).toEqual({ good: 'good' });
  expect(warnings).toEqual([expect.stringContaining('provider:plugin: its tool bad is left out: ')]);
  await host.close();
});

test.each([
  [false, 'mcp:raw'],
  [true, 'provider:raw'],
])('APP-B8 tools of a server whose hints are believed (%s) come from %s', async (isTrusted, source) => {
  const asked: unknown[] = [];
  const rules = rulePolicy([{ id: 'reads', tool: '*', annotations: { readOnly: true }, outcome: 'allow' }]);
  const policy = {
    evaluate: (request: PolicyRequest) => {
      asked.push(request.context?.resource?.source);
      return rules.evaluate(request);
    },
  };
  await using it = await offering([{ ...pay, annotations: { readOnlyHint: true } }], { policy }, isTrusted);
  const events = await say(await it.host.open('puppet'), 'call pay {}');
  expect(brief(events).includes('ask tool_confirmation')).toBe(!isTrusted);
  expect(new Set(asked)).toEqual(new Set([source]));
});

test('APP-B8 sibling: a rule on the server by its source holds for it', async () => {
  const policy = rulePolicy([{ id: 'raw', tool: '*', source: 'mcp:raw', outcome: 'allow' }]);
  await using it = await offering([pay], { policy });
  expect(results(await say(await it.host.open('puppet'), 'call pay {}'))).toEqual({ pay: 'paid' });
});

test('APP-B8 sibling: as a toolset of an agent it is the agent’s own under a host', async () => {
  const policy = rulePolicy([{ id: 'raw', tool: '*', source: 'mcp:raw', outcome: 'allow' }]);
  await using it = await offering([pay]);
  const host = createHost({
    app: 'shop',
    agents: [new LlmAgent({ name: 'clerk', model: puppetModel, toolsets: [it.toolset] })],
    policy,
  });
  expect(brief(await say(await host.open('clerk'), 'call pay {}'))).toContain('ask tool_confirmation');
  expect(it.server.calls).toEqual([]);
  await host.close();
});
