import type { LazySet } from '../../base/index.ts';
import type { AgentEvent, StreamEndData } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Event, FollowOptions, LiveSession } from '../../runtime/index.ts';
import { EndsGivenBack } from '../../runtime/session/index.ts';
import { StreamQueue } from '../../session/index.ts';
import { parseCursor, project, projectEnd } from './project.ts';

/** What a stored end sums up. */
type EndOf = (end: Event) => StreamEndData;

/**
 * Durable events after a cursor, oldest first; with `live`, then those that are stored from now on, by whichever
 * process, until the handle is closed.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` (at the first next) for a cursor of no event of this session
 */
export function readEvents(
  live: LiveSession,
  options: { after?: string; limit?: number; live?: boolean },
  endOf: EndOf,
  following: FollowOptions,
  watchers: LazySet<() => void>,
): AsyncIterable<AgentEvent> {
  return options.live ? follow(live, options, endOf, following, watchers) : replay(live, options, endOf);
}

async function* replay(
  live: LiveSession,
  options: { after?: string; limit?: number },
  endOf: EndOf,
): AsyncGenerator<AgentEvent> {
  const after = startOf(options.after);
  await live.catchUp();
  if (after.seq <= live.from) await live.whole();
  const newest = live.fold.at;
  assertReached(newest, after.seq);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  for (const event of live.since(after.seq - 1)) {
    if (event.seq > newest) return;
    for (const item of rest(live, event, after, endOf)) {
      if (left-- <= 0) return;
      yield item;
    }
  }
}

function follow(
  live: LiveSession,
  options: { after?: string; limit?: number },
  endOf: EndOf,
  following: FollowOptions,
  watchers: LazySet<() => void>,
): AsyncIterable<AgentEvent> {
  let stop = () => {};
  let ended: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    ended = resolve;
  });
  return new StreamQueue<AgentEvent>(
    async (out) => {
      const after = startOf(options.after);
      await live.catchUp();
      if (after.seq <= live.from) await live.whole();
      assertReached(live.fold.at, after.seq);
      let left = options.limit ?? Number.POSITIVE_INFINITY;
      const show = (event: Event) => {
        for (const item of rest(live, event, after, endOf)) {
          if (left-- > 0) out.push(item);
          if (left <= 0) ended();
        }
      };
      const ends = new EndsGivenBack(live, show, following.warn);
      const see = (event: Event) => ends.show(event);
      // No await between the last stored event and the first live one: nothing falls in between.
      for (const event of live.since(after.seq - 1)) see(event);
      const deaf = live.follow(see, following);
      stop = () => {
        deaf();
        ends.stop();
      };
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
function rest(live: LiveSession, event: Event, after: { seq: number; n: number }, endOf: EndOf): AgentEvent[] {
  if (event.seq < after.seq) return [];
  const items = project(live.key.id, event);
  if (event.actions.end) items.push(projectEnd(live.key.id, event, items.length, endOf(event)));
  return event.seq === after.seq ? items.slice(after.n + 1) : items;
}
