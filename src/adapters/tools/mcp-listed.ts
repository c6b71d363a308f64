import type { JSONRPCMessage, Tool } from '@modelcontextprotocol/client';
import type { Sdk } from './mcp-connection.ts';

/**
 * Takes what is no tool out of a list of tools before the SDK reads it, which refuses a list whole for one of them.
 * `version`: of the protocol, as it was agreed upon. `warn` is told of each.
 */
export function dropIllFormed(
  message: JSONRPCMessage,
  { sdk, version = '', warn }: { sdk: Sdk; version: string | undefined; warn: (text: string) => void },
): void {
  if (!('result' in message)) return;
  const { result } = message as { result: { tools?: unknown } };
  if (!Array.isArray(result?.tools)) return;
  result.tools = result.tools.filter((tool: Partial<Tool> | null, n) => {
    const fault = faultOf(tool, sdk, version < '2026');
    if (fault !== undefined) warn(`its tool ${String(tool?.name ?? `number ${n + 1}`)} is left out: ${fault}`);
    return fault === undefined;
  });
}

function faultOf(tool: Partial<Tool> | null, { specTypeSchemas }: Sdk, isBefore2026: boolean): string | undefined {
  const { issues } = specTypeSchemas.Tool['~standard'].validate(tool);
  const [first] = issues ?? [];
  if (!first) {
    const output = isBefore2026 ? tool?.outputSchema : undefined;
    return output && output.type !== 'object' ? "outputSchema is no object's" : undefined;
  }
  return `${['it', ...(first.path ?? []).map(String)].join('.')}: ${first.message}`;
}

/** Names that a server has given to more than one tool: which of them it would run cannot be told. */
export function namedTwice(listed: readonly Tool[]): Set<string> {
  const seen = new Set<string>();
  return new Set(listed.map(({ name }) => name).filter((name) => seen.has(name) || !seen.add(name)));
}
