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
import { shareRuns, toolDigest } from '../../gate/index.ts';
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

type Asker = Pick<HookContext, 'userId' | 'principal' | 'sessionId' | 'sessionUid' | 'agentPath'>;

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
 * Hooks that answer a call from the result of an identical earlier one: same agent, same tool (its source, name and
 * definition), same arguments. Policy is asked all the same, and a call that a person has to approve is approved and runs;
 * what came of a question to a person is not kept, nor are errors. Works for the runtime's tools and for a host's; among
 * the plugins of an agent under a host it answers nothing, for the host has not decided yet.
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
  const keptRuns = new Map<string, Entry>();
  const shared = new WeakMap<AnyAgentTool, AnyAgentTool>();
  const serves = ({ name, annotations }: { name: string; annotations?: ToolAnnotations | undefined }) =>
    cached ? cached.has(name) : annotations?.readOnly === true;
  // The id of a session is unique for its user alone and may be used again; what a tool gives may be for whoever asks.
  const keyOf = (asking: Asker, what: readonly unknown[], args: unknown) => {
    const { userId, principal, sessionId, sessionUid, agentPath } = asking;
    if (scope === 'shared') return canonicalJson([null, agentPath, what, args]);
    if (sessionUid === undefined) return undefined;
    return canonicalJson([[userId, sessionId, sessionUid, ...asker(principal)], agentPath, what, args]);
  };
  const keyOfCall = ({ tool, args, context }: HookPayloads['before_tool']) =>
    keyOf(context, [context.toolSource ?? null, tool.name, toolDigest(tool)], args);
  const lookUp = (from: Map<string, Entry>, key: string | undefined): ToolResult | undefined => {
    const entry = key === undefined ? undefined : from.get(key);
    if (key === undefined || !entry) return undefined;
    from.delete(key);
    if (now() - entry.at >= ttlMs) return undefined;
    from.set(key, entry);
    return structuredClone(entry.result);
  };
  const keep = (into: Map<string, Entry>, key: string, result: ToolResult) => {
    into.delete(key);
    into.set(key, { result: structuredClone(result), at: now() });
    const [oldest] = into.keys();
    if (into.size > maxEntries && oldest !== undefined) into.delete(oldest);
  };
  /** Of tools that are shared: the handler itself is what they are. */
  let tools = 0;
  const flights: Flights = new Map();
  const own = hooks({
    beforeTool(call) {
      const result = serves(call.tool) ? lookUp(kept, keyOfCall(call)) : undefined;
      return (
        result && { action: 'block', reason: 'answered from the cache', modifications: { result, ifAllowed: true } }
      );
    },
    afterTool(call) {
      const result = call.result as ToolResult;
      const key = serves(call.tool) && !result.isError && !call.wasAsked ? keyOfCall(call) : undefined;
      if (key !== undefined) keep(kept, key, result);
    },
  });
  return {
    ...own,
    share(tool) {
      if (!tool.execute || !serves(tool) || tool.annotations?.longRunning) return tool;
      const known = shared.get(tool);
      if (known) return known;
      const number = ++tools;
      const made = shareRuns(tool, flights, {
        keyOf: (args, context) => keyIfAny(() => keyOf(context, [number], args)),
        lookUp: (key) => lookUp(keptRuns, key),
        keep: (key, result) => keep(keptRuns, key, result),
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
