import { inTime, warnWith } from '../../base/index.ts';
import { MAX_TIMER_MS } from '../../gate/index.ts';
import { Gatekeeper, Hub, servedHost, serverLimits } from '../connection/index.ts';
import type { AgentHost } from '../index.ts';
import { HttpFront } from './front.ts';
import { checkHttp } from './http-shape.ts';
import type { HttpOptions } from './options.ts';

/** Milliseconds that an aborted run has to end. */
const ABORT_MS = 2000;

/**
 * Serves a host's sessions over plain HTTP and event streams, as a function from `Request` to `Response`: for Node through
 * an adapter, for Hono, Next.js, Bun, Deno and workers as it is. `docs/http.md` lists the routes. It never rejects: what
 * goes wrong is an answer with a status.
 *
 * `close` takes nothing new, lets what runs finish until the deadline (default 10,000 ms), and ends the event streams, so
 * that their clients come back. The host stays open.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { createHttp } from 'coxswain/server/http';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: 'gpt-5' })] });
 * const handler = createHttp(host, { authenticate: ({ token }) => (token === 'secret' ? { id: 'anna' } : undefined) });
 * const response = await handler(new Request('http://localhost/v1/agents', { headers: { authorization: 'Bearer secret' } }));
 * console.log(response.status);
 * ```
 */
export function createHttp(
  host: AgentHost,
  options: HttpOptions,
): ((request: Request) => Promise<Response>) & { close(options?: { deadlineMs?: number }): Promise<void> } {
  checkHttp(host, options);
  const warn = warnWith(options.warn);
  const { cors = false } = options;
  const hub = new Hub(servedHost(host, options.ceiling ?? {}, warn), { limits: serverLimits(options.limits), warn });
  const front = new HttpFront({
    hub,
    gate: new Gatekeeper({ ...options, warn }),
    basePath: options.basePath ?? '',
    authorize: options.authorize,
    cors: typeof cors === 'boolean' ? cors && { credentials: false } : cors,
    onDisconnect: options.onDisconnect ?? 'continue',
    others: () => 0,
    log: options.log ?? (() => {}),
    warn,
  });
  let closing: Promise<void> | undefined;
  const close = async (deadlineMs: number) => {
    hub.retire();
    front.retire(deadlineMs);
    if (!(await inTime(hub.quiet(), deadlineMs))) await inTime(hub.abort('the server goes away'), ABORT_MS);
    front.close();
    await hub.close();
  };
  return Object.assign((request: Request) => front.answer({ request }), {
    close({ deadlineMs = 10_000 }: { deadlineMs?: number } = {}) {
      closing ??= close(Math.min(deadlineMs, MAX_TIMER_MS));
      return closing;
    },
  });
}
