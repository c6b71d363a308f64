import type { ContentPart, DecisionRecord } from '../../contracts/index.ts';
import type { Event, EventActions } from '../../runtime/index.ts';
import type { Redaction, RedactionOptions } from '../../session/index.ts';
import { REDACTED, redactionOf, redactPointers } from '../../session/index.ts';

/** What one viewer is not shown of the calls of a log, by call id. */
export function redactionsOf(events: readonly Event[], options: RedactionOptions): Map<string, Redaction> {
  const names = new Map<string, string>();
  const obliged = new Map<string, string[]>();
  for (const { content, actions } of events) {
    for (const part of content?.parts ?? []) if (part.type === 'function_call') names.set(part.id, part.name);
    for (const [callId, { redact }] of Object.entries(actions.decisions ?? {})) {
      if (redact) obliged.set(callId, [...(obliged.get(callId) ?? []), ...redact]);
    }
  }
  const found = new Map<string, Redaction>();
  for (const [callId, name] of names) {
    const redaction = redactionOf(name, obliged.get(callId) ?? [], options);
    if (redaction.args.length > 0 || redaction.result) found.set(callId, redaction);
  }
  return found;
}

/** The event as a viewer may see it: the same object if nothing of it is hidden. */
export function redactEvent(event: Event, redactions: ReadonlyMap<string, Redaction>): Event {
  if (redactions.size === 0) return event;
  const parts = event.content && mapped(event.content.parts, (part) => redactPart(part, redactions));
  const actions = redactActions(event.actions, redactions);
  if (parts === event.content?.parts && actions === event.actions) return event;
  return { ...event, ...(event.content && parts ? { content: { ...event.content, parts } } : {}), actions };
}

function redactPart(part: ContentPart, redactions: ReadonlyMap<string, Redaction>): ContentPart {
  if (part.type === 'function_call') {
    const { value, hidden } = redactPointers(part.args, redactions.get(part.id)?.args ?? []);
    if (hidden.length === 0) return part;
    // The text that the model wrote holds it too.
    const { rawArgs: _, ...meta } = part._meta ?? {};
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
  const result = { ...actions };
  let changed = false;
  const set = <K extends keyof EventActions>(key: K, value: EventActions[K]) => {
    if (value === actions[key]) return;
    result[key] = value;
    changed = true;
  };
  set(
    'decisions',
    mappedRecord(actions.decisions, (id, decision: DecisionRecord) => argsOf(id, decision)),
  );
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
