import type { Tool } from '@modelcontextprotocol/client';
import { warnWith } from '../../../../base/index.ts';
import type {
  AnyTool,
  ProvidedTool,
  ToolCallContext,
  ToolProvider,
  ToolResult,
  ToolUpdate,
} from '../../../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../../../contracts/index.ts';
import { describeTool, ensureValidator } from '../../../../gate/index.ts';
import type { Toolset } from '../../../../runtime/index.ts';
import type { ApprovedContext } from '../../../../session/index.ts';
import { approvedPreview, bag, checkIs } from '../../../../session/index.ts';
import type { McpServer, McpToolsetOptions } from '../wire/index.ts';
import { checkServer, McpConnection, namedTwice, Silence } from '../wire/index.ts';
import type { CallContext, CallerToolset } from './caller.ts';
import { McpCalls } from './caller.ts';
import { readTool } from './resources.ts';
import type { Server } from './tool.ts';
import { asTool, definitionDigest, digestShown } from './tool.ts';
import { callable, faultOfTool, isIncluded } from './usable.ts';

/**
 * The tools of one server: a toolset for an agent (`toolsets`) and a provider for a host (`toolProviders`). It
 * connects when it is first asked, and again after the connection was lost.
 */
export interface McpToolset extends Toolset, ToolProvider, AsyncDisposable {
  readonly name: string;
  /** @throws CoxswainError `UNAVAILABLE / E_MCP_SERVER` where they were never listed and cannot be */
  tools(): Promise<readonly AnyTool[]>;
  /**
   * Ends the sign-in that the server has asked for, with the query that the browser came back with (`state` is the
   * caller's to compare). The next request is made with what was given for it.
   * @throws CoxswainError `UNAUTHENTICATED / E_MCP_SERVER` where nobody was asked to sign in, or the answer is refused
   */
  finishAuth(callback: URLSearchParams): Promise<void>;
  close(): Promise<void>;
}

/**
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for what is neither a command nor a URL, or holds a password
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { mcpToolset } from 'coxswain/tools/mcp';
 *
 * const files = mcpToolset({ command: 'npx', args: ['-y', 'some-files-server', '.'], prefix: 'files_' });
 * const clerk = new LlmAgent({ name: 'clerk', model: 'gpt-5' });
 * createHost({ app: 'shop', agents: [clerk], toolProviders: [files] });
 * ```
 */
export function mcpToolset(options: McpServer & McpToolsetOptions): McpToolset {
  checkIs(options, 'mcpToolset: options', bag);
  return new ServerTools(options, options);
}

const RETRY_MS = 60_000;
/** In a row, each overtaken by a change that the server has announced. */
const MOST_LISTS = 4;
/** Warnings of what a server lists. */
const MAX_TOLD = 1000;
/** Characters of one. */
const MAX_WARNING = 1000;

class ServerTools implements McpToolset {
  readonly name: string;
  readonly source?: `mcp:${string}`;
  readonly #connection: McpConnection;
  readonly #options: McpToolsetOptions;
  readonly #pins: NonNullable<McpToolsetOptions['pins']>;
  readonly #warn: (message: string, error?: unknown) => void;
  #tools: readonly AnyTool[] | undefined;
  #isStale = true;
  /** How often the server has said that its tools are others now, or has shown it. */
  #changes = 0;
  /** That number when the newest list was asked for. */
  #listedAt = 0;
  /** The same objects as long as the list is the same. */
  #provided: { of: readonly AnyTool[]; given: readonly ProvidedTool[] } | undefined;
  #listing: Promise<readonly AnyTool[]> | undefined;
  /** It has not answered in time: until then (`performance.now()`) it is not asked, and this is what comes of it. */
  #silent: { until: number; error: unknown } | undefined;
  /** What was told to `warn` of lists that could not be had: each failure once. */
  #warned: unknown;
  readonly #firstSeen = new Map<string, string>();
  /** What is offered, by the server's name of it. */
  readonly #definitions = new Map<string, { definition: Tool; digest: string; tool: AnyTool }>();
  readonly #told = new Set<string>();
  readonly #calls = new McpCalls();
  /** A host has asked for the tools: what the server asks can be a question of its runs. */
  #isHosts = false;
  /** Ours, beside those of the server. */
  readonly #reader: Tool;
  /** Digests of what a host was given: what runs is what was judged. */
  readonly #given = new WeakMap<ProvidedTool, string>();

  constructor(server: McpServer, options: McpToolsetOptions) {
    checkServer(server, options);
    this.name = options.name ?? nameOf(server);
    // Policies take what a foreign server says of its tools for claims; whoever is trusted is no foreign one.
    if (!options.trustAnnotations) this.source = `mcp:${this.name}`;
    this.#options = options;
    this.#reader = readTool(`${options.prefix === undefined ? `${this.name}_` : ''}read_resource`);
    this.#pins = options.pins ?? new Map<string, string>();
    this.#warn = warnWith(options.warn);
    this.#connection = new McpConnection(this.name, server, options, {
      onToolsChanged: () => this.#changed(),
      warn: (text) => this.#tell(text),
      mayAsk: () => this.#mayAsk,
      ask: (question, signal) => this.#calls.ask(question, options, signal),
    });
  }

  async tools(): Promise<readonly AnyTool[]> {
    try {
      // Whatever changes while it is listed: a call looks again before it is sent.
      return await this.#list();
    } catch (error) {
      if (!this.#tools && this.#options.optional && !this.#connection.isClosed) {
        this.#warnOnce(error, 'the session continues without its tools');
        return [];
      }
      if (!this.#tools) throw error;
      // A call will try again, and say so if it cannot.
      this.#warnOnce(error, 'its tools could not be listed again');
      return this.#tools;
    }
  }

  #warnOnce(error: unknown, what: string): void {
    if (this.#warned === error) return;
    this.#warned = error;
    this.#warn(`${this.name}: ${what}: ${messageOf(error)}`);
  }

  #changed(): void {
    this.#isStale = true;
    this.#changes += 1;
  }

  /** As they were a moment ago, or a failure. */
  #list(): Promise<readonly AnyTool[]> {
    if (this.#tools && !this.#isStale && !this.#listing) return Promise.resolve(this.#tools);
    this.#listing ??= this.#listAnew().finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async #listAnew(): Promise<readonly AnyTool[]> {
    if (this.#silent && performance.now() < this.#silent.until && !this.#connection.isClosed) throw this.#silent.error;
    this.#silent = undefined;
    try {
      let hasResources = false;
      const listed = await this.#connection.listTools((client) => {
        // What changes from now on is another change.
        this.#isStale = this.#connection.isDeaf(client);
        this.#listedAt = this.#changes;
        hasResources = this.#connection.hasResources(client);
      });
      await ensureValidator();
      const isReader = hasResources && this.#options.readResources !== false;
      this.#tools = this.#usable(isReader ? [...listed, this.#reader] : listed);
      return this.#tools;
    } catch (error) {
      this.#isStale = true;
      const failure = this.#unreachable(error);
      const isSilent = error instanceof Silence || (error instanceof Error && error.cause instanceof Silence);
      // Whoever waits for a server that hangs would wait each time.
      if (isSilent) this.#silent = { until: performance.now() + (this.#options.retryMs ?? RETRY_MS), error: failure };
      throw failure;
    }
  }

  get #mayAsk(): boolean {
    const { onElicitation } = this.#options;
    return typeof onElicitation === 'function' || (onElicitation !== false && this.#isHosts);
  }

  async getToolsForAgent(): Promise<ProvidedTool[]> {
    this.#isHosts = true;
    const tools = await this.tools();
    if (this.#provided?.of !== tools) {
      const given = tools.map(({ needsApproval, preview, timeoutMs, ...tool }): ProvidedTool => {
        const provided = {
          ...describeTool(tool),
          ...(needsApproval === undefined ? {} : { needsApproval }),
          ...(preview ? { preview } : {}),
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        };
        const { digest } = this.#definitions.get(this.#nameOf(tool)) ?? {};
        if (digest !== undefined) this.#given.set(provided, digest);
        return provided;
      });
      this.#provided = { of: tools, given };
    }
    return [...this.#provided.given];
  }

  async execute(
    call: Parameters<ToolProvider['execute']>[0],
    signal: AbortSignal,
    context?: ToolCallContext & ApprovedContext,
  ): Promise<unknown> {
    const name = this.#nameOf(call);
    const pinned = this.#pins.get(name);
    const given = call.tool ? this.#given.get(call.tool) : pinned;
    // Nobody was asked because it was what had run last; who was asked has said yes to what they were shown.
    const judged = digestShown(context?.[approvedPreview]) ?? (given === pinned ? given : undefined);
    const elicit = context?.elicit?.bind(context);
    const progress = (update: ToolUpdate) => context?.progress(update);
    return this.#call(name, call.args, { signal, progress, ...(elicit ? { elicit } : {}) }, judged);
  }

  /** The server's own name of a tool. */
  #nameOf({ name }: { name: string }): string {
    return name.slice(this.#options.prefix?.length ?? 0);
  }

  async finishAuth(callback: URLSearchParams): Promise<void> {
    try {
      await this.#connection.finishAuth(callback);
      this.#silent = undefined;
    } catch (error) {
      const message = `the sign-in at the MCP server ${this.name} could not be ended: ${this.#connection.explain(error)}`;
      throw new CoxswainError('UNAUTHENTICATED', 'E_MCP_SERVER', message, { cause: error, retryable: false });
    }
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
      now: async (name) => {
        await this.tools();
        return this.#definitions.get(name);
      },
      call: (name, args, context, judged) => this.#call(name, args, context, judged),
    };
  }

  #usable(listed: readonly Tool[]): AnyTool[] {
    const { include } = this.#options;
    const ambiguous = namedTwice(listed);
    for (const name of ambiguous) this.#tell(`its tools ${name} are left out: more than one has the name`);
    const before = new Map(this.#definitions);
    this.#definitions.clear();
    return listed.flatMap((definition) => {
      const { name } = definition;
      if (ambiguous.has(name) || !isIncluded(name, include, (text) => this.#tell(text))) return [];
      const digest = definitionDigest(definition);
      const fault = faultOfTool(definition);
      const known = before.get(name);
      try {
        if (fault !== undefined) throw new Error(fault);
        const tool = known?.digest === digest ? known.tool : this.#made(definition);
        this.#see(name, digest);
        this.#definitions.set(name, { definition, digest, tool });
        return [tool];
      } catch (error) {
        this.#tell(`its tool ${name.slice(0, 200)} is left out: ${messageOf(error)}`);
        return [];
      }
    });
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA | E_BAD_INPUT` for one that could never be called */
  #made(definition: Tool): AnyTool {
    const tool = asTool(
      callable(definition, (text) => this.#tell(text)),
      definitionDigest(definition),
      this.#server,
    );
    describeTool(tool);
    return tool;
  }

  /** Lists are fetched again and again: what is wrong with one is told once. */
  #tell(said: string): void {
    const text = readable(said);
    if (this.#told.has(text) || this.#told.size >= MAX_TOLD) return;
    this.#told.add(text);
    this.#warn(`${this.name}: ${text}`);
  }

  /** On first sight a definition is taken as it is: policy judges it like any other. */
  #see(name: string, digest: string): void {
    const pinned = this.#pins.get(name) ?? digest;
    if (this.#pins.get(name) === undefined) this.#pins.set(name, pinned);
    if (!this.#firstSeen.has(name)) this.#firstSeen.set(name, pinned);
  }

  /** @throws CoxswainError `NOT_FOUND | FAILED_PRECONDITION / E_TOOL` where it is not what was judged any more */
  async #definitionOf(name: string, judged: string | undefined): Promise<Tool> {
    let lists = 0;
    // A list that was under way when a change was announced may be from before it.
    do await this.#list();
    while (this.#listedAt !== this.#changes && ++lists < MOST_LISTS);
    if (lists === MOST_LISTS) {
      const message = `${this.name} announces changes of its tools faster than they can be listed; ${name} was not run. Call it again`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_TOOL', message);
    }
    const now = this.#definitions.get(name);
    if (!now) throw new CoxswainError('NOT_FOUND', 'E_TOOL', `${this.name} has no tool ${name} any more`);
    if (now.digest !== judged) {
      const message = `${this.name} has changed what ${name} is since this call was decided on; it was not run. Call it again`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_TOOL', message);
    }
    this.#pins.set(name, now.digest);
    return now.definition;
  }

  async #call(
    name: string,
    args: Record<string, unknown>,
    context: CallContext,
    judged: string | undefined,
  ): Promise<ToolResult> {
    const caller: CallerToolset = {
      name: this.name,
      options: this.#options,
      connection: this.#connection,
      reader: this.#reader,
      definition: () => this.#definitionOf(name, judged),
      doubt: () => this.#changed(),
    };
    return this.#calls.call(caller, args, context);
  }

  #unreachable(error: unknown): unknown {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('E_')) return error;
    const message = `the tools of the MCP server ${this.name} cannot be listed: ${this.#connection.explain(error)}`;
    return new CoxswainError('UNAVAILABLE', 'E_MCP_SERVER', message, { details: { server: this.name } });
  }
}

function nameOf(server: McpServer): string {
  if ('url' in server && URL.canParse(server.url)) return new URL(server.url).host;
  if ('command' in server && server.command) return server.command.split(/[\\/]/).at(-1) ?? server.command;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', 'an MCP server is a command or a URL');
}

/** What a server wrote is shown in a line of a log: no control characters, and not at any length. */
function readable(text: string): string {
  const cut = text.length > MAX_WARNING ? `${text.slice(0, MAX_WARNING)}…` : text;
  return cut.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
}
