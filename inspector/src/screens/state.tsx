import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ArtifactContent } from '../parts/artifact.tsx';
import { Json } from '../parts/json.tsx';
import { Lines } from '../parts/lines.tsx';
import { short } from '../parts/short.ts';
import { Visible } from '../parts/visible.tsx';
import { exactly } from '../state/clock.ts';
import type { WatchedSession } from '../state/sessions.ts';

/** A session's state, and which event has changed it. */
export function StateView({
  watched,
  onEvent,
}: {
  watched: WatchedSession;
  /** Shows an event. */
  onEvent: (id: string) => void;
}): JSX.Element {
  watched.turn.value;
  const isNow = watched.moment.value === undefined;
  const { values, changes } = watched.shown.state;
  const begun = useBegun(watched);
  // Of a key that was changed later, nobody knows what it was before.
  const touched = new Set(watched.now.state.changes.map(({ key }) => key));
  const before = Object.entries(begun ?? {}).filter(([key]) => !touched.has(key));
  const all = Object.fromEntries([...before, ...values].sort(([a], [b]) => (a < b ? -1 : 1)));
  const isEmpty = Object.keys(all).length === 0;
  return (
    <>
      <h2>{isNow ? 'State' : 'State then'}</h2>
      {isEmpty && <p class="empty">Nothing is in its state.</p>}
      {!isEmpty && (
        <Json key={JSON.stringify([changes.length, isNow])} value={all} part="state" label="State as JSON" />
      )}
      {before.length > 0 && (
        <p class="soft">
          In it since it was made, or shared with other sessions:{' '}
          <Visible text={before.map(([key]) => key).join(', ')} />
        </p>
      )}
      <h2>
        Changes <span class="count">{changes.length.toLocaleString()}</span>
      </h2>
      {changes.length === 0 && <p class="empty">No event has changed it.</p>}
      {changes.length > 0 && (
        <Lines
          part="changes"
          label="Changes of the state"
          count={changes.length}
          class="changes"
          linePx={22}
          line={(index) => {
            const change = changes[changes.length - 1 - index];
            if (!change) return null;
            const { key, seq, at, eventId, agentId, isUndone } = change;
            return (
              <button
                type="button"
                class={`change ${isUndone ? 'undone' : ''}`}
                title={exactly(at)}
                onClick={() => onEvent(eventId)}
              >
                <span class="seq">{seq}</span>
                <span class="name">
                  <Visible text={key} />
                </span>
                <span class="to">
                  {isUndone ? (
                    'was undone by a rewind'
                  ) : 'to' in change ? (
                    <Visible text={short(JSON.stringify(change.to) ?? '', 200)} dir="ltr" />
                  ) : (
                    'was deleted'
                  )}
                </span>
                {agentId !== undefined && (
                  <span class="soft">
                    <Visible text={agentId} />
                  </span>
                )}
              </button>
            );
          }}
        />
      )}
    </>
  );
}

/** What the store has of it: also what it began with, of which no event says anything. */
function useBegun(watched: WatchedSession): Record<string, unknown> | undefined {
  const [state, setState] = useState<Record<string, unknown>>();
  const isRead = watched.state.value !== 'reading';
  useEffect(() => {
    if (!isRead || !watched.isOwn) return;
    let isLeft = false;
    watched.storedState().then(
      (found) => {
        if (!isLeft) setState(found);
      },
      // What its events say is shown all the same.
      () => {},
    );
    return () => {
      isLeft = true;
    };
  }, [watched, isRead]);
  return state;
}

/** What its agents have kept beside the log, by name and version. */
export function ArtifactsView({
  watched,
  onEvent,
}: {
  watched: WatchedSession;
  onEvent: (id: string) => void;
}): JSX.Element {
  watched.turn.value;
  watched.moment.value;
  const all = [...watched.shown.artifacts.values()];
  if (all.length === 0) return <p class="empty">Nothing was kept as an artifact.</p>;
  return (
    <ul class="plain artifacts" aria-label="Artifacts">
      {all.map(({ name, versions }) => (
        <li key={name}>
          <b>
            <Visible text={name} />
          </b>
          <ul class="plain">
            {versions.map(({ version, at, seq, eventId }) => (
              <li key={`${version} ${eventId}`}>
                <button type="button" class="quiet" onClick={() => onEvent(eventId)}>
                  version {version}
                </button>{' '}
                <span class="soft">
                  event {seq} · {exactly(at)}
                </span>
                <ArtifactContent watched={watched} name={name} version={version} />
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}
