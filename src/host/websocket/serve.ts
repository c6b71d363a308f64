import { warnWith } from '../../base/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { ExecutorOptions, Served, ServerOptions } from '../connection/index.ts';
import { loadProtocol, servedExecutor, servedHost } from '../connection/index.ts';
import type { AgentHost } from '../index.ts';
import type { AgentServer } from './agent-server.ts';
import type { ServeOptions } from './options.ts';
import { checkServe, checkServeExecutor } from './serve-shape.ts';
import { SocketServer } from './socket-server.ts';
import { isLoopback } from './upgrade.ts';
/**
 * Serves a host's sessions over WebSocket: clients watch, send messages and approve; policy and tools stay here.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` where nobody would be asked who they are
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { serve } from 'coxswain/server';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: 'gpt-5' })] });
 * const server = await serve(host, { port: 4747, authenticate: ({ token }) => (token === 'secret' ? { id: 'anna' } : undefined) });
 * console.log(server.url);
 * ```
 */
export async function serve(
  host: AgentHost,
  options: ServeOptions & { ceiling?: ServerOptions } = {},
): Promise<AgentServer> {
  checkServe(host, options);
  const warn = warnWith(options.warn);
  return listen(servedHost(host, options.ceiling ?? {}, warn, options), options);
}

/**
 * Serves bare executors over WebSocket: the client is the host, and runs policy and tools itself.
 * @example
 * ```ts
 * import { fromAgent, LlmAgent } from 'coxswain';
 * import { serveExecutor } from 'coxswain/server';
 *
 * const agents = [fromAgent(new LlmAgent({ name: 'clerk', model: 'gpt-5' }))];
 * const server = await serveExecutor({ app: 'shop', agents }, { port: 4747 });
 * console.log(server.url);
 * ```
 */
export async function serveExecutor(executor: ExecutorOptions, options: ServeOptions = {}): Promise<AgentServer> {
  checkServeExecutor(executor, options);
  return listen(servedExecutor(executor), options);
}

async function listen(served: Served, options: ServeOptions): Promise<AgentServer> {
  const bind = options.host ?? '127.0.0.1';
  if (!options.authenticate && options.server) {
    const message = 'serving on a server of yours needs authenticate: who can reach it is not known here';
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
  }
  if (!options.authenticate && !isLoopback(bind)) {
    const message = `a server on ${bind} needs authenticate; without it only loopback is served`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
  }
  const page = options.ui ? import('../inspector/index.ts') : undefined;
  const [{ WebSocketServer }, inspector] = await Promise.all([loadWs(), page, loadProtocol()]);
  const server = new SocketServer(served, options, WebSocketServer, inspector?.Inspector);
  if (!options.server) await server.listen(options.port ?? 0, bind);
  return server;
}

async function loadWs(): Promise<typeof import('ws')> {
  try {
    return await import('ws');
  } catch (cause) {
    const message = 'serving over WebSocket needs the package ws; npm install ws';
    throw new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message, { cause });
  }
}
