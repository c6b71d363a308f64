import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { enter, signedOutBecause } from '../state/connection.ts';

/** A token is pasted once; from then on the browser has a cookie that no script reads. */
export function SignInScreen(): JSX.Element {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  const [isSending, setSending] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (text.trim() === '') return setFault('Paste a token or a code first.');
    setSending(true);
    const given = text.trim();
    const isCode = /^[A-Za-z0-9]{5}-[A-Za-z0-9]{5}$/.test(given);
    const why = await enter(isCode ? { code: given } : { token: given });
    setSending(false);
    if (why === undefined) setText('');
    else setFault(why);
  };
  return (
    <main class="sign-in">
      <h1>
        <span class="brand">coxswain</span>
      </h1>
      {signedOutBecause.value !== undefined && <p role="status">{signedOutBecause.value}</p>}
      <form onSubmit={(event) => void submit(event)}>
        <label for="credential">Your token, or the one-time code of the terminal</label>
        <input
          id="credential"
          type="password"
          autocomplete="current-password"
          autofocus
          value={text}
          aria-describedby="credential-says"
          aria-invalid={fault !== undefined}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setFault(undefined);
          }}
        />
        <p
          id="credential-says"
          class={fault === undefined ? 'says' : 'fault'}
          role={fault === undefined ? undefined : 'alert'}
        >
          {fault ??
            'The person who runs this server gives it to you. It is sent to this server only, and not kept by the page.'}
        </p>
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
