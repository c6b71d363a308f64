import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OpaServer {
  url: string;
  /** Bodies and headers of the requests so far. */
  seen: { path: string; body: { input: unknown }; headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

type Rule = (input: Record<string, unknown>) => unknown;

/**
 * A server that answers as an Open Policy Agent does: `POST /v1/data/<path>` with `{input}` gives `{result}`, and
 * `{}` where the rule is undefined or there is none. A rule is a function here; `handle` may answer instead.
 */
export async function opaServer(
  rules: Record<string, Rule>,
  handle?: (response: ServerResponse) => boolean,
): Promise<OpaServer> {
  const seen: OpaServer['seen'] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const path = (request.url ?? '').replace(/^\/v1\/data\//, '');
    seen.push({ path, body, headers: request.headers });
    if (handle?.(response)) return;
    const result = request.method === 'POST' ? rules[path]?.(body.input) : undefined;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ decision_id: 'd-1', ...(result === undefined ? {} : { result }) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
