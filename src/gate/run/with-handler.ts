import type { AnyTool, ToolCallContext, ToolUpdate } from '../../contracts/index.ts';

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

/** For the new handler: runs the tool's own, passes its updates on and returns its value. */
export async function* runWrapped(
  tool: AnyTool,
  args: unknown,
  context: ToolCallContext<never>,
): AsyncGenerator<ToolUpdate, unknown> {
  const returned: unknown = tool.execute?.(args, context);
  const isIterable = typeof returned === 'object' && returned !== null && Symbol.asyncIterator in returned;
  return isIterable ? yield* returned as AsyncGenerator<ToolUpdate, unknown> : await returned;
}
