import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { KEEP_ALIVE_MS, warnWith } from '../../../base/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import type { AgentHost } from '../../index.ts';
import { createMcpFactory } from '../server/index.ts';
import type { McpHttpOptions, McpServeOptions } from '../turn/index.ts';
import { bad, checkNumbers, factoryOptions, loadNodeSdk, loadServerSdk, mcpInput } from '../turn/index.ts';
import { withNamedTypes } from './accept.ts';
import { admissionOf } from './admission.ts';
import { HttpSessions } from './http-sessions.ts';
import { cutStalled } from './stalled.ts';
import { Turns } from './turns.ts';

/** Of one principal: as many as it takes to hide the way, few enough to bound what is held in memory. */
const BODIES_AT_ONCE = 16;
/** Requests of one principal that may wait for that; more are told to come back (429). */
const BODIES_WAITING = 256;
/** Milliseconds that a client may take nothing of what it is sent. */
const STALL_MS = 30_000;
/** Milliseconds that a request may take to come in, and between looks at those that have not. */
const BODY_MS = 30_000;
const CHECK_MS = 5_000;

export interface McpHttp {
  /** For runtimes that speak fetch. */
  fetch(request: Request): Promise<Response>;
  /** For `node:http` and what is built on it. */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends all sessions; calls that run are cancelled. */
  close(): Promise<void>;
}

/** Streamable HTTP: 2026-07-28 without sessions, the 2025 versions with them, from one factory. */
export async function createMcpHttp(host: AgentHost, options: McpHttpOptions = {}): Promise<McpHttp> {
  mcpInput.http(host, options);
  checkNumbers(options, ['maxSessions', 'sessionIdleMs', 'resumeBytes', 'maxBodyBytes']);
  const [factory, sdk, node] = await Promise.all([
    createMcpFactory(host, factoryOptions(options)),
    loadServerSdk(),
    loadNodeSdk(),
  ]);
  const maxBodyBytes = options.maxBodyBytes ?? sdk.DEFAULT_MAX_REQUEST_BODY_SIZE;
  const warn = warnWith(options.warn);
  const admit = admissionOf(options, sdk, warn);
  const modern = sdk.createMcpHandler(factory, { legacy: 'reject', maxRequestBodySize: maxBodyBytes });
  const sessions = new HttpSessions(factory, sdk, {
    maxSessions: options.maxSessions ?? 1_000,
    idleMs: options.sessionIdleMs ?? 1_800_000,
    maxBodyBytes,
    resumeBytes: options.resumeBytes ?? 262_144,
  });

  const bodies = new Turns(BODIES_AT_ONCE, BODIES_WAITING);

  async function serve(given: Request, authInfo: AuthInfo | undefined): Promise<Response> {
    const request = withNamedTypes(given);
    const isLegacy = await sdk.isLegacyRequest(request, undefined, { maxRequestBodySize: maxBodyBytes });
    return isLegacy ? sessions.fetch(request, authInfo) : modern.fetch(request, { ...(authInfo ? { authInfo } : {}) });
  }

  return {
    async fetch(request) {
      const admission = await admit(request);
      return 'refused' in admission ? admission.refused : serve(request, admission.authInfo);
    },
    async node(request, response) {
      // What is no host name and port would make another address of it, or none.
      if (/[^\w.:[\]-]/.test(request.headers.host ?? '')) return void response.writeHead(403).end();
      const head = headOf(request);
      if (!head) return void response.writeHead(400).end();
      const admission = await admit(head);
      if ('refused' in admission) return answer(response, admission.refused);
      const { authInfo } = admission;
      // Nothing of a body is read for whoever was not let in, and of nobody's more than a few at a time.
      const owner = authInfo?.clientId;
      if (bodies.isFull(owner)) return void response.writeHead(429, { 'retry-after': '1' }).end();
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      cutStalled(response, STALL_MS);
      if (response.destroyed) gone.abort();
      const done = await bodies.take(owner, gone.signal);
      if (!done) return;
      try {
        const fetch = (whole: Request) => {
          done();
          return serve(whole, authInfo);
        };
        const handle = node.toNodeHandler({ fetch }, { maxRequestBodySize: maxBodyBytes });
        await handle(request as unknown as Parameters<typeof handle>[0], response);
      } finally {
        done();
      }
    },
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

/** A request without its body; undefined where it is none. */
function headOf({ headers, method = 'GET', url = '/' }: IncomingMessage): Request | undefined {
  const given = Object.entries(headers).map(([name, value]) => [name, String(value ?? '')] as [string, string]);
  try {
    return new Request(`http://${headers.host ?? 'localhost'}${url}`, { method, headers: given });
  } catch {
    return undefined;
  }
}

async function answer(response: ServerResponse, refused: Response): Promise<void> {
  // What it would still send is not read.
  response.writeHead(refused.status, { ...Object.fromEntries(refused.headers), connection: 'close' });
  response.end(await refused.text());
}

export interface McpListener {
  readonly url: string;
  close(): Promise<void>;
}

const loopback = new Set(['127.0.0.1', '::1', 'localhost']);
const loopbackNames = ['127.0.0.1', '[::1]', 'localhost'];

/**
 * Listens for MCP clients over HTTP.
 * @throws CoxswainError `INVALID_ARGUMENT / E_USAGE` for an address that others can reach without `authenticate`, or
 *   that cannot be listened on
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { serveMcpHttp } from 'coxswain/server/mcp';
 *
 * const clerk = new LlmAgent({ name: 'clerk', description: 'Answers questions about orders.', model: 'gpt-5' });
 * const server = await serveMcpHttp(createHost({ app: 'shop', agents: [clerk] }), { port: 3000 });
 * console.log(server.url);
 * ```
 */
export async function serveMcpHttp(host: AgentHost, options: McpServeOptions = {}): Promise<McpListener> {
  mcpInput.http(host, options);
  const { port = 0, hostname = '127.0.0.1', path = '/mcp' } = options;
  if (!loopback.has(hostname) && !options.authenticate) {
    const message = `${hostname} can be reached from elsewhere: give authenticate, or listen on 127.0.0.1`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_USAGE', message);
  }
  if (!path.startsWith('/')) throw bad(`path is ${JSON.stringify(path)}; it begins with /, like /mcp`);
  const name = hostname.includes(':') ? `[${hostname}]` : hostname;
  const mcp = await createMcpHttp(host, { allowedHosts: [...loopbackNames, name], ...options });
  const times = {
    requestTimeout: BODY_MS,
    headersTimeout: BODY_MS,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = createServer(times, (request, response) => {
    // Whoever has not shown who they are may send anything: `//` is no address at all.
    const [asked] = (request.url ?? '/').split('?');
    if (asked === path) void mcp.node(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => {
      const message = `MCP clients cannot be listened for on ${hostname}, port ${port}: ${error.message}`;
      reject(new CoxswainError('INVALID_ARGUMENT', 'E_USAGE', message, { cause: error }));
    };
    server.once('error', fail);
    try {
      server.listen(port, hostname, resolve);
    } catch (error) {
      // No port at all.
      fail(error as Error);
    }
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${name}:${bound}${path}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await mcp.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
