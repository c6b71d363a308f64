/**
 * Sessions over plain HTTP and event streams, as a `fetch` handler: Node, Hono, Next.js, Bun, Deno, workers.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { AuthenticationRequest } from '../host/http/index.ts';
export { createHttp } from '../host/http/index.ts';
