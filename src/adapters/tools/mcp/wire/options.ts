import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';

/** A server that is started as a child process. */
export interface McpCommand {
  command: string;
  args?: readonly string[];
  /** Added to the few variables that a child is given anyway. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** Where the child's stderr goes. Default `ignore`; its end is told where the server cannot be reached. */
  stderr?: 'ignore' | 'inherit';
}

/** A server that is reached over Streamable HTTP. */
export interface McpUrl {
  url: string;
  headers?: Readonly<Record<string, string>>;
  authProvider?: AuthProvider | OAuthClientProvider;
}

export type McpServer = McpCommand | McpUrl;

/** A question of the server, for a person. */
export interface McpQuestion {
  /** Name of the toolset. */
  server: string;
  message: string;
  /** A flat JSON Schema: the form. Absent where a page is to be visited. */
  requestedSchema?: Record<string, unknown>;
  url?: string;
}

export interface McpReply {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean | string[]>;
}

export interface McpToolsetOptions {
  /** Shown to people and policies as the source. Default: the command or the host name of the URL. */
  name?: string;
  /** Put before each tool's name: for two servers whose tools are named alike. */
  prefix?: string;
  /** Which tools are taken, by their own name. Default: all. */
  include?: (tool: string) => boolean;
  /**
   * Whether the server's word that a tool only reads, or may be repeated, counts. Default false: a foreign server's
   * hints let nothing run unasked. That a tool destroys is always believed. To policies a server that is trusted is one
   * of your own providers: `provider:NAME`, not `mcp:NAME`.
   */
  trustAnnotations?: boolean;
  /**
   * Digests of the definitions that were last run, by tool name. A tool whose definition is another one is asked
   * about again, whatever policy says. Default: in memory, as they were first seen.
   */
  pins?: { get(tool: string): string | undefined; set(tool: string, digest: string): void };
  /**
   * `legacy` speaks the versions of 2025 also with servers that know a newer one: for those whose tools want to ask
   * somebody in the midst of a call and cannot do so there. Default `auto`: the newest that both know.
   */
  protocol?: 'auto' | 'legacy';
  /**
   * Whether a server that has resources is offered with a tool that reads one by its URI, `PREFIXread_resource`, or
   * `NAME_read_resource` without a prefix. Default true.
   */
  readResources?: boolean;
  /** Milliseconds without a sign of life after which a call is given up. Default 300,000; 24 days at most. */
  idleMs?: number;
  /**
   * Whether a server that cannot be reached, and never was, is told to `warn` and offers nothing until it can. Default
   * false: it is an error of whoever opens a session.
   */
  optional?: boolean;
  /** Milliseconds to connect. Default 30,000; 12 days at most. */
  connectMs?: number;
  /** Milliseconds for the server to list its tools, all pages together. Default 10,000; 12 days at most. */
  listMs?: number;
  /**
   * Milliseconds for which a server that has not connected or listed in time is not asked again: whoever wants its tools
   * meanwhile has the same error at once. Default 60,000.
   */
  retryMs?: number;
  /**
   * Asks a person what the server wants to know, past the host. Absent: under a host that runs the tools it is a question
   * of the run, in `host.approvals` and for the host's `onElicitation`; elsewhere, or with false, the server is told that
   * nobody can be asked.
   */
  onElicitation?: ((question: McpQuestion, context: { signal: AbortSignal }) => McpReply | Promise<McpReply>) | false;
  /** Milliseconds that such a question of a run waits for its answer; then it is cancelled. Default 600,000. */
  answerMs?: number;
  /** Told of tools that cannot be offered and connections that were lost. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}
