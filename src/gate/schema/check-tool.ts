import type { Shape } from '../../base/index.ts';
import {
  amount,
  anything,
  checkShape,
  either,
  flag,
  fn,
  kindOf,
  name,
  object,
  required,
  text,
} from '../../base/index.ts';
import type { AnyAgentTool } from '../../contracts/index.ts';

const shape: Shape<AnyAgentTool> = {
  name: required(name),
  description: text,
  displayName: text,
  // Schemas say themselves what is wrong with them.
  inputSchema: anything,
  parametersSchema: anything,
  outputSchema: anything,
  kind: text,
  annotations: object,
  _meta: object,
  // Text would be neither yes nor no.
  needsApproval: either(flag, fn),
  timeoutMs: amount,
  execute: fn,
  preview: fn,
  onUnknownOutcome: fn,
  makesTailCalls: flag,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` naming the tool and its member */
export function checkTool(tool: AnyAgentTool): void {
  checkShape<AnyAgentTool>(tool, `tool ${nameOf(tool)}`, shape);
}

function nameOf(tool: unknown): string {
  try {
    const called: unknown = (tool as { name?: unknown }).name;
    return typeof called === 'string' ? JSON.stringify(called.slice(0, 64)) : kindOf(called);
  } catch {
    return kindOf(tool);
  }
}
