/** What the suite's scenarios of the tasks extension call: agents whose calls take long, ask, or fail. */
import { setTimeout as pause } from 'node:timers/promises';
import type { McpTaskOptions } from '../../../src/host/mcp/index.ts';
import type { AgentSource, AnyTool, ContentPart, Model } from '../../../src/index.ts';
import { defineTool, LlmAgent, textOfParts } from '../../../src/index.ts';
import { askingAgent } from './asking-agent.ts';

/** `required`, so that a busy machine changes nothing: what has `optional` is slow by far, or fast either way. */
export const tasks: McpTaskOptions = {
  afterMs: 300,
  support: {
    greet: 'forbidden',
    failing_job: 'required',
    protocol_error_job: 'required',
    confirm_delete: 'required',
    multi_input: 'required',
  },
};

type Args = Record<string, unknown>;
type Round = (args: Args) => ContentPart[];

const text = (words: string): ContentPart => ({ type: 'text', text: words });
const call = (name: string, args: Args, id = name): ContentPart => ({ type: 'function_call', id, name, args });

/** Plays one round after another: what it was called with and what its tools have said so far. */
function player(...rounds: Round[]): Model {
  return {
    name: 'player',
    async *generate({ contents }) {
      const [asked] = contents.filter(({ role }) => role === 'user');
      const round = rounds[contents.filter(({ role }) => role === 'model').length] ?? (() => [text('done')]);
      const parts = round(JSON.parse(textOfParts((asked?.parts ?? []) as ContentPart[])) as Args);
      const isCall = parts.some(({ type }) => type === 'function_call');
      yield { content: { role: 'model', parts }, turnComplete: true, finishReason: isCall ? 'tool_calls' : 'stop' };
    },
  };
}

const schemaOf = (properties: Args) => ({ type: 'object', properties });

const sleep = defineTool({
  name: 'sleep',
  description: 'Sleeps.',
  annotations: { readOnly: true },
  inputSchema: { type: 'object', properties: { seconds: { type: 'number' } }, required: ['seconds'] },
  execute: ({ seconds }, { signal }) => pause(seconds * 1000, 'slept', { signal }),
});

const ask = (name: string, properties: Args) =>
  defineTool({
    name,
    description: 'Asks.',
    annotations: { readOnly: true },
    inputSchema: { type: 'object' },
    execute: async (_, context) => {
      const reply = await context.elicit?.({ message: 'Please answer', requestedSchema: schemaOf(properties) });
      return reply?.content ?? 'no answer';
    },
  });

const name = { type: 'string' };
const confirm = { type: 'boolean' };

export const taskTools: AnyTool[] = [sleep, ask('ask_confirm', { confirm }), ask('ask_both', { name, confirm })];

export function taskAgents(): (LlmAgent | AgentSource)[] {
  const agent = (name: string, model: Model, properties: Args = {}) =>
    new LlmAgent({ name, description: `Plays ${name}.`, model, inputSchema: schemaOf(properties) });
  return [
    agent(
      'greet',
      player((args) => [text(`Hello, ${String(args.name)}!`)]),
      { name },
    ),
    agent(
      'slow_compute',
      player(
        ({ seconds }) => [seconds === 0 ? text('computed') : call('sleep', { seconds })],
        () => [text('computed')],
      ),
      { seconds: { type: 'number' }, label: { type: 'string' } },
    ),
    agent(
      'failing_job',
      player(
        () => [call('sleep', { seconds: 1 })],
        () => {
          throw new Error('the job failed');
        },
      ),
    ),
    new LlmAgent({
      name: 'protocol_error_job',
      description: 'Its host breaks.',
      model: player(),
      inputSchema: schemaOf({}),
      beforeModel: () => {
        throw new Error('a hook panics');
      },
    }),
    agent(
      'confirm_delete',
      player(() => [call('ask_confirm', {})]),
      { filename: name },
    ),
    agent(
      'multi_input',
      player(() => [call('ask_both', {}, 'one'), call('ask_both', {}, 'two')]),
    ),
    askingAgent('test_tool_with_task'),
  ];
}
