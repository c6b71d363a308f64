import type { AgentCallContext, AnyAgentTool, ToolUpdate } from '../../contracts/index.ts';

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
  'makesTailCalls',
] as const satisfies readonly (keyof AnyAgentTool)[];

/** The tool with another handler. */
export function withHandler<T extends AnyAgentTool>(
  tool: T,
  execute: (args: unknown, context: AgentCallContext<never>) => unknown,
): T {
  const made: Record<string, unknown> = { execute };
  for (const member of members) {
    const value: unknown = tool[member];
    // Bound to the tool itself, whose class may have private fields.
    if (value !== undefined) made[member] = typeof value === 'function' ? value.bind(tool) : value;
  }
  return made as unknown as T;
}

/** For the new handler: runs the tool's own, passes its updates on and returns its value. */
export async function* runWrapped(
  tool: AnyAgentTool,
  args: unknown,
  context: AgentCallContext<never>,
): AsyncGenerator<ToolUpdate, unknown> {
  const returned: unknown = tool.execute?.(args, context);
  const isIterable = typeof returned === 'object' && returned !== null && Symbol.asyncIterator in returned;
  return isIterable ? yield* returned as AsyncGenerator<ToolUpdate, unknown> : await returned;
}
