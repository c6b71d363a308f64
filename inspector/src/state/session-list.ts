import type { RemoteHost } from 'coxswain/client';
import { useEffect, useState } from 'preact/hooks';
import { link } from './connection.ts';
import type { Wanted } from './search-words.ts';

export type Summary = Awaited<ReturnType<ReturnType<RemoteHost['sessions']>['list']>>[number];
export type State = 'waits' | 'runs' | 'rests';

/** Sessions of one page. */
const PAGE = 100;
const REFRESH_MS = 5000;
/** Where a turn of one of those that are shown has not ended: its counters move. */
const RUNNING_MS = 2000;
const TYPING_MS = 200;

export const stateOf = ({ pending, unfinished, running }: Summary): State =>
  running ? 'runs' : pending > 0 ? 'waits' : unfinished ? 'runs' : 'rests';

/**
 * Under which agent a session is opened: the one with which it began, if the host serves it. That of an agent that was called as a
 * tool is opened as one of its caller's.
 */
export function openedAs(host: RemoteHost | undefined, began: string | undefined, otherwise: string): string {
  return host?.agents.some(({ name }) => name === began) ? (began ?? otherwise) : otherwise;
}

interface Found {
  sessions?: Summary[];
  fault?: string;
  /** Sessions that a search by tool has passed by: what was called in them is not known. */
  unknown: number;
  /** There may be more. */
  more: boolean;
  readMore: () => void;
}

/** Sessions of this person, or of all users, newest first, read again every few seconds. The server looks for them. */
export function useSessions(host: RemoteHost | undefined, isAll: boolean, wanted: Wanted): Found {
  const [answer, setAnswer] = useState<Page & { of: string }>();
  const [fault, setFault] = useState<string>();
  const [pages, setPages] = useState(1);
  const asked = JSON.stringify([isAll, wanted]);
  useEffect(() => setPages(1), [asked]);
  useEffect(() => {
    if (!host) return;
    let isLeft = false;
    let timer: ReturnType<typeof setTimeout>;
    const read = async () => {
      clearTimeout(timer);
      let isRunning = false;
      try {
        if (document.visibilityState === 'visible' && link.value === 'ready') {
          const found = await readPages(host, isAll, wanted, pages);
          if (isLeft) return;
          isRunning = found.sessions.some(({ unfinished }) => unfinished === true);
          setAnswer({ ...found, of: asked });
          setFault(undefined);
        }
      } catch (error) {
        if (isLeft) return;
        setFault(error instanceof Error ? error.message : String(error));
      }
      timer = setTimeout(() => void read(), isRunning ? RUNNING_MS : REFRESH_MS);
    };
    timer = setTimeout(() => void read(), answer === undefined || answer.of === asked ? 0 : TYPING_MS);
    const stop = link.subscribe((now) => {
      if (now === 'ready' && answer !== undefined) void read();
    });
    return () => {
      isLeft = true;
      clearTimeout(timer);
      stop();
    };
  }, [host, asked, pages]);
  const isAnswer = answer?.of === asked;
  return {
    ...(isAnswer ? { sessions: answer.sessions } : {}),
    ...(fault === undefined ? {} : { fault }),
    unknown: isAnswer ? answer.unknown : 0,
    more: isAnswer && answer.more,
    readMore: () => setPages(pages + 1),
  };
}

interface Page {
  sessions: Summary[];
  more: boolean;
  unknown: number;
}

async function readPages(host: RemoteHost, isAll: boolean, wanted: Wanted, pages: number): Promise<Page> {
  const sessions: Summary[] = [];
  let unknown = 0;
  let after: string | undefined;
  // Whose they are is no question among one's own.
  const { user, ...own } = wanted;
  if (!isAll && user !== undefined && user !== host.userId) return { sessions, more: false, unknown };
  for (let page = 0; page < pages; page++) {
    const at = { limit: PAGE, ...(after === undefined ? {} : { after }) };
    const found = isAll
      ? await host.operator?.sessions({ ...wanted, ...at })
      : await host.findSessions({ ...own, ...at });
    sessions.push(...(found?.sessions ?? []));
    unknown += found?.unknown ?? 0;
    after = found?.after;
    if (after === undefined) break;
  }
  return { sessions, more: after !== undefined, unknown };
}
