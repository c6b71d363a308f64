import type { ToolDescriptor, ToolReturn } from '../../contracts/index.ts';
import type { HooksBehind } from '../../gate/index.ts';
import type { AgentContext } from '../agent/index.ts';
import { orAbort } from '../agent/index.ts';
import type { HookChain, ToolContext } from '../hooks/index.ts';

/** A call as its hooks are told of it. */
interface HookedCall {
  readonly descriptor: ToolDescriptor;
  readonly args: Record<string, unknown>;
}

/**
 * The agent's hooks behind a handler.
 * @param cancelled somebody ends this one call: what it came to by then stands, for it has run
 */
export function hooksBehind(
  context: AgentContext,
  toolContext: ToolContext,
  { descriptor, args }: HookedCall,
  hooks: HookChain,
  cancelled?: AbortSignal,
): HooksBehind {
  return {
    instead: (error) => hooks.first('onToolError', toolContext, descriptor, args, error) as Promise<ToolReturn>,
    after(result) {
      if (asksOutside(toolContext)) return undefined;
      toolContext.ended();
      return hooks.has('afterTool')
        ? (hooks.first('afterTool', toolContext, descriptor, args, result) as Promise<ToolReturn>)
        : undefined;
    },
    failed(point, error) {
      // What it came to stands, for it has run.
      if (context.signal.aborted) return;
      context.invocation.engine.warn(`an ${point} hook failed on ${descriptor.name}`, error);
    },
    async whileWanted(work, asIs) {
      const unwanted = cancelled ? AbortSignal.any([cancelled, context.signal]) : context.signal;
      try {
        return await orAbort(unwanted, work);
      } catch (error) {
        if (unwanted.aborted) return asIs;
        throw error;
      }
    },
  };
}

/** The handler has asked for what comes from elsewhere: its call goes on with that. */
export function asksOutside({ effects }: ToolContext): boolean {
  return effects.confirmation !== undefined || effects.credential !== undefined;
}
