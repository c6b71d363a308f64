import type { Client, Transport } from '@modelcontextprotocol/client';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { McpServer, McpToolsetOptions } from './mcp-options.ts';

type Sdk = typeof import('@modelcontextprotocol/client');

/** A connection to one server that is made when it is needed, and made again when it was lost. */
export class McpConnection {
  readonly name: string;
  readonly #server: McpServer;
  readonly #options: McpToolsetOptions;
  readonly #onToolsChanged: () => void;
  #client: Promise<Client> | undefined;
  #isClosed = false;

  constructor(name: string, server: McpServer, options: McpToolsetOptions, onToolsChanged: () => void) {
    this.name = name;
    this.#server = server;
    this.#options = options;
    this.#onToolsChanged = onToolsChanged;
  }

  /** @throws CoxswainError `UNAVAILABLE / E_MCP_SERVER`, `FAILED_PRECONDITION / E_SESSION_CLOSED` */
  async client(): Promise<Client> {
    if (this.#isClosed) {
      throw new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_CLOSED', `the toolset ${this.name} was closed`);
    }
    this.#client ??= this.#open();
    return this.#client;
  }

  #open(): Promise<Client> {
    const lost = () => {
      if (this.#client === opening) this.#client = undefined;
      this.#onToolsChanged();
    };
    const opening = this.#connect(lost);
    // The next one tries again; whoever waits for this one is told.
    opening.catch(lost);
    return opening;
  }

  /** What is known of the connection is not true any more. */
  drop(): void {
    const client = this.#client;
    this.#client = undefined;
    void client?.then(
      (open) => open.close(),
      () => {},
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.close();
  }

  async #connect(onclose: () => void): Promise<Client> {
    const sdk = await loadSdk();
    const { onElicitation, connectMs = 30_000 } = this.#options;
    const client = new sdk.Client(
      { name: 'coxswain', version: '0.0.0' },
      {
        capabilities: onElicitation ? { elicitation: { form: {}, url: {} } } : {},
        versionNegotiation: { mode: 'auto' },
        listChanged: { tools: { autoRefresh: false, onChanged: () => this.#onToolsChanged() } },
      },
    );
    if (onElicitation) this.#answer(client, onElicitation);
    try {
      await client.connect(await this.#transport(sdk), { timeout: connectMs });
    } catch (error) {
      await client.close().catch(() => {});
      const message = `the MCP server ${this.name} cannot be reached: ${messageOf(error)}`;
      throw new CoxswainError('UNAVAILABLE', 'E_MCP_SERVER', message, { retryable: true, cause: error });
    }
    client.onclose = onclose;
    return client;
  }

  async #transport(sdk: Sdk): Promise<Transport> {
    const server = this.#server;
    if ('url' in server) {
      const { url, headers, authProvider } = server;
      return new sdk.StreamableHTTPClientTransport(new URL(url), {
        ...(headers ? { requestInit: { headers: { ...headers } } } : {}),
        ...(authProvider ? { authProvider } : {}),
      });
    }
    const { StdioClientTransport, getDefaultEnvironment } = await import('@modelcontextprotocol/client/stdio');
    const { command, args = [], env, cwd, stderr = 'ignore' } = server;
    return new StdioClientTransport({
      command,
      args: [...args],
      env: { ...getDefaultEnvironment(), ...env },
      stderr,
      ...(cwd === undefined ? {} : { cwd }),
    });
  }

  #answer(client: Client, ask: NonNullable<McpToolsetOptions['onElicitation']>): void {
    client.setRequestHandler('elicitation/create', async ({ params }, context) => {
      const { signal } = context.mcpReq;
      const question = { server: this.name, message: params.message };
      const reply =
        params.mode === 'url'
          ? await ask({ ...question, url: params.url }, { signal })
          : await ask({ ...question, requestedSchema: { ...params.requestedSchema } }, { signal });
      const { action, content } = reply;
      return action === 'accept' && content ? { action, content } : { action };
    });
  }
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@modelcontextprotocol/client');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message = 'tools of MCP servers need one more package: npm install @modelcontextprotocol/client';
    throw new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message, { cause: error });
  }
}
