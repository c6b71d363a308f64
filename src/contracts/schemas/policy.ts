import { z } from 'zod';
import { POLICY_OUTCOMES, withPresentWord } from '../values/index.ts';
import { approverRule, principal } from './approvals.ts';
import { openEnum, record } from './open.ts';
import { permissionMode } from './permission-mode.ts';
import { toolAnnotations, toolKind } from './tools.ts';

export const policyContext = z.looseObject({
  resource: z
    .looseObject({
      type: openEnum(['tool', 'agent']),
      id: z.string(),
      /** Where it came from: `host`, `agent:<name>`, `provider:<name>`, `mcp:<server>`. */
      source: z.string().optional(),
      /** Of all that is known of the tool (description, schemas, annotations): another one is another tool. */
      digest: z.string().optional(),
      kind: toolKind.optional(),
      annotations: toolAnnotations.optional(),
    })
    .optional(),
  session: z.looseObject({ id: z.string(), calls: z.number().int().optional(), usd: z.number().optional() }).optional(),
  agentPath: z.array(z.string()).optional(),
  permissionMode: permissionMode.optional(),
  /** Somebody can be asked. */
  interactive: z.boolean().optional(),
});

export const policyRequest = z.looseObject({
  /** The tool's name. */
  action: z.string(),
  args: record.optional(),
  principal: principal.optional(),
  /** Who acts for whom, outermost first: the person, then each agent. */
  principalPath: z.array(z.string()).optional(),
  context: policyContext.optional(),
});

export const policyDecision = z.looseObject({
  /** Anything unknown is a deny. A former word for `ask` is read as `ask`. */
  outcome: openEnum(POLICY_OUTCOMES, withPresentWord),
  reason: z.string().optional(),
  hint: z.string().optional(),
  ruleId: z.string().optional(),
  approvers: approverRule.optional(),
  /** Seconds until an unanswered question becomes a no. */
  expiresIn: z.number().positive().optional(),
  redact: z.array(z.string()).optional(),
});

export const hookResult = z.looseObject({
  action: z.enum(['proceed', 'block']),
  reason: z.string().optional(),
  modifications: record.optional(),
  systemMessage: z.string().optional(),
});
