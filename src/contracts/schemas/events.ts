import { z } from 'zod';
import type { UsageCount } from '../values/index.ts';
import { usageCounts } from '../values/index.ts';
import { approvalRequest, elicitationKind, reportedRequest } from './approvals.ts';
import { contentPart, displayContent } from './content.ts';
import { openEnum, record, strangerType, timestamp, withMeta } from './open.ts';
import { elicitationAction } from './session.ts';
import { toolAnnotations, toolErrorType, toolKind } from './tools.ts';

const base = {
  /** `<runtime event id>:<n>` for durable events. */
  id: z.string(),
  timestamp,
  sessionId: z.string(),
  streamId: z.string(),
  turnId: z.string().optional(),
  /** Place in the log; durable events only, shared by all that came from one record. */
  seq: z.number().int().optional(),
  /** Opaque resume point; durable events only. */
  cursor: z.string().optional(),
  agentId: z.string().optional(),
  /**
   * A parallel branch (`team.left`), an agent run as a tool (its path, the call last), or a branch within one
   * (`/0/call.team.left`); absent on the root thread.
   */
  threadId: z.string().optional(),
  source: openEnum(['agent', 'user', 'host']).optional(),
  ...withMeta,
};

export const initializeEvent = z.looseObject({
  ...base,
  type: z.literal('initialize'),
  agentId: z.string(),
  configSchema: record.optional(),
  interfaceVersion: z.string(),
});

export const sessionUpdateEvent = z.looseObject({
  ...base,
  type: z.literal('session_update'),
  title: z.string().nullable().optional(),
  model: z.string().nullable().optional(),
  config: record.nullable().optional(),
  stateDelta: record.optional(),
});

export const messageEvent = z.looseObject({
  ...base,
  type: z.literal('message'),
  role: openEnum(['user', 'agent', 'developer']),
  /** Partial: one part's delta; else the whole. */
  content: z.array(contentPart),
  partial: z.boolean().optional(),
  /** The model was cut off by an abort: the text so far. */
  interrupted: z.boolean().optional(),
  /** The answer was cut at the model's output limit. */
  truncated: z.boolean().optional(),
});

export const toolRequestEvent = z.looseObject({
  ...base,
  type: z.literal('tool_request'),
  requestId: z.string(),
  name: z.string(),
  args: record,
  kind: toolKind.optional(),
  handledBy: z.enum(['host', 'agent']),
  annotations: toolAnnotations.optional(),
  display: z.array(displayContent).optional(),
});

export const toolUpdateEvent = z.looseObject({
  ...base,
  type: z.literal('tool_update'),
  requestId: z.string(),
  status: openEnum(['started', 'pending']).optional(),
  attempt: z.number().int().optional(),
  by: z.string().optional(),
  content: z.array(contentPart).optional(),
  progress: z.number().optional(),
  total: z.number().optional(),
  /** Arguments as they stream; never acted upon. */
  argsDelta: z.string().optional(),
});

export const toolResponseEvent = z.looseObject({
  ...base,
  type: z.literal('tool_response'),
  requestId: z.string(),
  name: z.string(),
  content: z.array(contentPart),
  structuredContent: z.unknown().optional(),
  display: z.array(displayContent).optional(),
  isError: z.boolean().optional(),
  errorType: toolErrorType.optional(),
});

export const elicitationRequestEvent = z.looseObject({
  ...base,
  type: z.literal('elicitation_request'),
  requestId: z.string(),
  kind: elicitationKind,
  message: z.string(),
  title: z.string().optional(),
  callId: z.string().optional(),
  /** Of an approval: what a yes lets run, which may be other than was asked for. */
  args: record.optional(),
  requestedSchema: record.optional(),
  context: record.optional(),
  expiresAt: timestamp.optional(),
  approval: approvalRequest.optional(),
});

export const elicitationResponseEvent = z.looseObject({
  ...base,
  type: z.literal('elicitation_response'),
  requestId: z.string(),
  action: elicitationAction,
  /** Never a secret. */
  content: record.optional(),
  /** Id of the principal who answered. */
  by: z.string().optional(),
  /** Names that principal among all: the id, and after `~1` the id of the person whom they act for; a `~` of an id is `~0`. */
  byName: z.string().optional(),
  reason: z.string().optional(),
});

const counts = Object.fromEntries(usageCounts.map((name) => [name, z.number().optional()])) as Record<
  UsageCount,
  z.ZodOptional<z.ZodNumber>
>;

export const usage = z.looseObject({ ...counts, cost: z.looseObject({ usd: z.number() }).optional() });

export const usageEvent = z.looseObject({
  ...base,
  type: z.literal('usage'),
  model: z.string().optional(),
  ...usage.shape,
});

export const errorEvent = z.looseObject({
  ...base,
  type: z.literal('error'),
  /** google.rpc code name. */
  status: z.string(),
  /** Stable `E_…` code. */
  code: z.string(),
  message: z.string(),
  fatal: z.boolean(),
  retryable: z.boolean(),
  details: record.optional(),
});

export const endReasons = [
  'completed',
  'failed',
  'aborted',
  'input_required',
  'max_turns',
  'max_budget',
  'max_time',
  'refusal',
] as const;
export const endReason = openEnum(endReasons);

export const streamEndData = z.looseObject({
  usage: usage.optional(),
  /** Model calls of the turn so far. */
  steps: z.number().int().optional(),
  pending: z.array(reportedRequest).optional(),
  pendingToolIds: z.array(z.string()).optional(),
  transfer: z.looseObject({ requestId: z.string(), from: z.string(), to: z.string() }).optional(),
  escalateReason: z.string().optional(),
  output: z.unknown().optional(),
  /** The last answer was cut at the model's output limit: it is complete by no other measure than the turn's. */
  truncated: z.boolean().optional(),
  reason: z.string().optional(),
});

export const streamEndEvent = z.looseObject({
  ...base,
  type: z.literal('stream_end'),
  reason: endReason,
  data: streamEndData,
});

export const customEvent = z.looseObject({
  ...base,
  type: z.literal('custom'),
  kind: z.string(),
  data: z.unknown().optional(),
});

const knownEvents = [
  initializeEvent,
  sessionUpdateEvent,
  messageEvent,
  toolRequestEvent,
  toolUpdateEvent,
  toolResponseEvent,
  elicitationRequestEvent,
  elicitationResponseEvent,
  usageEvent,
  errorEvent,
  streamEndEvent,
  customEvent,
] as const;

export const agentEventTypes = knownEvents.map((event) => event.shape.type.value);

export const strangerEvent = z.looseObject({ ...base, type: strangerType(agentEventTypes) });

export const agentEvent = z.union([z.discriminatedUnion('type', knownEvents), strangerEvent]);
