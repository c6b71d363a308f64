import { commonTime, MANY, newId } from '../../base/index.ts';
import type {
  Content,
  DecisionRecord,
  ElicitationAction,
  ElicitationKind,
  JsonSchema,
  PutQuestion,
  TurnTerms,
  Usage,
} from '../../contracts/index.ts';
import type { Outcome } from './outcome.ts';

/** A question about one call, to somebody outside the runtime. */
export interface Ask {
  /** `<callId>#<n>`: one call may need a confirmation, then a credential, then a re-run question. */
  requestId: string;
  callId: string;
  kind: ElicitationKind;
  message: string;
  context?: Record<string, unknown>;
  requestedSchema?: JsonSchema;
  /** The arguments that would run, where a hook changed them. */
  args?: Record<string, unknown>;
  /** Epoch milliseconds. */
  expiresAt?: number;
  ruleId?: string;
  /** JSON pointers into the arguments that policy wants hidden in audits. */
  redact?: string[];
}

export interface StoredAnswer {
  action: ElicitationAction;
  /** Id of whoever answered. */
  by?: string;
  roles?: string[];
  /** Id of the person whom they act for. */
  onBehalfOf?: string;
  reason?: string;
  /** Edited arguments. */
  args?: Record<string, unknown>;
  content?: Record<string, unknown>;
  /** Digest of the preview that was shown. */
  digest?: string;
  /** How many different people must say yes; this is one of them. */
  quorum?: number;
}

/** How a slot of the agent tree ended; lets a resumed turn skip it. */
export interface CompletedRecord {
  path: string;
  agent: string;
  outcome: Outcome;
  /** Its thread, '' for the root's; absent where it is that of the event. */
  thread?: string;
  /** It was ended by itself, and not by what its agent came to. */
  aborted?: true;
}

export interface EventError {
  status: string;
  fatal: boolean;
  retryable: boolean;
  details?: Record<string, unknown>;
}

/** A link of the audit chain. */
export interface ChainLink {
  /** The audited event that the writer saw last; '' for the first. */
  after: string;
  /** SHA-256 over the chain up to that event and this event's digest. */
  hash: string;
  /** `after` was written with this one: the chain up to it is its own link, whatever else came in between. */
  batch?: boolean;
}

export interface TurnEnd {
  reason: string;
  data?: Record<string, unknown>;
}

/** What a rewind leaves in the log: events after `through` and before the marker itself no longer count. */
export interface Rewound {
  /** seq of the last event that still counts. */
  through: number;
}

/**
 * What a model is not sent any more: of the history of the agent at whose place the event stands, and of that alone. The
 * log itself stays whole.
 */
export interface Compacted {
  /** seq of the first message that this is about. */
  from: number;
  /** seq of the last one; results stand where their calls do. */
  through: number;
  /** Stands for all messages of the range; absent: they stay, but for the results that are cleared. */
  summary?: string;
  /** Characters that are left of results in the range, half of its beginning and half of its end, by call id. */
  cleared?: Record<string, number>;
  /** Of a request: what the provider counted last, and an estimate of what came since. */
  tokensBefore: number;
  /** An estimate, until the provider counts again. */
  tokensAfter: number;
  /** `clear`: nobody was asked; `model`, `summariser`: who made the summary; `hook`: a hook gave it. */
  by: 'clear' | 'model' | 'summariser' | 'hook';
  /** The model that was asked for the summary. */
  model?: string;
}

/** A child has begun, or an iteration of a loop: told to whoever watches; nothing is decided by it. */
export interface BeganRecord {
  path: string;
  agent: string;
  /** Of the loop at this path, from 0. */
  iteration?: number;
  /** As in {@link CompletedRecord}. */
  thread?: string;
}

/** Side effects of an event. Everything a session is gets folded from these and from `content`. */
export interface EventActions {
  /** Keys without prefix: session; `app:`, `user:`: shared; null deletes. `temp:` keys never get here. */
  stateDelta: Record<string, unknown>;
  /** File name → version. */
  artifactDelta: Record<string, number>;
  escalate: boolean;
  skipSummarization: boolean;
  transferToAgent?: string;
  /** By call id. */
  requestedToolConfirmations?: Record<string, { hint?: string; payload?: unknown }>;
  requestedAuthConfigs?: Record<string, Record<string, unknown>>;

  /** A new turn begins; its root slot is entered with this agent, of the tree with this root where that is another. */
  turn?: { start: string; root?: string };
  /** The W3C trace context of whoever begins the turn. */
  trace?: Record<string, string>;
  /** What the turn is begun with, or held to from here on: it replaces what was said before. */
  terms?: TurnTerms;
  /** A turn that had ended is opened again with fresh counters. */
  reopened?: boolean;
  /** Why calls may (or may not) run, by call id. */
  decisions?: Record<string, DecisionRecord>;
  /** Calls whose handler starts now; written before it does. */
  started?: string[];
  /** Epoch of the lease that they start under: who holds a newer one knows that nobody runs them any more. */
  startedIn?: number;
  asks?: Ask[];
  /** What policy obliged to when the host's own questions were put. */
  questions?: PutQuestion[];
  /** By request id. */
  answers?: Record<string, StoredAnswer>;
  /** First words of long-running tools, by call id: what the model sees as their response. */
  interim?: Record<string, Record<string, unknown>>;
  completed?: CompletedRecord[];
  began?: BeganRecord[];
  /** Slots whose before_agent hooks have run. */
  entered?: string[];
  /** Slots whose after_agent hooks have run. */
  exited?: string[];
  /** The content is a hook's: it stands in for the agent (`before`) or for what the agent said last (`after`). */
  hook?: 'before' | 'after';
  /** Words added to a running turn; invisible to the model until delivered. */
  steer?: boolean;
  /** Ids of steers that the model sees from here on. */
  delivered?: string[];
  config?: Record<string, unknown>;
  end?: TurnEnd;
  /**
   * Somebody wants an end of the turn, or of a part of it, that another process runs: that which held the session with
   * this epoch, and nobody who goes on with it later.
   */
  abort?: { reason: string; requestId?: string; threadId?: string; epoch?: number };
  /** The session was taken back: a marker, alone in its event but for the delta that takes its state back. */
  rewound?: Rewound;
  /** A part of the history of the agent at this place is sent to its model in a shorter form from here on. */
  compacted?: Compacted;
}

/**
 * The only stored record. Everything else — state, history, open requests, budgets, the active agent — is derived from
 * a session's events in `seq` order.
 */
export interface StoredEvent {
  id: string;
  /** Place in the session's log, from 1; 0 until stored. Orders events; time does not. */
  seq: number;
  turnId: string;
  /** One run of the Runner. */
  invocationId: string;
  /** The stream that it was shown in; inner streams of a hosted stream share one. */
  streamId: string;
  /** Place in the agent tree of this turn; the root is ''. */
  path: string;
  /** Agent's name, or `user`. */
  author: string;
  /** Who may see it: dot-separated agent names; absent on the root thread. */
  branch?: string;
  /** Path of the agent-as-tool activation whose private history this belongs to. */
  iso?: string;
  /** Where it is shown, if neither at `iso` nor at `branch`: a branch within an agent run as a tool. */
  thread?: string;
  /** Epoch milliseconds; may tie. */
  timestamp: number;
  content?: Content;
  /** True on live frames only; a stored event never is. */
  partial: boolean;
  turnComplete: boolean;
  finishReason?: string;
  errorCode?: string;
  errorMessage?: string;
  error?: EventError;
  /** Cut off by an abort. */
  interrupted?: boolean;
  /** Model that answered, as the provider names it. */
  model?: string;
  usage?: Usage;
  citationMetadata?: Record<string, unknown>;
  groundingMetadata?: Record<string, unknown>;
  customMetadata?: Record<string, unknown>;
  /** Binds an audit event to all audit events before it. Absent in logs of older versions. */
  chain?: ChainLink;
  longRunningToolIds: readonly string[];
  actions: EventActions;
}

export type EventInit = Partial<Omit<StoredEvent, 'actions'>> & { author: string; actions?: Partial<EventActions> };

/** Deltas of an event that changes nothing: all such events share it. */
export const noDelta: Record<string, never> = Object.freeze({});
/** Ids of an event that names none. */
export const noIds: readonly string[] = Object.freeze([]);

/** Of an event that does nothing but say its content: all that are read share it. */
export const noEffects: EventActions = Object.freeze({
  stateDelta: noDelta,
  artifactDelta: noDelta,
  escalate: false,
  skipSummarization: false,
});

/** Fills in what an event always has: id, time, empty actions. */
export function createEvent(init: EventInit): StoredEvent {
  const event = {
    id: init.id ?? newId(),
    seq: 0,
    turnId: '',
    invocationId: '',
    streamId: '',
    path: '',
    author: init.author,
    timestamp: init.timestamp ?? commonTime(),
    partial: false,
    turnComplete: true,
    longRunningToolIds: noIds,
  };
  // Assigned rather than spread: of all that is made in a step, most are events.
  return Object.assign(event, init, { actions: createActions(init.actions) });
}

export function createActions(init?: Partial<EventActions>): EventActions {
  return { stateDelta: noDelta, artifactDelta: noDelta, escalate: false, skipSummarization: false, ...init };
}

/** The thread that an event or a call is shown in; undefined on the root's. */
export function threadOf({ thread, iso, branch }: Pick<StoredEvent, 'thread' | 'iso' | 'branch'>): string | undefined {
  return thread ?? iso ?? branch;
}

/**
 * An agent's answer is complete: a long-running call or skipSummarization makes it so; otherwise a whole message
 * with neither calls nor responses.
 */
export function isFinalResponse(event: StoredEvent): boolean {
  if (event.actions.skipSummarization || event.longRunningToolIds.length > 0) return true;
  if (event.partial) return false;
  return !event.content?.parts.some((part) => part.type === 'function_call' || part.type === 'function_response');
}

/** How many calls, answers or questions it tells of, about. */
export function sizeOf({ content, actions }: StoredEvent): number {
  const { started, asks, questions } = actions;
  return (content?.parts.length ?? 0) + (started?.length ?? 0) + (asks?.length ?? 0) + (questions?.length ?? 0);
}

/** Whether work on one of these stands by itself. */
export function isLarge(events: readonly StoredEvent[]): boolean {
  return events.some((event) => sizeOf(event) > MANY);
}
