import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { CoxswainError } from '../../../contracts/index.ts';
import type { Model } from '../../../runtime/index.ts';
import type { Shape } from '../../../session/index.ts';
import { amount, checkIs, checkOptions, having, oneOf } from '../../../session/index.ts';
import { declareTools } from '../../schema/index.ts';
import type { CacheLife } from '../content/index.ts';
import { CACHE_LIVES, cacheMark } from '../content/index.ts';
import type { ModelOptions, Wire } from '../wire/index.ts';
import { checkRetry, exchange, modelShape, windowOf } from '../wire/index.ts';
import { markPrompt } from './cache-marks.ts';
import type { AiSdkChunk } from './decode.ts';
import { AiSdkDecoder } from './decode.ts';
import { callOptions, withBegun } from './encode.ts';
import { isUnsupported, sdkFailureOf } from './failure.ts';
import { fileForm } from './files.ts';

/** A language model of the AI SDK, as far as it is looked at: what `openai('gpt-5')` of `@ai-sdk/openai` returns, say. */
export interface LanguageModel {
  readonly specificationVersion: string;
  /** As `anthropic.messages`. */
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls?: unknown;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** Address, key, headers and `fetch` are set where the language model is made. */
export interface AiSdkOptions extends Pick<ModelOptions, 'timeoutMs' | 'retry' | 'provider' | 'prices' | 'config'> {
  /**
   * What an answer is that ends without a reason for its end, as a cut stream does. `accept`: for a provider that never
   * gives one. Default `fail`.
   */
  unmarkedEnd?: 'fail' | 'accept';
  /** Tokens that a request to it may have. Default: as far as models are known by their names; where it is not, nothing is compacted. */
  contextWindow?: number;
  /** As that of `anthropicModel`, for Claude behind Anthropic's own API or Vertex. Default `auto`. */
  cache?: CacheLife;
}

const shape: Shape<AiSdkOptions> = {
  timeoutMs: modelShape.timeoutMs,
  retry: modelShape.retry,
  provider: modelShape.provider,
  prices: modelShape.prices,
  config: modelShape.config,
  unmarkedEnd: oneOf('fail', 'accept'),
  cache: oneOf(...CACHE_LIVES),
  contextWindow: amount,
};
const languageModel = {
  needs: 'a language model of the AI SDK, as the function of one of its providers returns it',
  fits: having('doGenerate', 'doStream').fits,
};
/** Of AI SDK 5, 6 and 7. */
const versions: readonly string[] = ['v2', 'v3', 'v4'];

/** Providers that keep what is marked. */
const marksCache = /anthropic/;

/** Providers that take a picture inside a tool's result; to another it goes beside. */
const nesting = /^(google|anthropic|vertex)|\.responses$/;

/**
 * A language model of the AI SDK (`@ai-sdk/*` and what others make for it) as a model of agents here. Settings that only its
 * provider knows are given as `config: { providerOptions }`.
 * @throws CoxswainError `FAILED_PRECONDITION / E_MODEL_SETUP` for a model of another version of the AI SDK; a call of it
 *   `NOT_FOUND / E_NO_MODEL` under another name
 * @example
 * ```ts
 * import { createAnthropic } from '@ai-sdk/anthropic';
 * import { LlmAgent } from 'coxswain';
 * import { aiSdkModel } from 'coxswain/models';
 *
 * const anthropic = createAnthropic({ apiKey: process.env.ANTHROPIC_API_KEY ?? '' });
 * new LlmAgent({ name: 'clerk', model: aiSdkModel(anthropic('claude-sonnet-5')) });
 * ```
 */
export function aiSdkModel(model: LanguageModel, options: AiSdkOptions = {}): Model {
  checkIs(model, 'aiSdkModel: model', languageModel);
  checkOptions<AiSdkOptions>(options, 'aiSdkModel: options', shape);
  checkRetry(options.retry, 'aiSdkModel');
  const { specificationVersion: version, modelId, provider: vendor } = model;
  if (!versions.includes(version)) {
    const message = `model ${modelId} has version ${version} of the AI SDK's interface; ${versions.join(', ')} are known: take a version of its package for AI SDK 5, 6 or 7`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_MODEL_SETUP', message);
  }
  const asked = model as LanguageModelV4;
  const provider = options.provider ?? `ai-sdk:${vendor}`;
  return {
    name: modelId,
    system: systemOf(vendor),
    contextWindow: options.contextWindow === undefined ? windowOf : () => options.contextWindow,
    generate(request, call) {
      if (request.model !== '' && request.model !== modelId) throw otherModel(modelId, request.model);
      const tools = declareTools(request.tools, 'ai-sdk');
      const facts = { hasTools: tools.tools.length > 0, pauses: call.pauses ?? false };
      const mark = marksCache.test(vendor) ? cacheMark(options.cache ?? 'auto', facts) : undefined;
      const nests = version === 'v4' && nesting.test(vendor);
      const settings = { provider, config: options.config, files: fileForm(version), nests };
      return exchange<AiSdkChunk, AiSdkDecoder>(
        {
          provider: vendor,
          model: modelId,
          options,
          namedEvents: false,
          decoder: (counter) => new AiSdkDecoder(provider, tools, counter, options.unmarkedEnd === 'accept'),
          async open(wire, decoder) {
            const urls = await asked.supportedUrls;
            for (let level = 0; ; level++) {
              const params = callOptions({ ...request, model: modelId }, tools, { ...settings, urls, level });
              if (mark) markPrompt(params, mark);
              withBegun(params, decoder.parts, tools, settings);
              try {
                return await answerOf(asked, { ...params, abortSignal: wire.signal }, wire);
              } catch (thrown) {
                // What this provider does not take is said by the model only: without it the session goes on.
                if (level < 2 && isUnsupported(thrown) && !wire.signal.aborted) continue;
                wire.fail(sdkFailureOf(thrown));
                throw thrown;
              }
            }
          },
        },
        call,
      );
    },
  };
}

/** It was made for one: another name means another model, which would be asked in no way that could be seen. */
function otherModel(name: string, wanted: string): CoxswainError {
  const message = `the model ${name} of the AI SDK cannot be asked as ${wanted}; make one of that name, and find it by name in a registry`;
  return new CoxswainError('NOT_FOUND', 'E_NO_MODEL', message);
}

async function answerOf(
  model: LanguageModelV4,
  params: Parameters<LanguageModelV4['doStream']>[0],
  wire: Wire,
): Promise<AiSdkChunk | AsyncIterable<AiSdkChunk>> {
  if (!wire.stream) {
    const { content, finishReason, usage, response } = await wire.wait(model.doGenerate(params));
    return { type: 'whole', content, finishReason, usage, ...(response ? { response } : {}) };
  }
  const { stream } = await wire.wait(model.doStream(params));
  return chunksOf(stream, wire);
}

async function* chunksOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  wire: Wire,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await wire.wait(reader.read());
      if (done) return;
      if (value.type === 'error') {
        wire.fail(sdkFailureOf(value.error));
        return;
      }
      yield value;
    }
  } catch (thrown) {
    wire.fail(sdkFailureOf(thrown));
    throw thrown;
  } finally {
    // The answer is over, one way or another: how its source takes that changes nothing.
    reader.cancel().catch(() => {});
  }
}

/** Providers by the first words of their names there, as telemetry calls them. */
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/^google\.vertex|^vertex|^google-vertex/, 'gcp.vertex_ai'],
  [/^google/, 'gcp.gemini'],
  [/^amazon-bedrock|^bedrock/, 'aws.bedrock'],
  [/^azure/, 'azure.ai.openai'],
  [/^mistral/, 'mistral_ai'],
  [/^moonshot/, 'moonshot_ai'],
  [/^xai/, 'x_ai'],
];

function systemOf(vendor: string): string {
  return SYSTEMS.find(([names]) => names.test(vendor))?.[1] ?? vendor.split('.')[0] ?? vendor;
}
