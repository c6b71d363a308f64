import { allowAll, createHost, LlmAgent, runOrThrow } from 'coxswain';
import { serveMcpHttp } from 'coxswain/server/mcp';
import { ScriptedModel } from 'coxswain/testing';
import { mcpToolset } from 'coxswain/tools/mcp';

// The server is a host, too: its agent is the tool.
const expert = new LlmAgent({ name: 'expert', description: 'Knows.', model: new ScriptedModel(['It is 7.']) });
const { url, close } = await serveMcpHttp(createHost({ app: 'far', agents: [expert] }), { port: 0 });
const model = new ScriptedModel([{ calls: [['expert', { message: 'What is it?' }]] }, 'It is 7, I am told.']);
const agents = [new LlmAgent({ name: 'bot', model })];

// #region task
const host = createHost({ app: 'near', agents, policy: allowAll(), toolProviders: [mcpToolset({ url })] });
// #endregion

const { text, denied } = await runOrThrow(await host.open('bot'), 'Ask the expert.');
console.log(text, denied);
await host.close();
await close();
