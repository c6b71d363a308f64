import type { GenerateContentResponse, GoogleGenAI } from '@google/genai';
import type { Model } from '../../../runtime/index.ts';
import { declareTools } from '../../schema/index.ts';
import type { Fetch, ModelOptions } from '../wire/index.ts';
import { checkModel, exchange, modelShape, notInstalled, providerName, toldOf } from '../wire/index.ts';
import { GeminiDecoder } from './decode.ts';
import { geminiConfig, geminiContents } from './encode.ts';

export interface GeminiOptions extends ModelOptions {}

const OWN_URL = 'https://generativelanguage.googleapis.com';
const ownHosts = /(^|\.)googleapis\.com$/;

/**
 * A Gemini model behind generateContent.
 * @throws CoxswainError `FAILED_PRECONDITION / E_MODEL_SETUP` without a key where one is needed, or a baseUrl that is none
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 * import { geminiModel } from 'coxswain/models';
 *
 * const model = geminiModel('gemini-2.5-flash', { apiKey: process.env.GEMINI_API_KEY ?? '' });
 * new LlmAgent({ name: 'clerk', model });
 * ```
 */
export function geminiModel(name: string, options: GeminiOptions = {}): Model {
  checkModel(name, options, 'geminiModel', modelShape);
  const provider = providerName('gemini', options, ownHosts);
  const settings = { provider, config: options.config };
  let loading: Promise<GoogleGenAI> | undefined;
  return {
    name,
    ...toldOf('gcp.gemini', OWN_URL, options),
    generate(request, call) {
      const tools = declareTools(request.tools, 'gemini');
      const named = { ...request, model: request.model || name };
      const contents = geminiContents(named, tools, provider);
      return exchange<GenerateContentResponse, GeminiDecoder>(
        {
          provider,
          model: request.model || name,
          options,
          namedEvents: false,
          decoder: (counter) => new GeminiDecoder(provider, tools, counter),
          async open(wire) {
            loading ??= client(options);
            const { models } = await loading;
            const config = {
              ...geminiConfig(named, tools, settings),
              abortSignal: wire.signal,
              httpOptions: { fetch: options.apiKey === undefined ? withoutKey(wire.fetch) : wire.fetch },
            };
            const params = { model: named.model, contents, config };
            return wire.stream ? models.generateContentStream(params) : models.generateContent(params);
          },
        },
        call,
      );
    },
  };
}

/** The SDK insists on a key; a server that needs none is sent none. */
function withoutKey(fetch: Fetch): Fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    if (headers.get('x-goog-api-key') === NO_KEY) headers.delete('x-goog-api-key');
    return fetch(input, { ...init, headers });
  };
}

const NO_KEY = 'none';

/** The SDK's client, which is loaded with the first request. It reads no setting that is given here elsewhere. */
async function client({ apiKey, baseUrl = OWN_URL, headers }: ModelOptions): Promise<GoogleGenAI> {
  const { GoogleGenAI: Client } = await load();
  // A base address may end in the version of the API, as it does for other providers.
  const [, base = baseUrl, version = 'v1beta'] = /^(.*?)\/(v\d\w*)\/?$/.exec(baseUrl) ?? [];
  return new Client({
    apiKey: apiKey ?? NO_KEY,
    vertexai: false,
    apiVersion: version,
    httpOptions: { baseUrl: base, apiVersion: version, ...(headers ? { headers: { ...headers } } : {}) },
  });
}

async function load(): Promise<typeof import('@google/genai')> {
  try {
    return await import('@google/genai');
  } catch (cause) {
    throw notInstalled('@google/genai', cause);
  }
}
