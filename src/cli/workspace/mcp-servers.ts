import type { McpToolset } from '../../adapters/tools/mcp.ts';

/**
 * Tools of the servers that `--mcp-servers` names. What a server wants to know in the midst of a call is a question of the
 * run; where nobody is there to answer it (`mayAsk`), the server is told so. `isOptional`: a server that cannot be reached
 * is gone on without, unless its entry says otherwise.
 * @throws CoxswainError `INVALID_ARGUMENT / E_MCP_CONFIG`
 */
export async function openMcpServers(
  file: string | undefined,
  { mayAsk, isOptional }: { mayAsk: boolean; isOptional: boolean },
  warn: (message: string, error?: unknown) => void,
): Promise<McpToolset[]> {
  if (file === undefined) return [];
  const { readMcpServers } = await import('../../adapters/tools/mcp.ts');
  return readMcpServers(file, { warn, optional: isOptional, ...(mayAsk ? {} : { onElicitation: false as const }) });
}
