import type {
  AgentConnection,
  AgentContext,
  ClientCapabilities,
  ListSessionsResponse,
  PromptResponse,
  Stream,
} from '@agentclientprotocol/sdk';
import type { AgentSession, ContentPart, Limits, SessionSummary, StreamEndEvent } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { Shape } from '../../session/index.ts';
import {
  checkLimits,
  checkOptions,
  checkShape,
  fn,
  having,
  name as isName,
  object,
  required,
  text,
} from '../../session/index.ts';
import { partOfBlock } from './content.ts';
import { EditorQuestions } from './questions.ts';
import { loadSdk } from './sdk.ts';
import { Showing } from './showing.ts';

export interface ServeAcpOptions {
  name?: string;
  version?: string;
  /**
   * Opens a session: a new one, or the one with that id. A session of a host asks for approvals; whatever it asks is
   * put to the editor.
   * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`
   */
  open(request: { sessionId?: string; cwd: string }): Promise<AgentSession>;
  /** Stored sessions, newest first, for an editor that offers them; `after` is the id of the last one seen. */
  list?(page: { limit: number; after?: string }): Promise<SessionSummary[]>;
  /** Of each turn. */
  limits?: Limits;
  /** Told of what went wrong without consequence. */
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
  list: fn,
  limits: object,
  warn: fn,
};
const streams: Shape<AcpTransport> = { input: required(having('getReader')), output: required(having('getWriter')) };

/**
 * Serves sessions to an editor over the Agent Client Protocol.
 * @throws CoxswainError `FAILED_PRECONDITION / E_UNSUPPORTED` without the package @agentclientprotocol/sdk
 */
export async function serveAcp(options: ServeAcpOptions, transport: AcpTransport): Promise<AcpServer> {
  checkOptions<ServeAcpOptions>(options, 'serveAcp: options', shape);
  if (options.limits !== undefined) checkLimits(options.limits, 'serveAcp: options.limits');
  checkShape<AcpTransport>(transport, 'serveAcp: transport', streams);
  const sdk = await loadSdk();
  const server = new Served(options, sdk);
  return server.connect(sdk.ndJsonStream(transport.output, transport.input));
}

class Served {
  readonly #options: ServeAcpOptions;
  readonly #sdk: Awaited<ReturnType<typeof loadSdk>>;
  readonly #sessions = new Map<string, AgentSession>();
  /** By session; a cancel also ends what lies between two streams. */
  readonly #prompts = new Map<string, Prompt>();
  #client: ClientCapabilities = {};

  constructor(options: ServeAcpOptions, sdk: Awaited<ReturnType<typeof loadSdk>>) {
    this.#options = options;
    this.#sdk = sdk;
  }

  connect(stream: Stream): AcpServer {
    const { name = 'coxswain', version = '0', list } = this.#options;
    const connection = this.#sdk
      .agent({ name })
      .onRequest('initialize', ({ params }) => {
        this.#client = params.clientCapabilities ?? {};
        return {
          protocolVersion: this.#sdk.PROTOCOL_VERSION,
          agentInfo: { name, version },
          agentCapabilities: {
            loadSession: true,
            ...(list ? { sessionCapabilities: { list: {} } } : {}),
            promptCapabilities: { image: true, audio: true, embeddedContext: true },
          },
        };
      })
      .onRequest('session/new', ({ params }) =>
        this.#typed(async () => ({ sessionId: (await this.#open({ cwd: params.cwd })).id })),
      )
      .onRequest('session/load', ({ params: { cwd, sessionId }, client }) =>
        this.#typed(async () => {
          const session = this.#sessions.get(sessionId) ?? (await this.#open({ sessionId, cwd }));
          const showing = new Showing(client, sessionId);
          for await (const event of session.events()) await showing.replay(event);
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
      for (const session of this.#sessions.values()) {
        try {
          await session[Symbol.asyncDispose]();
        } catch (error) {
          this.#options.warn?.(`session ${session.id} was not closed in good order`, error);
        }
      }
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

  async #open(request: { sessionId?: string; cwd: string }): Promise<AgentSession> {
    const session = await this.#options.open(request);
    this.#sessions.set(session.id, session);
    return session;
  }

  /** One prompt: streams follow one another as long as the editor has answers for what is open. */
  async #prompt(sessionId: string, content: ContentPart[], client: AgentContext): Promise<PromptResponse> {
    const session = this.#sessions.get(sessionId);
    if (!session) {
      throw new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', `session ${sessionId} is not open; load it first`);
    }
    if (this.#prompts.has(sessionId)) {
      const busy = `a prompt of session ${sessionId} runs; wait for its end or cancel it`;
      throw new CoxswainError('ABORTED', 'E_SESSION_BUSY', busy);
    }
    const prompt = new Prompt(session);
    this.#prompts.set(sessionId, prompt);
    try {
      return await this.#streams(session, content, client, prompt);
    } finally {
      this.#prompts.delete(sessionId);
    }
  }

  async #streams(
    session: AgentSession,
    content: ContentPart[],
    client: AgentContext,
    prompt: Prompt,
  ): Promise<PromptResponse> {
    const { limits } = this.#options;
    const showing = new Showing(client, session.id);
    const editor = { client, capabilities: this.#client };
    const questions = new EditorQuestions(session, editor, showing, prompt.signal);
    let input: Parameters<AgentSession['stream']>[0] = { kind: 'message', content };
    for (;;) {
      let end: StreamEndEvent | undefined;
      for await (const event of session.stream(input, limits ? { limits } : {})) {
        await showing.show(event);
        if (event.type === 'stream_end') end = event;
      }
      const asked = end?.reason === 'input_required' ? await questions.ask() : 'nothing';
      if (asked === 'cancelled' || prompt.signal.aborted) {
        await prompt.cancel();
        return { stopReason: 'cancelled' };
      }
      if (asked === 'nothing') return { stopReason: stopReasonOf(end, showing) };
      input = { kind: 'continue' };
    }
  }

  /** Errors of ours reach the editor with code and message, as the protocol has them. */
  async #typed<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isCoxswainError(error)) throw this.#sdk.RequestError.internalError(undefined, messageOf(error));
      const { status, code, message } = error;
      const data = { status, code };
      const { RequestError } = this.#sdk;
      if (status === 'NOT_FOUND') throw new RequestError(-32_002, message, data);
      if (status === 'INVALID_ARGUMENT') throw new RequestError(-32_602, message, data);
      throw new RequestError(-32_603, message, data);
    }
  }
}

/** A prompt that is being worked on; it is cancelled once, whoever asks for it. */
class Prompt {
  readonly #session: AgentSession;
  readonly #controller = new AbortController();
  #cancelled: Promise<void> | undefined;

  constructor(session: AgentSession) {
    this.#session = session;
  }

  /** Fires at a cancel, also between two streams. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves when nothing of it runs or is open any more. */
  cancel(): Promise<void> {
    this.#controller.abort();
    this.#cancelled ??= this.#session.abort({ reason: CANCELLED });
    return this.#cancelled;
  }
}

const PAGE = 50;
const CANCELLED = 'the editor has cancelled';

function stopReasonOf(end: StreamEndEvent | undefined, showing: Showing): PromptResponse['stopReason'] {
  switch (end?.reason) {
    case 'aborted':
      return 'cancelled';
    case 'refusal':
      return 'refusal';
    case 'max_turns':
    case 'max_budget':
    case 'max_time':
      return 'max_turn_requests';
    case 'failed':
      throw showing.failure;
    default:
      return end?.data.truncated ? 'max_tokens' : 'end_turn';
  }
}
