import type { LifecycleInterceptor } from '../../contracts/index.ts';
import type { Plugin } from '../../runtime/index.ts';
import { hooksPlugin } from '../../runtime/index.ts';

/**
 * A host's hooks inside of the run: around agents, models, events and the tools that the runtime runs. Under host
 * execution the host itself fires what comes before a tool and before a message is taken: those are left to it.
 */
export function hostHooks(hooks: LifecycleInterceptor, timeoutMs: number | undefined): Plugin {
  const { onUserMessage, beforeTool, ...plugin } = hooksPlugin(hooks, 'coxswain:hooks', timeoutMs);
  return {
    ...plugin,
    ...(onUserMessage && {
      onUserMessage: (info, content) => (info.hostRuns ? undefined : onUserMessage(info, content)),
    }),
    ...(beforeTool && {
      beforeTool: (context, tool, args) => (context.invocation.hostRuns ? undefined : beforeTool(context, tool, args)),
    }),
  };
}
