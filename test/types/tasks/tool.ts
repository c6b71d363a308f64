import { allowAll, createHost, defineTool, LlmAgent, run } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { libraries } from './schemas.ts';

const { zod, valibot, arktype } = libraries;
const about = { name: 'read_note', description: 'Reads a note.', annotations: { readOnly: true } } as const;
const model = () => new ScriptedModel([{ calls: [['read_note', { name: 'a' }]] }, 'It says a.']);

/** 1 Define a tool: what its handler takes and gives is what its schemas say, in each library. */
export const tools = {
  zod: defineTool({ ...about, inputSchema: zod.name, outputSchema: zod.text, execute: ({ name }) => ({ text: name }) }),
  'zod 3': defineTool({
    ...about,
    inputSchema: libraries['zod 3'].name,
    outputSchema: libraries['zod 3'].text,
    execute: ({ name }) => ({ text: name }),
  }),
  valibot: defineTool({
    ...about,
    inputSchema: valibot.name,
    outputSchema: valibot.text,
    execute: ({ name }) => ({ text: name }),
  }),
  arktype: defineTool({
    ...about,
    inputSchema: arktype.name,
    outputSchema: arktype.text,
    execute: ({ name }) => ({ text: name }),
  }),
  'JSON Schema': defineTool({
    ...about,
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    outputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    execute: ({ name }) => ({ text: name }),
  }),
};

export async function readNote(tool: (typeof tools)[keyof typeof tools]): Promise<string> {
  const agent = new LlmAgent({ name: 'bot', model: model() });
  const host = createHost({ app: 'notes', agents: [agent], tools: [tool], policy: allowAll() });
  const { text, denied } = await run(await host.open('bot'), 'What does note a say?');
  return `${text} ${denied.length} denied`;
}

/** What does not compile; never run. */
export function wrong(): void {
  // @ts-expect-error no such argument
  defineTool({ ...about, inputSchema: zod.name, execute: ({ nmae }) => nmae });
  // @ts-expect-error no such argument of valibot's
  defineTool({ ...about, inputSchema: valibot.name, execute: ({ nmae }) => nmae });
  // @ts-expect-error no such argument of arktype's
  defineTool({ ...about, inputSchema: arktype.name, execute: ({ nmae }) => nmae });
  // @ts-expect-error not what it promises
  defineTool({ ...about, inputSchema: zod.name, outputSchema: zod.text, execute: ({ name }) => ({ txt: name }) });
  // @ts-expect-error not what it promises, as valibot says it
  defineTool({ ...about, inputSchema: zod.name, outputSchema: valibot.text, execute: ({ name }) => ({ txt: name }) });
  // @ts-expect-error a host has no state to give
  defineTool({ ...about, inputSchema: zod.name, execute: (_, { state }) => state.get('a') });
}
