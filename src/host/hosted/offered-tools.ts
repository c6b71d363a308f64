import type { AnyTool, ToolDescriptor } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { describeTool } from '../../gate/index.ts';
import type { HostedFrame } from '../frame/index.ts';

/**
 * The host's tools and those of one stream's caller.
 * @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_TOOL | E_SCHEMA`
 */
export function offeredTools(
  frame: HostedFrame,
  added: readonly ToolDescriptor[] | undefined,
): readonly ToolDescriptor[] {
  if (!added) return frame.descriptors;
  const names = new Set(frame.tools.keys());
  const described = added.map((tool) => describeTool(tool as AnyTool));
  for (const { name } of described) {
    if (names.has(name)) throw new CoxswainError('INVALID_ARGUMENT', 'E_DUPLICATE_TOOL', `two tools are named ${name}`);
    names.add(name);
  }
  return [...frame.descriptors, ...described];
}
