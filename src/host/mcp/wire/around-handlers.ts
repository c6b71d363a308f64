import type { McpServer, Result, ServerContext } from '@modelcontextprotocol/server';

type Request = { params: Record<string, unknown> };
type Handler = (request: Request, context: ServerContext) => Result | Promise<Result>;
export type Around = (request: Request, context: ServerContext, next: Handler) => Result | Promise<Result>;

/**
 * Has `around` see each request of a method before the handler that the SDK sets for it: that of `tools/call` makes results of
 * all errors and holds every result to an output schema. To be called before that handler is set, which is when the first tool or
 * resource is registered.
 * @returns whether a handler was set by now
 */
export function aroundHandler({ server }: McpServer, wanted: string, around: Around): () => boolean {
  let isSet = false;
  const set = server.setRequestHandler.bind(server) as (method: string, ...rest: unknown[]) => void;
  const setAround = (method: string, ...rest: unknown[]) => {
    if (method !== wanted) return set(method, ...rest);
    isSet = true;
    const handler = rest.pop() as Handler;
    const outer: Handler = (request, context) => around(request, context, handler);
    set(method, ...rest, outer);
  };
  server.setRequestHandler = setAround as typeof server.setRequestHandler;
  return () => isSet;
}
