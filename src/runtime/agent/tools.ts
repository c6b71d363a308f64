import type {
  AgentCallContext,
  AnyAgentTool,
  ToolContract,
  ToolDescriptor,
  ToolResult,
} from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { describeTool, errorResult, isRepeatable, validateArgs, withEffort } from '../../gate/index.ts';
import type { AgentContext, AgentTree } from './agent.ts';

/** Marks a tool that runs an agent. */
export const agentOfTool: unique symbol = Symbol.for('coxswain.agentOfTool') as never;

/** A changing set of tools, asked anew for each step. */
export interface Toolset {
  readonly name: string;
  /** Where its tools come from, as a runner's own policy is told. Default `toolset:NAME`. */
  readonly source?: `mcp:${string}`;
  tools(context: AgentContext): readonly AnyAgentTool[] | Promise<readonly AnyAgentTool[]>;
}

/** A tool that runs an agent. */
// biome-ignore lint/suspicious/noExplicitAny: of a tool in general nothing is known
export interface AgentRunningTool<Deps = any> extends ToolContract<any, AgentCallContext<Deps>> {
  readonly [agentOfTool]: AgentTree;
  readonly skipSummarization?: boolean;
}

/** A tool as one step sees it. */
export interface ResolvedTool {
  readonly descriptor: ToolDescriptor;
  /** Absent: a host's tool, by description. */
  readonly tool?: AnyAgentTool;
  readonly source: string;
  readonly agentTree?: AgentTree;
}

export type ToolMap = ReadonlyMap<string, ResolvedTool>;

/** Somebody else runs it: the host's, or one without a handler. */
export function isHostRun(resolved: ResolvedTool): boolean {
  return !resolved.agentTree && !resolved.tool?.execute;
}

/** Runs again safely with the same call id. */
export function mayRepeat(resolved: ResolvedTool): boolean {
  return isRepeatable(resolved.descriptor.annotations);
}

export function resolveTool(tool: AnyAgentTool, source: string): ResolvedTool {
  const descriptor = describeTool(tool);
  const agentTree = (tool as Partial<AgentRunningTool>)[agentOfTool];
  return { descriptor, tool, source, ...(agentTree ? { agentTree } : {}) };
}

/** `turn`: all calls that are checked in it have one allowance, however many a model makes. */
export function validateCall(resolved: ResolvedTool, args: unknown, turn?: object): ReturnType<typeof validateArgs> {
  const { descriptor, tool } = resolved;
  const source = tool?.inputSchema ?? tool?.parametersSchema;
  const schema = { inputSchema: descriptor.inputSchema, ...(source ? { source } : {}) };
  return withEffort(() => validateArgs(schema, args), turn);
}

/**
 * The tools of an agent by name.
 * @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_TOOL | E_SCHEMA`
 */
export function toolMap(agent: string, tools: readonly AnyAgentTool[]): Map<string, ResolvedTool> {
  const map = new Map<string, ResolvedTool>();
  for (const tool of tools) {
    const resolved = resolveTool(tool, `agent:${agent}`);
    if (map.has(tool.name)) {
      throw new CoxswainError(
        'INVALID_ARGUMENT',
        'E_DUPLICATE_TOOL',
        `agent ${agent} has two tools named ${tool.name}`,
      );
    }
    map.set(tool.name, resolved);
  }
  return map;
}

export function notFound(name: string, tools: ToolMap): ToolResult {
  const valid = [...tools.keys()].join(', ') || 'none';
  return errorResult('not_found', `Tool not found: ${name}. Valid tools: ${valid}`);
}
