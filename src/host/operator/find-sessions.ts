import type { SessionSummary } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';

export interface SessionSearch {
  agent?: string | undefined;
  user?: string | undefined;
  state?: SessionState | undefined;
  /** Name of a tool that was called. */
  tool?: string | undefined;
  /** ISO: it changed then or later, or before. */
  since?: string | undefined;
  before?: string | undefined;
  /** In its id or its user's name; in its title, where they see content. */
  search?: string | undefined;
  limit: number;
  /** As the answer before has it. */
  after?: string | undefined;
}

export interface SearchedSessions {
  sessions: SessionSummary[];
  /** With it the next answer continues. */
  after?: string;
  /** Of a search by tool: sessions that it has passed by since their store does not say, or not yet, what was called in them. */
  unknown?: number;
}

export type SessionState = 'waits' | 'runs' | 'rests';

/** What is looked through, and how much of it this principal may know. */
export interface Searched {
  page(options: { limit: number; after?: string }): Promise<SessionSummary[]>;
  /** Of a session, as `after` names it. */
  placeOf(session: SessionSummary): string;
  /** One that is not theirs is not there. */
  isTheirs(session: SessionSummary): boolean;
  seesContent: boolean;
}

/** Sessions of a store that one answer looks at: a search that finds little continues with the next. */
const SCAN = 1000;
/** Sessions asked of the store at a time. */
const PAGE = 200;

/** Newest first. */
export async function findSessions(searched: Searched, query: SessionSearch): Promise<SearchedSessions> {
  const fits = matcher(query, searched.seesContent);
  const sessions: SessionSummary[] = [];
  const { after } = query;
  let unknown = 0;
  let at = after;
  // Of others it is not said where they stand, not even as the place behind which the next answer begins.
  let known = after;
  const answer = (isMore: boolean) => ({
    sessions,
    ...(isMore && known !== after && known !== undefined ? { after: known } : {}),
    ...(unknown > 0 ? { unknown } : {}),
  });
  for (let seen = 0; seen < SCAN; ) {
    const page = await searched.page({ limit: PAGE, ...(at === undefined ? {} : { after: at }) });
    for (const session of page) {
      if (sessions.length >= query.limit) return answer(true);
      at = searched.placeOf(session);
      if (!searched.isTheirs(session)) continue;
      known = at;
      const isFound = fits(session);
      if (isFound) sessions.push(shownSummary(session, searched.seesContent));
      else if (isFound === undefined) unknown += 1;
    }
    seen += page.length;
    if (page.length < PAGE) return answer(false);
  }
  return answer(true);
}

/** What a list shows of one. The names of its tools are for searching: they are many. */
export function shownSummary(session: SessionSummary, seesContent: boolean): SessionSummary {
  const { tools: _, title, ...rest } = session;
  // A title is what somebody has said.
  return title !== undefined && seesContent ? { ...rest, title } : rest;
}

const stateOf = ({ pending, unfinished, running }: SessionSummary): SessionState =>
  running ? 'runs' : pending > 0 ? 'waits' : unfinished ? 'runs' : 'rests';

/** Undefined: all else fits, and which tools it has called is not known. */
function matcher(query: SessionSearch, seesContent: boolean): (session: SessionSummary) => boolean | undefined {
  const { agent, user, state, tool } = query;
  const search = query.search?.toLowerCase();
  const since = query.since === undefined ? undefined : timeGiven('since', query.since);
  const before = query.before === undefined ? undefined : timeGiven('before', query.before);
  return (session) => {
    if (agent !== undefined && session.agent !== agent) return false;
    if (user !== undefined && session.userId !== user) return false;
    if (state !== undefined && stateOf(session) !== state) return false;
    const changed = Date.parse(session.updatedAt);
    if ((since !== undefined && !(changed >= since)) || (before !== undefined && !(changed < before))) return false;
    const words = `${session.id} ${session.userId} ${seesContent ? (session.title ?? '') : ''}`.toLowerCase();
    if (search !== undefined && !words.includes(search)) return false;
    return tool === undefined ? true : session.tools?.includes(tool);
  };
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function timeGiven(name: string, text: string): number {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  const message = `${name} is no time; give it as ISO 8601, as 2026-11-30T12:00:00Z`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
