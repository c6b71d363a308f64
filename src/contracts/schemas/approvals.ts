import { z } from 'zod';
import { displayContent } from './content.ts';
import { openEnum, record, timestamp } from './open.ts';
import { permissionMode } from './permission-mode.ts';
import { jsonSchema } from './tools.ts';

export const principal = z.looseObject({
  id: z.string().min(1),
  roles: z.array(z.string()).optional(),
  onBehalfOf: z.string().optional(),
});

export const approverRule = z.looseObject({
  /** Any one of them will do. */
  roles: z.array(z.string()).optional(),
  /** Whoever asked may not approve. */
  notRequester: z.boolean().optional(),
  /** Number of different people who must say yes; default 1. */
  quorum: z.number().int().min(1).optional(),
  /** Further lists of roles, of each of which the approver must have one: rules of different times that all hold. */
  also: z.array(z.array(z.string())).optional(),
});

/** What policy obliged to when a host's question was put. */
export const putQuestion = z.looseObject({
  requestId: z.string(),
  reason: z.string().optional(),
  ruleId: z.string().optional(),
  approvers: approverRule.optional(),
  expiresAt: timestamp.optional(),
  /** JSON pointers into the arguments that policy wants hidden in audits. */
  redact: z.array(z.string()).optional(),
  /** The `previewDigest` of what was shown with it. */
  digest: z.string().optional(),
  /** The scopes that were offered with it to be remembered, in their order; absent: none. */
  remember: z.array(z.string()).optional(),
  /** The arguments of the call as a hook of the host has changed them; absent: none has. */
  args: record.optional(),
});

export const rememberOption = z.looseObject({
  label: z.string(),
  scope: z.enum(['session', 'user']),
  /** A policy rule, as `rulePolicy` takes it. */
  rule: record,
});

export const approvalRequest = z.looseObject({
  title: z.string(),
  reason: z.string().optional(),
  ruleId: z.string().optional(),
  preview: z.array(displayContent),
  /** SHA-256 (hex) of the canonical JSON of tool, arguments, preview and what a handler asks with: what a yes is bound to. */
  previewDigest: z.string(),
  requestedBy: principal,
  approvers: approverRule.optional(),
  /** JSON pointers into the arguments that policy wants hidden in audits. */
  redact: z.array(z.string()).optional(),
  remember: z.array(rememberOption),
  /** The call runs with the arguments that are shown or not at all: an approval with others is refused. */
  fixedArgs: z.boolean().optional(),
});

export const elicitationKind = openEnum([
  'tool_confirmation',
  'auth_required',
  'clarification',
  'user_approval',
  'rerun_unknown',
]);

export const reportedRequest = z.looseObject({
  requestId: z.string(),
  sessionId: z.string(),
  turnId: z.string(),
  kind: openEnum(['tool', 'elicitation', 'rerun_unknown']),
  /** For elicitations: tool_confirmation, auth_required, … */
  elicitation: elicitationKind.optional(),
  callId: z.string().optional(),
  name: z.string().optional(),
  args: record.optional(),
  handledBy: z.enum(['host', 'agent']).optional(),
  /** The call was started and no result is known. */
  started: z.boolean(),
  /** How often it was started, as far as the log says; absent: never. */
  attempts: z.number().int().min(1).optional(),
  /** A live owner has started it under the lease that it still holds: its outcome is not unknown, it is on its way. */
  running: z.boolean().optional(),
  /** Its turn has ended or another one runs: what it comes to opens a new turn. */
  detached: z.boolean().optional(),
  /** Place in the agent tree; opaque. */
  path: z.string(),
  /** Agents from the root to the caller. */
  agentPath: z.array(z.string()),
  threadId: z.string().optional(),
  message: z.string().optional(),
  requestedSchema: jsonSchema.optional(),
  context: record.optional(),
  requestedAt: timestamp,
  /** On whose behalf its turn was begun, as the host that began it has said. */
  requestedBy: principal.optional(),
  /** Its turn was begun in this mode. */
  permissionMode: permissionMode.optional(),
  /** The version of the agent that runs its turn, and the one since which approvals count. */
  version: z.string().optional(),
  approvedFor: z.string().optional(),
  expiresAt: timestamp.optional(),
  approval: approvalRequest.optional(),
  /** Yes given and durable, not yet acted upon (a host finds it after a restart). */
  decision: z
    .looseObject({
      args: record.optional(),
      by: z.string().optional(),
      /** The rule of policy that has decided, and why, as it is on record. */
      ruleId: z.string().optional(),
      reason: z.string().optional(),
      /** Its result has asked for a call that may not run twice, which has begun. */
      tails: z.boolean().optional(),
    })
    .optional(),
  /** What the host's own questions about this call were put with, oldest first. */
  questions: z.array(putQuestion).optional(),
  /** Answers given so far to the host's own questions about this call, oldest first. */
  answers: z
    .array(
      z.looseObject({
        requestId: z.string(),
        action: z.string(),
        by: principal.optional(),
        reason: z.string().optional(),
        args: record.optional(),
        digest: z.string().optional(),
        /** One of so many votes that are needed; absent on the answer that decides. */
        quorum: z.number().int().optional(),
        /** The call was started after it. */
        spent: z.boolean().optional(),
      }),
    )
    .optional(),
});
