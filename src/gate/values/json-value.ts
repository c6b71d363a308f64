import { MAX_JSON_DEPTH, setOwn } from '../../contracts/index.ts';

/** Values visited before the rest is left out: shared objects can make a small graph an endless tree. */
const MAX_NODES = 2_000_000;
const TRUNCATED = '[Truncated]';

/**
 * Any value as JSON, never throwing:
 *
 * | value | becomes |
 * |---|---|
 * | string, finite number, boolean, null | itself (`-0` becomes 0; lone surrogates stay) |
 * | NaN, Infinity | null |
 * | bigint | string of its digits |
 * | undefined, function, symbol | left out of objects and maps, null in arrays and sets |
 * | Date | ISO 8601 string; invalid: null |
 * | bytes (ArrayBuffer, DataView, Uint8Array, Buffer) | `{mimeType: 'application/octet-stream', data: base64}` |
 * | other typed arrays, Set | array |
 * | Map | object if every key is a string, else an array of `[key, value]` |
 * | Error | `{error: message}` |
 * | RegExp | its text |
 * | an object with `toJSON` | what that returns |
 * | another object | its own enumerable string-keyed members |
 * | a reference back to what it is inside of | `"[Circular]"` |
 * | deeper than 200 levels | `"[Too deep]"` |
 * | what throws while it is read | `"[Unreadable]"` |
 * | everything after 2,000,000 values | `"[Truncated]"`, once for each object or array |
 */
export function toJsonValue(value: unknown): unknown {
  return new Converter().convert(value, 0) ?? null;
}

/** Bytes of any kind as base64; undefined for everything else. */
export function base64OfBytes(value: unknown): string | undefined {
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    return Buffer.from(value).toString('base64');
  }
  if (value instanceof Uint8Array || value instanceof Uint8ClampedArray || value instanceof DataView) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  return undefined;
}

export const BYTES_MIME = 'application/octet-stream';

class Converter {
  readonly #open = new Set<object>();
  #left = MAX_NODES;

  /** Undefined means that the value has no place in JSON. */
  convert(value: unknown, depth: number): unknown {
    this.#left--;
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) ? value + 0 : null;
      case 'bigint':
        return value.toString();
      case 'object':
        break;
      default:
        return undefined;
    }
    if (value === null) return null;
    if (this.#open.has(value)) return '[Circular]';
    if (depth >= MAX_JSON_DEPTH) return '[Too deep]';
    this.#open.add(value);
    try {
      return this.#object(value, depth);
    } catch {
      return '[Unreadable]';
    } finally {
      this.#open.delete(value);
    }
  }

  #object(value: object, depth: number): unknown {
    if (Array.isArray(value)) return this.#array(value, depth);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    const data = base64OfBytes(value);
    if (data !== undefined) return { mimeType: BYTES_MIME, data };
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return this.convert(toJSON.call(value, ''), depth + 1);
    if (value instanceof Error) return { error: String(value.message) };
    if (value instanceof RegExp) return String(value);
    if (value instanceof Map) return this.#map(value, depth);
    if (value instanceof Set) return this.#array(value, depth);
    if (ArrayBuffer.isView(value)) return this.#array(value as unknown as Iterable<number>, depth);
    if (value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt) {
      return this.convert(value.valueOf(), depth);
    }
    return this.#members(memberEntries(value), depth);
  }

  #array(items: Iterable<unknown>, depth: number): unknown[] {
    const result: unknown[] = [];
    for (const item of items) {
      if (this.#left <= 0) {
        result.push(TRUNCATED);
        break;
      }
      result.push(this.convert(item, depth + 1) ?? null);
    }
    return result;
  }

  #map(map: Map<unknown, unknown>, depth: number): unknown {
    for (const key of map.keys()) if (typeof key !== 'string') return this.#array(map, depth);
    return this.#members(map as Map<string, unknown>, depth);
  }

  #members(entries: Iterable<readonly [string, unknown]>, depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const [key, member] of entries) {
      if (this.#left <= 0) {
        setOwn(result, TRUNCATED, true);
        break;
      }
      const converted = this.convert(member, depth + 1);
      if (converted !== undefined) setOwn(result, key, converted);
    }
    return result;
  }
}

function* memberEntries(value: object): Iterable<readonly [string, unknown]> {
  for (const key of Object.keys(value)) yield [key, readMember(value, key)];
}

/** One getter that throws costs its own member, not the object. */
function readMember(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return '[Unreadable]';
  }
}
