import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { KeysHelp } from './parts/keys-help.tsx';
import { InboxScreen } from './screens/inbox.tsx';
import { PolicyScreen } from './screens/policy.tsx';
import { SessionsScreen } from './screens/sessions.tsx';
import { SignInScreen } from './screens/sign-in.tsx';
import { exit, link, remote, stage } from './state/connection.ts';
import { follow, openCards } from './state/inbox.ts';
import { isTyping, isTypingKey } from './state/keys.ts';
import { notifyOfNew } from './state/notify.ts';
import { go, linkTo, route } from './state/route.ts';
import { changeTheme, theme } from './state/theme.ts';

export function App(): JSX.Element {
  const host = remote.value;
  useEffect(() => {
    if (host) void follow(host).catch(() => {});
  }, [host]);
  useEffect(() => notifyOfNew(), []);
  const count = openCards.value.length;
  useEffect(() => {
    document.title = count > 0 ? `(${count}) Inbox · Coxswain` : 'Coxswain';
  }, [count]);
  if (stage.value === 'starting') {
    return (
      <p class="starting">{link.value === 'waiting' ? 'The server does not answer. Trying again…' : 'Connecting…'}</p>
    );
  }
  if (stage.value === 'signed-out') return <SignInScreen />;
  return <Frame count={count} />;
}

function Frame({ count }: { count: number }): JSX.Element {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { screen } = route.value;
  const principal = remote.value?.principal;
  useEffect(() => {
    let isGoing = false;
    const key = (event: KeyboardEvent) => {
      if (isTyping(event) || isTypingKey(event)) return;
      const search = event.key === '/' && document.querySelector<HTMLInputElement>('main input[type="search"]');
      if (search) {
        event.preventDefault();
        search.select();
      }
      if (event.key === '?') setHelpOpen(true);
      else if (isGoing && event.key === 'i') go('inbox');
      else if (isGoing && event.key === 's') go('sessions');
      else if (isGoing && event.key === 'p') go('policy');
      isGoing = event.key === 'g';
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="bar">
        <span class="brand">coxswain</span>
        <nav aria-label="Screens">
          <a href={linkTo('inbox')} aria-current={screen === 'inbox' ? 'page' : undefined}>
            Inbox
            {count > 0 && (
              <span class="badge">
                {count}
                <span class="said"> waiting for you</span>
              </span>
            )}
          </a>
          <a href={linkTo('sessions')} aria-current={screen === 'sessions' ? 'page' : undefined}>
            Sessions
          </a>
          <a href={linkTo('policy')} aria-current={screen === 'policy' ? 'page' : undefined}>
            Policy
          </a>
        </nav>
        <Connection />
        <button
          type="button"
          class="quiet icon"
          onClick={changeTheme}
          aria-label={`Colours: ${theme.value}`}
          title={`Colours: ${theme.value}`}
        >
          ◐
        </button>
        <button type="button" class="quiet icon" onClick={() => setHelpOpen(true)} aria-label="Keys" title="Keys (?)">
          ?
        </button>
        {principal && (
          <span class="who">
            <b>{principal.id}</b>
            {principal.roles && principal.roles.length > 0 && <span class="roles"> {principal.roles.join(', ')}</span>}
          </span>
        )}
        <button type="button" class="quiet" onClick={() => void exit()}>
          Sign out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {screen === 'inbox' && <InboxScreen />}
        {screen === 'sessions' && <SessionsScreen />}
        {screen === 'policy' && <PolicyScreen />}
      </main>
      {isHelpOpen && <KeysHelp onClose={() => setHelpOpen(false)} />}
    </>
  );
}

/** Said in words where what is on the screen may be old. */
function Connection(): JSX.Element {
  const isLive = link.value === 'ready';
  return (
    <span class={`link ${isLive ? 'live' : 'away'}`} role="status">
      <span aria-hidden="true">{isLive ? '●' : '○'}</span> {isLive ? 'live' : 'not connected: trying again'}
    </span>
  );
}
