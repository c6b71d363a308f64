import type { ContentPart, DecisionRecord, FunctionCallPart, FunctionResponsePart } from '../../contracts/index.ts';
import type { Event, EventActions } from '../../runtime/index.ts';
import type { Redaction, RedactionOptions } from '../../session/index.ts';
import { obligationsOf, REDACTED, redactionOf, redactPointers } from '../../session/index.ts';

/** What one viewer is not shown of the calls of a log, by call id. */
export function redactionsOf(events: readonly Event[], options: RedactionOptions): Map<string, Redaction> {
  const calls = new Map<string, FunctionCallPart>();
  const records = new Map<string, DecisionRecord[]>();
  const ends = new Map<string, FunctionResponsePart>();
  const found = new Map<string, Redaction>();
  const hide = (callId: string, name: string, obliged: readonly string[], errorType?: string) => {
    const redaction = redactionOf(name, obliged, options, errorType);
    if (redaction.args.length > 0 || redaction.result) found.set(callId, redaction);
  };
  for (const { content, actions } of events) {
    for (const part of content?.parts ?? []) {
      if (part.type === 'function_call') calls.set(part.id, part);
      else if (part.type === 'function_response') ends.set(part.id, part);
    }
    for (const [callId, decision] of Object.entries(actions.decisions ?? {})) {
      records.set(callId, [...(records.get(callId) ?? []), decision]);
      // How it ended is not told: its reason may quote its arguments.
      for (const tail of tailsOf(decision))
        hide(tail.callId, tail.name, obligationsOf([tail], undefined, false), 'invalid_args');
    }
  }
  for (const [callId, { name, _meta }] of calls) {
    const end = ends.get(callId);
    const obliged = obligationsOf(records.get(callId) ?? [], end, _meta?.hooked === true);
    hide(callId, name, obliged, end?.errorType);
  }
  return found;
}

/** Calls that a result asked for: what was decided about them stands in the record of the call that had the result. */
type Tail = DecisionRecord & { callId: string; name: string };

const none: Tail[] = [];

const tailsOf = (decision: DecisionRecord & { tailCalls?: Tail[] }): Tail[] => decision.tailCalls ?? none;

/** The event as a viewer may see it: the same object if nothing of it is hidden. */
export function redactEvent(event: Event, redactions: ReadonlyMap<string, Redaction>): Event {
  if (redactions.size === 0) return event;
  const words = isInputOf(event, redactions) ? hiddenText : (part: ContentPart) => redactPart(part, redactions);
  const parts = event.content && mapped(event.content.parts, words);
  const actions = redactActions(event.actions, redactions);
  if (parts === event.content?.parts && actions === event.actions) return event;
  return { ...event, ...(event.content && parts ? { content: { ...event.content, parts } } : {}), actions };
}

const hiddenText = (part: ContentPart): ContentPart => (part.type === 'text' ? { ...part, text: REDACTED } : part);

/** It hands the arguments of a call to an agent, as text. */
function isInputOf({ iso, actions: { decisions = {} } }: Event, redactions: ReadonlyMap<string, Redaction>): boolean {
  if (iso === undefined) return false;
  return Object.keys(decisions).some((id) => iso.endsWith(`/${id}`) && (redactions.get(id)?.args.length ?? 0) > 0);
}

function redactPart(part: ContentPart, redactions: ReadonlyMap<string, Redaction>): ContentPart {
  if (part.type === 'function_call') {
    const pointers = redactions.get(part.id)?.args ?? [];
    const { value, hidden } = redactPointers(part.args, pointers);
    // What the model wrote may hold it too, where a hook has changed it or it was no object.
    const { rawArgs, ...meta } = part._meta ?? {};
    if (hidden.length === 0 && (rawArgs === undefined || pointers.length === 0)) return part;
    return { ...part, args: value, ...(part._meta ? { _meta: meta } : {}) };
  }
  if (part.type !== 'function_response' || !redactions.get(part.id)?.result) return part;
  const { content: _, _meta: __, ...rest } = part;
  return { ...rest, response: { output: REDACTED } };
}

function redactActions(actions: EventActions, redactions: ReadonlyMap<string, Redaction>): EventActions {
  const argsOf = <T extends { args?: Record<string, unknown> | undefined }>(callId: string, value: T): T => {
    const { args } = value;
    const pointers = redactions.get(callId)?.args;
    if (!args || !pointers) return value;
    const redacted = redactPointers(args, pointers);
    return redacted.hidden.length === 0 ? value : { ...value, args: redacted.value };
  };
  const recordOf = <T extends DecisionRecord>(callId: string, given: T): T => {
    const said = argsOf(callId, given);
    const decision = redactions.get(callId)?.words && said.reason !== undefined ? { ...said, reason: REDACTED } : said;
    const asked = decision.asked && argsOf(callId, decision.asked);
    const tails = tailsOf(decision);
    const tailCalls = mapped(tails, (tail) => recordOf(tail.callId, tail));
    if (asked === decision.asked && tailCalls === tails) return decision;
    return { ...decision, ...(asked ? { asked } : {}), ...(tails.length > 0 ? { tailCalls } : {}) };
  };
  const result = { ...actions };
  let changed = false;
  const set = <K extends keyof EventActions>(key: K, value: EventActions[K]) => {
    if (value === actions[key]) return;
    result[key] = value;
    changed = true;
  };
  set('decisions', mappedRecord(actions.decisions, recordOf));
  set(
    'answers',
    mappedRecord(actions.answers, (id, answer) => argsOf(id.split('#')[0] ?? '', answer)),
  );
  set('asks', actions.asks && mapped(actions.asks, (ask) => argsOf(ask.callId, ask)));
  set(
    'interim',
    mappedRecord(actions.interim, (id, response) => (redactions.get(id)?.result ? { output: REDACTED } : response)),
  );
  return changed ? result : actions;
}

/** The same list if nothing changed. */
function mapped<T>(items: T[], change: (item: T) => T): T[] {
  const next = items.map(change);
  return next.every((item, index) => item === items[index]) ? items : next;
}

function mappedRecord<T>(
  record: Record<string, T> | undefined,
  change: (key: string, value: T) => T,
): Record<string, T> | undefined {
  if (!record) return undefined;
  const entries = Object.entries(record);
  const next = entries.map(([key, value]): [string, T] => [key, change(key, value)]);
  return next.every(([, value], index) => value === entries[index]?.[1]) ? record : Object.fromEntries(next);
}
