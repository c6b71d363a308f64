import type {
  ClientConnection,
  InitializeResponse,
  LoadSessionRequest,
  McpServer,
  NewSessionResponse,
  PromptRequest,
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import { CoxswainError, isCoxswainError, messageOf, PACKAGE_VERSION } from '../../../contracts/index.ts';
import { boundedFrames, loadAcpSdk } from '../calls/index.ts';
import type { AcpPipe } from './child.ts';
import { processError } from './child.ts';

/** Files that an agent may reach through its host. Each call passes the gate. */
export interface AcpFiles {
  readTextFile?(request: { path: string; line?: number; limit?: number }, signal: AbortSignal): Promise<string>;
  writeTextFile?(request: { path: string; content: string }, signal: AbortSignal): Promise<void>;
}

export interface AcpClientOptions {
  name: string;
  connect(cwd: string): AcpPipe;
  /** Folder that the agent works in. Absolute. */
  cwd: string;
  mcpServers: readonly McpServer[];
  /** Id of one of the agent's authentication methods, used where it wants one. */
  authMethod?: string | undefined;
  /** Mode that a session starts in, where the agent has modes. */
  mode?: string | undefined;
  /** Milliseconds that start and handshake may take. */
  startTimeoutMs: number;
  reads: boolean;
  writes: boolean;
}

/** What the agent asks and tells while a prompt runs. */
export interface AcpListener {
  update(update: SessionUpdate): void;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  readFile(request: { path: string; line?: number; limit?: number }): Promise<string>;
  writeFile(request: { path: string; content: string }): Promise<void>;
}

const AUTH_REQUIRED = -32_000;
const CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };

/** One agent process with one session in it. */
export class AcpClient {
  readonly info: InitializeResponse;
  readonly sessionId: string;
  /** The session is one that the agent has kept: it knows what was said. */
  readonly resumed: boolean;
  readonly gone: Promise<CoxswainError>;
  readonly #pipe: AcpPipe;
  readonly #connection: ClientConnection;
  readonly #listening: Listening;

  private constructor(
    parts: { pipe: AcpPipe; connection: ClientConnection; listening: Listening; gone: Promise<CoxswainError> },
    session: { info: InitializeResponse; sessionId: string; resumed: boolean },
  ) {
    this.#pipe = parts.pipe;
    this.#connection = parts.connection;
    this.#listening = parts.listening;
    this.gone = parts.gone;
    this.info = session.info;
    this.sessionId = session.sessionId;
    this.resumed = session.resumed;
  }

  /**
   * Starts the process, shakes hands, opens the session: the known one where the agent can load it, else a new one.
   * @throws CoxswainError `UNAVAILABLE / E_AGENT_PROCESS`, `FAILED_PRECONDITION / E_UNSUPPORTED`,
   *   `INTERNAL / E_AGENT_PROTOCOL`, `UNAUTHENTICATED / E_AGENT_PROTOCOL`
   */
  static async start(options: AcpClientOptions, known: string | undefined): Promise<AcpClient> {
    const sdk = await loadAcpSdk();
    const pipe = options.connect(options.cwd);
    const listening: Listening = {};
    const broken = Promise.withResolvers<CoxswainError>();
    const connection = connect(sdk, pipe, listening, options, (fault) => {
      broken.resolve(fault);
      // Nobody reads what it writes any more.
      pipe.kill();
    });
    const closed = connection.closed.then(() => processError(`agent ${options.name} has closed its connection`));
    // The end of the process says more than the end of its output, which comes first.
    const ended = pipe.gone ?? new Promise<never>(() => {});
    const gone = Promise.race([broken.promise, ended, closed.then(async (error) => (await soon(ended)) ?? error)]);
    const timer = AbortSignal.timeout(options.startTimeoutMs);
    const late = new Promise<CoxswainError>((resolve) => {
      const message = `agent ${options.name} has not answered within ${options.startTimeoutMs} ms`;
      timer.addEventListener('abort', () => resolve(processError(message)), { once: true });
    });
    try {
      const session = await orGone(open(sdk, connection, options, known), Promise.race([gone, late]));
      return new AcpClient({ pipe, connection, listening, gone }, session);
    } catch (error) {
      connection.close();
      pipe.kill();
      throw error;
    }
  }

  /** Runs one prompt. @throws CoxswainError `UNAVAILABLE / E_AGENT_PROCESS`, `INTERNAL / E_AGENT_PROTOCOL` */
  async prompt(prompt: PromptRequest['prompt'], listener: AcpListener): Promise<PromptResponse> {
    this.#listening.listener = listener;
    this.#listening.sessionId = this.sessionId;
    try {
      const answer = this.#connection.agent.request('session/prompt', { sessionId: this.sessionId, prompt });
      return await orGone(answer, this.gone);
    } finally {
      this.mute();
    }
  }

  /** What comes from now on belongs to nobody. */
  mute(): void {
    delete this.#listening.listener;
  }

  async cancel(): Promise<void> {
    await this.#connection.agent.notify('session/cancel', { sessionId: this.sessionId });
  }

  async close(): Promise<void> {
    // Where the agent is no process of ours, the session would live on in it.
    if (!this.#pipe.gone && this.info.agentCapabilities?.sessionCapabilities?.close) {
      const { sessionId } = this;
      await soon(this.#connection.agent.request('session/close', { sessionId }).catch(() => {}));
    }
    await this.#pipe.close();
    this.#connection.close();
  }

  kill(): void {
    this.#pipe.kill();
  }
}

interface Listening {
  listener?: AcpListener;
  /** Of the prompt that runs: what an agent says of other sessions of its own is nothing of this one. */
  sessionId?: string;
}

type Sdk = Awaited<ReturnType<typeof loadAcpSdk>>;

function connect(
  sdk: Sdk,
  { input, output }: AcpPipe,
  listening: Listening,
  options: AcpClientOptions,
  onFault: (fault: CoxswainError) => void,
): ClientConnection {
  const heard = ({ sessionId }: { sessionId: string }) =>
    sessionId === listening.sessionId ? listening.listener : undefined;
  const app = sdk
    .client({ name: 'coxswain' })
    .onNotification('session/update', ({ params }) => heard(params)?.update(params.update))
    .onRequest('session/request_permission', ({ params }) => heard(params)?.permission(params) ?? CANCELLED);
  const listener = (params: { sessionId: string }) => {
    const found = heard(params);
    if (!found) throw sdk.RequestError.invalidRequest(undefined, 'no prompt of this session is running');
    return found;
  };
  if (options.reads) {
    app.onRequest('fs/read_text_file', async ({ params }) => {
      const { path, line, limit } = params;
      const content = await listener(params).readFile({
        path,
        ...(typeof line === 'number' ? { line } : {}),
        ...(typeof limit === 'number' ? { limit } : {}),
      });
      return { content };
    });
  }
  if (options.writes) {
    app.onRequest('fs/write_text_file', async ({ params }) => {
      const { path, content } = params;
      await listener(params).writeFile({ path, content });
      return {};
    });
  }
  return app.connect(boundedFrames(sdk, { output: input, input: output }, `agent ${options.name}`, onFault));
}

async function open(
  sdk: Sdk,
  { agent }: ClientConnection,
  options: AcpClientOptions,
  known: string | undefined,
): Promise<{ info: InitializeResponse; sessionId: string; resumed: boolean }> {
  const { reads, writes, cwd, name } = options;
  const info = await agent.request('initialize', {
    protocolVersion: sdk.PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: reads, writeTextFile: writes }, terminal: false },
    clientInfo: { name: 'coxswain', version: PACKAGE_VERSION },
  });
  if (info.protocolVersion !== sdk.PROTOCOL_VERSION) {
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_UNSUPPORTED',
      `agent ${name} implements version ${info.protocolVersion} of the protocol, version ${sdk.PROTOCOL_VERSION} is needed`,
    );
  }
  const place = { cwd, mcpServers: [...options.mcpServers] };
  const { mode } = options;
  const setMode = async (sessionId: string) => {
    if (mode !== undefined) await agent.request('session/set_mode', { sessionId, modeId: mode });
  };
  if (known !== undefined && (await found(agent, info, { ...place, sessionId: known }))) {
    await setMode(known);
    return { info, sessionId: known, resumed: true };
  }
  const create = (): Promise<NewSessionResponse> => agent.request('session/new', place);
  let session: NewSessionResponse;
  try {
    session = await create();
  } catch (error) {
    if ((error as { code?: unknown }).code !== AUTH_REQUIRED || options.authMethod === undefined) throw error;
    await agent.request('authenticate', { methodId: options.authMethod });
    session = await create();
  }
  const { sessionId } = session;
  await setMode(sessionId);
  return { info, sessionId, resumed: false };
}

/** Whether the agent has the session open again. One that it has forgotten is begun anew, and told what was said. */
async function found(
  agent: ClientConnection['agent'],
  { agentCapabilities }: InitializeResponse,
  session: LoadSessionRequest,
): Promise<boolean> {
  // It need not tell again what the log has.
  const ways: (() => Promise<unknown>)[] = [];
  if (agentCapabilities?.sessionCapabilities?.resume) ways.push(() => agent.request('session/resume', session));
  if (agentCapabilities?.loadSession) ways.push(() => agent.request('session/load', session));
  for (const way of ways) {
    try {
      await way();
      return true;
    } catch {
      // Tried in the next way, if there is one.
    }
  }
  return false;
}

/** Fails as soon as the process is gone. */
async function orGone<T>(work: Promise<T>, gone: Promise<CoxswainError>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  let settled = false;
  gone.then((error) => {
    if (!settled) reject(error);
  }, reject);
  try {
    return await Promise.race([work.catch(async (error: unknown) => failed(error, gone)), promise]);
  } finally {
    settled = true;
    promise.catch(() => {});
  }
}

/** A request fails when its connection closes, too: then the process is what has to be told about. */
async function failed(error: unknown, gone: Promise<CoxswainError>): Promise<never> {
  if (isCoxswainError(error)) throw error;
  const lost = await soon(gone);
  if (lost) throw lost;
  const { code } = error as { code?: unknown };
  if (code === AUTH_REQUIRED) {
    throw new CoxswainError(
      'UNAUTHENTICATED',
      'E_AGENT_PROTOCOL',
      'the agent wants to be signed in; do so with its own command, or name one of its methods as `authMethod`',
      { cause: error },
    );
  }
  throw new CoxswainError('INTERNAL', 'E_AGENT_PROTOCOL', `the agent answered with an error: ${messageOf(error)}`, {
    cause: error,
    ...(typeof code === 'number' ? { details: { code } } : {}),
  });
}

const SOON_MS = 250;

async function soon<T>(promise: Promise<T>): Promise<T | undefined> {
  const { promise: elapsed, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), SOON_MS);
  try {
    return await Promise.race([promise, elapsed]);
  } finally {
    clearTimeout(timer);
  }
}
