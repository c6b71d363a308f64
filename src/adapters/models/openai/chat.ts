import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import type { Model } from '../../../runtime/index.ts';
import type { Shape } from '../../../session/index.ts';
import { flag, oneOf } from '../../../session/index.ts';
import { declareTools } from '../../schema/index.ts';
import type { ModelOptions } from '../wire/index.ts';
import { checkModel, exchange, modelShape, providerName, toldOf } from '../wire/index.ts';
import type { ChatChunk } from './chat-decode.ts';
import { ChatDecoder } from './chat-decode.ts';
import type { ChatSettings } from './chat-encode.ts';
import { chatBody } from './chat-encode.ts';
import { OWN_URL, openaiClients, openaiHosts } from './client.ts';

export interface OpenAIChatOptions extends ModelOptions {
  /** Strict mode for the tools whose schema it can express. Default false: not every server knows it. */
  strictTools?: boolean;
  /** Ask for token counts while streaming. Default true. */
  streamUsage?: boolean;
  /**
   * Send reasoning back with the assistant's messages. Default `auto`: to a provider that sent some in this history,
   * or that is known to insist on it.
   */
  replayReasoning?: 'auto' | 'always' | 'never';
  /**
   * A stream that ends properly, but with neither a finish reason nor `[DONE]`. Default `fail`: it was broken off.
   * `accept`: this server never marks the end of its answers; one that was broken off is then taken for whole.
   */
  unmarkedEnd?: 'fail' | 'accept';
}

const shape: Shape<OpenAIChatOptions> = {
  ...modelShape,
  strictTools: flag,
  streamUsage: flag,
  replayReasoning: oneOf('auto', 'always', 'never'),
  unmarkedEnd: oneOf('fail', 'accept'),
};

/**
 * A model behind Chat Completions: OpenAI's, or any compatible server by its `baseUrl`.
 * @throws CoxswainError `FAILED_PRECONDITION / E_MODEL_SETUP` without a key where one is needed, or a baseUrl that is none
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 * import { openaiChatModel } from 'coxswain/models';
 *
 * const model = openaiChatModel('gpt-5', { apiKey: process.env.OPENAI_API_KEY ?? '' });
 * new LlmAgent({ name: 'clerk', model });
 * ```
 */
export function openaiChatModel(name: string, options: OpenAIChatOptions = {}): Model {
  checkModel(name, options, 'openaiChatModel', shape);
  const provider = providerName('openai', options, openaiHosts);
  const clientFor = openaiClients(options);
  const settings: ChatSettings = {
    provider,
    official: options.baseUrl === undefined || openaiHosts.test(new URL(options.baseUrl).host),
    replayReasoning: options.replayReasoning ?? 'auto',
    streamUsage: options.streamUsage ?? true,
    config: options.config,
  };
  return {
    name,
    ...toldOf('openai', OWN_URL, options),
    generate(request, call) {
      const tools = declareTools(request.tools, options.strictTools ? 'openai-strict' : 'openai');
      const body = chatBody({ ...request, model: request.model || name }, tools, settings, call.stream);
      return exchange<ChatChunk, ChatDecoder>(
        {
          provider,
          model: request.model || name,
          options,
          namedEvents: true,
          decoder: (counter) => new ChatDecoder(provider, tools, counter, options.unmarkedEnd),
          async open(wire) {
            const client = await clientFor(wire);
            // The body is ours to answer for: compatible servers know fields that the SDK's types do not.
            const params = body as unknown as ChatCompletionCreateParamsNonStreaming;
            const answer: unknown = await client.chat.completions.create(params, { signal: wire.signal });
            return answer as ChatChunk | AsyncIterable<ChatChunk>;
          },
        },
        call,
      );
    },
  };
}
