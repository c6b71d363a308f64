import type { HookPayloads, LifecycleInterceptor, ToolDescriptor, ToolResult } from '../../contracts/index.ts';
import { CoxswainError, canonicalJson, hooks } from '../../contracts/index.ts';

export interface ToolCacheOptions {
  /** Tools whose results may be used again. Default: those annotated `readOnly`. */
  tools?: readonly string[];
  /** Milliseconds that a result is good for. Default 60,000. */
  ttlMs?: number;
  /** Results that are kept; the one used longest ago makes room. Default 1,000. */
  maxEntries?: number;
  /** Who shares results: calls of one session, or everybody (a tool's result may depend on who asks). Default `session`. */
  scope?: 'session' | 'shared';
  /** Epoch milliseconds. */
  now?: () => number;
}

interface Entry {
  result: ToolResult;
  at: number;
}

/**
 * An interceptor that answers a call from the result of an identical earlier one: same tool, same arguments. Policy is
 * asked all the same; errors are not kept. Works for the runtime's tools and for a host's.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for sizes and times that are none
 */
export function cacheToolResults(options: ToolCacheOptions = {}): LifecycleInterceptor {
  const { ttlMs = 60_000, maxEntries = 1000, scope = 'session', now = Date.now } = options;
  if (!(ttlMs > 0)) throw bad(`ttlMs is a number above 0, not ${ttlMs}`);
  if (!(Number.isInteger(maxEntries) && maxEntries > 0))
    throw bad(`maxEntries is a whole number above 0, not ${maxEntries}`);
  const names = options.tools && new Set(options.tools);
  const kept = new Map<string, Entry>();
  const serves = ({ name, annotations }: ToolDescriptor) => (names ? names.has(name) : annotations?.readOnly === true);
  const keyOf = ({ tool, args, context }: HookPayloads['before_tool']) =>
    canonicalJson([scope === 'session' ? context.sessionId : null, tool.name, args]);
  return hooks({
    beforeTool(call) {
      if (!serves(call.tool)) return undefined;
      const key = keyOf(call);
      const entry = kept.get(key);
      if (!entry) return undefined;
      kept.delete(key);
      if (now() - entry.at >= ttlMs) return undefined;
      kept.set(key, entry);
      return {
        action: 'block',
        reason: 'answered from the cache',
        modifications: { result: structuredClone(entry.result) },
      };
    },
    afterTool(call) {
      const result = call.result as ToolResult;
      if (!serves(call.tool) || result.isError) return;
      kept.delete(keyOf(call));
      kept.set(keyOf(call), { result: structuredClone(result), at: now() });
      const [oldest] = kept.keys();
      if (kept.size > maxEntries && oldest !== undefined) kept.delete(oldest);
    },
  });
}

function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
