import { isEmpty } from '../../base/index.ts';
import type { Content, ContentPart } from '../../contracts/index.ts';
import { deepFreeze, parseJson, setOwn } from '../../contracts/index.ts';
import type { EventActions, StoredEvent } from '../log/index.ts';
import { noDelta, noEffects, noIds } from '../log/index.ts';

/**
 * An event as columns, in the names and JSON shapes that other readers of these tables know. What they do not know
 * is under `coxswain` keys: of `custom_metadata`, and of each part of `content`.
 */
export interface EventRow {
  id: string;
  seq: number;
  invocation_id: string;
  author: string;
  /** JSON `{role, parts}`. */
  content: string | null;
  /** JSON with snake_case keys. */
  actions: string;
  branch: string | null;
  partial: boolean;
  turn_complete: boolean;
  error_code: string | null;
  error_message: string | null;
  interrupted: boolean | null;
  /** JSON. */
  custom_metadata: string | null;
  usage_metadata: string | null;
  citation_metadata: string | null;
  grounding_metadata: string | null;
  /** JSON array of strings. */
  long_running_tool_ids: string;
  /** UTC, ISO 8601 with microseconds and without zone. */
  timestamp: string;
}

/** The same where a database has numbers for booleans. */
export type StoredEventRow = {
  [K in keyof EventRow]: boolean extends EventRow[K] ? EventRow[K] | number : EventRow[K];
};

type Json = Record<string, unknown>;

// Keys within `coxswain` that are no fields of an event begin with this.
/** The event's own customMetadata, where it cannot stand in the column itself. */
const CUSTOM = '$custom';
/** Exact values of columns that hold only an approximation. */
const EXACT = '$exact';

const noneText = '[]';
const nothing: Json = Object.freeze({});

export function encodeEvent(event: StoredEvent): EventRow {
  const {
    id,
    seq,
    turnId,
    invocationId,
    streamId,
    path,
    author,
    branch,
    timestamp,
    content,
    partial: _,
    turnComplete,
    errorCode,
    errorMessage,
    interrupted,
    usage,
    citationMetadata,
    groundingMetadata,
    customMetadata,
    longRunningToolIds,
    actions,
    ...rest
  } = event;
  const own: Json = rest;
  if (turnId !== '') own.turnId = turnId;
  if (streamId !== '') own.streamId = streamId;
  if (path !== '') own.path = path;

  const exact: Json = {};
  const time = sqlTime(timestamp);
  if (timeOf(time) !== timestamp) exact.timestamp = timestamp;
  const text = (column: string, value: string): string => {
    if (isPlainText(value)) return value;
    exact[column] = value;
    return value.toWellFormed().replaceAll('\u0000', '\ufffd');
  };
  const optional = (column: string, value: string | undefined) => (value === undefined ? null : text(column, value));
  const row: EventRow = {
    id,
    seq,
    invocation_id: text('invocationId', invocationId),
    author: text('author', author),
    content: content === undefined ? null : JSON.stringify(encodeContent(content)),
    actions: encodeActions(actions, own),
    branch: optional('branch', branch),
    partial: false,
    turn_complete: turnComplete,
    error_code: optional('errorCode', errorCode),
    error_message: optional('errorMessage', errorMessage),
    interrupted: interrupted ?? null,
    custom_metadata: null,
    usage_metadata: jsonOrNull(usage),
    citation_metadata: jsonOrNull(citationMetadata),
    grounding_metadata: jsonOrNull(groundingMetadata),
    long_running_tool_ids: longRunningToolIds.length === 0 ? noneText : JSON.stringify(longRunningToolIds),
    timestamp: time,
  };
  if (!isEmpty(exact)) own[EXACT] = exact;
  row.custom_metadata = encodeCustom(customMetadata, own);
  return row;
}

/** Frozen at every depth: what is put into it is frozen first, so that nothing of an event is walked through again. */
export function decodeEvent(row: StoredEventRow): StoredEvent {
  const { own, custom } = decodeCustom(row.custom_metadata);
  const event: StoredEvent = {
    id: row.id,
    seq: row.seq,
    turnId: '',
    invocationId: row.invocation_id ?? '',
    streamId: '',
    path: '',
    author: row.author ?? '',
    timestamp: timeOf(row.timestamp),
    partial: false,
    turnComplete: Boolean(row.turn_complete),
    longRunningToolIds:
      row.long_running_tool_ids === noneText ? noIds : (frozenJson(row.long_running_tool_ids) as string[]),
    actions: decodeActions(row.actions, own.actions as Json | undefined),
  };
  if (row.content !== null) event.content = decodeContent(parseJson(row.content) as Json);
  if (row.branch !== null) event.branch = row.branch;
  if (row.error_code !== null) event.errorCode = row.error_code;
  if (row.error_message !== null) event.errorMessage = row.error_message;
  if (row.interrupted !== null) event.interrupted = Boolean(row.interrupted);
  if (row.usage_metadata !== null) event.usage = frozenJson(row.usage_metadata) as NonNullable<StoredEvent['usage']>;
  if (row.citation_metadata !== null) event.citationMetadata = frozenJson(row.citation_metadata) as Json;
  if (row.grounding_metadata !== null) event.groundingMetadata = frozenJson(row.grounding_metadata) as Json;
  if (custom !== undefined) event.customMetadata = deepFreeze(custom);
  for (const key in own) {
    if (key !== CUSTOM && key !== EXACT && key !== 'actions')
      setOwn(event as unknown as Json, key, deepFreeze(own[key]));
  }
  if (own[EXACT] !== undefined) assign(event, deepFreeze(own[EXACT] as Json));
  return Object.freeze(event);
}

function encodeActions(actions: EventActions, own: Json): string {
  const {
    stateDelta,
    artifactDelta,
    transferToAgent,
    escalate,
    skipSummarization,
    requestedToolConfirmations,
    requestedAuthConfigs,
    ...rest
  } = actions;
  if (!isEmpty(rest)) own.actions = rest;
  return JSON.stringify({
    state_delta: stateDelta,
    artifact_delta: artifactDelta,
    transfer_to_agent: transferToAgent ?? null,
    escalate,
    skip_summarization: skipSummarization,
    requested_tool_confirmations: requestedToolConfirmations,
    requested_auth_configs: requestedAuthConfigs,
  });
}

/** Of most events. */
const plainActions = encodeActions(
  { stateDelta: {}, artifactDelta: {}, escalate: false, skipSummarization: false },
  {},
);

interface ActionsRow {
  state_delta?: EventActions['stateDelta'];
  artifact_delta?: EventActions['artifactDelta'];
  escalate?: boolean;
  skip_summarization?: boolean;
  transfer_to_agent?: unknown;
  requested_tool_confirmations?: NonNullable<EventActions['requestedToolConfirmations']>;
  requested_auth_configs?: NonNullable<EventActions['requestedAuthConfigs']>;
}

function decodeActions(text: string, rest: Json | undefined): EventActions {
  if (text === plainActions) return rest ? frozenWith({ ...noEffects }, rest) : noEffects;
  const row = parseJson(text) as ActionsRow | null;
  if (typeof row !== 'object' || row === null) throw new TypeError('its actions are no object');
  const actions: EventActions = {
    stateDelta: row.state_delta ?? noDelta,
    artifactDelta: row.artifact_delta ?? noDelta,
    escalate: row.escalate ?? false,
    skipSummarization: row.skip_summarization ?? false,
  };
  if (typeof row.transfer_to_agent === 'string') actions.transferToAgent = row.transfer_to_agent;
  if (row.requested_tool_confirmations) actions.requestedToolConfirmations = row.requested_tool_confirmations;
  if (row.requested_auth_configs) actions.requestedAuthConfigs = row.requested_auth_configs;
  return frozenWith(actions, rest ?? nothing);
}

/** The user's keys stand in the column as they are, ours beside them. */
function encodeCustom(custom: Json | undefined, own: Json): string | null {
  if (custom === undefined) return isEmpty(own) ? null : JSON.stringify({ coxswain: own });
  if (isEmpty(custom) || Object.hasOwn(custom, 'coxswain')) {
    own[CUSTOM] = custom;
    return JSON.stringify({ coxswain: own });
  }
  return JSON.stringify(isEmpty(own) ? custom : { ...custom, coxswain: own });
}

function decodeCustom(text: string | null): { own: Json; custom: Json | undefined } {
  if (text === null) return { own: nothing, custom: undefined };
  const value: unknown = parseJson(text);
  if (!isObject(value) || Array.isArray(value)) throw new TypeError('its custom_metadata are no object');
  const own = value.coxswain;
  if (own === undefined) return { own: nothing, custom: value };
  if (!isObject(own)) throw new TypeError('its custom_metadata.coxswain is no object');
  let custom = own[CUSTOM] as Json | undefined;
  if (custom !== undefined) return { own, custom };
  for (const key in value) {
    if (key === 'coxswain') continue;
    custom ??= {};
    setOwn(custom, key, value[key]);
  }
  return { own, custom };
}

function encodeContent(content: Content): Json {
  return { ...content, parts: content.parts.map((part) => encodePart(part as unknown as Json & { type: string })) };
}

/** Takes the row's own object, which was just parsed. */
function decodeContent(row: Json & { parts?: Json[] }): Content {
  row.parts = Object.freeze((row.parts ?? []).map(decodePart)) as unknown as Json[];
  return deepFreeze(row) as unknown as Content;
}

/** A part's well-known fields in their row form; whatever else it carries beside them. */
function encodePart(part: Json & { type: string }): Json {
  switch (part.type) {
    case 'text': {
      const { type: _, text, ...rest } = part;
      if (typeof text === 'string') return beside({ text }, rest);
      break;
    }
    case 'thought': {
      const { type: _, thought, ...rest } = part;
      if (typeof thought === 'string') return beside({ text: thought, thought: true }, rest);
      break;
    }
    case 'function_call': {
      const { type: _, name, id, args, ...rest } = part;
      return beside({ function_call: { name, id, args } }, rest);
    }
    case 'function_response': {
      const { type: _, name, id, response, ...rest } = part;
      return beside({ function_response: { name, id, response } }, rest);
    }
    case 'media': {
      const { type: _, data, mimeType, ...rest } = part;
      // Other readers decode it, and fail on what is no Base64.
      if (isBase64(data)) return beside({ inline_data: { data, mime_type: mimeType } }, rest);
      break;
    }
    default: {
      const { text, ...rest } = part;
      if (typeof text === 'string') return beside({ text }, rest);
    }
  }
  return { coxswain: part };
}

function beside(row: Json, rest: Json): Json {
  if (!isEmpty(rest)) row.coxswain = rest;
  return row;
}

function decodePart(row: Json): ContentPart {
  const { text, coxswain, function_call: call, function_response: response, inline_data: blob } = row;
  // Most parts.
  const isPlain = coxswain === undefined && call === undefined && response === undefined && blob === undefined;
  if (isPlain && typeof text === 'string' && row.thought !== true) return Object.freeze({ type: 'text', text });
  const part: Json = {};
  if (isObject(call)) assign(part, { type: 'function_call', ...call });
  else if (isObject(response)) assign(part, { type: 'function_response', ...response });
  else if (isObject(blob)) assign(part, { type: 'media', mimeType: blob.mime_type, data: blob.data });
  else if (row.thought === true) assign(part, { type: 'thought', thought: text });
  else if (typeof text === 'string') assign(part, { type: 'text', text });
  if (isObject(coxswain)) assign(part, coxswain);
  return deepFreeze(part) as unknown as ContentPart;
}

function assign(target: object, source: Json): void {
  for (const key of Object.keys(source)) setOwn(target as Json, key, source[key]);
}

/** What was just made, with more in it. */
function frozenWith(target: EventActions, more: Json): EventActions {
  assign(target, more);
  return deepFreeze(target);
}

function frozenJson(text: string): unknown {
  return deepFreeze(parseJson(text));
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

function jsonOrNull(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function isBase64(data: unknown): data is string {
  return typeof data === 'string' && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}

/** Text that every database keeps as it is. */
function isPlainText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\u0000');
}

let lastMs = Number.NaN;
let lastTime = '';

// Before the year 1000 and after 9999 the databases disagree.
const FIRST_TIME = -30_610_224_000_000;
const LAST_TIME = 253_402_300_799_999;

/** Epoch milliseconds as the timestamp columns hold them; what lies outside the years 1000 to 9999 becomes 1970. */
export function sqlTime(ms: number, micros = 0): string {
  if (ms !== lastMs) {
    const usable = Number.isInteger(ms) && ms >= FIRST_TIME && ms <= LAST_TIME;
    lastMs = ms;
    lastTime = new Date(usable ? ms : 0).toISOString().slice(0, -1);
  }
  return `${lastTime}${String(micros).padStart(3, '0')}`;
}

/** Epoch milliseconds of a timestamp column; microseconds are dropped. */
export function timeOf(text: string): number {
  return Date.parse(`${text.slice(0, 23)}Z`);
}
