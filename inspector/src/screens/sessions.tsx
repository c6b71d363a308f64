import type { RemoteHost } from 'coxswain/client';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Choice, Search } from '../parts/filters.tsx';
import { SessionTable, stateNames } from '../parts/session-table.tsx';
import { Visible } from '../parts/visible.tsx';
import { link, remote } from '../state/connection.ts';
import { submitByKey } from '../state/keys.ts';
import { go, narrow, route } from '../state/route.ts';
import type { Key } from '../state/search-words.ts';
import { valueIn, wantedBy, withWord } from '../state/search-words.ts';
import type { State } from '../state/session-list.ts';
import { useSessions } from '../state/session-list.ts';
import { beginSession } from '../state/sessions.ts';
import { orderOf, sorted } from '../state/sorted.ts';
import { SessionScreen } from './session.tsx';

export function SessionsScreen(): JSX.Element {
  const [agent, userId, sessionId] = route.value.ids;
  if (agent !== undefined && userId !== undefined && sessionId !== undefined) {
    return (
      <SessionScreen key={`${agent}/${userId}/${sessionId}`} agent={agent} userId={userId} sessionId={sessionId} />
    );
  }
  return <List />;
}

function List(): JSX.Element {
  const host = remote.value;
  const { query } = route.value;
  const words = query.get('q') ?? '';
  const isAll = query.get('whose') === 'all';
  const looksAtAll = isAll && host?.operator !== undefined;
  const sort = query.get('sort') ?? '';
  const order = orderOf(sort);
  const look = (q: string, all = isAll, by = sort) => narrow({ q, whose: all ? 'all' : '', sort: by });
  const setWord = (key: Key) => (value: string) => look(withWord(words, key, value.trim()));
  const { wanted, faults } = wantedBy(words);
  const found = useSessions(host, looksAtAll, wanted);
  const { sessions, fault, more, unknown } = found;
  const isNarrowed = words.trim() !== '';
  const agentNames = Object.fromEntries(host?.agents.map(({ name }) => [name, name]) ?? []);
  return (
    <section class="page" aria-label="Sessions">
      <h1>
        {looksAtAll ? 'All sessions' : 'Your sessions'}{' '}
        <span class="count">
          {sessions === undefined ? '' : `${sessions.length.toLocaleString()}${more ? ' and more' : ''}`}
        </span>
      </h1>
      <div class="filters">
        {host?.operator && (
          <label>
            <span class="said">Whose</span>
            <select
              value={isAll ? 'all' : 'own'}
              onChange={(event) => look(words, event.currentTarget.value === 'all')}
            >
              <option value="own">yours</option>
              <option value="all">everybody’s</option>
            </select>
          </label>
        )}
        <label class="words">
          <span class="said">Search</span>
          <input
            type="search"
            placeholder="words  state:waits  tool:refund  after:yesterday"
            value={words}
            onInput={(event) => look(event.currentTarget.value)}
          />
        </label>
        {looksAtAll && (
          <Search label="User" placeholder="user" value={valueIn(words, 'user')} change={setWord('user')} />
        )}
        {(host?.agents.length ?? 0) > 1 && (
          <Choice
            label="Agent"
            all="all agents"
            value={wanted.agent ?? ''}
            names={agentNames}
            change={setWord('agent')}
          />
        )}
        <Choice<State>
          label="State"
          all="all states"
          value={wanted.state ?? ''}
          names={stateNames}
          change={setWord('state')}
        />
      </div>
      {faults.map((text) => (
        <p key={text} class="notice bad" role="alert">
          <Visible text={text} />
        </p>
      ))}
      {unknown > 0 && (
        <p class="notice" role="status">
          {unknown.toLocaleString()} sessions are not searched: their store does not say, or not yet, which tools were
          called in them.
        </p>
      )}
      {host && !looksAtAll && <NewSession host={host} />}
      {fault !== undefined && (
        <p class="notice bad" role="alert">
          The sessions could not be read: <Visible text={fault} />
        </p>
      )}
      {sessions === undefined && fault === undefined && <p class="empty">Reading the sessions…</p>}
      {sessions?.length === 0 && (
        <p class="empty">
          {looksAtAll || isNarrowed
            ? 'No session is found.'
            : 'You have no sessions yet. Begin one above, or in a terminal: '}
          {!looksAtAll && !isNarrowed && <code>coxswain run agent.ts "Hello."</code>}
        </p>
      )}
      {sessions && sessions.length > 0 && (
        <SessionTable
          shown={sorted(sessions, order)}
          host={host}
          hasUsers={looksAtAll}
          order={order}
          onOrder={(by) => look(words, isAll, by)}
        />
      )}
      {more && order && (
        <p class="empty" role="status">
          The {sessions?.length.toLocaleString()} newest ones are sorted. There are more.
        </p>
      )}
      {more && (
        <button type="button" class="start" onClick={found.readMore}>
          More
        </button>
      )}
    </section>
  );
}

/** A message begins it. */
function NewSession({ host }: { host: RemoteHost }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [agent, setAgent] = useState(host.agents[0]?.name ?? '');
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  const [isSending, setSending] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const message = useRef<HTMLTextAreaElement>(null);
  const wasOpen = useRef(false);
  // What had the focus is gone, and what is typed next is for the message.
  useLayoutEffect(() => {
    if (isOpen) message.current?.focus();
    else if (wasOpen.current) opener.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (!isOpen) {
    return (
      <button ref={opener} type="button" class="start" onClick={() => setOpen(true)}>
        New session…
      </button>
    );
  }
  const begin = async () => {
    setSending(true);
    setFault(undefined);
    try {
      go('sessions', agent, host.userId, await beginSession(host, agent, text));
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      setSending(false);
    }
  };
  return (
    <form
      class="form start"
      aria-label="New session"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '' && !isSending && link.value === 'ready') void begin();
      }}
    >
      {host.agents.length > 1 && (
        <label class="field">
          <span>Agent</span>
          <select value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
            {host.agents.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="field">
        <span>Message</span>
        <textarea
          ref={message}
          rows={2}
          dir="auto"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={submitByKey}
        />
      </label>
      {fault !== undefined && (
        <p class="notice bad" role="alert">
          <Visible text={fault} />
        </p>
      )}
      <div class="buttons">
        <button type="button" class="quiet" onClick={() => setOpen(false)}>
          No new session
        </button>
        <button type="submit" class="primary" disabled={isSending || text.trim() === '' || link.value !== 'ready'}>
          Begin
        </button>
      </div>
    </form>
  );
}
