import type { LazySet } from '../../base/index.ts';
import type { AgentEvent, EventsOptions, StreamEndData } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { StoredEvent } from '../../runtime/index.ts';
import type { RuntimeSession } from '../../runtime/session/index.ts';
import type { LogEnd } from '../../session/index.ts';
import { StreamQueue } from '../../session/index.ts';
import { cursorOf, EventReading, parseCursor } from '../../session/resume/index.ts';
import { project, projectEnd } from './project.ts';

/** What a stored end sums up. */
type EndOf = (end: StoredEvent) => StreamEndData;

/**
 * Durable events after a cursor, oldest first; with `live`, then those that are stored from now on, by whichever
 * process, until the handle is closed.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` (at the first next) for a cursor of no event of this session
 */
export function readEvents(
  session: RuntimeSession,
  options: EventsOptions,
  endOf: EndOf,
  watchers: LazySet<() => void>,
): AsyncIterable<AgentEvent> {
  return options.live ? follow(session, options, endOf, watchers) : replay(session, options, endOf);
}

async function* replay(session: RuntimeSession, options: EventsOptions, endOf: EndOf): AsyncGenerator<AgentEvent> {
  const reading = new EventReading(options);
  const after = startOf(reading.after);
  const newest = await session.readFrom(after.seq);
  assertReached(newest, after.seq);
  for (const event of session.since(after.seq - 1)) {
    if (event.seq > newest) return;
    for (const item of rest(session.id, event, after, endOf)) {
      if (reading.isOver) return;
      if (reading.takes(item)) yield item;
    }
  }
}

function follow(
  session: RuntimeSession,
  options: EventsOptions,
  endOf: EndOf,
  watchers: LazySet<() => void>,
): AsyncIterable<AgentEvent> {
  const start = async () => {
    const reading = new EventReading(options);
    const after = startOf(reading.after);
    assertReached(await session.readFrom(after.seq), after.seq);
    return { reading, after, behind: after.seq - 1 };
  };
  return followed(session, start, endOf, watchers);
}

/** Where the log ends now, and what is stored from then on. Nothing that is older than its newest event is read. */
export async function endOfLog(session: RuntimeSession, endOf: EndOf, watchers: LazySet<() => void>): Promise<LogEnd> {
  const newest = await session.newest();
  const seq = newest?.seq ?? 0;
  const count = newest ? project(session.id, newest).length + (newest.actions.end ? 1 : 0) : 0;
  const after = { seq, n: Math.max(0, count - 1) };
  const start = async () => ({ reading: new EventReading({}), after, behind: seq });
  const events = followed(session, start, endOf, watchers);
  return newest ? { seq, cursor: cursorOf(seq, after.n), events } : { seq, events };
}

interface Start {
  reading: EventReading;
  after: { seq: number; n: number };
  /** seq of the stored event behind which it begins. */
  behind: number;
}

function followed(
  session: RuntimeSession,
  start: () => Promise<Start>,
  endOf: EndOf,
  watchers: LazySet<() => void>,
): AsyncIterable<AgentEvent> {
  let stop = () => {};
  let ended: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    ended = resolve;
  });
  return new StreamQueue<AgentEvent>(
    async (out) => {
      const { reading, after, behind } = await start();
      const show = (event: StoredEvent) => {
        for (const item of rest(session.id, event, after, endOf)) {
          if (reading.takes(item)) out.push(item);
          if (reading.isOver) ended();
        }
      };
      stop = session.follow(behind, show);
      watchers.add(ended);
      await over;
      watchers.delete(ended);
      stop();
    },
    async () => {
      stop();
      ended();
    },
  );
}

/** Nothing comes after what is not there. */
function assertReached(newest: number, seq: number): void {
  if (seq <= newest) return;
  const message = `the cursor is of event ${seq}, and this session has ${newest}; start from a cursor of its own events`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}

function startOf(cursor: string | undefined): { seq: number; n: number } {
  if (cursor === undefined) return { seq: 0, n: -1 };
  const parsed = parseCursor(cursor);
  if (!parsed) {
    throw new CoxswainError(
      'INVALID_ARGUMENT',
      'E_BAD_INPUT',
      `${JSON.stringify(cursor)} is no cursor of this session`,
    );
  }
  return parsed;
}

/** What of an event comes after the cursor. */
function rest(sessionId: string, event: StoredEvent, after: { seq: number; n: number }, endOf: EndOf): AgentEvent[] {
  if (event.seq < after.seq) return [];
  const items = project(sessionId, event);
  if (event.actions.end) items.push(projectEnd(sessionId, event, items.length, endOf(event)));
  return event.seq === after.seq ? items.slice(after.n + 1) : items;
}
