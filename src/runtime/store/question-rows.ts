import type { CallResult, DecisionRecord, StoredDecision } from '../../contracts/index.ts';
import { callIdOf, kindOfQuestion } from '../../contracts/index.ts';
import { yesesNeeded } from '../../gate/index.ts';
import { callResult, nameOfPrincipal } from '../../session/index.ts';
import type { StoredAnswer, StoredEvent } from '../log/index.ts';

/**
 * A question about a call, as a store keeps it from when it is asked until its session is deleted, without what it was
 * about. Times are epoch milliseconds. One that nobody has answered goes with the end of its call.
 */
export interface QuestionRow {
  readonly requestId: string;
  readonly callId: string;
  tool?: string;
  kind?: string;
  askedAt?: number;
  expiresAt?: number;
  quorum?: number;
  ruleId?: string;
  /** Absent: it is open. */
  action?: 'accept' | 'decline' | 'cancel' | 'expire';
  edited?: boolean;
  by?: string;
  decidedAt?: number;
  outcome?: 'approved' | 'denied';
  /** Absent: the call has not ended. */
  result?: CallResult;
  endedAt?: number;
  /** As {@link StoredDecision} has them; `people` of those who act for somebody the id. */
  people: string[];
  answerers: string[];
}

/** Of one question: more people than are asked have no place in a row. */
const MAX_PEOPLE = 64;
/** Characters of ids of questions, of names of tools and rules, and of names of people: columns and indexes have room for so many. */
const MAX_TEXT = 250;
const MAX_NAME = 1000;
const USER = 'user:';

/**
 * What a batch may do to the questions of its session: it asks or answers some (`asks`), or it decides on calls or ends
 * them (`ends`), which concerns those that were asked about. Undefined: nothing.
 */
export function questionTouch(events: readonly StoredEvent[]): 'asks' | 'ends' | undefined {
  let touch: 'ends' | undefined;
  for (const { actions, content } of events) {
    if (actions.answers || actions.asks || actions.questions) return 'asks';
    if (actions.decisions || hasResponse(content)) touch = 'ends';
  }
  return touch;
}

function hasResponse(content: StoredEvent['content']): boolean {
  for (const { type } of content?.parts ?? []) if (type === 'function_response') return true;
  return false;
}

/** The calls whose questions a batch may change. */
export function callsOfQuestions(events: readonly StoredEvent[]): Set<string> {
  const calls = new Set<string>();
  for (const { actions, content } of events) {
    for (const { callId } of actions.asks ?? []) calls.add(callId);
    for (const { requestId } of actions.questions ?? []) calls.add(callIdOf(requestId));
    for (const requestId of Object.keys(actions.answers ?? {})) calls.add(callIdOf(requestId));
    for (const callId of Object.keys(actions.decisions ?? {})) calls.add(callId);
    for (const part of content?.parts ?? []) if (part.type === 'function_response') calls.add(part.id);
  }
  return calls;
}

/** The questions of a session, or those about some of its calls, as its events change them. */
export class QuestionBook {
  readonly #rows = new Map<string, QuestionRow>();
  readonly #byCall = new Map<string, Set<string>>();
  /** Tools of calls that were made in the events that it has seen, and have not ended. */
  readonly #tools = new Map<string, string>();
  readonly #toolBefore: (callId: string) => string | undefined;
  readonly #changed = new Set<string>();
  /** A call has ended of which something was asked. */
  #hasEnded = false;

  /** @param toolBefore name of the tool of a call that was made before, and is open */
  constructor(rows: Iterable<QuestionRow> = [], toolBefore: (callId: string) => string | undefined = () => undefined) {
    for (const row of rows) this.#set(row);
    this.#toolBefore = toolBefore;
  }

  /** The next events of the log that count. */
  add(events: readonly StoredEvent[]): void {
    for (const event of events) this.#see(event);
  }

  rows(): IterableIterator<QuestionRow> {
    return this.#rows.values();
  }

  /** Whether somebody is asked. */
  get asks(): boolean {
    for (const { action } of this.#rows.values()) if (action === undefined) return true;
    return false;
  }

  /** Whether some call that was asked about has not ended. */
  get awaits(): boolean {
    for (const { result } of this.#rows.values()) if (result === undefined) return true;
    return false;
  }

  /** What has changed since it was asked before: `gone` are ids of rows that are no more. */
  changes(): { rows: QuestionRow[]; gone: string[]; hasEnded: boolean } {
    const rows: QuestionRow[] = [];
    const gone: string[] = [];
    for (const id of this.#changed) {
      const row = this.#rows.get(id);
      if (row) rows.push(row);
      else gone.push(id);
    }
    const hasEnded = this.#hasEnded;
    this.#changed.clear();
    this.#hasEnded = false;
    return { rows, gone, hasEnded };
  }

  #see({ actions, content, timestamp }: StoredEvent): void {
    const at = Math.trunc(timestamp);
    const parts = content?.parts ?? [];
    for (const part of parts) if (part.type === 'function_call') this.#tools.set(part.id, part.name.slice(0, MAX_TEXT));
    for (const { requestId, callId, kind, ruleId, expiresAt } of actions.asks ?? []) {
      const row = this.#ask(requestId, callId, at, kind);
      if (!row) continue;
      noteRule(row, ruleId);
      if (expiresAt !== undefined) row.expiresAt = Math.trunc(expiresAt);
    }
    for (const put of actions.questions ?? []) {
      const { requestId, ruleId, expiresAt } = put;
      const row = this.#ask(requestId, callIdOf(requestId), at);
      if (!row) continue;
      noteRule(row, ruleId);
      const needed = yesesNeeded(put);
      if (needed > 1) row.quorum = needed;
      const until = Date.parse(expiresAt ?? '');
      if (!Number.isNaN(until)) row.expiresAt = until;
    }
    for (const [requestId, answer] of Object.entries(actions.answers ?? {})) this.#answer(requestId, answer, at);
    for (const [callId, decision] of Object.entries(actions.decisions ?? {})) this.#decide(callId, decision, at);
    for (const part of parts)
      if (part.type === 'function_response') this.#end(part.id, callResult(part.isError, part.errorType), at);
  }

  #ask(requestId: string, callId: string, at: number | undefined, kind?: string): QuestionRow | undefined {
    const known = this.#rows.get(requestId);
    if (!known && [requestId, callId].some((id) => JSON.stringify(id).length > MAX_TEXT)) return undefined;
    const row: QuestionRow = known ?? { requestId, callId, people: [], answerers: [] };
    const tool = row.tool ?? this.#tools.get(callId) ?? this.#toolBefore(callId.toWellFormed())?.slice(0, MAX_TEXT);
    const word = row.kind ?? kind ?? kindOfQuestion(requestId);
    if (tool !== undefined) row.tool = tool;
    if (word !== undefined) row.kind = word.slice(0, MAX_TEXT);
    if (!known && at !== undefined) row.askedAt = at;
    if (!known) this.#set(row);
    this.#changed.add(requestId);
    return row;
  }

  #answer(requestId: string, { action, by: id, onBehalfOf, quorum, args }: StoredAnswer, at: number): void {
    const row = this.#ask(requestId, callIdOf(requestId), undefined);
    if (!row) return;
    if (id !== undefined) addTo(row.people, id);
    // An id alone names who acts for themselves, and not the same principal acting for others.
    if (id !== undefined) addTo(row.answerers, nameOfPrincipal(onBehalfOf === undefined ? { id } : { id, onBehalfOf }));
    if (quorum) {
      // It decides nothing yet; where it does after all, the decision on the call says so.
      row.quorum ??= quorum;
      return;
    }
    row.action = action;
    row.decidedAt = at;
    if (args) row.edited = true;
    else delete row.edited;
    if (id === undefined) delete row.by;
    else row.by = id.slice(0, MAX_NAME);
  }

  #decide(callId: string, { outcome, by, ruleId }: DecisionRecord, at: number): void {
    // Other programs may store another word.
    if (outcome !== 'approved' && outcome !== 'denied') return;
    for (const row of this.#ofCall(callId)) {
      if (row.result !== undefined) continue;
      if (row.action === undefined) {
        if (by === 'expiry') row.action = 'expire';
        else if (row.people.length > 0 && outcome === 'approved' && by.startsWith(USER)) {
          row.action = 'accept';
          row.by = by.slice(USER.length, MAX_NAME);
        } else continue;
        row.decidedAt = at;
      }
      row.outcome = outcome;
      noteRule(row, ruleId);
      this.#changed.add(row.requestId);
    }
  }

  #end(callId: string, result: CallResult, at: number): void {
    this.#tools.delete(callId);
    for (const row of this.#ofCall(callId)) {
      if (row.result !== undefined) continue;
      this.#changed.add(row.requestId);
      this.#hasEnded = true;
      if (row.action === undefined && result === 'not_run' && row.expiresAt !== undefined && row.expiresAt <= at) {
        row.action = 'expire';
        row.decidedAt = at;
      }
      // Nobody has decided it, and nobody will.
      if (row.action === undefined) this.#delete(row);
      else Object.assign(row, { result, endedAt: at });
    }
  }

  #ofCall(callId: string): QuestionRow[] {
    const ids = this.#byCall.get(callId);
    return ids ? [...ids].flatMap((id) => this.#rows.get(id) ?? []) : [];
  }

  #set(row: QuestionRow): void {
    this.#rows.set(row.requestId, row);
    const ids = this.#byCall.get(row.callId);
    if (ids) ids.add(row.requestId);
    else this.#byCall.set(row.callId, new Set([row.requestId]));
  }

  #delete({ requestId, callId }: QuestionRow): void {
    this.#rows.delete(requestId);
    const ids = this.#byCall.get(callId);
    ids?.delete(requestId);
    if (ids?.size === 0) this.#byCall.delete(callId);
  }
}

function noteRule(row: QuestionRow, ruleId: string | undefined): void {
  // What other programs have stored of a decision was looked at in part.
  if (typeof ruleId === 'string') row.ruleId = ruleId.slice(0, MAX_TEXT);
}

function addTo(people: string[], one: string): void {
  if (people.length < MAX_PEOPLE && one.length <= MAX_NAME && !people.includes(one)) people.push(one);
}

/** A question that was decided, as it is listed; undefined: it is open. */
export function storedDecision(
  place: { agent: string; userId: string; sessionId: string },
  row: QuestionRow,
): StoredDecision | undefined {
  const { requestId, callId, tool, kind, askedAt, quorum, action, edited, by, decidedAt, outcome, ruleId } = row;
  if (action === undefined || decidedAt === undefined) return undefined;
  const { result, endedAt, people, answerers } = row;
  return {
    ...place,
    requestId,
    callId,
    ...(tool === undefined ? {} : { tool }),
    ...(kind === undefined ? {} : { kind }),
    ...(askedAt === undefined ? {} : { askedAt: iso(askedAt) }),
    ...(quorum === undefined ? {} : { quorum }),
    action,
    ...(edited ? { edited } : {}),
    ...(by === undefined ? {} : { by }),
    at: iso(decidedAt),
    ...(outcome === undefined ? {} : { outcome }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(result === undefined ? {} : { result }),
    ...(endedAt === undefined ? {} : { endedAt: iso(endedAt) }),
    people: [...people],
    answerers: [...answerers],
  };
}

const LAST = 8_640_000_000_000_000;
const iso = (ms: number): string => new Date(Math.max(-LAST, Math.min(LAST, ms))).toISOString();
