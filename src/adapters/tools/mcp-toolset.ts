import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import type { AnyTool, ProvidedTool, ToolCallContext, ToolProvider, ToolResult } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { describeTool, errorResult } from '../../gate/index.ts';
import type { Toolset } from '../../runtime/index.ts';
import { McpConnection } from './mcp-connection.ts';
import { toToolResult } from './mcp-content.ts';
import type { McpServer, McpToolsetOptions } from './mcp-options.ts';
import type { Server } from './mcp-tool.ts';
import { asTool, definitionDigest } from './mcp-tool.ts';

/**
 * The tools of one server: a toolset for an agent (`toolsets`) and a provider for a host (`toolProviders`). It
 * connects when it is first asked, and again after the connection was lost.
 */
export interface McpToolset extends Toolset, ToolProvider, AsyncDisposable {
  readonly name: string;
  /** @throws CoxswainError `UNAVAILABLE / E_MCP_SERVER` where they were never listed and cannot be */
  tools(): Promise<readonly AnyTool[]>;
  close(): Promise<void>;
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for a server that is neither a command nor a URL */
export function mcpToolset(options: McpServer & McpToolsetOptions): McpToolset {
  return new ServerTools(options, options);
}

const IDLE_MS = 300_000;

class ServerTools implements McpToolset {
  readonly name: string;
  readonly #connection: McpConnection;
  readonly #options: McpToolsetOptions;
  readonly #pins: NonNullable<McpToolsetOptions['pins']>;
  readonly #warn: (message: string, error?: unknown) => void;
  #tools: readonly AnyTool[] | undefined;
  #isStale = true;
  readonly #firstSeen = new Map<string, string>();
  /** What is offered, by the server's name of it. */
  readonly #definitions = new Map<string, Tool>();

  constructor(server: McpServer, options: McpToolsetOptions) {
    this.name = options.name ?? nameOf(server);
    this.#options = options;
    this.#pins = options.pins ?? new Map<string, string>();
    this.#warn = options.warn ?? warnOnStderr;
    this.#connection = new McpConnection(this.name, server, options, () => {
      this.#isStale = true;
    });
  }

  async tools(): Promise<readonly AnyTool[]> {
    if (this.#tools && !this.#isStale) return this.#tools;
    let listed: Tool[];
    try {
      // What changes from now on is another change.
      this.#isStale = false;
      const client = await this.#connection.client();
      listed = client.getServerCapabilities()?.tools ? (await client.listTools()).tools : [];
    } catch (error) {
      this.#isStale = true;
      if (!this.#tools) throw unreachable(this.name, error);
      // A call will try again, and say so if it cannot.
      this.#warn(`${this.name}: its tools could not be listed again`, error);
      return this.#tools;
    }
    this.#tools = this.#usable(listed);
    return this.#tools;
  }

  async getToolsForAgent(): Promise<ProvidedTool[]> {
    return (await this.tools()).map(({ needsApproval, preview, ...tool }) => ({
      ...describeTool(tool),
      ...(needsApproval === undefined ? {} : { needsApproval }),
      ...(preview ? { preview } : {}),
    }));
  }

  async execute(
    call: { callId: string; name: string; args: Record<string, unknown> },
    signal: AbortSignal,
    context?: ToolCallContext,
  ): Promise<unknown> {
    const name = call.name.slice(this.#options.prefix?.length ?? 0);
    return this.#call(name, call.args, { signal, progress: (update) => context?.progress(update) });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #server(): Server {
    return {
      name: this.name,
      options: this.#options,
      pinned: (name) => this.#pins.get(name),
      firstSeen: (name) => this.#firstSeen.get(name),
      current: async (name) => {
        await this.tools();
        return this.#definitions.get(name);
      },
      call: (name, args, context) => this.#call(name, args, context),
    };
  }

  #usable(listed: readonly Tool[]): AnyTool[] {
    const { include } = this.#options;
    this.#definitions.clear();
    return listed.flatMap((definition) => {
      if (include && !include(definition.name)) return [];
      this.#see(definition);
      const tool = asTool(definition, this.#server);
      try {
        describeTool(tool);
        this.#definitions.set(definition.name, definition);
        return [tool];
      } catch (error) {
        this.#warn(`${this.name}: its tool ${definition.name} is left out: ${messageOf(error)}`);
        return [];
      }
    });
  }

  /** On first sight a definition is taken as it is: policy judges it like any other. */
  #see(definition: Tool): void {
    const { name } = definition;
    const pinned = this.#pins.get(name) ?? definitionDigest(definition);
    if (this.#pins.get(name) === undefined) this.#pins.set(name, pinned);
    if (!this.#firstSeen.has(name)) this.#firstSeen.set(name, pinned);
  }

  async #call(
    name: string,
    args: Record<string, unknown>,
    { signal, progress }: Pick<ToolCallContext, 'signal' | 'progress'>,
  ): Promise<ToolResult> {
    const definition = this.#definitions.get(name);
    if (!definition) {
      throw new CoxswainError('NOT_FOUND', 'E_TOOL', `${this.name} has no tool ${name} any more`);
    }
    // It passed the gate as it is now.
    this.#pins.set(name, definitionDigest(definition));
    let client = await this.#connection.client();
    const send = () => this.#send(client, name, args, signal, progress);
    try {
      return toToolResult(await send());
    } catch (error) {
      if (signal.aborted) throw error;
      const lost = lostWith(error, this.name);
      if (lost) return lost;
      if (!isForgotten(error)) throw error;
      // The server does not know this session any more, so it has not run anything: once more in a new one.
      this.#connection.drop();
      client = await this.#connection.client();
      return toToolResult(await send());
    }
  }

  #send(
    client: Client,
    name: string,
    args: Record<string, unknown>,
    signal: AbortSignal,
    show: ToolCallContext['progress'],
  ): Promise<CallToolResult> {
    return client.callTool(
      { name, arguments: args },
      {
        signal,
        timeout: this.#options.idleMs ?? IDLE_MS,
        resetTimeoutOnProgress: true,
        onprogress: ({ progress, total, message }) =>
          show({
            progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { content: [{ type: 'text', text: message }] }),
          }),
      },
    );
  }
}

/** The call was sent and nothing came back: whether it ran nobody knows. */
function lostWith(error: unknown, name: string): ToolResult | undefined {
  const { code } = error as { code?: unknown };
  if (code === 'REQUEST_TIMEOUT') return errorResult('timeout', `${name} gave no sign of life; the call may have run`);
  if (code !== 'CONNECTION_CLOSED') return undefined;
  return errorResult('interrupted', `the connection to ${name} was lost; the call may have run`);
}

/** 404 to a request with a session id: it was refused before it was read. */
function isForgotten(error: unknown): boolean {
  const { status, data } = error as { status?: unknown; data?: { status?: unknown } };
  return status === 404 || data?.status === 404;
}

function unreachable(name: string, error: unknown): unknown {
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('E_')) return error;
  const message = `the tools of the MCP server ${name} cannot be listed: ${messageOf(error)}`;
  return new CoxswainError('UNAVAILABLE', 'E_MCP_SERVER', message, { retryable: true, cause: error });
}

function nameOf(server: McpServer): string {
  if ('url' in server && URL.canParse(server.url)) return new URL(server.url).host;
  if ('command' in server && server.command) return server.command.split(/[\\/]/).at(-1) ?? server.command;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', 'an MCP server is a command or a URL');
}

function warnOnStderr(message: string, error?: unknown): void {
  console.warn(`coxswain: ${message}`, ...(error === undefined ? [] : [error]));
}
