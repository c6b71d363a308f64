import type { AuthProvider, JSONRPCMessage, OAuthClientProvider } from '@modelcontextprotocol/client';
import { boundedFetch } from './bounded.ts';
import { hearFirst } from './heard.ts';
import type { McpSdk } from './sdk.ts';

export type HttpTransport = InstanceType<McpSdk['StreamableHTTPClientTransport']>;
type Send = Parameters<HttpTransport['send']>;

/** Found as `data` of a request's error, by identity: no server can send it. */
export const UNANSWERED: Readonly<Record<string, never>> = Object.freeze({});

/**
 * Streamable HTTP whose requests fail when their response stream has ended without a response, and could not be
 * resumed: left alone they wait for their timer.
 */
export function httpTransport(
  sdk: McpSdk,
  url: URL,
  options: {
    headers: Record<string, string>;
    authProvider: AuthProvider | OAuthClientProvider | undefined;
    hear: (message: JSONRPCMessage) => unknown;
  },
): HttpTransport {
  const { headers, authProvider, hear } = options;
  return new (class extends sdk.StreamableHTTPClientTransport {
    readonly #open = new Set<string | number>();

    constructor() {
      super(url, { requestInit: { headers }, fetch: boundedFetch, ...(authProvider ? { authProvider } : {}) });
      hearFirst(this, (message) => {
        if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id);
        return hear(message);
      });
    }

    override async send(message: Send[0], given?: Send[1]): Promise<void> {
      const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined;
      if (id === undefined || given?.onRequestStreamEnd) return super.send(message, given);
      this.#open.add(id);
      try {
        await super.send(message, { ...given, onRequestStreamEnd: () => this.#ended(id) });
      } catch (error) {
        this.#open.delete(id);
        throw error;
      }
    }

    #ended(id: string | number): void {
      if (!this.#open.delete(id)) return;
      const error = { code: -32_000, message: 'the response stream ended without a response', data: UNANSWERED };
      this.onmessage?.({ jsonrpc: '2.0', id, error });
    }
  })();
}
