import { checkOptions, name, object, text } from '../../base/index.ts';
import type { AgentCallContext, DepsFrom, JsonSchema, ToolAnnotations, ToolContract } from '../../contracts/index.ts';
import type { Agent, AgentRunningTool } from '../agent/index.ts';
import { AgentTree, agentOfTool } from '../agent/index.ts';

export interface AgentToolOptions {
  name?: string;
  description?: string;
  inputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
}

const requestSchema: JsonSchema = {
  type: 'object',
  properties: { request: { type: 'string', description: 'What the agent is asked.' } },
  required: ['request'],
};

/**
 * An agent as a tool of another: its own history and state in the caller's log, so that an approval inside it, a
 * kill and a resume need no second transaction. Its last words are the result; its state is merged when it is done.
 * @example
 * ```ts
 * import { agentTool, LlmAgent } from 'coxswain';
 *
 * const translator = new LlmAgent({ name: 'translator', model: 'gpt-5', instruction: 'Translate into Norwegian.' });
 * new LlmAgent({ name: 'clerk', model: 'gpt-5', tools: [agentTool(translator)] });
 * ```
 */
export function agentTool<const A extends Agent>(
  agent: A,
  options: AgentToolOptions = {},
  // biome-ignore lint/suspicious/noExplicitAny: what an agent is asked has the shape of its schema
): ToolContract<any, AgentCallContext<DepsFrom<A>>> {
  const tree = AgentTree.of(agent);
  checkOptions<AgentToolOptions>(options, 'agentTool: options', {
    name,
    description: text,
    inputSchema: object,
    annotations: object,
  });
  const ownSchema = (agent as { inputSchema?: JsonSchema }).inputSchema;
  const tool: AgentRunningTool<DepsFrom<A>> = {
    name: options.name ?? agent.name,
    description: options.description ?? agent.description,
    inputSchema: options.inputSchema ?? ownSchema ?? requestSchema,
    kind: 'other',
    ...(options.annotations ? { annotations: options.annotations } : {}),
    [agentOfTool]: tree,
  };
  return tool;
}
