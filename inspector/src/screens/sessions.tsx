import type { RemoteHost } from 'coxswain/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { short } from '../parts/short.ts';
import { Ago } from '../parts/time.tsx';
import { Visible } from '../parts/visible.tsx';
import { link, remote } from '../state/connection.ts';
import { isTyping, isTypingKey } from '../state/keys.ts';
import { go, linkTo, route } from '../state/route.ts';
import type { Summary } from '../state/sessions.ts';
import { beginSession, listSessions, stateOf } from '../state/sessions.ts';
import { SessionScreen } from './session.tsx';

const REFRESH_MS = 5000;
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
  const [sessions, setSessions] = useState<Summary[]>();
  const [fault, setFault] = useState<string>();
  const [words, setWords] = useState('');
  const [state, setState] = useState('');
  const host = remote.value;
  useEffect(() => {
    if (!host) return;
    let isLeft = false;
    const read = async () => {
      if (document.visibilityState !== 'visible' || (link.value !== 'ready' && sessions)) return;
      try {
        const found = await listSessions(host);
        if (isLeft) return;
        setSessions(found);
        setFault(undefined);
      } catch (error) {
        if (!isLeft) setFault(error instanceof Error ? error.message : String(error));
      }
    };
    void read();
    const timer = setInterval(() => void read(), REFRESH_MS);
    return () => {
      isLeft = true;
      clearInterval(timer);
    };
  }, [host]);
  const agent = host?.agents[0]?.name ?? '';
  const wanted = words.trim().toLowerCase();
  const shown = (sessions ?? []).filter(
    (one) =>
      (state === '' || stateOf(one) === state) &&
      (wanted === '' || `${one.id} ${one.title ?? ''} ${one.userId}`.toLowerCase().includes(wanted)),
  );
  return (
    <section class="page" aria-label="Sessions">
      <h1>
        Your sessions <span class="count">{sessions === undefined ? '' : shown.length}</span>
      </h1>
      <div class="filters">
        <label>
          <span class="said">Search by id or title</span>
          <input
            type="search"
            placeholder="id or title"
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </label>
        <label>
          <span class="said">State</span>
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            <option value="">all states</option>
            {Object.entries(states).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
      {host && <NewSession host={host} />}
      {fault !== undefined && (
        <p class="notice bad" role="alert">
          The sessions could not be read: <Visible text={fault} />
        </p>
      )}
      {sessions === undefined && fault === undefined && <p class="empty">Reading your sessions…</p>}
      {sessions?.length === 0 && (
        <p class="empty">
          You have no sessions yet. Start one: <code>coxswain run agent.ts "Hello."</code>
        </p>
      )}
      {shown.length > 0 && <Table shown={shown} agent={agent} />}
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
      go('sessions', agent, host.principal.id, await beginSession(host, agent, text));
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

function Table({ shown, agent }: { shown: readonly Summary[]; agent: string }): JSX.Element {
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
          <th scope="col">State</th>
          <th scope="col" class="amount">
            Events
          </th>
          <th scope="col">Changed</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((one) => {
          const state = stateOf(one);
          return (
            <tr key={one.id} onClick={() => go('sessions', agent, one.userId, one.id)}>
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
              <td>
                <span class={`chip ${state}`}>{states[state]}</span>
              </td>
              <td class="amount">{one.length.toLocaleString()}</td>
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
