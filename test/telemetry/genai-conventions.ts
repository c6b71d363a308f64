/*
 * What the OpenTelemetry conventions for generative AI, version 0.1.0 (over the general ones, 1.45.0), say of the spans
 * and metrics that are told here: written down from the published text. Attributes of contents (messages, arguments,
 * results, descriptions) are opt-in there and are left out: they are never told.
 */

export const VERSION = '0.1.0';

export type Value = 'string' | 'string[]' | 'int' | 'double' | 'boolean';
/** `required`, or required where it is known. */
export type Level = 'required' | 'known';

export interface SpanConvention {
  kind: 'CLIENT' | 'INTERNAL';
  /** After the operation. */
  named: string;
  attributes: Readonly<Record<string, readonly [Level, Value]>>;
}

const server = { 'server.address': ['known', 'string'], 'server.port': ['known', 'int'] } as const;
const error = { 'error.type': ['known', 'string'] } as const;
const conversation = { 'gen_ai.conversation.id': ['known', 'string'] } as const;

export const SPANS: Readonly<Record<string, SpanConvention>> = {
  chat: {
    kind: 'CLIENT',
    named: 'gen_ai.request.model',
    attributes: {
      'gen_ai.operation.name': ['required', 'string'],
      'gen_ai.provider.name': ['required', 'string'],
      'gen_ai.request.model': ['known', 'string'],
      'gen_ai.request.stream': ['known', 'boolean'],
      'gen_ai.request.seed': ['known', 'int'],
      'gen_ai.request.top_k': ['known', 'int'],
      'gen_ai.request.top_p': ['known', 'double'],
      'gen_ai.request.temperature': ['known', 'double'],
      'gen_ai.request.max_tokens': ['known', 'int'],
      'gen_ai.request.frequency_penalty': ['known', 'double'],
      'gen_ai.request.presence_penalty': ['known', 'double'],
      'gen_ai.response.finish_reasons': ['known', 'string[]'],
      'gen_ai.response.id': ['known', 'string'],
      'gen_ai.response.model': ['known', 'string'],
      'gen_ai.response.time_to_first_chunk': ['known', 'double'],
      'gen_ai.usage.input_tokens': ['known', 'int'],
      'gen_ai.usage.output_tokens': ['known', 'int'],
      'gen_ai.usage.cache_read.input_tokens': ['known', 'int'],
      'gen_ai.usage.cache_write.input_tokens': ['known', 'int'],
      'gen_ai.usage.reasoning.output_tokens': ['known', 'int'],
      ...conversation,
      ...server,
      ...error,
    },
  },
  execute_tool: {
    kind: 'INTERNAL',
    named: 'gen_ai.tool.name',
    attributes: {
      'gen_ai.operation.name': ['required', 'string'],
      'gen_ai.tool.name': ['required', 'string'],
      'gen_ai.tool.call.id': ['known', 'string'],
      'gen_ai.tool.type': ['known', 'string'],
      'gen_ai.agent.name': ['known', 'string'],
      ...conversation,
      ...error,
    },
  },
  invoke_agent: {
    kind: 'INTERNAL',
    named: 'gen_ai.agent.name',
    attributes: {
      'gen_ai.operation.name': ['required', 'string'],
      'gen_ai.agent.name': ['known', 'string'],
      ...conversation,
      ...error,
    },
  },
};

export interface MetricConvention {
  instrument: 'histogram' | 'counter';
  unit: 's' | '{token}';
  boundaries?: readonly number[];
  required: readonly string[];
  /** Beside the required ones. */
  allowed: readonly string[];
  /** Not in this version, but in that of the general conventions 1.41 to 1.45, which backends read. */
  older?: true;
}

const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const agent = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
const client = ['gen_ai.operation.name', 'gen_ai.provider.name'];
const place = ['gen_ai.request.model', 'gen_ai.response.model', 'server.address', 'server.port'];

const usage: MetricConvention = {
  instrument: 'counter',
  unit: '{token}',
  required: [...client, 'gen_ai.token.modality'],
  allowed: place,
};
const duration: MetricConvention = {
  instrument: 'histogram',
  unit: 's',
  boundaries: seconds,
  required: client,
  allowed: [...place, 'error.type'],
};

export const METRICS: Readonly<Record<string, MetricConvention>> = {
  'gen_ai.client.inference.duration': duration,
  'gen_ai.client.inference.time_to_first_chunk': { ...duration, allowed: place },
  'gen_ai.client.inference.usage.input_tokens': usage,
  'gen_ai.client.inference.usage.output_tokens': usage,
  'gen_ai.client.inference.usage.cache_read.input_tokens': usage,
  'gen_ai.client.inference.usage.cache_write.input_tokens': usage,
  'gen_ai.client.inference.usage.reasoning.output_tokens': usage,
  'gen_ai.client.operation.duration': { ...duration, older: true },
  'gen_ai.client.token.usage': {
    instrument: 'histogram',
    unit: '{token}',
    boundaries: tokens,
    required: [...client, 'gen_ai.token.type'],
    allowed: place,
    older: true,
  },
  'gen_ai.execute_tool.duration': {
    instrument: 'histogram',
    unit: 's',
    boundaries: seconds,
    required: ['gen_ai.tool.name'],
    allowed: ['gen_ai.tool.type', 'gen_ai.agent.name', 'error.type'],
  },
  'gen_ai.invoke_agent.duration': {
    instrument: 'histogram',
    unit: 's',
    boundaries: agent,
    required: [],
    allowed: ['gen_ai.agent.name', 'error.type'],
  },
};

/** Values of `gen_ai.provider.name` that stand for one provider each. */
export const PROVIDERS = [
  'anthropic',
  'aws.bedrock',
  'azure.ai.inference',
  'azure.ai.openai',
  'cohere',
  'deepseek',
  'gcp.gemini',
  'gcp.gen_ai',
  'gcp.vertex_ai',
  'groq',
  'ibm.watsonx.ai',
  'mistral_ai',
  'moonshot_ai',
  'openai',
  'perplexity',
  'x_ai',
];
