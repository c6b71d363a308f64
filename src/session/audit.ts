import { checkIs, guarded, iterable } from '../base/index.ts';
import type {
  AgentEvent,
  ContentPart,
  PolicyDecisionRecord,
  ToolRequestEvent,
  ToolResponseEvent,
} from '../contracts/index.ts';
import { callIdOf, canonicalJson, notesOf } from '../contracts/index.ts';
import { saidIn } from './decided-question.ts';
import type { RedactionOptions } from './redact.ts';
import {
  checkRedaction,
  hiddenTexts,
  obligationsOf,
  REDACTED,
  redactionOf,
  redactPointers,
  withoutTexts,
} from './redact.ts';

/** What became of one call: who asked, who decided, why, under which rule, what ran and how it ended. */
export interface AuditEntry {
  callId: string;
  tool: string;
  /** Agent that called, and its place where it is not the root. */
  agentId?: string;
  threadId?: string;
  turnId?: string;
  /** Principal on whose behalf. */
  requestedBy?: string;
  requestedAt: string;
  /** As they were asked for. */
  args: Record<string, unknown>;
  /** As they ran, where they differ. */
  argsRun?: Record<string, unknown>;
  /** What people said, those included whose approval was one of several. */
  answers: { requestId: string; action: string; by?: string; reason?: string; at: string }[];
  /** What let it run or not, oldest first; the last one counts. */
  decisions: { outcome: 'approved' | 'denied'; by: string; ruleId?: string; reason?: string; at: string }[];
  /** When it was started; more than once where it was run again. */
  startedAt: string[];
  /** How it ended; `open`: it has not. Otherwise `completed`, or the error type of its result. */
  outcome: 'open' | 'completed' | 'failed' | 'denied' | 'cancelled' | 'interrupted' | (string & {});
  endedAt?: string;
  result?: ContentPart[];
  /** JSON pointers of what this viewer is not shown, of arguments; `result` for the result. */
  redacted?: string[];
}

/** The audit of a session, from its durable events: one entry a call, in the order of the calls. */
export async function auditOf(
  events: Iterable<AgentEvent> | AsyncIterable<AgentEvent>,
  options: RedactionOptions = {},
): Promise<AuditEntry[]> {
  checkIs(events, 'auditOf: events', iterable);
  checkRedaction(options, 'auditOf: options');
  const calls = new Map<string, Call>();
  for await (const event of events) guarded('auditOf: an event', () => note(calls, event));
  return [...calls.values()].map(({ entry, records, ended, hooked }) =>
    redacted(entry, obligationsOf(records, ended, hooked), options),
  );
}

function note(calls: Map<string, Call>, event: AgentEvent): void {
  switch (event.type) {
    case 'tool_request':
      calls.set(event.requestId, callOf(event as ToolRequestEvent));
      break;
    case 'tool_update':
      if (event.status === 'started') calls.get(event.requestId as string)?.entry.startedAt.push(event.timestamp);
      break;
    case 'tool_response':
      end(calls.get(event.requestId as string), event as ToolResponseEvent);
      break;
    case 'elicitation_response':
      answer(calls, event);
      break;
    case 'custom':
      if (event.kind === 'policy_decision') decide(calls, event.data as PolicyDecisionRecord, event.timestamp);
      else answer(calls, event);
  }
}

function answer(calls: Map<string, Call>, event: AgentEvent): void {
  const said = saidIn(event);
  if (!said) return;
  const { requestId, action, by, reason } = said;
  const call = calls.get(callIdOf(requestId));
  call?.entry.answers.push({ requestId, action, ...defined({ by, reason }), at: event.timestamp });
}

interface Call {
  entry: AuditEntry;
  records: PolicyDecisionRecord[];
  ended?: ToolResponseEvent;
  hooked: boolean;
}

function callOf(event: ToolRequestEvent): Call {
  return { entry: entryOf(event), records: [], hooked: notesOf(event).hooked === true };
}

function entryOf({ requestId, name, args, agentId, threadId, turnId, timestamp }: ToolRequestEvent): AuditEntry {
  return {
    callId: requestId,
    tool: name,
    ...defined({ agentId, threadId, turnId }),
    requestedAt: timestamp,
    args,
    answers: [],
    decisions: [],
    startedAt: [],
    outcome: 'open',
  };
}

function decide(calls: ReadonlyMap<string, Call>, decision: PolicyDecisionRecord, at: string): void {
  const call = calls.get(decision.callId);
  if (!call) return;
  const { outcome, by, ruleId, reason, args, requestedBy } = decision;
  if (!isToldAgain(call.records.at(-1), decision))
    call.entry.decisions.push({ outcome, by, ...defined({ ruleId, reason }), at });
  call.records.push(decision);
  if (args) call.entry.argsRun = args;
  if (requestedBy !== undefined) call.entry.requestedBy = requestedBy;
}

/** The decision that a call was started with comes again with its result where the run has something to add to it. */
function isToldAgain(last: PolicyDecisionRecord | undefined, now: PolicyDecisionRecord): boolean {
  if (!last || (now.tailCalls === undefined && now.usage === undefined)) return false;
  return canonicalJson(withoutRun(last)) === canonicalJson(withoutRun(now));
}

/** A decision without what its run came to. */
function withoutRun({ tailCalls: _, usage: __, ...decision }: PolicyDecisionRecord): object {
  return decision;
}

function end(call: Call | undefined, response: ToolResponseEvent): void {
  if (!call) return;
  call.ended = response;
  const { entry } = call;
  const { isError, errorType, content, timestamp } = response;
  entry.outcome = errorType ?? (isError ? 'failed' : 'completed');
  entry.endedAt = timestamp;
  entry.result = content;
}

function redacted(entry: AuditEntry, obliged: readonly string[], options: RedactionOptions): AuditEntry {
  const redaction = redactionOf(entry.tool, obliged, options, entry.outcome);
  const args = redactPointers(entry.args, redaction.args);
  const run = entry.argsRun && redactPointers(entry.argsRun, redaction.args);
  const hidden = new Set([...args.hidden, ...(run?.hidden ?? [])]);
  if (redaction.result && entry.result) hidden.add('result');
  if (hidden.size === 0) return entry;
  // Whoever decided or ran may have quoted them.
  const texts = hiddenTexts([entry.args, entry.argsRun], redaction.args);
  const reasons = redaction.words ? entry.decisions.map((one) => ({ ...one, reason: REDACTED })) : entry.decisions;
  const result: ContentPart[] | undefined = redaction.result
    ? [{ type: 'text', text: REDACTED }]
    : withoutTexts(entry.result, texts);
  return {
    ...entry,
    args: args.value,
    ...(run ? { argsRun: run.value } : {}),
    answers: entry.answers.map((one) => withoutReason(one, texts)),
    decisions: reasons.map((one) => withoutReason(one, texts)),
    ...(entry.result && result ? { result } : {}),
    redacted: [...hidden],
  };
}

/** Who decided what, and when, is no text of theirs: an argument of the same words hides none of it. */
function withoutReason<T extends { reason?: string }>(one: T, texts: readonly string[]): T {
  return one.reason === undefined ? one : { ...one, reason: withoutTexts(one.reason, texts) };
}

function defined<T extends Record<string, unknown>>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
