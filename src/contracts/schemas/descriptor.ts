import { z } from 'zod';
import { openEnum, record, withMeta } from './open.ts';
import { jsonSchema, toolDescriptor } from './tools.ts';

export const agentName = z
  .string()
  .regex(/^[A-Za-z_$][\w$-]*$/, 'an agent name is a letter, _ or $ followed by letters, digits, _, $ or -')
  .refine((name) => name !== 'user', '"user" is reserved for the person')
  .meta({ not: { const: 'user' } });

export const capability = openEnum([
  'streaming',
  'elicitation',
  'host_tool_execution',
  'composition',
  'steer',
  'update',
  'resume',
  'fork',
]);

export const agentConstraints = z.looseObject({
  /** Steps (one model call and the tools it asked for) a turn. */
  maxTurns: z.number().int().optional(),
  /** Model calls a turn, all agents together; 0 or less: no cap. */
  maxLlmCalls: z.number().int().optional(),
  maxTimeMinutes: z.number().positive().optional(),
  maxBudgetUsd: z.number().positive().optional(),
  ...withMeta,
});

export const compositionConfig = z.looseObject({
  pattern: openEnum(['hierarchical', 'sequential', 'parallel', 'loop', 'transfer']),
  children: z.array(z.string()),
  maxIterations: z.number().int().optional(),
  transferTargets: z.array(z.string()).optional(),
  maxDepth: z.number().int().optional(),
});

/** Levels of agents below one another; a deeper tree is refused before the parser recurses into it. */
const MAX_AGENT_DEPTH = 64;

function isShallow(agents: unknown): boolean {
  let level: unknown[] = [agents];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_AGENT_DEPTH) return false;
    level = level.flatMap((list) => (Array.isArray(list) ? list.map((agent) => Object(agent).subAgents) : []));
  }
  return true;
}

const members = {
  name: agentName,
  displayName: z.string().optional(),
  description: z.string(),
  /** Key of the factory that can run it: adk, dispatch, remote, … */
  executor: z.string(),
  inputSchema: jsonSchema.optional(),
  outputSchema: jsonSchema.optional(),
  capabilities: z.array(capability),
  ownTools: z.array(toolDescriptor),
  requiredTools: z.array(z.string()),
  composition: compositionConfig.optional(),
  constraints: agentConstraints.optional(),
  metadata: record.optional(),
};

type Flat = z.infer<z.ZodObject<typeof members & typeof withMeta, z.core.$loose>>;
/** An agent with all below it. */
interface AgentTree extends Flat {
  subAgents: AgentTree[];
}

export const agentDescriptor = z.looseObject({
  ...members,
  /** Recursive, hence the explicit type. */
  get subAgents(): z.ZodType<AgentTree[]> {
    return z.preprocess((agents, context) => {
      if (isShallow(agents)) return agents;
      context.addIssue(`agents are nested deeper than ${MAX_AGENT_DEPTH} levels`);
      return z.NEVER;
    }, z.array(agentDescriptor));
  },
  ...withMeta,
});
