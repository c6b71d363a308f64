import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { Visible } from '../parts/visible.tsx';
import { exactly } from '../state/clock.ts';
import { go } from '../state/route.ts';
import type { WatchedSession } from '../state/sessions.ts';

/** An earlier moment that is shown, and the way to others: what is shown is the session as it stood then. */
export function MomentBar({ watched }: { watched: WatchedSession }): JSX.Element | null {
  watched.turn.value;
  const { events, moment } = watched;
  const count = moment.value;
  const frame = useRef(0);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  if (count === undefined) return null;
  const event = events[count - 1];
  const show = (to: number) => {
    cancelAnimationFrame(frame.current);
    // A long log is replayed for each moment: of several in one frame the last one counts.
    frame.current = requestAnimationFrame(() => {
      if (moment.value !== undefined) moment.value = Math.min(events.length, Math.max(1, to));
    });
  };
  return (
    <section class="moment" aria-label="An earlier moment">
      <p role="status">
        As it stood after event {count.toLocaleString()} of {events.length.toLocaleString()}
        {event && (
          <span class="soft">
            {' '}
            · <Visible text={event.type} /> · {exactly(event.timestamp)}
          </span>
        )}
      </p>
      <label>
        <span class="said">Which event was the newest</span>
        <input
          type="range"
          min={1}
          max={events.length}
          value={count}
          onInput={({ currentTarget }) => show(Number(currentTarget.value))}
        />
      </label>
      <div class="buttons">
        <button type="button" class="quiet" disabled={count <= 1} onClick={() => show(count - 1)}>
          One earlier
        </button>
        <button type="button" class="quiet" disabled={count >= events.length} onClick={() => show(count + 1)}>
          One later
        </button>
        <Fork watched={watched} cursor={event?.cursor} />
        <button
          type="button"
          onClick={() => {
            moment.value = undefined;
          }}
        >
          Back to now
        </button>
      </div>
    </section>
  );
}

/** To try something else from a place in the log: the session stays as it is. Of one's own sessions. */
export function Fork({ watched, cursor }: { watched: WatchedSession; cursor: string | undefined }): JSX.Element | null {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  if (!watched.isOwn || cursor === undefined) return null;
  const fork = async () => {
    setBusy(true);
    setFault(undefined);
    try {
      const { agent, userId } = watched.place;
      go('sessions', agent, userId, await watched.fork(cursor));
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void fork()}>
        New session from here
      </button>
      {fault !== undefined && (
        <p class="notice bad" role="alert">
          <Visible text={fault} />
        </p>
      )}
    </>
  );
}

/** Takes the session back to before a message. Of one's own sessions. */
export function Rewind({ watched, through }: { watched: WatchedSession; through: number }): JSX.Element | null {
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  if (!watched.isOwn) return null;
  const rewind = async () => {
    setBusy(true);
    setFault(undefined);
    try {
      await watched.rewind(through);
      setAsked(false);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class="quiet" onClick={() => setAsked(true)}>
        Rewind to before it…
      </button>
      {isAsked && (
        <Dialog title="Rewind the session" onClose={() => setAsked(false)}>
          <p class="plain">
            This message and all that follows no longer count: for the agent they were never said. What tools have done
            stays done, and the log keeps what was cut.
          </p>
          {fault !== undefined && (
            <p class="notice bad" role="alert">
              <Visible text={fault} />
            </p>
          )}
          <div class="buttons">
            <button type="button" class="quiet" onClick={() => setAsked(false)}>
              Leave it as it is
            </button>
            <button type="button" class="danger" disabled={isBusy} onClick={() => void rewind()}>
              Rewind
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Its stored events as a file, one a line, as far as this person may see them. */
export function Export({ watched }: { watched: WatchedSession }): JSX.Element {
  const save = () => {
    const lines = watched.events.map((event) => `${JSON.stringify(event)}\n`);
    const address = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `${watched.place.sessionId}.jsonl`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return (
    <button type="button" class="quiet" disabled={watched.state.value === 'reading'} onClick={save}>
      Export
    </button>
  );
}
