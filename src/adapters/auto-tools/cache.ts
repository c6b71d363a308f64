import type {
  AnyAgentTool,
  HookContext,
  HookPayloads,
  LifecycleInterceptor,
  ToolAnnotations,
  ToolResult,
} from '../../contracts/index.ts';
import { CoxswainError, canonicalJson, hooks } from '../../contracts/index.ts';
import type { Flights } from '../../gate/index.ts';
import { shareRuns } from '../../gate/index.ts';
import { anything, checkOptions, fn, kindOf, names, oneOf } from '../../session/index.ts';

export interface ToolCacheOptions {
  /** Tools whose results may be used again. Default: those annotated `readOnly`. */
  tools?: readonly string[];
  /** Milliseconds that a result is good for. Default 60,000. */
  ttlMs?: number;
  /** Results that are kept; the one used longest ago makes room. Default 1,000. */
  maxEntries?: number;
  /** Who shares results: calls of one session for the same person, or everybody (a tool's result may depend on who asks). Default `session`. */
  scope?: 'session' | 'shared';
  /** Epoch milliseconds. */
  now?: () => number;
}

type Asker = Pick<HookContext, 'userId' | 'principal' | 'sessionId' | 'sessionUid'>;

/** Who acts, for whom, and as what: a tool may give each something else. */
const asker = ({ id, onBehalfOf = id, roles = [] }: Asker['principal']) => [id, onBehalfOf, [...roles].sort()];

interface Entry {
  result: ToolResult;
  at: number;
}

/** Answers calls from earlier results, and lets identical ones that come at the same time share one run. */
export interface ToolCache extends LifecycleInterceptor {
  /**
   * The tool, of which identical calls under way share one run: a hook alone cannot wait for another call. Automatic
   * tools do so with the caches among their hooks; give a host's agents the tools that this returns.
   */
  share(tool: AnyAgentTool): AnyAgentTool;
}

/**
 * Hooks that answer a call from the result of an identical earlier one: same tool, same arguments. Policy is
 * asked all the same; errors are neither kept nor shared. Works for the runtime's tools and for a host's.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for sizes and times that are none
 */
export function cacheToolResults(options: ToolCacheOptions = {}): ToolCache {
  checkOptions<ToolCacheOptions>(options, 'cacheToolResults: options', {
    tools: names,
    ttlMs: anything,
    maxEntries: anything,
    scope: oneOf('session', 'shared'),
    now: fn,
  });
  const { ttlMs = 60_000, maxEntries = 1000, scope = 'session', now = Date.now } = options;
  if (!(typeof ttlMs === 'number' && ttlMs > 0)) throw bad(`ttlMs is a number above 0, not ${kindOf(ttlMs)}`);
  if (!(Number.isInteger(maxEntries) && maxEntries > 0))
    throw bad(`maxEntries is a whole number above 0, not ${kindOf(maxEntries)}`);
  const cached = options.tools && new Set(options.tools);
  const kept = new Map<string, Entry>();
  const shared = new WeakMap<AnyAgentTool, AnyAgentTool>();
  const serves = ({ name, annotations }: { name: string; annotations?: ToolAnnotations | undefined }) =>
    cached ? cached.has(name) : annotations?.readOnly === true;
  // The id of a session is unique for its user alone and may be used again; what a tool gives may be for whoever asks.
  const keyOf = ({ userId, principal, sessionId, sessionUid }: Asker, name: string, args: unknown) => {
    if (scope === 'shared') return canonicalJson([name, args]);
    if (sessionUid === undefined) return undefined;
    return canonicalJson([userId, sessionId, sessionUid, ...asker(principal), name, args]);
  };
  const keyOfCall = ({ tool, args, context }: HookPayloads['before_tool']) => keyOf(context, tool.name, args);
  const lookUp = (key: string | undefined): ToolResult | undefined => {
    const entry = key === undefined ? undefined : kept.get(key);
    if (key === undefined || !entry) return undefined;
    kept.delete(key);
    if (now() - entry.at >= ttlMs) return undefined;
    kept.set(key, entry);
    return structuredClone(entry.result);
  };
  const flights: Flights = new Map();
  const own = hooks({
    beforeTool(call) {
      const result = serves(call.tool) ? lookUp(keyOfCall(call)) : undefined;
      return result && { action: 'block', reason: 'answered from the cache', modifications: { result } };
    },
    afterTool(call) {
      const result = call.result as ToolResult;
      const key = serves(call.tool) && !result.isError ? keyOfCall(call) : undefined;
      if (key === undefined) return;
      kept.delete(key);
      kept.set(key, { result: structuredClone(result), at: now() });
      const [oldest] = kept.keys();
      if (kept.size > maxEntries && oldest !== undefined) kept.delete(oldest);
    },
  });
  return {
    ...own,
    share(tool) {
      if (!tool.execute || !serves(tool) || tool.annotations?.longRunning) return tool;
      const made =
        shared.get(tool) ??
        shareRuns(tool, flights, {
          keyOf: (args, context) => keyIfAny(() => keyOf(context, tool.name, args)),
          lookUp,
        });
      shared.set(tool, made);
      return made;
    },
  };
}

export function isToolCache(given: LifecycleInterceptor): given is ToolCache {
  return 'share' in given && typeof given.share === 'function';
}

/** Arguments that a schema has made into something other than JSON are like no others. */
function keyIfAny(make: () => string | undefined): string | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
