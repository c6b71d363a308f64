import { isObject } from '../../base/index.ts';
import type { ToolResult } from '../../contracts/index.ts';

/** What was cut off a result, in its `_meta.truncated`. */
export interface Truncated {
  /** Of the whole, as JSON. */
  bytes: number;
  /** Names under which parts of it are kept: by `spill`, or as artifacts of the session. */
  artifacts: string[];
  /** That of its whole text; null: the text was cut, and no one name has all of it. Absent: the text was not cut. */
  text?: string | null;
}

/** What a result, or a response in the log, says was cut off it. */
export function truncatedOf({ _meta }: { _meta?: Record<string, unknown> | undefined }): Truncated | undefined {
  const said = _meta?.truncated;
  if (!isObject(said)) return undefined;
  const { bytes, artifacts, text } = said;
  return {
    bytes: typeof bytes === 'number' ? bytes : 0,
    artifacts: Array.isArray(artifacts) ? artifacts.filter((name) => typeof name === 'string') : [],
    ...(typeof text === 'string' || text === null ? { text } : {}),
  };
}

/** A result from outside: what was cut off it, and under which name that is kept, is said by who bounds it alone. */
export function withoutTruncated<R extends { _meta?: Record<string, unknown> | undefined }>(result: R): R {
  if (!isObject(result._meta) || !('truncated' in result._meta)) return result;
  const {
    _meta: { truncated: _, ...meta },
    ...rest
  } = result;
  return (Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest) as R;
}

/** Of the names that it says, those that are known to be kept. */
export function keptWithin(result: ToolResult, isKept: (name: string) => boolean): ToolResult {
  const said = truncatedOf(result);
  if (!said || said.artifacts.every(isKept)) return result;
  const { text, ...truncated } = { ...said, artifacts: said.artifacts.filter(isKept) };
  const known = typeof text === 'string' && !isKept(text) ? null : text;
  return {
    ...result,
    _meta: { ...result._meta, truncated: known === undefined ? truncated : { ...truncated, text: known } },
  };
}

/** A result made of others: what was cut off each of them was cut off it. */
export function withTruncatedOf(result: ToolResult, parts: readonly ToolResult[]): ToolResult {
  const said = parts.flatMap((part) => truncatedOf(part) ?? []);
  if (said.length === 0) return result;
  const truncated: Truncated = {
    bytes: said.reduce((sum, { bytes }) => sum + bytes, 0),
    artifacts: said.flatMap(({ artifacts }) => artifacts),
    ...(said.some(({ text }) => text !== undefined) ? { text: null } : {}),
  };
  return { ...result, _meta: { ...result._meta, truncated } };
}
