import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

/** Answers a request of `node:http` with what a `fetch` handler says. */
export async function answerNode(
  request: IncomingMessage,
  response: ServerResponse,
  fetch: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const made = requestOf(request, gone.signal);
  if (!made) return void response.writeHead(400, { connection: 'close' }).end();
  const answer = await fetch(made);
  if (gone.signal.aborted) return void (await answer.body?.cancel());
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    // What was not read of a body is not read any more.
    ...(request.complete || request.method === 'GET' ? {} : { connection: 'close' }),
  });
  if (!answer.body) return void response.end();
  response.flushHeaders();
  await send(answer.body, response, gone.signal);
}

/** Undefined: its address or its headers are none. */
function requestOf(request: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { headers, method = 'GET', url = '/' } = request;
  // What is no host name and port would make another address of it, or none.
  if (/[^\w.:[\]-]/.test(headers.host ?? '')) return undefined;
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  try {
    return new Request(new URL(`http://${headers.host ?? 'localhost'}${url}`), {
      method,
      headers: given,
      signal,
      ...(hasBody ? { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: 'half' } : {}),
    } as RequestInit & { body?: NodeReadableStream });
  } catch {
    return undefined;
  }
}

/** As fast as the client reads; a body that breaks off cuts the connection, so that nobody takes it for whole. */
async function send(body: ReadableStream<Uint8Array>, response: ServerResponse, gone: AbortSignal): Promise<void> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  if (gone.aborted) leave();
  gone.addEventListener('abort', leave, { once: true });
  reader.closed.catch(() => response.destroy());
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (response.write(next.value)) continue;
      await roomIn(response);
    }
    response.end();
  } catch {
    response.destroy();
  }
}

/** Resolves when what waits is written, or nobody reads it any more. */
function roomIn(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      response.off('drain', over);
      response.off('close', over);
      resolve();
    };
    response.on('drain', over);
    response.on('close', over);
  });
}
