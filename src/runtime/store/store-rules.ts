import { kindOf } from '../../base/index.ts';
import { CoxswainError, deepFreeze, MAX_JSON_DEPTH, setOwn } from '../../contracts/index.ts';
import { sessionTitle } from '../../session/index.ts';
import type { StoredEvent } from '../log/index.ts';
import { applyDelta, noDelta, noEffects, noIds, splitDelta, stateValue, storedDelta } from '../log/index.ts';
import type { SessionKey } from './session-service.ts';
import { sealedLogs } from './store-checks.ts';
import { faultOfEvent } from './stored-event.ts';

export { checkKey, checkScope, newKey, storeInput } from './store-checks.ts';

// What every session store does alike, so that the same input has the same result on each of them.

/** State values are at most MAX_JSON_DEPTH deep; they sit a few levels down in an event. */
const MAX_EVENT_DEPTH = MAX_JSON_DEPTH + 16;
const TOO_DEEP = ` is nested deeper than ${MAX_EVENT_DEPTH} levels`;
const MAX_EVENT_ID = 255;
const plainId = /^[!-~]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const control = /[\u0000-\u001f\u007f]/;

export interface SplitState {
  session: Record<string, unknown>;
  app: Record<string, unknown>;
  user: Record<string, unknown>;
}

/**
 * A new session's state: checked, copied, frozen, split by scope. Nulls are still in it: they delete shared keys.
 * @throws CoxswainError `INVALID_ARGUMENT / E_NOT_JSON | E_STATE_KEY | E_TOO_DEEP`
 */
export function splitInitial(state: Readonly<Record<string, unknown>> = {}): SplitState {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(state)) setOwn(copy, key, deepFreeze(stateValue(key, state[key])));
  return splitDelta(copy);
}

/**
 * Makes an event what is stored: with its place, without `temp:` keys, pure JSON, frozen at every depth. The object
 * itself is taken over unless it is frozen already.
 * @throws CoxswainError `INVALID_ARGUMENT / E_ID | E_NOT_JSON | E_TOO_DEEP | E_BAD_INPUT`
 */
export function sealEvent(given: StoredEvent, seq: number): StoredEvent {
  return sealWith(given, seq, true);
}

/**
 * Seals the whole of a log, in place, and the list with it. `faultOfEvent` has found nothing in any of its events, as they
 * stand in a line or whole: that is not looked at again.
 * @throws CoxswainError as `sealEvent`
 */
export function sealLog(events: StoredEvent[]): readonly StoredEvent[] {
  for (let at = 0; at < events.length; at++) events[at] = sealWith(events[at] as StoredEvent, at + 1, false);
  const log = Object.freeze(events);
  sealedLogs.add(log);
  return log;
}

/** The events of a whole log as stored ones, in a list of their own. @throws CoxswainError as `sealEvent` */
export function sealedLog(events: readonly StoredEvent[]): StoredEvent[] {
  if (sealedLogs.has(events)) return events.slice();
  return events.map((event, index) => sealEvent(event, index + 1));
}

function sealWith(given: StoredEvent, seq: number, isChecked: boolean): StoredEvent {
  try {
    return sealed(given, seq, isChecked);
  } catch (error) {
    if (error instanceof CoxswainError) throw error;
    throw notJson(given, ' cannot be read');
  }
}

/** A sealed event at another place in the log. */
export function placeEvent(event: StoredEvent, seq: number): StoredEvent {
  return Object.freeze({ ...event, seq });
}

function sealed(given: StoredEvent, seq: number, isChecked: boolean): StoredEvent {
  checkEventId(given.id);
  if (given.invocationId.length > MAX_EVENT_ID) throw tooLong(given, 'invocation', given.invocationId);
  let event = given;
  if (Object.isFrozen(event)) event = { ...event, seq };
  else event.seq = seq;
  const delta = event.actions.stateDelta;
  for (const key in delta) {
    if (!key.startsWith('temp:')) continue;
    event.actions = { ...event.actions, stateDelta: storedDelta(delta) };
    break;
  }
  for (const key in event.actions.stateDelta) {
    if (event.actions.stateDelta[key] === undefined) throw notJson(event, `.actions.stateDelta.${key} is undefined`);
  }
  const fault = seal(event as unknown as Record<string, unknown>, 0);
  if (fault !== undefined) throw notJson(event, fault);
  // What could not be read back would make all of its session unreadable.
  const unfit = isChecked ? faultOfEvent(event as unknown as Record<string, unknown>, 'row') : undefined;
  if (unfit !== undefined) throw unreadable(event, unfit);
  if (event.actions.config !== undefined) checkTitle(event, event.actions.config);
  if (!event.content) return event;
  for (const part of event.content.parts) {
    if (part.type === 'function_call' || part.type === 'function_response') checkCallId(event, part.id);
  }
  return event;
}

function unreadable(event: StoredEvent, field: string): CoxswainError {
  const message = `event ${event.id}: its ${field} is not as events have it, so that the session could not be read any more; nothing was stored`;
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message, { details: { id: event.id, field } });
}

/** Lists have it whole. */
function checkTitle({ id }: StoredEvent, { title }: Record<string, unknown>): void {
  if (typeof title !== 'string' || sessionTitle.fits(title)) return;
  const message = `event ${id}: its title is not ${sessionTitle.needs}; nothing was stored`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message, { details: { id } });
}

/** Open calls are indexed by their id: as a JSON string, it fits into a key of every database. */
function checkCallId(event: StoredEvent, id: string): void {
  if (id.length * 6 + 2 <= MAX_EVENT_ID || JSON.stringify(id).length <= MAX_EVENT_ID) return;
  throw tooLong(event, 'call', id);
}

function tooLong(event: StoredEvent, what: string, id: string): CoxswainError {
  const start = JSON.stringify(id.slice(0, 40));
  return new CoxswainError(
    'INVALID_ARGUMENT',
    'E_ID',
    `event ${event.id}: ${what} id ${start}… is longer than ${MAX_EVENT_ID} characters of JSON`,
    { details: { id: event.id } },
  );
}

/**
 * Epoch before a session's first lease. Not the same for two sessions of one name: whoever held the one that was
 * deleted is fenced from the one that took its place.
 */
export function firstEpoch(): number {
  return Math.floor(Math.random() * 2 ** 30);
}

function checkEventId(id: string): void {
  if (typeof id === 'string' && id.length <= MAX_EVENT_ID) {
    if (plainId.test(id)) return;
    if (id !== '' && id.trim() === id && id.isWellFormed() && !control.test(id)) return;
  }
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_ID',
    `event id ${typeof id === 'string' ? JSON.stringify(id.slice(0, 40)) : kindOf(id)} is not 1 to ${MAX_EVENT_ID} plain characters`,
  );
}

/** Checks and freezes in one walk, children first; the answer is where it is no JSON. */
function seal(value: object, depth: number): string | undefined {
  if (depth > MAX_EVENT_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const member: unknown = value[index];
      if (typeof member === 'string') continue;
      const fault = member === undefined ? ' is undefined' : sealMember(member, depth);
      if (fault !== undefined) return `[${index}]${fault}`;
    }
    Object.freeze(value);
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return ` is a ${value.constructor?.name ?? 'class object'}`;
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    // Most members are text, or what events share that say nothing by it, frozen at every depth: a call for each of them
    // would cost more than the look.
    if (typeof member === 'string' || typeof member === 'boolean') continue;
    if (member === noDelta || member === noIds || member === noEffects) continue;
    const isInner = typeof member === 'object' && member !== null;
    const fault = isInner ? seal(member, depth + 1) : sealMember(member, depth);
    if (fault !== undefined) return `.${key}${fault}`;
  }
  Object.freeze(value);
  return undefined;
}

function sealMember(member: unknown, depth: number): string | undefined {
  switch (typeof member) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(member) ? undefined : ` is ${member}`;
    case 'object':
      return member === null ? undefined : seal(member, depth + 1);
    default:
      return ` is a ${typeof member}`;
  }
}

function notJson(event: StoredEvent, fault: string): CoxswainError {
  const details = { id: event.id };
  if (fault.endsWith(TOO_DEEP)) {
    const place = fault.slice(0, 80);
    return new CoxswainError('INVALID_ARGUMENT', 'E_TOO_DEEP', `event ${event.id}${place}…${TOO_DEEP}`, { details });
  }
  const message = `event ${event.id}${fault}; an event holds JSON only`;
  return new CoxswainError('INVALID_ARGUMENT', 'E_NOT_JSON', message, { details });
}

/**
 * The deltas of a batch as one, by scope; undefined if there is nothing. Events with `iso` are skipped: their agent
 * ran as a tool, and the response of that call carries what the session gets.
 */
export function batchDelta(events: readonly StoredEvent[]): SplitState | undefined {
  let merged: Record<string, unknown> | undefined;
  for (const event of events) {
    if (event.iso !== undefined) continue;
    const delta = event.actions.stateDelta;
    for (const key in delta) {
      merged ??= {};
      setOwn(merged, key, delta[key]);
    }
  }
  return merged && splitDelta(merged);
}

/** Advances a session's own state over events, as appending them did. */
export function foldState(state: Record<string, unknown>, events: readonly StoredEvent[]): void {
  const delta = batchDelta(events);
  if (delta) applyDelta(state, delta.session);
}

/** What the newest update of the session's title says; undefined if none does. */
export function titleChange(events: readonly StoredEvent[]): string | null | undefined {
  let title: string | null | undefined;
  for (const { actions } of events) {
    if (actions.config === undefined || !Object.hasOwn(actions.config, 'title')) continue;
    const given = actions.config.title;
    if (given === null || typeof given === 'string') title = given === null ? null : given.toWellFormed();
  }
  return title;
}

/**
 * Which events a read wants: those with `from < seq <= to`.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function eventWindow(
  lastSeq: number,
  options: { after?: number; limit?: number; recent?: number } = {},
): { from: number; to: number } {
  const after = options.after === undefined ? 0 : (wholeNumber('after', options.after) ?? 0);
  const recent = options.recent === undefined ? lastSeq : (wholeNumber('recent', options.recent) ?? lastSeq);
  const limit = options.limit === undefined ? lastSeq : (wholeNumber('limit', options.limit) ?? lastSeq);
  const from = Math.min(lastSeq, Math.max(after, lastSeq - recent));
  return { from, to: Math.min(lastSeq, from + limit) };
}

/**
 * A number that counts something, or undefined.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function wholeNumber(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `${name} is ${kindOf(value)}; give a whole number from 0`);
}

const named = (key: SessionKey) => `session ${key.app}/${key.userId}/${key.id}`;

/** What stores refuse, in the same words everywhere. */
export const storeRefusal = {
  missing: (key: SessionKey) =>
    new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', `${named(key)} does not exist`, { details: { key } }),
  replaced: (key: SessionKey) =>
    new CoxswainError('ABORTED', 'E_SESSION_CONFLICT', `${named(key)} was deleted and made again; open it again`, {
      details: { key },
    }),
  exists: (key: SessionKey) =>
    new CoxswainError('ALREADY_EXISTS', 'E_SESSION_EXISTS', `${named(key)} exists already`, { details: { key } }),
  fenced: (key: SessionKey, epoch: number) =>
    new CoxswainError('ABORTED', 'E_FENCED', `${named(key)} is no longer held under epoch ${epoch}`, {
      details: { key, epoch },
    }),
  conflict: (key: SessionKey, expectedSeq: number, lastSeq: number) =>
    new CoxswainError('ABORTED', 'E_SESSION_CONFLICT', `${named(key)} is at seq ${lastSeq}, not ${expectedSeq}`, {
      details: { key, expectedSeq, lastSeq },
    }),
  busy: (key: SessionKey, holder: string, details: Record<string, unknown> = {}) =>
    new CoxswainError('ABORTED', 'E_SESSION_BUSY', `${named(key)} is being run by ${holder}`, {
      details: { key, ...details },
    }),
  eventExists: (key: SessionKey, id: string) =>
    new CoxswainError('ALREADY_EXISTS', 'E_EVENT_EXISTS', `${named(key)} has an event ${id} already`, {
      details: { key, id },
    }),
  cursor: (after: string) =>
    new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', `session ${after} is gone; list again from the start`, {
      details: { after },
    }),
  closed: () => new CoxswainError('FAILED_PRECONDITION', 'E_STORE', 'the session store is closed; open it again'),
};
