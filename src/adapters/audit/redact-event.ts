import type {
  ContentPart,
  DecisionRecord,
  FunctionCallPart,
  FunctionResponsePart,
  RunDecisionRecord,
  TailCallRecord,
} from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import type { EventActions, StoredEvent } from '../../runtime/index.ts';
import { callNotes } from '../../runtime/index.ts';
import type { Redaction, RedactionOptions } from '../../session/index.ts';
import {
  hiddenTexts,
  obligationsOf,
  REDACTED,
  redactionOf,
  redactPointers,
  withoutTexts,
} from '../../session/index.ts';

interface Hidden extends Redaction {
  /** What is hidden of the arguments, which others may have quoted. */
  texts: readonly string[];
}

/** What one viewer is not shown of the calls of a log, by call id. */
export function redactionsOf(events: readonly StoredEvent[], options: RedactionOptions): Map<string, Hidden> {
  const calls = new Map<string, FunctionCallPart>();
  const records = new Map<string, DecisionRecord[]>();
  const ends = new Map<string, FunctionResponsePart>();
  const found = new Map<string, Hidden>();
  const answered = new Map<string, unknown[]>();
  const hide = (callId: string, name: string, obliged: readonly string[], errorType?: string) => {
    const redaction = redactionOf(name, obliged, options, errorType);
    if (redaction.args.length === 0 && !redaction.result) return;
    const all = (records.get(callId) ?? []).flatMap(({ args, asked }) => [args, asked?.args]);
    const texts = hiddenTexts([calls.get(callId)?.args, ...all, ...(answered.get(callId) ?? [])], redaction.args);
    found.set(callId, { ...redaction, texts });
  };
  for (const { content, actions } of events) {
    for (const part of content?.parts ?? []) {
      if (part.type === 'function_call') calls.set(part.id, part);
      else if (part.type === 'function_response') ends.set(part.id, part);
    }
    for (const [id, { args }] of Object.entries(actions.answers ?? {})) {
      const callId = callIdOf(id);
      if (args) answered.set(callId, [...(answered.get(callId) ?? []), args]);
    }
    for (const { requestId, args } of actions.questions ?? []) {
      const callId = callIdOf(requestId);
      if (args) answered.set(callId, [...(answered.get(callId) ?? []), args]);
    }
    for (const [callId, decision] of Object.entries(actions.decisions ?? {})) {
      records.set(callId, [...(records.get(callId) ?? []), decision]);
      // How it ended is not told: its reason may quote its arguments.
      for (const tail of tailsOf(decision))
        hide(tail.callId, tail.name, obligationsOf([tail], undefined, false), 'invalid_args');
    }
  }
  for (const [callId, part] of calls) {
    const end = ends.get(callId);
    const obliged = obligationsOf(records.get(callId) ?? [], end, callNotes(part).hooked === true);
    hide(callId, part.name, obliged, end?.errorType);
  }
  return found;
}

/** What is said about a call, and may quote its arguments. */
const quoting = ['reason', 'message', 'context', 'content'] as const;

const none: TailCallRecord[] = [];

/** Calls that a result asked for: what was decided about them stands in the record of the call that had the result. */
const tailsOf = (decision: RunDecisionRecord): TailCallRecord[] => decision.tailCalls ?? none;

/** The event as a viewer may see it: the same object if nothing of it is hidden. */
export function redactEvent(event: StoredEvent, redactions: ReadonlyMap<string, Hidden>): StoredEvent {
  if (redactions.size === 0) return event;
  const words = isInputOf(event, redactions) ? hiddenText : (part: ContentPart) => redactPart(part, redactions);
  const parts = event.content && mapped(event.content.parts, words);
  const actions = redactActions(event.actions, redactions);
  if (parts === event.content?.parts && actions === event.actions) return event;
  return { ...event, ...(event.content && parts ? { content: { ...event.content, parts } } : {}), actions };
}

const hiddenText = (part: ContentPart): ContentPart => (part.type === 'text' ? { ...part, text: REDACTED } : part);

/** It hands the arguments of a call to an agent, as text. */
function isInputOf({ iso, path, author, content }: StoredEvent, redactions: ReadonlyMap<string, Hidden>): boolean {
  // An agent run as a tool stands at its caller's path and the call's id.
  if (iso === undefined || iso !== path || author !== 'user' || content?.role !== 'user') return false;
  return (redactions.get(iso.slice(iso.lastIndexOf('/') + 1))?.args.length ?? 0) > 0;
}

function redactPart(part: ContentPart, redactions: ReadonlyMap<string, Hidden>): ContentPart {
  if (part.type === 'function_call') {
    const pointers = redactions.get(part.id)?.args ?? [];
    const { value, hidden } = redactPointers(part.args, pointers);
    // What the model wrote may hold it too, where a hook has changed it or it was no object.
    const { rawArgs, ...meta } = part._meta ?? {};
    if (hidden.length === 0 && (rawArgs === undefined || pointers.length === 0)) return part;
    return { ...part, args: value, ...(part._meta ? { _meta: meta } : {}) };
  }
  const hidden = part.type === 'function_response' ? redactions.get(part.id) : undefined;
  if (part.type !== 'function_response' || !hidden) return part;
  if (!hidden.result) {
    const { response, content } = part;
    const shown = withoutTexts({ response, ...(content ? { content } : {}) }, hidden.texts);
    return shown.response === response && shown.content === content ? part : { ...part, ...shown };
  }
  const { content: _, _meta: __, ...rest } = part;
  return { ...rest, response: { output: REDACTED } };
}

function redactActions(actions: EventActions, redactions: ReadonlyMap<string, Hidden>): EventActions {
  const argsOf = <T extends { args?: Record<string, unknown> | undefined }>(callId: string, value: T): T => {
    const hidden = redactions.get(callId);
    if (!hidden) return value;
    const copy = { ...value };
    for (const name of quoting) {
      const member = (copy as Record<string, unknown>)[name];
      if (member !== undefined) Object.assign(copy, { [name]: withoutTexts(member, hidden.texts) });
    }
    if (value.args) copy.args = redactPointers(value.args, hidden.args).value;
    const names = Object.keys(value) as (keyof T)[];
    return names.every((name) => copy[name] === value[name]) ? value : copy;
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
    mappedRecord(actions.answers, (id, answer) => argsOf(callIdOf(id), answer)),
  );
  set(
    'requestedToolConfirmations',
    mappedRecord(actions.requestedToolConfirmations, (id, asked) =>
      withoutTexts(asked, redactions.get(id)?.texts ?? []),
    ),
  );
  set(
    'questions',
    actions.questions && mapped(actions.questions, (question) => argsOf(callIdOf(question.requestId), question)),
  );
  set('asks', actions.asks && mapped(actions.asks, (ask) => argsOf(ask.callId, ask)));
  set(
    'interim',
    mappedRecord(actions.interim, (id, response) => {
      const { result = false, texts = [] } = redactions.get(id) ?? {};
      return result ? { output: REDACTED } : withoutTexts(response, texts);
    }),
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
