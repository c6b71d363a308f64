import { messageOf } from '../../contracts/index.ts';
import { parseStrictJson } from './json-text.ts';

export interface PostOptions {
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  maxBytes: number;
  signal: AbortSignal | undefined;
}

/** Posts JSON and reads JSON. @throws Error with a message that holds neither headers nor body */
export async function postJson(address: URL, body: unknown, options: PostOptions): Promise<unknown> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { accept: 'application/json', ...options.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      // The token is for this address alone.
      redirect: 'error',
      signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`it answered with status ${response.status}`);
    }
    return parseStrictJson(await readText(response, options.maxBytes));
  } catch (error) {
    if (timeout.aborted) throw new Error(`no answer within ${options.timeoutMs} ms`, { cause: error });
    throw error instanceof TypeError ? new Error(causeOf(error), { cause: error }) : error;
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new Error('the answer is no UTF-8', { cause: error });
  }
}

/** What fetch failed of is a level down. */
function causeOf(error: TypeError): string {
  const cause = error.cause as { code?: unknown } | undefined;
  return typeof cause?.code === 'string' ? `it cannot be reached (${cause.code})` : messageOf(error.cause ?? error);
}
