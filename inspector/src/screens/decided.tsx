import type { RemoteApprovals } from 'coxswain/client';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Choice, Search } from '../parts/filters.tsx';
import { Ago } from '../parts/time.tsx';
import { Visible } from '../parts/visible.tsx';
import { link, remote } from '../state/connection.ts';
import { closedCards, keyOf } from '../state/inbox.ts';
import { linkTo } from '../state/route.ts';

type Page = Awaited<ReturnType<RemoteApprovals['decided']>>;
type Decided = Page['decided'][number];
type Answer = 'accept' | 'edit' | 'decline' | 'cancel' | 'expire';

const PAGE = 50;
const TYPING_MS = 250;
type Wanted = NonNullable<Parameters<RemoteApprovals['decided']>[0]>;

type Days = '0' | '7' | '30';
const spans: Readonly<Record<Days, string>> = { 0: 'today', 7: 'last 7 days', 30: 'last 30 days' };

/** The beginning of a day here. */
function daysAgo(days: number): string {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - days);
  return day.toISOString();
}

const answers: Readonly<Record<Answer, string>> = {
  accept: 'approved',
  edit: 'approved with changes',
  decline: 'denied',
  cancel: 'cancelled',
  expire: 'not answered in time',
};

const results: Readonly<Record<NonNullable<Decided['result']>, string>> = {
  succeeded: 'it has run',
  failed: 'it has failed',
  not_run: 'it was not run',
  unknown: 'its effects are unknown',
};
/** Logs of older versions are taken in with each look: the next one comes so much later. */
const UNREAD_MS = 1000;

/** What was decided before: by this person, or in sessions of theirs. */
export function DecidedList({ selected }: { selected: string | undefined }): JSX.Element {
  const [search, setSearch] = useState('');
  const [action, setAction] = useState<Answer | ''>('');
  const [user, setUser] = useState('');
  const [tool, setTool] = useState('');
  const [by, setBy] = useState('');
  const [days, setDays] = useState<Days | ''>('');
  const [page, setPage] = useState<Page>();
  const [looks, setLooks] = useState(0);
  const isExtended = useRef(false);
  const [fault, setFault] = useState<string>();
  const host = remote.value;
  const isReady = link.value === 'ready';
  // Something was decided meanwhile.
  const closed = closedCards.value.length;
  const since = useMemo(() => (days === '' ? '' : daysAgo(Number(days))), [days]);
  const words = { search: search.trim(), user: user.trim(), tool: tool.trim(), by: by.trim(), action, since };
  const wanted = Object.fromEntries(Object.entries(words).filter(([, value]) => value !== '')) as Wanted;
  const isTyped = search + user + tool + by !== '';
  useEffect(() => {
    if (!host || !isReady) return;
    let isLeft = false;
    isExtended.current = false;
    const lookAgain = () => {
      // Older ones that somebody reads would go from under their eyes.
      if (!isExtended.current) setLooks((count) => count + 1);
    };
    const read = async () => {
      try {
        const first = await host.approvals.decided({ limit: PAGE, ...wanted });
        if (isLeft) return;
        setPage(first);
        setFault(undefined);
        if (first.unread) again = setTimeout(lookAgain, UNREAD_MS);
      } catch (error) {
        if (!isLeft) setFault(error instanceof Error ? error.message : String(error));
      }
    };
    let again: ReturnType<typeof setTimeout> | undefined;
    const timer = setTimeout(() => void read(), isTyped ? TYPING_MS : 0);
    return () => {
      isLeft = true;
      clearTimeout(timer);
      clearTimeout(again);
    };
  }, [host, isReady, JSON.stringify(wanted), closed, looks]);
  const older = async () => {
    if (!host || page?.after === undefined) return;
    try {
      const next = await host.approvals.decided({ limit: PAGE, after: page.after, ...wanted });
      isExtended.current = true;
      setPage({ ...next, decided: [...page.decided, ...next.decided] });
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <div class="filters">
        <Search
          label="Search decided questions"
          placeholder="session, rule or person"
          value={search}
          change={setSearch}
        />
        <Choice label="Answer" all="all answers" value={action} names={answers} change={setAction} />
        <Search label="User" placeholder="user" value={user} change={setUser} />
        <Search label="Tool" placeholder="tool" value={tool} change={setTool} />
        <Search label="Person" placeholder="who decided" value={by} change={setBy} />
        <Choice<Days> label="When" all="any time" value={days} names={spans} change={setDays} />
      </div>
      {fault !== undefined && (
        <p class="notice bad" role="alert">
          What was decided could not be read: <Visible text={fault} />
        </p>
      )}
      {page?.newest !== undefined && (
        <p class="empty">Looked for in the {page.newest.toLocaleString()} sessions that have changed last.</p>
      )}
      {page?.unread !== undefined && (
        <p class="empty" role="status">
          Reading the logs of {page.unread.toLocaleString()} older sessions…
        </p>
      )}
      {!page && fault === undefined && (
        <p class="empty" role="status">
          Reading what was decided…
        </p>
      )}
      {page?.decided.length === 0 && page.after === undefined && (
        <p class="empty">Nothing is found. Listed is what you decided, and what was decided in your sessions.</p>
      )}
      {page?.decided.length === 0 && page.after !== undefined && (
        <p class="empty">Nothing is found among the newest ones. There are older ones.</p>
      )}
      <ul class="cards" aria-label="Decided questions">
        {page?.decided.map((one) => (
          <li key={keyOf([one.agent, one.userId, one.sessionId, one.requestId])}>
            <Row one={one} isSelected={selected === keyOf(addressOf(one))} />
          </li>
        ))}
      </ul>
      {page?.after !== undefined && (
        <button type="button" class="quiet" onClick={() => void older()}>
          Older ones
        </button>
      )}
    </>
  );
}

/** Where it was asked and answered: of a sub-agent's question that is not its own session. */
function addressOf({ askedIn, agent, userId, sessionId, requestId }: Decided): [string, string, string, string] {
  return [askedIn?.agent ?? agent, userId, askedIn?.sessionId ?? sessionId, requestId];
}

function Row({ one, isSelected }: { one: Decided; isSelected: boolean }): JSX.Element {
  const { agent, userId, sessionId, askedIn, tool, action, edited, by, at, ruleId, outcome, result } = one;
  const me = remote.value?.principal.id;
  const isNo = action !== 'accept';
  const answer = edited ? 'edit' : action;
  return (
    <a
      class={`card decided ${isNo ? 'no' : 'yes'}`}
      href={linkTo('inbox', ...addressOf(one))}
      aria-current={isSelected ? 'true' : undefined}
    >
      <span class="sign" aria-hidden="true">
        {isNo ? '✕' : '✓'}
      </span>
      <b class="head">
        <Visible text={tool ?? 'a question'} />
      </b>
      <span class="args">
        {(answers as Readonly<Record<string, string>>)[answer] ?? answer}
        {action !== 'expire' && (
          <>
            {' '}
            by <Visible text={by === undefined ? 'somebody' : by === me ? 'you' : by} />
          </>
        )}
        {outcome === undefined && !isNo && result === undefined && ', more must approve'}
        {!isNo && result !== undefined && (
          <>
            {'; '}
            {(results as Readonly<Record<string, string>>)[result] ?? result}
          </>
        )}
      </span>
      <span class="foot">
        for <Visible text={userId} />
        {askedIn && (
          <>
            {' '}
            by <Visible text={agent} />
          </>
        )}{' '}
        · <Visible text={askedIn?.sessionId ?? sessionId} />
        {ruleId !== undefined && (
          <>
            {' · '}
            <Visible text={ruleId} />
          </>
        )}
      </span>
      <span class="when">
        <Ago time={at} />
      </span>
    </a>
  );
}
