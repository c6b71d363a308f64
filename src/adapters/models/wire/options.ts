import type { PriceTable } from '../../../contracts/index.ts';
import type { Model } from '../../../runtime/index.ts';
import type { RetryOptions } from './retry.ts';
import { windowOf } from './windows.ts';

export type Fetch = typeof globalThis.fetch;

/** What every provider's model can be given. Credentials come from here only, never from the environment. */
export interface ModelOptions {
  apiKey?: string;
  /** Where the API is. Default the provider's own. */
  baseUrl?: string;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Milliseconds that may pass without a word of the response: until it begins, and between its pieces. Default
   * 300,000; 0 for no limit. Node's own `fetch` waits no longer than that, whatever is set here.
   */
  timeoutMs?: number;
  retry?: RetryOptions;
  fetch?: Fetch;
  /**
   * Under which name the provider's own state (signatures, reasoning, ids) is kept on parts; state of another name is
   * not sent. Default the API's name, with the host where it is not the provider's own.
   */
  provider?: string;
  /** USD per million tokens, by the name of the model as it is asked for or as it calls itself: answers then have their cost. */
  prices?: PriceTable;
  /** Generation settings of every request, below those of the request. */
  config?: Readonly<Record<string, unknown>>;
}

/** The API's name, made distinct for another host: its state means nothing to the provider itself. */
export function providerName(api: string, { provider, baseUrl }: ModelOptions, ownHosts: RegExp): string {
  if (provider !== undefined) return provider;
  if (baseUrl === undefined) return api;
  const { host } = new URL(baseUrl);
  return ownHosts.test(host) ? api : `${api}:${host}`;
}

/** Providers that are known by where they are, by their names in telemetry. */
const PROVIDERS: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)deepseek\.com$/, 'deepseek'],
  [/(^|\.)groq\.com$/, 'groq'],
  [/(^|\.)mistral\.ai$/, 'mistral_ai'],
  [/(^|\.)moonshot\.(ai|cn)$/, 'moonshot_ai'],
  [/(^|\.)perplexity\.ai$/, 'perplexity'],
  [/(^|\.)x\.ai$/, 'x_ai'],
  [/(^|\.)openai\.azure\.com$/, 'azure.ai.openai'],
  [/(^|\.)(services|inference)\.ai\.azure\.com$/, 'azure.ai.inference'],
  [/^bedrock[\w.-]*\.amazonaws\.com$/, 'aws.bedrock'],
  [/(^|-)aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
];

/**
 * What is known of a model: whose it is (`system`, unless its place says otherwise) and where it is asked, for telemetry; how
 * much a request to it may have.
 */
export function toldOf(system: string, ownUrl: string, { baseUrl = ownUrl }: ModelOptions): Partial<Model> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const known = PROVIDERS.find(([host]) => host.test(hostname));
  return {
    system: known?.[1] ?? system,
    contextWindow: windowOf,
    server: { address: hostname, port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) },
  };
}
