import { isEmpty, isObject } from '../../../base/index.ts';
import { CoxswainError, parseJson } from '../../../contracts/index.ts';
import type { EventActions, SessionKey, StoredEvent } from '../../../runtime/index.ts';
import { createActions, effectiveEvents, faultOfEvent, noEffects, noIds } from '../../../runtime/index.ts';
import { sessionTitle } from '../../../session/index.ts';

const FORMAT = 'coxswain.session';
/** Written. Version 1, where each event is a line of its own and says all that it has, is read as well. */
const VERSION = 2;
/** Events of one line at most: a reader holds a line as a whole. */
const MANY = 16;

type Json = Record<string, unknown>;

/** The first line of an exported session. */
export interface ExportHeader {
  format: typeof FORMAT;
  version: number;
  key: SessionKey;
  title?: string;
  initialState: Json;
  createdAt: number;
  lastSeq: number;
}

/** What events that follow one another have in common, and of each what it does not have like most events. */
interface EventsLine {
  /** Of the first of them. */
  seq: number;
  turnId: string;
  invocationId: string;
  streamId: string;
  events: Json[];
}

export function headerLine(record: Omit<ExportHeader, 'format' | 'version'>): string {
  const header: ExportHeader = { format: FORMAT, version: VERSION, ...record };
  return JSON.stringify(header);
}

/** Puts events into lines. */
export class LineWriter {
  #line: EventsLine | undefined;

  /** The next event. A line, where one is complete without it. */
  add(event: StoredEvent): string | undefined {
    const { seq, turnId, invocationId, streamId } = event;
    const line = this.#line;
    const fits =
      line !== undefined &&
      line.events.length < MANY &&
      line.turnId === turnId &&
      line.invocationId === invocationId &&
      line.streamId === streamId;
    if (fits) {
      line.events.push(inLine(event));
      return undefined;
    }
    const done = this.end();
    this.#line = { seq, turnId, invocationId, streamId, events: [inLine(event)] };
    return done;
  }

  /** What is left. */
  end(): string | undefined {
    const line = this.#line;
    this.#line = undefined;
    return line && JSON.stringify(line);
  }
}

/** Without what its line says, and what most events have alike. */
function inLine(event: StoredEvent): Json {
  const {
    seq: _,
    turnId: _turn,
    invocationId: _invocation,
    streamId: _stream,
    path,
    partial,
    turnComplete,
    longRunningToolIds,
    actions,
    ...more
  } = event;
  const own: Json = more;
  if (path !== '') own.path = path;
  if (partial) own.partial = partial;
  if (!turnComplete) own.turnComplete = turnComplete;
  if (longRunningToolIds.length > 0) own.longRunningToolIds = longRunningToolIds;
  const { stateDelta, artifactDelta, escalate, skipSummarization, ...effects } = actions;
  const said: Partial<EventActions> = effects;
  if (!isEmpty(stateDelta)) said.stateDelta = stateDelta;
  if (!isEmpty(artifactDelta)) said.artifactDelta = artifactDelta;
  if (escalate) said.escalate = escalate;
  if (skipSummarization) said.skipSummarization = skipSummarization;
  if (!isEmpty(said)) own.actions = said;
  return own;
}

/** Takes the lines of an exported session, in order. */
export class LineReader {
  header: ExportHeader | undefined;
  readonly events: StoredEvent[] = [];
  #line = 0;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
  take(text: string): void {
    this.#line += 1;
    if (text.trim() === '') return;
    const value = parseLine(this.#line === 1 ? text.replace(/^\ufeff/, '') : text, this.#line);
    if (!this.header) this.header = asHeader(value);
    else if (this.header.version === 1) this.#keep(value as unknown as StoredEvent, faultOfEvent(value));
    else this.#takeEvents(value);
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`: it is no export, or not all of it */
  end(): { header: ExportHeader; events: StoredEvent[] } {
    const { header, events } = this;
    if (!header) throw refuseImport('it is empty');
    if (events.length !== header.lastSeq) throw refuseImport(`it has ${events.length} of ${header.lastSeq} events`);
    const again = openAgain(events);
    if (again !== undefined) {
      throw refuseImport(
        `call ${JSON.stringify(again)} is open, and an earlier call has the same id: an answer to it would count as one to the earlier call`,
      );
    }
    return { header, events };
  }

  #takeEvents(line: Json): void {
    const { events, seq: first } = line;
    const isWhole = Array.isArray(events) && Number.isSafeInteger(first) && texts.every((name) => isText(line[name]));
    if (!isWhole) throw refuseImport(`line ${this.#line} has no events, or does not say what they have in common`);
    const { turnId, invocationId, streamId } = line as unknown as EventsLine;
    let seq = first as number;
    for (const given of events as unknown[]) {
      if (!isObject(given)) throw refuseImport(`line ${this.#line} has no event where event ${seq} belongs`);
      const fault = faultOfEvent(given, 'line', seq);
      // One shape for all of them, with its members in the order in which they are written.
      const event: StoredEvent = {
        id: '',
        seq,
        turnId,
        invocationId,
        streamId,
        path: '',
        author: '',
        timestamp: 0,
        partial: false,
        turnComplete: true,
        longRunningToolIds: noIds,
        actions: noEffects,
      };
      Object.assign(event, given);
      if (isObject(given.actions)) event.actions = createActions(given.actions);
      this.#keep(event, fault);
      seq += 1;
    }
  }

  #keep(event: StoredEvent, fault: string | undefined): void {
    const seq = this.events.length + 1;
    if (fault !== undefined)
      throw refuseImport(`line ${this.#line} is no event, where event ${seq} belongs: look at its ${fault}`);
    if (event.seq !== seq) throw refuseImport(`line ${this.#line} has event ${event.seq} where ${seq} belongs`);
    this.events.push(event);
  }
}

/** The id of a call that is open and has that of an earlier one. */
function openAgain(events: readonly StoredEvent[]): string | undefined {
  const asked = new Set<string>();
  const again = new Set<string>();
  for (const { content } of effectiveEvents(events)) {
    for (const part of content?.parts ?? []) {
      if (part.type === 'function_response') again.delete(part.id);
      if (part.type !== 'function_call') continue;
      if (asked.has(part.id)) again.add(part.id);
      asked.add(part.id);
    }
  }
  return again.values().next().value;
}

const texts = ['turnId', 'invocationId', 'streamId'] as const;
function parseLine(text: string, line: number): Json {
  try {
    const value = parseJson(text);
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw refuseImport(`line ${line} is no JSON object`);
}

function asHeader(value: Json): ExportHeader {
  if (value.format !== FORMAT) throw refuseImport('its first line is not that of an exported session');
  const { version, lastSeq, initialState, key, title } = value;
  if (version !== 1 && version !== VERSION)
    throw refuseImport(`it has version ${JSON.stringify(version)}, this release reads 1 and ${VERSION}`);
  const whole =
    Number.isSafeInteger(lastSeq) &&
    isObject(initialState) &&
    isObject(key) &&
    [key.app, key.userId, key.id].every(isText) &&
    (title === undefined || isText(title));
  if (!whole) throw refuseImport('its first line is incomplete');
  if (title !== undefined && !sessionTitle.fits(title))
    throw refuseImport(`the title in its first line is not ${sessionTitle.needs}; make it shorter there`);
  return value as unknown as ExportHeader;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function refuseImport(why: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `the session cannot be imported: ${why}`);
}
