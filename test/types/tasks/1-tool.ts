import { allowAll, createHost, defineTool, LlmAgent, runOrThrow } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import { name as nameSchema, text as textSchema } from './schemas.ts';

// #region task
const readNote = defineTool({
  name: 'read_note',
  description: 'Reads a note.',
  inputSchema: nameSchema,
  outputSchema: textSchema,
  execute: async ({ name }) => ({ text: `Note ${name}.` }),
});
// #endregion

const model = new ScriptedModel([{ calls: [['read_note', { name: 'a' }]] }, 'It says a.']);
const agents = [new LlmAgent({ name: 'bot', model })];
const host = createHost({ app: 'notes', agents, tools: [readNote], policy: allowAll() });
const { text, denied } = await runOrThrow(await host.open('bot'), 'What does note a say?');
console.log(text, denied);
await host.close();
