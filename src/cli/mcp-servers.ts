import type { McpQuestion, McpReply, McpToolset } from '../adapters/tools/mcp.ts';
import type { Asker } from './ask.ts';

/**
 * Tools of the servers that `--mcp-servers` names. What a server wants to know in the midst of a call is asked at the
 * terminal; without one it is told that nobody can be asked. `isOptional`: a server that cannot be reached is gone on
 * without, unless its entry says otherwise.
 * @throws CoxswainError `INVALID_ARGUMENT / E_MCP_CONFIG`
 */
export async function openMcpServers(
  file: string | undefined,
  asker: Asker | undefined,
  warn: (message: string, error?: unknown) => void,
  isOptional: boolean,
): Promise<McpToolset[]> {
  if (file === undefined) return [];
  const { readMcpServers } = await import('../adapters/tools/mcp.ts');
  const onElicitation =
    asker && ((question: McpQuestion, context: { signal: AbortSignal }) => ask(asker, question, context));
  return readMcpServers(file, { warn, optional: isOptional, ...(onElicitation ? { onElicitation } : {}) });
}

async function ask(
  asker: Asker,
  { server, message, requestedSchema, url }: McpQuestion,
  context: { signal: AbortSignal },
): Promise<McpReply> {
  const words = `${server} asks: ${message}${url === undefined ? '' : `\nOpen this page? ${url}`}`;
  const answer = await asker.foreign({ message: words, ...(requestedSchema ? { requestedSchema } : {}) }, context);
  if (!answer) return { action: 'cancel' };
  const { action, content } = answer;
  return action === 'accept' && content ? { action, content: content as NonNullable<McpReply['content']> } : { action };
}
