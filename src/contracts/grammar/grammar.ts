import type { AgentEvent } from '../types/index.ts';
import { CoxswainError, canonicalJson, messageOf } from '../values/index.ts';
import { messagesAreWhole } from './messages.ts';
import { requestsAreAnswered } from './requests.ts';
import type { ReportFault, StreamRule } from './rule.ts';

/** Numbers of the rules in the specification's grammar of one stream. */
export type GrammarRule = 1 | 2 | 3 | 4 | 5 | 6 | 7;

export interface GrammarViolation {
  rule: GrammarRule;
  message: string;
  /** The event that broke the rule; absent where one is missing. */
  eventId?: string;
}

export interface GrammarOptions {
  /** Requests of the session that were open before this stream. */
  openRequests?: Iterable<string>;
  /** An earlier stream of the same session handle has shown `initialize`. Default false. */
  initialized?: boolean;
  /** The last `seq` of each thread in the streams before this one. */
  places?: Iterable<readonly [threadId: string | undefined, seq: number]>;
  /** Keeps a copy of every event and compares at the end (rule 6). Default false. */
  immutability?: boolean;
}

/** Judges the events of one stream. Give the next stream's checker what this one ended with. */
export interface GrammarChecker {
  /** What is wrong with the stream because of this event. */
  push(event: AgentEvent): GrammarViolation[];
  /** What is wrong with the stream because it ended here. */
  end(): GrammarViolation[];
  readonly openRequests: ReadonlySet<string>;
  readonly initialized: boolean;
  readonly places: ReadonlyMap<string | undefined, number>;
}

export function createGrammarChecker(options: GrammarOptions = {}): GrammarChecker {
  const { initialized = false, openRequests = [], places = [], immutability = false } = read(options);
  const start = initializeComesFirst(initialized);
  const requests = requestsAreAnswered(openRequests);
  const order = threadsAreOrdered(places);
  const rules: [GrammarRule, StreamRule][] = [
    [1, start],
    [2, endsOnce()],
    [3, requests],
    [4, messagesAreWhole()],
    [5, order],
    [7, fatalErrorsEnd()],
  ];
  if (immutability) rules.push([6, eventsNeverChange()]);

  const judge = (look: (rule: StreamRule, fault: ReportFault) => void): GrammarViolation[] => {
    const violations: GrammarViolation[] = [];
    for (const [number, rule] of rules) {
      look(rule, (message, event) => {
        violations.push({ rule: number, message, ...(event && { eventId: event.id }) });
      });
    }
    return violations;
  };
  return {
    push: (event) => judge((rule, fault) => rule.push(event, fault)),
    end: () => judge((rule, fault) => rule.end?.(fault)),
    openRequests: requests.open,
    places: order.last,
    get initialized() {
      return start.initialized;
    },
  };
}

/**
 * All that is wrong with a finished stream, in the order of its events.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for what is no list of events
 */
export function checkStream(events: Iterable<AgentEvent>, options: GrammarOptions = {}): GrammarViolation[] {
  const checker = createGrammarChecker(options);
  const violations: GrammarViolation[] = [];
  try {
    for (const event of iterated(events)) {
      if (typeof event !== 'object' || event === null) throw bad('one of the events is no object');
      violations.push(...checker.push(event));
    }
  } catch (error) {
    throw error instanceof CoxswainError ? error : bad(`an event cannot be read: ${messageOf(error)}`, error);
  }
  violations.push(...checker.end());
  return violations;
}

/** Those of the options, and of a checker that is given as such. */
const members = new Set(['initialized', 'openRequests', 'places', 'immutability', 'push', 'end']);

/** What an earlier checker ended with, as far as it can be used. */
function read(options: GrammarOptions): GrammarOptions {
  let unknown: string | undefined;
  try {
    const given: GrammarOptions = { ...options };
    unknown = Object.keys(given).find((member) => !members.has(member));
    const isUsable = (list: unknown) => list === undefined || typeof Object(list)[Symbol.iterator] === 'function';
    if (
      typeof options === 'object' &&
      options !== null &&
      unknown === undefined &&
      isUsable(given.openRequests) &&
      isUsable(given.places) &&
      [...(given.places ?? [])].every(Array.isArray)
    )
      return given;
  } catch {
    // A getter or proxy that throws: said below.
  }
  if (unknown !== undefined) {
    throw bad(`options.${unknown} is not known; give nothing but ${[...members].slice(0, -2).join(', ')}`);
  }
  throw bad('options are those that a checker of an earlier stream has: initialized, openRequests, places');
}

function iterated(events: Iterable<AgentEvent>): Iterable<AgentEvent> {
  const given = events as Partial<Iterable<AgentEvent>> | undefined | null;
  if (typeof given?.[Symbol.iterator] === 'function') return events;
  throw bad('give the events of one stream, as a list');
}

function bad(what: string, cause?: unknown): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `bad input: checkStream: ${what}`, { cause });
}

/** Rule 1: `initialize` comes first, once a session handle. */
function initializeComesFirst(before: boolean): StreamRule & { readonly initialized: boolean } {
  let initialized = before;
  let isFirst = true;
  return {
    get initialized() {
      return initialized;
    },
    push(event, fault) {
      if (event.type === 'initialize') {
        if (initialized) fault('initialize came again on the same session handle', event);
        else if (!isFirst) fault('initialize is not the first event', event);
        initialized = true;
      } else if (isFirst && !initialized) {
        fault(`the first event of a session handle is initialize, not ${event.type}`, event);
      }
      isFirst = false;
    },
  };
}

/** Rule 2: exactly one `stream_end`, last. */
function endsOnce(): StreamRule {
  let hasEnded = false;
  return {
    push(event, fault) {
      if (hasEnded) fault(`${event.type} follows stream_end`, event);
      if (event.type === 'stream_end') hasEnded = true;
    },
    end(fault) {
      if (!hasEnded) fault('the stream has no stream_end');
    },
  };
}

/** Rule 5: events of one thread are in the order of the log; threads interleave. */
function threadsAreOrdered(
  before: Iterable<readonly [string | undefined, number]>,
): StreamRule & { readonly last: ReadonlyMap<string | undefined, number> } {
  const last = new Map(before);
  return {
    last,
    push(event, fault) {
      if (event.seq === undefined) return;
      const before = last.get(event.threadId);
      if (before !== undefined && event.seq < before) {
        fault(`seq ${event.seq} follows ${before} in ${threadName(event.threadId)}`, event);
      } else {
        last.set(event.threadId, event.seq);
      }
    },
  };
}

function threadName(threadId: string | undefined): string {
  return threadId === undefined ? 'the root thread' : `thread ${threadId}`;
}

/** Rule 6: emitted events never change later. */
function eventsNeverChange(): StreamRule {
  const emitted: { event: AgentEvent; text: string }[] = [];
  return {
    push(event, fault) {
      const text = textOf(event);
      if (text === undefined) fault('the event is not JSON, so that whether it changes is not known', event);
      else emitted.push({ event, text });
    },
    end(fault) {
      for (const { event, text } of emitted) {
        if (textOf(event) !== text) fault(`${event.type} was changed after it had been emitted`, event);
      }
    },
  };
}

function textOf(event: AgentEvent): string | undefined {
  try {
    return canonicalJson(event);
  } catch {
    return undefined;
  }
}

/** Rule 7: a fatal error is followed by `stream_end{reason: 'failed'}` only; limits are not fatal errors. */
function fatalErrorsEnd(): StreamRule {
  let isFatal = false;
  let hasEnded = false;
  return {
    push(event, fault) {
      // What follows the end is rule 2's to judge.
      if (hasEnded) return;
      if (event.type === 'stream_end') {
        hasEnded = true;
        if (isFatal && event.reason !== 'failed') fault(`a fatal error ends in failed, not in ${event.reason}`, event);
        return;
      }
      if (isFatal) fault(`${event.type} follows a fatal error`, event);
      if (event.type === 'error' && event.fatal) {
        isFatal = true;
        if (event.code.startsWith('E_MAX_')) fault(`the limit ${event.code} is reported as a fatal error`, event);
      }
    },
  };
}
