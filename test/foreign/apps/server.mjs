// Runs an agent, and what needs packages that are not there; prints what came of it.
import { createHost, defineTool, LlmAgent, rulePolicy, run } from 'coxswain';
import { serveAcp } from 'coxswain/acp';
import { FunctionTools } from 'coxswain/auto-tools';
import { openaiChatModel } from 'coxswain/models';
import { cedarPolicy } from 'coxswain/policy/cedar';
import { serve } from 'coxswain/server';
import { serveMcpHttp } from 'coxswain/server/mcp';
import { openStore } from 'coxswain/stores';
import { openSql } from 'coxswain/stores/sql';
import { ScriptedModel } from 'coxswain/testing';
import { mcpToolset } from 'coxswain/tools/mcp';
import { z } from 'zod';
import { z as z3 } from 'zod-3';

const got = [];
const tool = (name, inputSchema) =>
  defineTool({ name, description: name, inputSchema, execute: (args) => void got.push([name, args]) });
const plain = { type: 'object', properties: { eur: { type: 'number' } }, required: ['eur'] };
const tools = [
  tool('pay', plain),
  tool('four', z.object({ eur: z.number().max(9).describe('how much') })),
  tool('three', z3.object({ eur: z3.number(), kind: z3.enum(['a', 'b']).default('a') })),
];
const calls = [
  ['pay', { eur: '5' }],
  ['pay', { eur: 50 }],
  ['four', { eur: 7 }],
  ['four', { eur: 70 }],
  ['three', { eur: 1 }],
];
const rules = [
  { id: 'small', tool: 'pay', args: { '/eur': { type: 'number', maximum: 5 } }, outcome: 'allow' },
  { id: 'large', tool: 'pay', outcome: 'deny' },
  { id: 'others', tool: '*', outcome: 'allow' },
];

const codeOf = async (work) => {
  try {
    await work();
    return 'done';
  } catch (error) {
    return error.code ?? String(error);
  }
};

const pipes = { input: new ReadableStream(), output: new WritableStream() };

async function main() {
  const store = await openStore('memory:');
  const asked = (agent) => createHost({ app: 'demo', agents: [agent], tools, policy: rulePolicy(rules), store });
  const model = new ScriptedModel([{ calls }, 'end']);
  if (typeof FunctionTools !== 'function') throw new Error('FunctionTools is no class');
  const { reason, text, denied } = await run(await asked(new LlmAgent({ name: 'bot', model })).open('bot'), 'go');
  const far = new LlmAgent({ name: 'far', model: openaiChatModel('m', { baseUrl: 'http://127.0.0.1:9/v1' }) });
  const missing = {
    model: (await run(await asked(far).open('far'), 'go')).error?.code,
    sql: await codeOf(() => openSql('postgres://127.0.0.1:9/x')),
    toolset: await codeOf(() => mcpToolset({ command: 'none', name: 'none' }).tools()),
    server: await codeOf(() => serveMcpHttp(asked(far), { port: 0 })),
    socket: await codeOf(() => serve(asked(far), { port: 0, authenticate: () => ({ id: 'anna' }) })),
    cedar: await codeOf(() => cedarPolicy({ policies: 'permit (principal, action, resource);', tools })),
    acp: await codeOf(() => serveAcp({ open: () => asked(far).open('far') }, pipes)),
  };
  console.log(JSON.stringify({ reason, text, denied, got, missing }));
}
main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
