import { parseJson } from '../../../contracts/index.ts';
import { isTooDeep } from './json-rpc.ts';

/** A request; without an id, a notice that nobody answers. */
export interface Incoming {
  id: string | number | undefined;
  method: string;
  params: unknown;
}

/** Reads one frame. A text says why it is no request: the connection ends, as no answer to it would be matched. */
export function readIncoming(text: string): Incoming | string {
  if (isTooDeep(text)) return 'nested too deep';
  const message = parse(text);
  if (!message) return 'not a JSON object';
  const { id, method, params } = message;
  if (typeof method !== 'string' || (id !== undefined && !isId(id))) return 'not a JSON-RPC 2.0 request';
  return { id, method, params: params ?? {} };
}

function parse(text: string): { id?: unknown; method?: unknown; params?: unknown } | undefined {
  try {
    const value = parseJson(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && (value as { jsonrpc?: unknown }).jsonrpc === '2.0' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What can be given back as it came. */
function isId(id: unknown): id is string | number {
  return typeof id === 'string' ? id.length <= 256 : typeof id === 'number' && Number.isFinite(id);
}
