import type { AnyAgentTool } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { agentOfTool } from '../../runtime/index.ts';

/**
 * The tool, if it has a function or runs an agent: nobody else could run it here.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function runnable(tool: AnyAgentTool): AnyAgentTool {
  if (typeof tool.execute === 'function' || agentOfTool in tool) return tool;
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_BAD_INPUT',
    `tool ${tool.name} has no function, and there is no host here that could run it`,
  );
}
