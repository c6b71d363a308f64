import { appendFileSync } from 'node:fs';
import type { AgentModule, AgentModuleContext, Model } from 'coxswain';
import { defineTool, LlmAgent } from 'coxswain';
import { offlineModel } from './offline-model.ts';

export const saveNote = defineTool({
  name: 'save_note',
  description: 'Adds a line to notes.txt.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  // What the person who approves sees.
  preview: ({ text }) => [{ type: 'text', text: `+ ${text}` }],
  execute: ({ text }) => {
    appendFileSync('notes.txt', `${text}\n`);
    return `saved: ${text}`;
  },
});

export const notesAgent = (model: Model) =>
  new LlmAgent({ name: 'notes', model, instruction: 'You keep notes. Save what the user asks you to keep.' });

/** What `coxswain run` loads. `model` is the one of `--model` or of a key in the environment. */
export default ({ model = offlineModel() }: AgentModuleContext): AgentModule => ({
  agent: notesAgent(model),
  tools: [saveNote],
  examples: ['Buy oil for the boat.'],
});
