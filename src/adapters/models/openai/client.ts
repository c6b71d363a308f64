import type OpenAI from 'openai';
import type { ModelOptions, Wire } from '../wire/index.ts';
import { notInstalled } from '../wire/index.ts';

export const OWN_URL = 'https://api.openai.com/v1';

export const openaiHosts = /(^|\.)openai\.com$/;

/** Makes clients of the SDK, which is loaded with the first. Its own retries and log are off, and it takes no key from the environment. */
export function openaiClients(options: ModelOptions): (wire: Wire) => Promise<OpenAI> {
  let loading: Promise<typeof OpenAI> | undefined;
  return async (wire) => {
    loading ??= load();
    const Client = await loading;
    const { apiKey, baseUrl = OWN_URL, headers } = options;
    return new Client({
      apiKey: apiKey ?? 'none',
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      baseURL: baseUrl,
      // A server without keys is sent none.
      defaultHeaders: { ...(apiKey === undefined ? { Authorization: null } : {}), ...headers },
      maxRetries: 0,
      // The wire has its own limit; this one must not come first.
      timeout: 2 ** 31 - 1,
      logLevel: 'off',
      fetch: wire.fetch,
    });
  };
}

async function load(): Promise<typeof OpenAI> {
  try {
    return (await import('openai')).default;
  } catch (cause) {
    throw notInstalled('openai', cause);
  }
}
