import type {
  AgentConnection,
  AgentContext,
  ClientCapabilities,
  ListSessionsResponse,
  McpServer,
  PromptResponse,
  Stream,
} from '@agentclientprotocol/sdk';
import type {
  AgentSession,
  ContentPart,
  Limits,
  PermissionMode,
  SessionSummary,
  ToolProvider,
} from '../../../contracts/index.ts';
import { ACP_CODES, CoxswainError, isCoxswainError, messageOf, PACKAGE_VERSION } from '../../../contracts/index.ts';
import type { Shape } from '../../../session/index.ts';
import {
  amount,
  checkLimits,
  checkOptions,
  checkShape,
  fn,
  having,
  name as isName,
  listOf,
  object,
  permissionMode,
  required,
  text,
} from '../../../session/index.ts';
import { boundedFrames, loadAcpSdk, partOfBlock } from '../calls/index.ts';
import { EditorServers } from './editor-servers.ts';
import { EditorSession } from './open-session.ts';
import { Openings } from './openings.ts';
import { Prompt } from './prompt.ts';
import { Showing } from './showing.ts';

/** What an editor opens. */
export interface AcpOpening {
  /** Of a stored session; absent: a new one. */
  sessionId?: string;
  /** Folder of the project. Absolute. */
  cwd: string;
  /** Servers that the editor wants used, as it has told them. */
  mcpServers: readonly McpServer[];
  /**
   * The same, connected, for `toolProviders` of a host; ended with the session. What cannot be reached is left out, and
   * the person at the editor is told so, as of all of them where this is not called.
   */
  mcpToolsets(): Promise<ToolProvider[]>;
}

export interface ServeAcpOptions {
  name?: string;
  version?: string;
  /**
   * Opens a session: a new one, or the one with that id. A session of a host asks for approvals; whatever it asks is
   * put to the editor.
   * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`
   */
  open(request: AcpOpening): Promise<AgentSession>;
  /** A session that `open` gave is closed: what was made for it alone may go. */
  closed?(session: AgentSession): Promise<void>;
  /** Stored sessions, newest first, for an editor that offers them; `after` is the id of the last one seen. */
  list?(page: { limit: number; after?: string }): Promise<SessionSummary[]>;
  /** Deletes a stored session, for an editor that offers it. It is closed then. */
  delete?(sessionId: string): Promise<void>;
  /** Permission modes that the editor may choose, the one that sessions start in first. Default: none can be chosen. */
  modes?: readonly PermissionMode[];
  /** Tokens that the model's context holds: an editor is then shown how full it is, and what the session has cost. */
  contextTokens?: number;
  /** Of each turn. */
  limits?: Limits;
  /** Gets what went wrong without consequence. */
  warn?: (message: string, error?: unknown) => void;
}

/** A connection to one editor. */
export interface AcpServer {
  /** Resolves when the editor has gone and every session is closed. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Newline-delimited JSON over two byte streams, say stdin and stdout. */
export interface AcpTransport {
  input: ReadableStream<Uint8Array>;
  output: WritableStream<Uint8Array>;
}

const shape: Shape<ServeAcpOptions> = {
  name: isName,
  version: text,
  open: required(fn),
  closed: fn,
  list: fn,
  delete: fn,
  modes: listOf(permissionMode),
  contextTokens: amount,
  limits: object,
  warn: fn,
};
const streams: Shape<AcpTransport> = { input: required(having('getReader')), output: required(having('getWriter')) };

/**
 * Serves sessions to an editor over the Agent Client Protocol.
 * @throws CoxswainError `FAILED_PRECONDITION / E_UNSUPPORTED` without the package @agentclientprotocol/sdk
 * @example
 * ```ts
 * import { Readable, Writable } from 'node:stream';
 * import { createHost, LlmAgent } from 'coxswain';
 * import { serveAcp } from 'coxswain/acp';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: 'gpt-5' })] });
 * const server = await serveAcp(
 *   { open: ({ sessionId }) => host.open('clerk', sessionId === undefined ? {} : { sessionId }) },
 *   { input: Readable.toWeb(process.stdin), output: Writable.toWeb(process.stdout) },
 * );
 * await server.closed;
 * ```
 */
export async function serveAcp(options: ServeAcpOptions, transport: AcpTransport): Promise<AcpServer> {
  checkOptions<ServeAcpOptions>(options, 'serveAcp: options', shape);
  if (options.limits !== undefined) checkLimits(options.limits, 'serveAcp: options.limits');
  checkShape<AcpTransport>(transport, 'serveAcp: transport', streams);
  const sdk = await loadAcpSdk();
  const server = new Served(options, sdk);
  const tell = (fault: CoxswainError) => options.warn?.(fault.message);
  return server.connect(boundedFrames(sdk, transport, 'the editor', tell));
}

interface Opening {
  sessionId?: string;
  cwd: string;
  mcpServers?: readonly McpServer[];
}

class Served {
  readonly #options: ServeAcpOptions;
  readonly #sdk: Awaited<ReturnType<typeof loadAcpSdk>>;
  readonly #sessions = new Map<string, EditorSession>();
  readonly #openings = new Openings<EditorSession>();
  #hasEnded = false;
  /** By session; a cancel also ends what lies between two streams. */
  readonly #prompts = new Map<string, Prompt>();
  #client: ClientCapabilities = {};

  constructor(options: ServeAcpOptions, sdk: Awaited<ReturnType<typeof loadAcpSdk>>) {
    this.#options = options;
    this.#sdk = sdk;
  }

  connect(stream: Stream): AcpServer {
    const { name = 'coxswain', version = PACKAGE_VERSION, list, delete: remove } = this.#options;
    const connection = this.#sdk
      .agent({ name })
      .onRequest('initialize', ({ params }) => {
        this.#client = params.clientCapabilities ?? {};
        return {
          protocolVersion: this.#sdk.PROTOCOL_VERSION,
          agentInfo: { name, version },
          agentCapabilities: {
            loadSession: true,
            sessionCapabilities: {
              close: {},
              resume: {},
              ...(list ? { list: {} } : {}),
              ...(remove ? { delete: {} } : {}),
            },
            mcpCapabilities: { http: true },
            promptCapabilities: { image: true, audio: true, embeddedContext: true },
          },
        };
      })
      .onRequest('session/new', ({ params }) =>
        this.#typed(async () => {
          const open = await this.#open(params);
          return { sessionId: open.session.id, ...open.modes };
        }),
      )
      .onRequest('session/load', ({ params, client }) =>
        this.#typed(async () => {
          const open = await this.#again(params);
          const showing = this.#showing(client, open);
          for await (const event of open.session.events()) await showing.replay(event);
          return open.modes;
        }),
      )
      .onRequest('session/resume', ({ params }) => this.#typed(async () => (await this.#again(params)).modes))
      .onRequest('session/set_mode', ({ params: { sessionId, modeId } }) =>
        this.#typed(async () => {
          await this.#opened(sessionId).setMode(modeId);
          return {};
        }),
      )
      .onRequest('session/close', ({ params: { sessionId } }) =>
        this.#typed(async () => {
          await this.#close(sessionId);
          return {};
        }),
      )
      .onRequest('session/delete', ({ params: { sessionId } }) =>
        this.#typed(async () => {
          if (!remove) throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', 'sessions are not deleted here');
          if (this.#sessions.has(sessionId)) await this.#close(sessionId);
          await remove(sessionId);
          return {};
        }),
      )
      .onRequest('session/prompt', ({ params: { sessionId, prompt }, client }) =>
        this.#typed(() => this.#prompt(sessionId, prompt.map(partOfBlock), client)),
      )
      .onRequest('session/list', ({ params }) => this.#typed(() => this.#list(params.cwd, params.cursor)))
      .onNotification('session/cancel', async ({ params: { sessionId } }) => {
        const prompt = this.#prompts.get(sessionId);
        if (prompt) await prompt.cancel();
      })
      .connect(stream);
    return this.#served(connection);
  }

  #served(connection: AgentConnection): AcpServer {
    const closed = connection.closed.then(async () => {
      this.#hasEnded = true;
      await this.#openings.settled();
      for (const open of this.#sessions.values()) await this.#disposed(open);
      this.#sessions.clear();
    });
    return {
      closed,
      close: () => {
        connection.close();
        return closed;
      },
    };
  }

  /** Sessions here belong to no folder: the editor's own is told back. */
  async #list(cwd: string | null | undefined, after: string | null | undefined): Promise<ListSessionsResponse> {
    const page = { limit: PAGE, ...(after ? { after } : {}) };
    const found = (await this.#options.list?.(page)) ?? [];
    const last = found.length === PAGE ? found.at(-1) : undefined;
    return {
      sessions: found.map(({ id, title, updatedAt }) => ({
        sessionId: id,
        cwd: cwd ?? process.cwd(),
        updatedAt,
        ...(title === undefined ? {} : { title }),
      })),
      ...(last ? { nextCursor: last.id } : {}),
    };
  }

  #open(request: Opening): Promise<EditorSession> {
    return this.#openings.run(() => this.#begun(request));
  }

  async #begun({ sessionId, cwd, mcpServers = [] }: Opening): Promise<EditorSession> {
    const servers = new EditorServers(mcpServers, cwd, (message) => this.#options.warn?.(message));
    const request = { cwd, mcpServers, mcpToolsets: () => servers.toolsets(), ...(sessionId ? { sessionId } : {}) };
    let session: AgentSession | undefined;
    let open: EditorSession;
    try {
      session = await this.#options.open(request);
      open = await EditorSession.of(session, servers, this.#options.modes ?? []);
    } catch (error) {
      try {
        await session?.[Symbol.asyncDispose]();
        if (session) await this.#options.closed?.(session);
      } finally {
        await servers.close();
      }
      throw error;
    }
    if (this.#hasEnded) {
      await this.#disposed(open);
      throw new CoxswainError('ABORTED', 'E_ABORTED', `the editor has gone while session ${session.id} was opened`);
    }
    this.#sessions.set(open.session.id, open);
    return open;
  }

  /** One that is open already, or is stored. */
  async #again(request: Opening & { sessionId: string }): Promise<EditorSession> {
    const open = this.#sessions.get(request.sessionId);
    return open ?? this.#openings.once(request.sessionId, () => this.#open(request));
  }

  /** @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND` */
  #opened(sessionId: string): EditorSession {
    const open = this.#sessions.get(sessionId);
    if (open) return open;
    throw new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', `session ${sessionId} is not open; load it first`);
  }

  /** Ends what runs in it, and what was opened for it. */
  async #close(sessionId: string): Promise<void> {
    const open = this.#opened(sessionId);
    await this.#prompts.get(sessionId)?.cancel();
    this.#sessions.delete(sessionId);
    await this.#disposed(open);
  }

  async #disposed(open: EditorSession): Promise<void> {
    const { session } = open;
    try {
      try {
        await open.close();
      } finally {
        await this.#options.closed?.(session);
      }
    } catch (error) {
      this.#options.warn?.(`session ${session.id} was not closed in good order`, error);
    }
  }

  #showing(client: AgentContext, { session, spent }: EditorSession): Showing {
    const { contextTokens } = this.#options;
    const shown = { spent, compactions: this.#client.session?.compaction != null };
    return new Showing(client, session.id, contextTokens === undefined ? shown : { ...shown, contextTokens });
  }

  async #prompt(sessionId: string, content: ContentPart[], client: AgentContext): Promise<PromptResponse> {
    const open = this.#opened(sessionId);
    if (this.#prompts.has(sessionId)) {
      const busy = `a prompt of session ${sessionId} runs; wait for its end or cancel it`;
      throw new CoxswainError('ABORTED', 'E_SESSION_BUSY', busy);
    }
    const prompt = new Prompt(open.session);
    this.#prompts.set(sessionId, prompt);
    const showing = this.#showing(client, open);
    try {
      await open.tell(showing);
      return await prompt.run(content, { client, capabilities: this.#client, showing }, this.#options.limits);
    } finally {
      this.#prompts.delete(sessionId);
    }
  }

  /** Errors of ours reach the editor with code and message, as the protocol has them. */
  async #typed<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isCoxswainError(error)) throw this.#sdk.RequestError.internalError(undefined, messageOf(error));
      const { status, code, message } = error;
      throw new this.#sdk.RequestError(ACP_CODES[status], message, { status, code });
    }
  }
}

const PAGE = 50;
