import { untilAborted } from '../../base/index.ts';
import type { AgentCallContext, AnyAgentTool, ToolResult, ToolUpdate } from '../../contracts/index.ts';
import { normaliseReturn } from '../result/index.ts';
import { runWrapped, withHandler } from './with-handler.ts';

/** What calls under way come to, by their key; undefined: nothing that could be shared. They never reject. */
export type Flights = Map<string, Promise<ToolResult | undefined>>;

export interface SharedRuns {
  /** Calls with the same key are identical; one without a key is like no other. */
  keyOf: (args: unknown, context: AgentCallContext<never>) => string | undefined;
  /** A result that is there already. */
  lookUp: (key: string) => ToolResult | undefined;
  /** Told of each that others may have. */
  keep?: (key: string, result: ToolResult) => void;
}

/** The tool, of which identical calls under way share one run. Failures and questions are shared with nobody. */
export function shareRuns<T extends AnyAgentTool>(tool: T, flights: Flights, options: SharedRuns): T {
  return withHandler(tool, (args, context) => once(tool, args, context, flights, options));
}

async function* once(
  tool: AnyAgentTool,
  args: unknown,
  context: AgentCallContext<never>,
  flights: Flights,
  { keyOf, lookUp, keep }: SharedRuns,
): AsyncGenerator<ToolUpdate, unknown> {
  const key = keyOf(args, context);
  // What a person has let run is run.
  if (key === undefined || isAsked(context)) return yield* runWrapped(tool, args, context);
  for (let other = flights.get(key); other; other = flights.get(key)) {
    const result = await untilAborted(other, context.signal);
    if (result) return structuredClone(result);
  }
  const known = lookUp(key);
  if (known) return known;
  const { promise, resolve } = Promise.withResolvers<ToolResult | undefined>();
  const end = (result?: ToolResult) => {
    if (flights.get(key) === promise) flights.delete(key);
    resolve(result);
  };
  flights.set(key, promise);
  // A handler that ignores its signal must not hold up the others.
  const leave = () => end();
  context.signal.addEventListener('abort', leave, { once: true });
  try {
    const watching = watched(context);
    const value = yield* runWrapped(tool, args, watching.context);
    const result = normaliseReturn(value);
    if (!result.isError && !watching.asks()) {
      keep?.(key, result);
      end(structuredClone(result));
    }
    return value;
  } finally {
    context.signal.removeEventListener('abort', leave);
    end();
  }
}

function isAsked({ confirmation, wasAsked }: AgentCallContext<never> & { wasAsked?: boolean }): boolean {
  return confirmation !== undefined || wasAsked === true;
}

const asking: ReadonlySet<string | symbol> = new Set([
  'elicit',
  'requestConfirmation',
  'requestCredential',
] satisfies (keyof AgentCallContext<never>)[]);

/** Whether a handler turns to somebody outside: what it then returns is no result. */
function watched(context: AgentCallContext<never>): { context: AgentCallContext<never>; asks: () => boolean } {
  let asks = false;
  const proxy = new Proxy(context, {
    get(target, key) {
      if (asking.has(key)) asks = true;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { context: proxy, asks: () => asks };
}
