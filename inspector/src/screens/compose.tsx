import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Visible } from '../parts/visible.tsx';
import { link } from '../state/connection.ts';
import { submitByKey } from '../state/keys.ts';
import type { WatchedSession } from '../state/sessions.ts';

/** What is said to the agent: a message that begins a turn, or words for the one that runs, which can be ended too. */
export function Compose({ watched }: { watched: WatchedSession }): JSX.Element {
  watched.turn.value;
  const status = watched.now.status();
  const [text, setText] = useState('');
  const [isSending, setSending] = useState(false);
  const [said, setSaid] = useState<{ tone: 'good' | 'bad'; text: string }>();
  const isRunning = status === 'running';
  const isWaiting = status === 'input_required';
  const isOff = isSending || link.value !== 'ready';
  const act = async (what: () => Promise<string | undefined>) => {
    setSending(true);
    setSaid(undefined);
    try {
      const words = await what();
      if (words !== undefined) setSaid({ tone: 'good', text: words });
    } catch (error) {
      setSaid({ tone: 'bad', text: error instanceof Error ? error.message : String(error) });
    } finally {
      setSending(false);
    }
  };
  const send = () =>
    act(async () => {
      await watched.say(text);
      setText('');
      return undefined;
    });
  const steer = () =>
    act(async () => {
      const disposition = await watched.steer(text);
      setText('');
      return disposition === 'current_turn'
        ? 'The agent reads it at its next step.'
        : 'It stands before your next message.';
    });
  const stop = () =>
    act(async () => {
      await watched.stop();
      return 'The turn was ended.';
    });
  const isEmpty = text.trim() === '';
  return (
    <form
      class="compose"
      aria-label="Your message"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty && !isOff) void (isRunning ? steer() : send());
      }}
    >
      <label>
        <span class="said">{isRunning ? 'Words for the turn that runs' : 'Message'}</span>
        <textarea
          rows={2}
          dir="auto"
          value={text}
          placeholder={isRunning ? 'Words for the turn that runs' : 'Message'}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={submitByKey}
        />
      </label>
      <div class="buttons">
        {(isRunning || isWaiting) && (
          <button type="button" class="deny" disabled={isOff} onClick={() => void stop()}>
            Stop the turn
          </button>
        )}
        {isWaiting && <span class="soft note">A new message cancels what waits.</span>}
        {isRunning ? (
          <button type="submit" class="primary" disabled={isOff || isEmpty}>
            Steer
          </button>
        ) : (
          <button type="submit" class="primary" disabled={isOff || isEmpty}>
            {isWaiting ? 'Cancel and send' : 'Send'}
          </button>
        )}
      </div>
      {said && (
        <p class={`notice ${said.tone}`} role={said.tone === 'bad' ? 'alert' : 'status'}>
          <Visible text={said.text} />
        </p>
      )}
    </form>
  );
}
