import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses';
import type { Model } from '../../../runtime/index.ts';
import type { Shape } from '../../../session/index.ts';
import { amount, flag } from '../../../session/index.ts';
import { declareTools } from '../../schema/index.ts';
import type { ModelOptions } from '../wire/index.ts';
import { checkModel, exchange, modelShape, providerName, toldOf } from '../wire/index.ts';
import { OWN_URL, openaiClients, openaiHosts } from './client.ts';
import type { ResponsesChunk } from './responses-decode.ts';
import { ResponsesDecoder } from './responses-decode.ts';
import { responsesBody } from './responses-encode.ts';

export interface OpenAIResponsesOptions extends ModelOptions {
  /** Strict mode for the tools whose schema it can express. Default false. */
  strictTools?: boolean;
  /**
   * Tokens of a request from which on the provider sums up what is older by itself, in a form that only it reads. Default: it does
   * not.
   */
  compactAt?: number;
}

const shape: Shape<OpenAIResponsesOptions> = { ...modelShape, strictTools: flag, compactAt: amount };

/**
 * A model behind OpenAI's Responses API, without state at the provider: reasoning travels encrypted in the history.
 * @throws CoxswainError `FAILED_PRECONDITION / E_MODEL_SETUP` without a key where one is needed, or a baseUrl that is none
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 * import { openaiResponsesModel } from 'coxswain/models';
 *
 * const model = openaiResponsesModel('gpt-5', { apiKey: process.env.OPENAI_API_KEY ?? '' });
 * new LlmAgent({ name: 'clerk', model });
 * ```
 */
export function openaiResponsesModel(name: string, options: OpenAIResponsesOptions = {}): Model {
  checkModel(name, options, 'openaiResponsesModel', shape);
  const provider = providerName('openai-responses', options, openaiHosts);
  const clientFor = openaiClients(options);
  return {
    name,
    ...toldOf('openai', OWN_URL, options),
    generate(request, call) {
      const tools = declareTools(request.tools, options.strictTools ? 'openai-strict' : 'openai');
      const named = { ...request, model: request.model || name };
      const { config, compactAt } = options;
      const body = responsesBody(named, tools, { provider, config, compactAt }, call.stream);
      return exchange<ResponsesChunk, ResponsesDecoder>(
        {
          provider,
          model: request.model || name,
          options,
          namedEvents: true,
          decoder: (counter) => new ResponsesDecoder(provider, tools, counter),
          async open(wire) {
            const client = await clientFor(wire);
            const params = body as unknown as ResponseCreateParamsNonStreaming;
            const answer: unknown = await client.responses.create(params, { signal: wire.signal });
            return answer as ResponsesChunk | AsyncIterable<ResponsesChunk>;
          },
        },
        call,
      );
    },
  };
}
