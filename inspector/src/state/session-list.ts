import type { RemoteHost } from 'coxswain/client';
import { useEffect, useState } from 'preact/hooks';
import { link } from './connection.ts';

export type Summary = Awaited<ReturnType<ReturnType<RemoteHost['sessions']>['list']>>[number];
export type State = 'waits' | 'runs' | 'rests';

/** Own sessions that are read at once, and sessions of all users in one page. */
const MAX = 1000;
const PAGE = 100;
const REFRESH_MS = 5000;

export const stateOf = ({ pending, unfinished }: Summary): State =>
  pending > 0 ? 'waits' : unfinished ? 'runs' : 'rests';

interface Query {
  search: string;
  user: string;
  agent: string;
  state: State | '';
}

interface Found {
  sessions?: Summary[];
  fault?: string;
  /** There may be more. */
  more: boolean;
  readMore: () => void;
}

/** Sessions of this person, or of all users, newest first, read again every few seconds. */
export function useSessions(host: RemoteHost | undefined, isAll: boolean, query: Query): Found {
  const [answer, setAnswer] = useState<{ sessions: Summary[]; more: boolean; of: string }>();
  const [fault, setFault] = useState<string>();
  const [pages, setPages] = useState(1);
  const { search, user, agent, state } = query;
  // Own ones are all here: what is looked for among them is no question to the server.
  const asked = isAll ? JSON.stringify([search, user, agent, state]) : 'own';
  useEffect(() => setPages(1), [asked]);
  useEffect(() => {
    if (!host) return;
    let isLeft = false;
    const read = async () => {
      if (document.visibilityState !== 'visible' || link.value !== 'ready') return;
      try {
        const found = isAll
          ? await readAll(host, query, pages)
          : { sessions: await host.sessions().list({ limit: MAX }), more: false };
        if (isLeft) return;
        setAnswer({ ...found, of: asked });
        setFault(undefined);
      } catch (error) {
        if (!isLeft) setFault(error instanceof Error ? error.message : String(error));
      }
    };
    void read();
    const timer = setInterval(() => void read(), REFRESH_MS);
    const stop = link.subscribe((now) => {
      if (now === 'ready') void read();
    });
    return () => {
      isLeft = true;
      clearInterval(timer);
      stop();
    };
  }, [host, asked, pages]);
  const readMore = () => setPages(pages + 1);
  const sessions = answer?.of === asked ? answer.sessions : undefined;
  return {
    ...(sessions ? { sessions: isAll ? sessions : sessions.filter((one) => matches(one, query)) } : {}),
    ...(fault === undefined ? {} : { fault }),
    more: answer?.of === asked && answer.more,
    readMore,
  };
}

function matches(one: Summary, { search, state }: Query): boolean {
  if (state !== '' && stateOf(one) !== state) return false;
  return search === '' || `${one.id} ${one.title ?? ''}`.toLowerCase().includes(search.toLowerCase());
}

async function readAll(
  host: RemoteHost,
  { search, user, agent, state }: Query,
  pages: number,
): Promise<{ sessions: Summary[]; more: boolean }> {
  const sessions: Summary[] = [];
  let after: string | undefined;
  for (let page = 0; page < pages; page++) {
    const found = await host.operator?.sessions({
      limit: PAGE,
      ...(search === '' ? {} : { search }),
      ...(user === '' ? {} : { user }),
      ...(agent === '' ? {} : { agent }),
      ...(state === '' ? {} : { state }),
      ...(after === undefined ? {} : { after }),
    });
    sessions.push(...(found?.sessions ?? []));
    after = found?.after;
    if (after === undefined) break;
  }
  return { sessions, more: after !== undefined };
}
