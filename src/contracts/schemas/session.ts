import { z } from 'zod';
import { principal } from './approvals.ts';
import { contentPart } from './content.ts';
import { openEnum, record } from './open.ts';
import { permissionMode } from './permission-mode.ts';
import { toolAnnotations, toolDescriptor, toolKind, toolResult } from './tools.ts';

/** Text is short for one text part. */
export const messageContent = z.union([z.string(), z.array(contentPart)]);

/** What a policy is asked with besides tool, arguments and session. */
export const askedWith = z.looseObject({
  /** Id, roles and on whose behalf; nothing else that a host keeps in it. */
  principal: principal.optional(),
  /** Where the tool came from: `host`, `agent:<name>`, `provider:<name>`, `mcp:<server>`. */
  source: z.string().optional(),
  /** Of all that was known of the tool: description, schemas, annotations. */
  digest: z.string().optional(),
  kind: toolKind.optional(),
  annotations: toolAnnotations.optional(),
  agentPath: z.array(z.string()),
  permissionMode: permissionMode.optional(),
  interactive: z.boolean(),
  usage: z.looseObject({ calls: z.number().int(), usd: z.number().optional() }).optional(),
  /** The arguments that it was asked about, where they are neither the call's nor the decision's. */
  args: record.optional(),
});

export const decisionRecord = z.looseObject({
  outcome: z.enum(['approved', 'denied']),
  /** `policy`, `user:<id>`, `author`, … */
  by: z.string(),
  ruleId: z.string().optional(),
  reason: z.string().optional(),
  /** The arguments that were approved, where they differ from those that were asked for. */
  args: record.optional(),
  /** Id of the principal on whose behalf the call was made. */
  requestedBy: z.string().optional(),
  /** JSON pointers into the arguments that policy wants hidden in audits. */
  redact: z.array(z.string()).optional(),
  /** Absent where a decision was made without asking the host's gate. */
  asked: askedWith.optional(),
});

const by = { by: principal.optional() };
const remember = { remember: z.number().int().min(0).optional() };

export const elicitationAction = z.enum(['accept', 'decline', 'cancel']);

export const elicitationReply = z.looseObject({ action: elicitationAction, content: record.optional() });

export const requestAnswer = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('result'), result: toolResult, decision: decisionRecord.optional(), ...by }),
  z.looseObject({
    kind: z.literal('approve'),
    /** Edited arguments: validated and checked by policy again; both versions are logged. */
    args: record.optional(),
    reason: z.string().optional(),
    /** The digest of the preview that the person saw; a yes to something else is refused. */
    previewDigest: z.string().optional(),
    /** Number of different people who must say yes; set by a host on a vote that does not decide yet. */
    quorum: z.number().int().min(2).optional(),
    /** The call starts now, or once more; only the host that runs it says so. */
    starts: z.boolean().optional(),
    /** Why it starts, from that host too. */
    decision: decisionRecord.optional(),
    ...remember,
    ...by,
  }),
  z.looseObject({ kind: z.literal('deny'), reason: z.string().optional(), ...remember, ...by }),
  z.looseObject({
    kind: z.literal('elicitation'),
    action: elicitationAction,
    content: record.optional(),
    reason: z.string().optional(),
    ...by,
  }),
]);

export const messageInput = z.looseObject({
  kind: z.literal('message'),
  content: messageContent,
  role: openEnum(['user', 'developer']).optional(),
});
export const toolResultInput = z.looseObject({
  kind: z.literal('tool_result'),
  requestId: z.string(),
  result: toolResult,
  /** Why it was allowed to run; required unless an earlier approval is in the log. */
  decision: decisionRecord.optional(),
  /** First word of a long-running tool: shown to the model, does not settle the call. */
  interim: z.boolean().optional(),
});
export const toolApprovalInput = z.looseObject({
  kind: z.literal('tool_approval'),
  requestId: z.string(),
  args: record.optional(),
  decision: decisionRecord.optional(),
  previewDigest: z.string().optional(),
  /** A call whose start is in the log and whose outcome is unknown starts once more. */
  rerun: z.boolean().optional(),
  ...by,
});
export const elicitationResponseInput = z.looseObject({
  kind: z.literal('elicitation_response'),
  requestId: z.string(),
  response: elicitationReply,
  ...by,
});
export const continueInput = z.looseObject({ kind: z.literal('continue') });

export const sessionInput = z.discriminatedUnion('kind', [
  messageInput,
  toolResultInput,
  toolApprovalInput,
  elicitationResponseInput,
  continueInput,
]);

export const steerData = z.looseObject({
  content: messageContent,
  threadId: z.string().optional(),
  /** Who says it, by the word of a host to its executor. A host says it itself: it takes nobody's word for it. */
  by: principal.optional(),
});

export const sessionUpdate = z.strictObject({
  model: z.string().nullable().optional(),
  tools: z.array(toolDescriptor).nullable().optional(),
  title: z.string().nullable().optional(),
  permissionMode: permissionMode.nullable().optional(),
  config: record.nullable().optional(),
});

export const limits = z.looseObject({
  /** Model calls with the tools they asked for. */
  steps: z.number().int().positive().optional(),
  usd: z.number().positive().optional(),
  tokens: z.number().int().positive().optional(),
  /** Time spent in streams and tools; waiting for people is free. */
  minutes: z.number().positive().optional(),
});

/** What a turn was begun with: whoever goes on with it is held to it. */
export const turnTerms = z.looseObject({
  /** On whose behalf. */
  principal: principal.optional(),
  permissionMode: permissionMode.optional(),
  excludeTools: z.array(z.string()).optional(),
  tools: z.array(toolDescriptor).optional(),
  model: z.string().optional(),
  limits: limits.optional(),
  /** Of a sub-agent: the call that it works for. */
  calledBy: z
    .looseObject({
      sessionId: z.string(),
      callId: z.string(),
      agent: z.string().optional(),
      /** The session that a person has opened, above all callers: what the sub-agent asks is asked and answered there. */
      root: z.looseObject({ agent: z.string(), sessionId: z.string() }).optional(),
    })
    .optional(),
  /** Of the agent that runs it, as its author names it or as its digest. */
  version: z.string().optional(),
  /** The version that has asked anew: approvals given to another one do not count. */
  approvedFor: z.string().optional(),
});

export const settlement = z.looseObject({
  status: z.enum(['settled', 'already_settled', 'waiting_quorum']),
  by: z.string().optional(),
  /** How it was settled: result, approve, deny, accept, decline, cancel. */
  outcome: z.string().optional(),
});

export const sessionSummary = z.looseObject({
  id: z.string(),
  app: z.string(),
  userId: z.string(),
  title: z.string().optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Number of durable events. */
  length: z.number().int(),
  /** Number of open calls. */
  pending: z.number().int(),
  /** The agent that it began with; absent: not known yet, or of a store that does not say it. */
  agent: z.string().optional(),
  /** The newest turn has not ended: it runs, waits for an answer, or was cut off. */
  unfinished: z.boolean().optional(),
  /** Somebody runs it now, or died at it, and nobody is asked: open calls of it run. Absent: its store does not say. */
  running: z.boolean().optional(),
  /** Answers of models. With what follows, of all that its log has; absent: not counted yet, or not by its store. */
  steps: z.number().int().optional(),
  inputTokens: z.number().int().optional(),
  outputTokens: z.number().int().optional(),
  /** What its events have cost, where they say so. */
  usd: z.number().optional(),
  /** Names of the tools that were called, in the order of their first call; no longer than 8,000 characters together. */
  tools: z.array(z.string()).optional(),
});
