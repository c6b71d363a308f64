import type { z } from 'zod';
import type * as schema from '../schemas/events.ts';
import type * as sessionSchema from '../schemas/session.ts';
import type { Closed } from '../values/index.ts';

/** Who decided on a call, and why. */
export type DecisionRecord = Closed<z.infer<typeof sessionSchema.decisionRecord>>;

export type InitializeEvent = Closed<z.infer<typeof schema.initializeEvent>>;
export type SessionUpdateEvent = Closed<z.infer<typeof schema.sessionUpdateEvent>>;
export type AgentMessageEvent = Closed<z.infer<typeof schema.messageEvent>>;
export type ToolRequestEvent = Closed<z.infer<typeof schema.toolRequestEvent>>;
export type ToolUpdateEvent = Closed<z.infer<typeof schema.toolUpdateEvent>>;
export type ToolResponseEvent = Closed<z.infer<typeof schema.toolResponseEvent>>;
export type ElicitationRequestEvent = Closed<z.infer<typeof schema.elicitationRequestEvent>>;
export type ElicitationResponseEvent = Closed<z.infer<typeof schema.elicitationResponseEvent>>;
export type UsageEvent = Closed<z.infer<typeof schema.usageEvent>>;
export type AgentErrorEvent = Closed<z.infer<typeof schema.errorEvent>>;
export type StreamEndEvent = Closed<z.infer<typeof schema.streamEndEvent>>;
/** An event of a type that this version does not know. */
export type StrangerEvent = Closed<z.infer<typeof schema.strangerEvent>>;
/** What every event has. */
export type EventBase = Omit<StrangerEvent, 'type'>;
type CustomBase = EventBase & { type: 'custom' };

export type StreamEndReason = z.infer<typeof schema.endReason>;
/** The reasons that are known; executors may have others. */
export type KnownEndReason = (typeof schema.endReasons)[number];
export type StreamEndData = Closed<z.infer<typeof schema.streamEndData>>;
export type Usage = Closed<z.infer<typeof schema.usage>>;

export interface PolicyDecisionRecord {
  callId: string;
  outcome: 'approved' | 'denied';
  /** `policy`, `author`, or `user:<id>`. */
  by: string;
  ruleId?: string;
  reason?: string;
  /** Present where they differ from the arguments that were asked for. */
  args?: Record<string, unknown>;
  /** Id of the principal on whose behalf the call was made. */
  requestedBy?: string;
  /** JSON pointers into the arguments that policy wants hidden in audits. */
  redact?: string[];
  /** What policy was asked with, besides tool and arguments. Absent where the gate was not asked. */
  asked?: DecisionRecord['asked'];
  /** Where the run of the call adds to it: calls that its result asked for, with the decision on each. */
  tailCalls?: TailCallRecord[];
  /** Where the run of the call adds to it: what the agent that it ran has used. */
  usage?: Usage;
  /** Of a call of an agent that keeps its sessions: the one, of the same user, in which it works for this call. */
  called?: { agent: string; sessionId: string };
}

/** What was decided on a call that a result asked for. */
export type TailCallRecord = DecisionRecord & { callId: string; name: string };

/** The decision on a call as it is stored with its result: with what the run has to add. */
export type RunDecisionRecord = DecisionRecord & Pick<PolicyDecisionRecord, 'tailCalls' | 'usage' | 'called'>;

/** What the model of one agent is sent in a shorter form from here on: the event's, at `path`. The log stays whole. */
export interface CompactionRecord {
  /** Place of the agent in the tree of its turn; the root is ''. */
  path: string;
  /** `seq` of the first message that this is about. */
  from: number;
  /** `seq` of the last one. */
  through: number;
  /** Stands for all messages of the range; absent: they stay, but for results that were cleared. */
  summary?: string;
  /** Characters that are left of results of the range, by id of the call. */
  cleared?: Record<string, number>;
  /** Tokens of a request, before and after; the latter is an estimate. */
  tokensBefore: number;
  tokensAfter: number;
  /** Who made it shorter: `clear` (no summary), `model`, `summariser` (a function), `hook`. */
  by: string;
  /** The model that was asked for the summary. */
  model?: string;
}

/** Kinds of `custom` events with their data. Add your own by declaration merging. */
export interface CustomKinds {
  policy_decision: PolicyDecisionRecord;
  agent_started: { agent: string; path: string };
  /** `aborted`: its thread was ended by itself. */
  agent_completed: { agent: string; path: string; escalate?: boolean; aborted?: boolean };
  agent_transfer: { from: string; to: string; requestId: string };
  loop_iteration: { agent: string; path: string; iteration: number };
  artifact_delta: Record<string, number>;
  steer_applied: { steerIds: string[] };
  /** The session was rewound: what came after `through`, a seq, no longer counts, up to this event. */
  rewound: { through: number };
  compacted: CompactionRecord;
  steer_returned: { steerIds: string[]; reason: string };
  budget: { kind: string; used: number; limit: number };
  metadata: Record<string, unknown>;
}

export type AgentCustomEvent =
  | { [K in keyof CustomKinds]: CustomBase & { kind: K; data: CustomKinds[K] } }[keyof CustomKinds]
  | (CustomBase & { kind: `ext:${string}`; data: unknown });

/** Event types with their shapes. Add your own, each with {@link EventBase}, by declaration merging. */
export interface AgentEvents {
  initialize: InitializeEvent;
  session_update: SessionUpdateEvent;
  message: AgentMessageEvent;
  tool_request: ToolRequestEvent;
  tool_update: ToolUpdateEvent;
  tool_response: ToolResponseEvent;
  elicitation_request: ElicitationRequestEvent;
  elicitation_response: ElicitationResponseEvent;
  usage: UsageEvent;
  error: AgentErrorEvent;
  stream_end: StreamEndEvent;
  custom: AgentCustomEvent;
}

/** What a host sees of an agent. Narrow on `type`; unknown types pass through unharmed. */
export type AgentEvent = AgentEvents[keyof AgentEvents] | StrangerEvent;
