import type { z } from 'zod';
import type * as schema from '../schemas/descriptor.ts';
import type { Closed, JsonSchema } from '../values/index.ts';
import type { ToolDescriptor } from './tools.ts';

export type Capability = z.infer<typeof schema.capability>;
export type AgentConstraints = Closed<z.infer<typeof schema.agentConstraints>>;
export type CompositionConfig = Closed<z.infer<typeof schema.compositionConfig>>;

/**
 * What an agent is, for programs that pick, describe or gate it. JSON-serialisable; never holds instructions,
 * models, callbacks or credentials.
 */
export interface AgentDescriptor {
  /** An identifier (hyphens allowed); not `user`. */
  name: string;
  displayName?: string | undefined;
  description: string;
  /** Key of the factory that can run it: `adk`, `dispatch`, `remote`, … */
  executor: string;
  inputSchema?: JsonSchema | undefined;
  outputSchema?: JsonSchema | undefined;
  capabilities: Capability[];
  /** Tools that the agent brings along. */
  ownTools: ToolDescriptor[];
  /** Names of tools that the host must provide. */
  requiredTools: string[];
  subAgents: AgentDescriptor[];
  composition?: CompositionConfig | undefined;
  constraints?: AgentConstraints | undefined;
  metadata?: Record<string, unknown> | undefined;
  _meta?: Record<string, unknown> | undefined;
}
