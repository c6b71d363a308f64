import type Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsNonStreaming, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { Model } from '../../../runtime/index.ts';
import type { Shape } from '../../../session/index.ts';
import { amount, oneOf } from '../../../session/index.ts';
import { declareTools } from '../../schema/index.ts';
import type { CacheLife } from '../content/index.ts';
import { CACHE_LIVES } from '../content/index.ts';
import type { ModelOptions, Wire } from '../wire/index.ts';
import { checkModel, exchange, modelShape, notInstalled, providerName, toldOf } from '../wire/index.ts';
import { COMPACTION_BETA, hasCompaction } from './compaction.ts';
import type { AnthropicChunk } from './decode.ts';
import { AnthropicDecoder } from './decode.ts';
import { assistantBlocks, messagesBody } from './encode.ts';

export interface AnthropicOptions extends ModelOptions {
  /** Tokens of output where a request sets no `maxOutputTokens`. Default 8,192. */
  maxTokens?: number;
  /**
   * How long the provider keeps the beginning of a request, which the next one repeats: `5m`, `1h` (its writes cost more), `none`, or
   * `auto`: five minutes where there are tools, an hour in a turn in which a person is asked. Default `auto`.
   */
  cache?: CacheLife;
  /**
   * Tokens of a request, 50,000 at least, from which on the provider sums up what is older by itself; its summary is a part of the answer
   * and goes back to it alone. Default: it does not.
   */
  compactAt?: number;
}

const OWN_URL = 'https://api.anthropic.com';
const ownHosts = /(^|\.)anthropic\.com$/;

const shape: Shape<AnthropicOptions> = {
  ...modelShape,
  maxTokens: amount,
  cache: oneOf(...CACHE_LIVES),
  compactAt: amount,
};

/**
 * A Claude model behind the Messages API.
 * @throws CoxswainError `FAILED_PRECONDITION / E_MODEL_SETUP` without a key where one is needed, or a baseUrl that is none
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 * import { anthropicModel } from 'coxswain/models';
 *
 * const model = anthropicModel('claude-sonnet-5', { apiKey: process.env.ANTHROPIC_API_KEY ?? '' });
 * new LlmAgent({ name: 'clerk', model });
 * ```
 */
export function anthropicModel(name: string, options: AnthropicOptions = {}): Model {
  checkModel(name, options, 'anthropicModel', shape);
  const provider = providerName('anthropic', options, ownHosts);
  const clientFor = clients(options);
  const settings = {
    provider,
    maxTokens: options.maxTokens ?? 8192,
    cache: options.cache ?? 'auto',
    config: options.config,
    compactAt: options.compactAt,
  };
  return {
    name,
    ...toldOf('anthropic', OWN_URL, options),
    generate(request, call) {
      const tools = declareTools(request.tools, 'anthropic');
      const body = messagesBody({ ...request, model: request.model || name }, tools, settings, call);
      return exchange<AnthropicChunk, AnthropicDecoder>(
        {
          provider,
          model: request.model || name,
          options,
          namedEvents: true,
          decoder: (counter) => new AnthropicDecoder(provider, tools, counter),
          async open(wire, decoder) {
            const client = await clientFor(wire);
            const begun = assistantBlocks(decoder.parts, tools, provider);
            const messages: MessageParam[] =
              begun.length === 0 ? body.messages : [...body.messages, { role: 'assistant', content: begun }];
            const params = { ...body, messages } as unknown as MessageCreateParamsNonStreaming;
            const how = { signal: wire.signal, timeout: NO_TIMEOUT };
            const answer: unknown =
              options.compactAt === undefined && !hasCompaction(messages)
                ? await client.messages.create(params, how)
                : await client.beta.messages.create({ ...params, betas: betasIn(options.headers) } as never, how);
            return answer as AnthropicChunk | AsyncIterable<AnthropicChunk>;
          },
        },
        call,
      );
    },
  };
}

/** What is asked for in the header of that name goes along: the SDK would put ours in its place. */
function betasIn(headers: ModelOptions['headers'] = {}): string[] {
  const own = Object.entries(headers).find(([name]) => name.toLowerCase() === 'anthropic-beta')?.[1] ?? '';
  const betas = own.split(',').map((beta) => beta.trim());
  return [...new Set([...betas.filter((beta) => beta !== ''), COMPACTION_BETA])];
}

/** The wire has its own limit; the SDK's must not come first. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** Makes clients of the SDK, which is loaded with the first. Its own retries, log and spans are off, and
 * it takes no key from the environment. */
function clients(options: ModelOptions): (wire: Wire) => Promise<Anthropic> {
  let loading: Promise<typeof Anthropic> | undefined;
  return async (wire) => {
    loading ??= load();
    const Client = await loading;
    const { apiKey, baseUrl = OWN_URL, headers } = options;
    return new Client({
      apiKey: apiKey ?? 'none',
      baseURL: baseUrl,
      webhookKey: null,
      // In the header that every server of this API knows; one without keys is sent none.
      defaultHeaders: { authorization: null, 'x-api-key': apiKey ?? null, ...headers },
      maxRetries: 0,
      logLevel: 'off',
      openTelemetry: false,
      fetch: wire.fetch,
    });
  };
}

async function load(): Promise<typeof Anthropic> {
  try {
    return (await import('@anthropic-ai/sdk')).default;
  } catch (cause) {
    throw notInstalled('@anthropic-ai/sdk', cause);
  }
}
