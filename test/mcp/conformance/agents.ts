import type { AgentHost, ContentPart, Model } from '../../../src/index.ts';
import { createHost, InMemorySessionService, LlmAgent } from '../../../src/index.ts';
import { taskAgents, taskTools } from './task-agents.ts';

/** One pixel, and a sound of no length. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

export const pixel = png;

type Step = ContentPart[] | Error;

/** Says the steps one after the other; a step ends with a call or is the answer. */
function actor(steps: readonly Step[]): Model {
  return {
    name: 'actor',
    async *generate({ contents }) {
      const step = steps[contents.filter(({ role }) => role === 'model').length % steps.length] ?? [];
      if (step instanceof Error) throw step;
      const isCall = step.some(({ type }) => type === 'function_call');
      yield {
        content: { role: 'model', parts: [...step] },
        turnComplete: true,
        finishReason: isCall ? 'tool_calls' : 'stop',
      };
    },
  };
}

const text = (words: string): ContentPart => ({ type: 'text', text: words });
const call = (name: string): ContentPart => ({ type: 'function_call', id: name, name, args: {} });
const image: ContentPart = { type: 'media', mimeType: 'image/png', data: png };
const resource = (uri: string, mimeType: string, words: string): ContentPart => {
  return { type: 'reference', uri, mimeType, text: words };
};

/** What the suite calls and an agent can be. */
const scenes: Record<string, Step[]> = {
  test_simple_text: [[text('This is a simple text response for testing.')]],
  test_image_content: [[image]],
  test_audio_content: [[{ type: 'media', mimeType: 'audio/wav', data: wav }]],
  test_embedded_resource: [
    [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  ],
  test_multiple_content_types: [
    [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  ],
  test_error_handling: [new Error('This tool intentionally returns an error for testing')],
  test_tool_with_progress: [[call('look')], [call('look')], [text('looked twice')]],
  test_input_required_result_request_state: [[call('act')], [text('state-ok')]],
  test_input_required_result_tampered_state: [[call('act')], [text('done')]],
  test_input_required_result_multi_round: [[call('act')], [call('act')], [text('done')]],
};

/** Agents whose own input schemas say more than types. */
const schemas: Record<string, Record<string, unknown>> = {
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
  header_tool: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
};

const tool = (name: string, readOnly: boolean) => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  annotations: { readOnly },
  execute: () => 'done',
});

const agent = (name: string, steps: Step[], inputSchema: Record<string, unknown>) =>
  new LlmAgent({ name, description: `Plays ${name}.`, model: actor(steps), inputSchema });

export function conformanceHost(): AgentHost {
  return createHost({
    app: 'conformance',
    agents: [
      ...taskAgents(),
      ...Object.entries(scenes).map(([name, steps]) => agent(name, steps, { type: 'object', properties: {} })),
      ...Object.entries(schemas).map(([name, schema]) => agent(name, [[text('done')]], schema)),
    ],
    tools: [tool('look', true), tool('act', false), ...taskTools],
    store: new InMemorySessionService(),
    warn: () => {},
  });
}
