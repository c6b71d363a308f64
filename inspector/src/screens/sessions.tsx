import type { RemoteHost } from 'coxswain/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Choice, Search } from '../parts/filters.tsx';
import { short } from '../parts/short.ts';
import { Ago } from '../parts/time.tsx';
import { Visible } from '../parts/visible.tsx';
import { link, remote } from '../state/connection.ts';
import { isTyping, isTypingKey } from '../state/keys.ts';
import { go, linkTo, narrow, route } from '../state/route.ts';
import type { Key } from '../state/search-words.ts';
import { valueIn, wantedBy, withWord } from '../state/search-words.ts';
import type { State, Summary } from '../state/session-list.ts';
import { openedAs, stateOf, useSessions } from '../state/session-list.ts';
import { beginSession } from '../state/sessions.ts';
import { SessionScreen } from './session.tsx';

const states = { waits: '? waits', runs: '▸ runs', rests: '✓ rests' } as const;

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
  const look = (q: string, all = isAll) => narrow({ q, whose: all ? 'all' : '' });
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
          names={states}
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
      {sessions && sessions.length > 0 && <Table shown={sessions} host={host} hasUsers={looksAtAll} />}
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
  if (!isOpen) {
    return (
      <button type="button" class="start" onClick={() => setOpen(true)}>
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
        if (text.trim() !== '') void begin();
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
        <textarea rows={2} dir="auto" value={text} onInput={(event) => setText(event.currentTarget.value)} />
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

const tokensOf = ({ inputTokens = 0, outputTokens = 0 }: Summary) =>
  `${inputTokens.toLocaleString()} in, ${outputTokens.toLocaleString()} out`;

function Table({
  shown,
  host,
  hasUsers,
}: {
  shown: readonly Summary[];
  host: RemoteHost | undefined;
  hasUsers: boolean;
}): JSX.Element {
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || isTypingKey(event)) return;
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
      if (step === 0) return;
      const next = Math.min(shown.length - 1, Math.max(0, at + step));
      setAt(next);
      document.querySelectorAll<HTMLElement>('tbody a')[next]?.focus();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [shown, at]);
  return (
    <table class="sessions">
      <thead>
        <tr>
          <th scope="col">Session</th>
          {hasUsers && <th scope="col">User</th>}
          {hasUsers && (
            <th scope="col" class="wide-only">
              Agent
            </th>
          )}
          <th scope="col">State</th>
          <th scope="col" class="amount wide-only">
            Events
          </th>
          <th scope="col" class="amount wide-only">
            Steps
          </th>
          <th scope="col" class="amount wide-only">
            Tokens
          </th>
          <th scope="col" class="amount wide-only">
            USD
          </th>
          <th scope="col">Changed</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((one) => {
          const state = stateOf(one);
          const agent = openedAs(host, one.agent, host?.agents[0]?.name ?? '');
          return (
            <tr key={`${one.userId}/${one.id}`} onClick={() => go('sessions', agent, one.userId, one.id)}>
              <td>
                <a href={linkTo('sessions', agent, one.userId, one.id)}>
                  <Visible text={short(one.title ?? one.id, 80)} />
                </a>
                {one.title !== undefined && (
                  <code class="soft">
                    {' '}
                    <Visible text={one.id} />
                  </code>
                )}
              </td>
              {hasUsers && (
                <td>
                  <Visible text={one.userId} />
                </td>
              )}
              {hasUsers && (
                <td class="wide-only">
                  <Visible text={one.agent ?? ''} />
                </td>
              )}
              <td>
                <span class={`chip ${state}`}>{states[state]}</span>
              </td>
              <td class="amount wide-only">{one.length.toLocaleString()}</td>
              <td class="amount wide-only">{one.steps?.toLocaleString() ?? ''}</td>
              <td class="amount wide-only" title={tokensOf(one)}>
                {one.steps === undefined ? '' : ((one.inputTokens ?? 0) + (one.outputTokens ?? 0)).toLocaleString()}
              </td>
              <td class="amount wide-only">{one.usd?.toFixed(4) ?? ''}</td>
              <td>
                <Ago time={one.updatedAt} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
