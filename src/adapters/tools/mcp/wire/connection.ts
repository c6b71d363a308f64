import type { Client, JSONRPCMessage, Tool, Transport } from '@modelcontextprotocol/client';
import { CoxswainError, messageOf, PACKAGE_VERSION } from '../../../../contracts/index.ts';
import { untilAborted } from '../../../../gate/index.ts';
import { DROPPED, hearFirst } from './heard.ts';
import type { HttpTransport } from './http.ts';
import { httpTransport } from './http.ts';
import { readLeniently } from './lenient.ts';
import { eachOnce, ListWalk } from './listed.ts';
import type { McpQuestion, McpReply, McpServer, McpToolsetOptions } from './options.ts';
import { isAnswer, isLate, Silence } from './outcome.ts';
import type { McpSdk } from './sdk.ts';
import { explainer } from './secrets.ts';
import { ServerRequests } from './server-requests.ts';

/** Characters of what a child printed that an error shows, and those that are kept so that no secret is cut in two. */
const MAX_PRINTED = 1_000;
const MAX_KEPT = 64 * 1024;
/** Twice that is the longest that a timer can be set to. */
const MAX_MS = 2 ** 30 - 1;

const CONNECT_MS = 30_000;
const LIST_MS = 10_000;

/** Who hears what a server says by itself. */
export interface ServerListener {
  onToolsChanged: () => void;
  warn: (text: string) => void;
  /** Whether somebody could be asked: told to the server where it is connected to. */
  mayAsk: () => boolean;
  ask: (question: McpQuestion, signal: AbortSignal) => Promise<McpReply>;
}

/** A connection to one server that is made when it is needed, and made again when it was lost. */
export class McpConnection {
  readonly name: string;
  readonly #server: McpServer;
  readonly #options: McpToolsetOptions;
  readonly #onToolsChanged: () => void;
  readonly #warn: (text: string) => void;
  readonly #heard: ServerListener;
  /** What went wrong, without what is secret. */
  readonly explain: (error: unknown) => string;
  #client: Promise<Client> | undefined;
  isClosed = false;
  /** Those that nobody tells of changes any more. */
  readonly #deaf = new WeakSet<Client>();
  /** What is under way over each. */
  readonly #uses = new Map<Client, number>();
  /** Those that are closed once nothing is under way over them any more. */
  readonly #left = new Set<Client>();
  readonly #walk = new ListWalk();
  /** Who is to sign in, and where, is known to the transport that was refused. */
  #lastHttp: HttpTransport | undefined;
  /** The end of what the child printed to stderr. */
  #printed = '';

  constructor(name: string, server: McpServer, options: McpToolsetOptions, heard: ServerListener) {
    this.name = name;
    this.#server = server;
    this.#options = options;
    this.#onToolsChanged = heard.onToolsChanged;
    this.#warn = heard.warn;
    this.#heard = heard;
    this.explain = explainer(server);
  }

  /** @throws CoxswainError `UNAVAILABLE / E_MCP_SERVER`, `FAILED_PRECONDITION / E_SESSION_CLOSED` */
  async client(): Promise<Client> {
    if (this.isClosed) {
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

  /** Whether what was listed over it has to be listed anew each time, since no change would be told. */
  isDeaf(client: Client): boolean {
    return this.#deaf.has(client);
  }

  /** Whether there are resources to be read, as the server says. */
  hasResources(client: Client): boolean {
    return client.getServerCapabilities()?.resources !== undefined;
  }

  /** The tools that a server lists, page by page. `begin`: what changes from now on is another change. */
  async listTools(begin: (client: Client) => void): Promise<Tool[]> {
    return this.ask(async (client) => {
      begin(client);
      if (!client.getServerCapabilities()?.tools) return [];
      this.#walk.begin();
      const listMs = boundOf(this.#options.listMs ?? LIST_MS);
      const signal = AbortSignal.timeout(listMs);
      try {
        // The SDK counts each page by itself; the signal counts all.
        const listing = client.listTools(undefined, { cacheMode: 'refresh', signal, timeout: 2 * listMs });
        return eachOnce((await untilAborted(listing, signal)).tools);
      } catch (error) {
        throw signal.aborted ? new Silence(`it did not answer within ${listMs} ms (listMs)`) : error;
      }
    });
  }

  /**
   * For what may be asked twice. Whatever the refusal, it may be that of a session that the server does not know any
   * more: it is asked once more in a new one, and what fails there too leaves no session behind. `believed`: an error that
   * the server answers with is about what was asked; so it is of a child, which is the one that was started.
   */
  async ask<T>(
    question: (client: Client) => Promise<T>,
    { believed = !('url' in this.#server) }: { believed?: boolean } = {},
  ): Promise<T> {
    const sdk = await loadMcpSdk();
    for (let isSecond = false; ; isSecond = true) {
      const isNew = this.#client === undefined;
      const client = await this.client();
      try {
        return await this.use(client, question);
      } catch (error) {
        if (believed && isAnswer(error, sdk)) throw error;
        await this.drop(client);
        if (isNew || isSecond || isLate(error, sdk)) throw error;
      }
    }
  }

  /** Keeps a client open while something is under way over it, even where it is dropped meanwhile. */
  async use<T>(client: Client, work: (client: Client) => Promise<T>): Promise<T> {
    this.#uses.set(client, (this.#uses.get(client) ?? 0) + 1);
    try {
      return await work(client);
    } finally {
      const others = (this.#uses.get(client) ?? 1) - 1;
      if (others > 0) this.#uses.set(client, others);
      else this.#uses.delete(client);
      if (others === 0 && this.#left.delete(client)) await client.close().catch(() => {});
    }
  }

  /** Its session is gone, or may be: the next one begins another, unless somebody has done so already. */
  async drop(lost: Client): Promise<void> {
    const current = this.#client;
    const open = await current?.catch(() => undefined);
    if (open !== lost || this.#client !== current) return;
    this.#client = undefined;
    // Nobody has to be told what is known.
    delete lost.onclose;
    if (this.#uses.has(lost)) this.#left.add(lost);
    else await lost.close().catch(() => {});
  }

  /** Ends a sign-in that the server has asked for. The next request begins anew. */
  async finishAuth(callback: URLSearchParams): Promise<void> {
    if (!this.#lastHttp) throw new Error('nobody was asked to sign in: it was not connected to yet');
    await this.#lastHttp.finishAuth(callback);
    const client = await this.#client?.catch(() => undefined);
    if (client) await this.drop(client);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await Promise.all([...this.#left].map((left) => left.close().catch(() => {})));
    this.#left.clear();
    await client?.close();
  }

  async #connect(onclose: () => void): Promise<Client> {
    const sdk = await loadMcpSdk();
    const mayAsk = this.#heard.mayAsk();
    const connectMs = boundOf(this.#options.connectMs ?? CONNECT_MS);
    // The SDK counts each step by itself; the signal counts all.
    const later = 2 * connectMs;
    const client = new sdk.Client(
      { name: 'coxswain', version: PACKAGE_VERSION },
      {
        capabilities: mayAsk ? { elicitation: { form: { applyDefaults: true }, url: {} } } : {},
        // A child of before 2026 may never answer the first question: half the time is left for the next one.
        versionNegotiation: {
          mode: this.#options.protocol ?? 'auto',
          probe: { timeoutMs: 'url' in this.#server ? later : connectMs / 2 },
        },
        // What is read counts the pages.
        listMaxPages: 0,
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => this.#onToolsChanged() } },
      },
    );
    // Also where the server did not say beforehand that it would tell.
    client.setNotificationHandler('notifications/tools/list_changed', () => this.#onToolsChanged());
    if (mayAsk) this.#answer(client, this.#heard.ask);
    const signal = AbortSignal.timeout(connectMs);
    try {
      const transport = await this.#transport(sdk, (message) =>
        readLeniently(message, {
          sdk,
          version: client.getNegotiatedProtocolVersion(),
          walk: this.#walk,
          warn: this.#warn,
        }),
      );
      await untilAborted(client.connect(transport, { timeout: later, signal }), signal);
    } catch (error) {
      await client.close().catch(() => {});
      const fault = signal.aborted ? `it did not answer within ${connectMs} ms` : this.explain(error);
      const printed = this.explain(this.#printed).slice(-MAX_PRINTED).replaceAll(/\s+/g, ' ').trim();
      const why = printed === '' ? fault : `${fault}; it printed: ${printed}`;
      const message = `the MCP server ${this.name} cannot be reached: ${why}`;
      throw new CoxswainError('UNAVAILABLE', 'E_MCP_SERVER', message, {
        details: { server: this.name },
        ...(signal.aborted ? { cause: new Silence(fault) } : {}),
      });
    }
    client.onclose = onclose;
    // What went wrong may have been the news of a change.
    client.onerror = (error) => {
      if (/^Maximum reconnection attempts/.test(error.message)) this.#deaf.add(client);
      this.#onToolsChanged();
    };
    void client.autoOpenedSubscription?.closed.then(() => {
      this.#deaf.add(client);
      this.#onToolsChanged();
    });
    return client;
  }

  async #transport(sdk: McpSdk, read: (message: JSONRPCMessage) => void): Promise<Transport> {
    const requests = new ServerRequests();
    const hear = (message: JSONRPCMessage) => (requests.takes(message) ? read(message) : DROPPED);
    const transport = await this.#madeTransport(sdk, hear);
    requests.bound(transport, () => {
      this.#warn('it asks for more than it takes the answers to, 1,000 at once: its connection is closed');
      void transport.close().catch(() => {});
    });
    return transport;
  }

  async #madeTransport(sdk: McpSdk, hear: (message: JSONRPCMessage) => unknown): Promise<Transport> {
    const server = this.#server;
    if ('url' in server) {
      const { url, headers, authProvider } = server;
      this.#lastHttp = httpTransport(sdk, new URL(url), { headers: { ...headers }, authProvider, hear });
      return this.#lastHttp;
    }
    const { StdioClientTransport, getDefaultEnvironment } = await loadStdio();
    const { command, args = [], env, cwd, stderr } = server;
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      env: { ...getDefaultEnvironment(), ...env },
      stderr: stderr === 'inherit' ? 'inherit' : 'pipe',
      ...(cwd === undefined ? {} : { cwd }),
    });
    hearFirst(transport, hear);
    this.#printed = '';
    transport.stderr?.on('data', (chunk: Buffer) => {
      this.#printed = (this.#printed + chunk.toString()).slice(-MAX_KEPT);
    });
    return transport;
  }

  #answer(client: Client, ask: ServerListener['ask']): void {
    client.setRequestHandler('elicitation/create', async ({ params }, context) => {
      const question = { server: this.name, message: params.message };
      const asked =
        params.mode === 'url'
          ? { ...question, url: params.url }
          : { ...question, requestedSchema: { ...params.requestedSchema } };
      const { action, content } = await ask(asked, context.mcpReq.signal);
      // Of a form that is left as it is the defaults count, which are put into what is there.
      return action === 'accept' && (content || params.mode !== 'url')
        ? { action, content: { ...content } }
        : { action };
    });
  }
}

const boundOf = (ms: number): number => Math.ceil(Math.min(ms, MAX_MS));

export async function loadMcpSdk(): Promise<McpSdk> {
  try {
    return await import('@modelcontextprotocol/client');
  } catch (error) {
    throw orAbsence(error);
  }
}

async function loadStdio(): Promise<typeof import('@modelcontextprotocol/client/stdio')> {
  try {
    return await import('@modelcontextprotocol/client/stdio');
  } catch (error) {
    throw orAbsence(error);
  }
}

/** Each `import()` stands in the very `try`: bundlers leave out what is not there only where they see that it is caught. */
function orAbsence(error: unknown): unknown {
  if (!absent.test(messageOf(error))) return error;
  const message = 'tools of MCP servers need one more package: npm install @modelcontextprotocol/client';
  return new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message, { cause: error });
}

/** As Node says it, and as what bundlers put in the place of such a package does. */
const absent = /^(Cannot find (module|package)|Could not resolve) /;
