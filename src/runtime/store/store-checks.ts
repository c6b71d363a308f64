import type { Shape } from '../../base/index.ts';
import {
  amount,
  anything,
  badInput,
  bag,
  checkIs,
  checkOptions,
  checkShape,
  count,
  fn,
  guarded,
  isObject,
  list,
  names,
  newId,
  number,
  object,
  required,
  text,
} from '../../base/index.ts';
import type { DecidedQuery } from '../../contracts/index.ts';
import { assertSafeId } from '../../contracts/index.ts';
import { sessionTitle } from '../../session/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { AppendOptions, ForkOptions, RestoredSession, SessionKey } from './session-service.ts';

// What every store looks at before it does anything. Numbers are the matter of `wholeNumber`.

interface CreateOptions {
  state?: Record<string, unknown>;
  title?: string;
}
interface GetOptions {
  after?: number;
  limit?: number;
  recent?: number;
}
interface ListOptions {
  limit?: number;
  after?: string;
  users?: readonly string[];
}

const createShape: Shape<CreateOptions> = { state: bag, title: sessionTitle };
const getShape: Shape<GetOptions> = { after: anything, limit: anything, recent: anything };
const listShape: Shape<ListOptions> = { limit: anything, after: text, users: names };
const decidedShape: Shape<DecidedQuery> = {
  users: names,
  orBy: text,
  userId: text,
  agent: text,
  tool: text,
  action: text,
  answeredBy: text,
  since: amount,
  before: amount,
  search: text,
  limit: required(count),
  after: text,
};
const appendShape: Shape<AppendOptions> = { epoch: number, expectedSeq: number };
const restoredShape: Shape<RestoredSession> = {
  title: sessionTitle,
  initialState: required(object),
  events: required(list),
};
const forkShape: Shape<ForkOptions> = { id: anything, through: anything, settle: fn };

/** Lists that `sealLog` has made: they are what they were then. */
export const sealedLogs = new WeakSet<readonly StoredEvent[]>();

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export const storeInput = {
  create: (options: CreateOptions): void => checkOptions<CreateOptions>(options, 'create: options', createShape),
  get: (options: GetOptions | undefined): void => {
    if (options !== undefined && !isProper(options, getShape))
      checkOptions<GetOptions>(options, 'get: options', getShape);
  },
  list: (options: ListOptions): void => checkOptions<ListOptions>(options, 'list: options', listShape),
  // A name that is not known may be meant to narrow what is shown.
  decided: (query: DecidedQuery): void => checkOptions<DecidedQuery>(query, 'decided: query', decidedShape),
  search: (options: { limit?: number }): void =>
    checkOptions<typeof options>(options, 'search: options', { limit: anything }),
  fork: (options: ForkOptions): void => checkOptions<ForkOptions>(options, 'fork: options', forkShape),
  restore: (session: RestoredSession): void => {
    checkShape<RestoredSession>(session, 'restore: session', restoredShape);
    storeInput.append(session.events, undefined);
  },
  append: (events: readonly StoredEvent[], options: AppendOptions | undefined): void => {
    if (options !== undefined && !isProper(options, appendShape))
      checkOptions<AppendOptions>(options, 'append: options', appendShape);
    if (sealedLogs.has(events)) return;
    checkIs(events, 'append: events', list);
    guarded('append: events', () => {
      for (const event of events) {
        const fault = faultOf(event);
        if (fault === undefined) continue;
        throw badInput(`append: events[${events.indexOf(event)}]${fault}; make events with createEvent()`);
      }
    });
  },
};

/** Whole numbers under names of the shape and nothing else: what runs pass, at each step. False: it is to be looked at. */
function isProper(options: object, shape: object): boolean {
  try {
    if (Object.getPrototypeOf(options) !== Object.prototype) return false;
    // Each name is read, as the store will: what throws then is refused with a code.
    for (const name in shape) {
      const value: unknown = options[name as never];
      if (value !== undefined && !Number.isSafeInteger(value)) return false;
    }
    for (const name in options) if (!Object.hasOwn(shape, name)) return false;
    return true;
  } catch {
    return false;
  }
}

const texts = ['turnId', 'invocationId', 'streamId', 'path', 'author'] as const;

/** What storing and indexing it reads: what else is in it is JSON, and is checked as such. */
function faultOf(event: StoredEvent): string | undefined {
  if (!isObject(event)) return ' is no object';
  for (let at = 0; at < texts.length; at++) {
    const field = texts[at] as (typeof texts)[number];
    if (typeof event[field] !== 'string') return `.${field} is no text`;
  }
  if (!Number.isFinite(event.timestamp)) return '.timestamp is no number';
  const { actions, content } = event;
  if (!isObject(actions)) return '.actions is no object';
  if (!isObject(actions.stateDelta)) return '.actions.stateDelta is no object';
  if (content === undefined) return undefined;
  if (!isObject(content) || !Array.isArray(content.parts)) return '.content.parts is no list';
  for (const part of content.parts) {
    if (!isObject(part) || typeof part.type !== 'string') return '.content has a part without type';
    if (part.type !== 'function_call' && part.type !== 'function_response') continue;
    if (typeof part.id !== 'string' || typeof part.name !== 'string') return '.content has a call without id or name';
  }
  return undefined;
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_ID | E_BAD_INPUT` */
export function checkKey(key: SessionKey): void {
  guarded('session key', () => assertKey(key));
}

function assertKey(key: SessionKey): void {
  checkIs(key, 'session key', object);
  assertSafeId('app', key.app);
  assertSafeId('user id', key.userId);
  assertSafeId('session id', key.id);
}

/** The key of a session that is to be made. @throws CoxswainError `INVALID_ARGUMENT / E_ID | E_BAD_INPUT` */
export function newKey(given: { app: string; userId: string; id?: string }): SessionKey {
  return guarded('session key', () => {
    checkIs(given, 'session key', object);
    const key = { app: given.app, userId: given.userId, id: given.id ?? newId() };
    assertKey(key);
    return key;
  });
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_ID | E_BAD_INPUT` */
export function checkScope(scope: { app: string; userId?: string; id?: string }): void {
  guarded('scope', () => {
    checkIs(scope, 'scope', object);
    assertSafeId('app', scope.app);
    if (scope.userId !== undefined) assertSafeId('user id', scope.userId);
    if (scope.id !== undefined) assertSafeId('session id', scope.id);
  });
}
