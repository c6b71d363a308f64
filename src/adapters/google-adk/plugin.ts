import type { AdkContent, AdkEvent, AdkModule, AdkRequest, AdkTool, AdkToolContext } from './types.ts';

export interface PluginHooks {
  /** Runs a call; resolves to its result. */
  run(
    call: { tool: AdkTool; args: Record<string, unknown>; context: AdkToolContext },
    toolOf: (name: string) => AdkTool | undefined,
  ): Promise<Record<string, unknown>>;
  /** A call of a tool that is not there: what it is answered with. */
  unknown(name: string, args: Record<string, unknown>, valid: readonly string[]): Promise<Record<string, unknown>>;
  /** Tools of the host, which are offered beside the agent's own. */
  hostTools(): readonly AdkTool[];
}

interface ModelResponse {
  content?: AdkContent;
  partial?: boolean;
}

/**
 * The plugin that puts every call of a run into the host's hands: it answers in the place of the tool, so that no
 * tool is reached on another way.
 */
export function hostPlugin(adk: AdkModule, hooks: PluginHooks): object {
  const requests = new WeakMap<object, AdkRequest>();
  const strangers = new WeakSet<AdkTool>();
  const Base = adk.BasePlugin as new (name: string) => object;
  const Stranger = adk.BaseTool as new (params: { name: string; description: string }) => AdkTool;

  class HostPlugin extends Base {
    async beforeModelCallback({ callbackContext, llmRequest }: { callbackContext: Within; llmRequest: AdkRequest }) {
      requests.set(callbackContext.invocationContext, llmRequest);
      for (const tool of hooks.hostTools()) {
        if (tool.name in llmRequest.toolsDict) continue;
        const { processLlmRequest } = tool as AdkTool & { processLlmRequest?(request: object): Promise<void> };
        await processLlmRequest?.call(tool, { toolContext: callbackContext, llmRequest });
      }
      return undefined;
    }

    /** A piece of an answer is shown and never acted upon; a tool that is not there gets an answer all the same. */
    async afterModelCallback({
      callbackContext,
      llmResponse,
    }: {
      callbackContext: Within;
      llmResponse: ModelResponse;
    }) {
      const parts = llmResponse.content?.parts ?? [];
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
      if (calls.length === 0) return undefined;
      if (llmResponse.partial) {
        const words = parts.filter(({ functionCall }) => !functionCall);
        return { ...llmResponse, content: { ...llmResponse.content, parts: words } };
      }
      const toolsDict = requests.get(callbackContext.invocationContext)?.toolsDict ?? {};
      for (const { name = '' } of calls) {
        if (Object.hasOwn(toolsDict, name)) continue;
        const stranger = new Stranger({ name, description: '' });
        strangers.add(stranger);
        toolsDict[name] = stranger;
      }
      return undefined;
    }

    async beforeToolCallback(request: {
      tool: AdkTool;
      toolArgs: Record<string, unknown>;
      toolContext: AdkToolContext;
    }) {
      const { tool, toolArgs, toolContext } = request;
      const toolsDict = requests.get(toolContext.invocationContext)?.toolsDict ?? {};
      if (!strangers.has(tool)) {
        const toolOf = (name: string) => {
          const known = Object.hasOwn(toolsDict, name) ? toolsDict[name] : undefined;
          return known && strangers.has(known) ? undefined : known;
        };
        return hooks.run({ tool, args: toolArgs, context: toolContext }, toolOf);
      }
      const valid = Object.values(toolsDict).flatMap((known) => (strangers.has(known) ? [] : [known.name]));
      return hooks.unknown(tool.name, toolArgs, valid);
    }
  }
  return new HostPlugin('coxswain');
}

interface Within {
  invocationContext: object;
}

/** Calls that nobody has answered, with the agent that made them. */
export function danglingCalls(
  events: readonly AdkEvent[],
): { id: string; name: string; author: string; branch?: string }[] {
  const open = new Map<string, { id: string; name: string; author: string; branch?: string }>();
  for (const { author = '', branch, content } of events) {
    for (const { functionCall, functionResponse } of content?.parts ?? []) {
      if (functionCall?.id) {
        const { id, name = '' } = functionCall;
        open.set(id, { id, name, author, ...(branch === undefined ? {} : { branch }) });
      }
      if (functionResponse?.id) open.delete(functionResponse.id);
    }
  }
  return [...open.values()];
}
