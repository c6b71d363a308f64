import { inTime } from '../../base/index.ts';
import { CoxswainError, parseJson } from '../../contracts/index.ts';
import { isTooDeep, protocolError } from '../connection/index.ts';

export interface BodyLimits {
  /** Bytes of one body. */
  maxPayload: number;
  /** Milliseconds that each piece of it may take to come. */
  stallMs: number;
}

/**
 * The JSON object that a request carries; an empty body is an empty one.
 * @throws CoxswainError `INVALID_ARGUMENT / E_TOO_LARGE`, `E_PROTOCOL`, `DEADLINE_EXCEEDED / E_CONNECTION_LOST`
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<Record<string, unknown>> {
  const text = await readText(request, limits);
  if (text.trim() === '') return {};
  if (isTooDeep(text)) throw protocolError('the body is nested too deep');
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw protocolError('the body is no JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw protocolError('the body is no JSON object');
  }
  return value as Record<string, unknown>;
}

async function readText(request: Request, { maxPayload, stallMs }: BodyLimits): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > maxPayload) throw tooLarge(maxPayload);
  const reader = request.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  try {
    for (;;) {
      const piece = reader.read();
      if (!(await inTime(piece, stallMs))) throw gone('the body did not come in time');
      const { done, value } = await piece;
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > maxPayload) throw tooLarge(maxPayload);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    // What is still on its way is not read.
    reader.cancel().catch(() => {});
    if (error instanceof CoxswainError) throw error;
    throw error instanceof TypeError ? protocolError('the body is no UTF-8') : gone('the body broke off');
  }
}

function tooLarge(maxPayload: number): CoxswainError {
  const message = `the body is larger than the ${maxPayload} bytes that this server takes`;
  return new CoxswainError('INVALID_ARGUMENT', 'E_TOO_LARGE', message);
}

function gone(message: string): CoxswainError {
  return new CoxswainError('UNAVAILABLE', 'E_CONNECTION_LOST', message);
}
