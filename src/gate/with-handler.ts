import type { AnyTool, ToolCallContext } from '../contracts/index.ts';

/** Everything that a tool may have, but its handler. */
const members = [
  'name',
  'description',
  'displayName',
  'inputSchema',
  'parametersSchema',
  'outputSchema',
  'kind',
  'annotations',
  '_meta',
  'needsApproval',
  'timeoutMs',
  'preview',
  'onUnknownOutcome',
] as const satisfies readonly (keyof AnyTool)[];

/** The tool with another handler. */
export function withHandler(
  tool: AnyTool,
  execute: (args: unknown, context: ToolCallContext<never>) => unknown,
): AnyTool {
  const made: Record<string, unknown> = { execute };
  for (const member of members) {
    const value: unknown = tool[member];
    // Bound to the tool itself, whose class may have private fields.
    if (value !== undefined) made[member] = typeof value === 'function' ? value.bind(tool) : value;
  }
  return made as unknown as AnyTool;
}
