import type { Client, Tool } from '@modelcontextprotocol/client';
import type { ToolResult } from '../../../../contracts/index.ts';
import { errorResult } from '../../../../gate/index.ts';
import { resourcePart } from './content.ts';

/** The tool by which a model follows the links that a server's results have; the server's own tool in all but origin. */
export function readTool(name: string): Tool {
  return {
    name,
    description: 'Reads a resource of this server by its URI, such as a link that one of its tools has answered with.',
    inputSchema: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'The URI, as it was given.' } },
      required: ['uri'],
    },
    annotations: { readOnlyHint: true },
  };
}

export async function readResource(
  client: Client,
  { uri }: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { contents } = await client.readResource({ uri: String(uri) }, { signal });
  if (contents.length === 0) return errorResult('failed', `there is nothing at ${String(uri)}`);
  return { content: contents.map(resourcePart) };
}
