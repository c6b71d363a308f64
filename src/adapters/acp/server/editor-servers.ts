import type { McpServer } from '@agentclientprotocol/sdk';
import { messageOf } from '../../../contracts/index.ts';
import type { McpToolset } from '../../tools/mcp.ts';

/** The person at the editor waits for it. */
const CONNECT_MS = 10_000;

/** The MCP servers that an editor gives to one session. */
export class EditorServers {
  readonly #servers: readonly McpServer[];
  readonly #cwd: string;
  readonly #warn: (message: string) => void;
  #toolsets: Promise<McpToolset[]> | undefined;
  readonly #missing: string[] = [];

  constructor(servers: readonly McpServer[], cwd: string, warn: (message: string) => void) {
    this.#servers = servers;
    this.#cwd = cwd;
    this.#warn = warn;
  }

  toolsets(): Promise<McpToolset[]> {
    this.#toolsets ??= this.#connect();
    return this.#toolsets;
  }

  /** Why not all are used, for a person. */
  get complaint(): string | undefined {
    if (!this.#toolsets && this.#servers.length > 0) {
      return `MCP servers of the editor are not used here: ${this.#servers.map(({ name }) => name).join(', ')}.`;
    }
    return this.#missing.length === 0 ? undefined : `MCP servers that are not used: ${this.#missing.join('; ')}.`;
  }

  async close(): Promise<void> {
    for (const toolset of (await this.#toolsets) ?? []) await toolset.close();
  }

  async #connect(): Promise<McpToolset[]> {
    if (this.#servers.length === 0) return [];
    const reached = await Promise.all(this.#servers.map((server) => this.#reached(server)));
    const names = new Map<string, string>();
    const kept: McpToolset[] = [];
    for (const found of reached) {
      if (!found) continue;
      const twice = found.tools.find((tool) => names.has(tool));
      if (twice === undefined) {
        for (const tool of found.tools) names.set(tool, found.toolset.name);
        kept.push(found.toolset);
        continue;
      }
      await found.toolset.close();
      this.#leaveOut(found.toolset.name, `its tool ${twice} is named like one of ${names.get(twice)}`);
    }
    return kept;
  }

  async #reached(server: McpServer): Promise<{ toolset: McpToolset; tools: string[] } | undefined> {
    let toolset: McpToolset | undefined;
    try {
      toolset = await this.#made(server);
      return { toolset, tools: (await toolset.tools()).map(({ name }) => name) };
    } catch (error) {
      await toolset?.close();
      this.#leaveOut(server.name, messageOf(error));
      return undefined;
    }
  }

  async #made(server: McpServer): Promise<McpToolset> {
    const { mcpToolset } = await import('../../tools/mcp.ts');
    // The editor is asked once a turn waits, which it does not while a server's call is open.
    const options = { name: server.name, connectMs: CONNECT_MS, warn: this.#warn, onElicitation: false as const };
    if ('command' in server) {
      return mcpToolset({
        ...options,
        command: server.command,
        args: server.args,
        env: textsOf(server.env),
        cwd: this.#cwd,
      });
    }
    if (server.type !== 'http') throw new Error(`a server of type ${server.type} is not spoken to`);
    return mcpToolset({ ...options, url: server.url, headers: textsOf(server.headers) });
  }

  #leaveOut(name: string, why: string): void {
    this.#missing.push(`${name} (${why})`);
    this.#warn(`MCP server ${name} of the editor is left out: ${why}`);
  }
}

function textsOf(pairs: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
