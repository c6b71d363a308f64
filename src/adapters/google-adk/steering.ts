import type { AdkModule, AdkTool } from './types.ts';

/** Classes whose tools steer the conversation and touch nothing outside. */
const CLASSES = ['ExitLoopTool', 'FinishTaskTool', 'LoadMemoryTool', 'LoadArtifactsTool'];

/**
 * A tool of the package itself that steers the conversation. It is known by the code that it runs: of a name anybody
 * may offer a tool, a server too.
 */
export function isSteering(adk: AdkModule, tool: AdkTool, agent: object | undefined): boolean {
  const exported = adk as unknown as Readonly<Record<string, unknown>>;
  if (tool === exported.requestInputTool) return true;
  return (
    CLASSES.some((name) => runsCodeOf(exported[name], tool)) ||
    transfersFor(agent, exported.AgentTransferLlmRequestProcessor, tool)
  );
}

/** What a class inherits is the code of many others, too: only its own counts. */
function runsCodeOf(given: unknown, tool: AdkTool): boolean {
  if (typeof given !== 'function') return false;
  const { prototype } = given as { prototype?: Partial<AdkTool> };
  return prototype !== undefined && Object.hasOwn(prototype, 'runAsync') && tool.runAsync === prototype.runAsync;
}

/** The tool that hands over is made by what writes the agent's requests. */
function transfersFor(agent: object | undefined, Processor: unknown, tool: AdkTool): boolean {
  const { requestProcessors: processors } = (agent ?? {}) as { requestProcessors?: unknown };
  if (typeof Processor !== 'function' || !Array.isArray(processors)) return false;
  return processors.some((one) => one instanceof Processor && (one as { tool?: unknown }).tool === tool);
}
