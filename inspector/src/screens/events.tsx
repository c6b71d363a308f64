import type { AgentEvent } from 'coxswain/client';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Json } from '../parts/json.tsx';
import { Lines } from '../parts/lines.tsx';
import { short } from '../parts/short.ts';
import { Visible } from '../parts/visible.tsx';
import { exactly } from '../state/clock.ts';
import type { WatchedSession } from '../state/sessions.ts';
import { Fork, Rewind } from './moment.tsx';

/** What an event says in one line. */
function lineOf(event: AgentEvent): string {
  switch (event.type) {
    case 'message':
      return short(event.content.map((part) => ('text' in part ? String(part.text) : `[${part.type}]`)).join(' '), 160);
    case 'tool_request':
    case 'tool_response':
      return event.name;
    case 'tool_update':
      return event.status ?? '';
    case 'elicitation_request':
      return short(event.message, 160);
    case 'elicitation_response':
      return `${event.action}${event.by === undefined ? '' : ` by ${event.by}`}`;
    case 'stream_end':
      return event.reason;
    case 'error':
      return `${event.code}: ${short(event.message, 120)}`;
    case 'custom':
      return event.kind;
    case 'usage':
      return event.model ?? '';
    default:
      return '';
  }
}

/** Whether an event has these words in its type, its line, or an id that it names. */
function has(event: AgentEvent, words: string): boolean {
  const { requestId = '', data } = event as { requestId?: unknown; data?: { callId?: unknown } };
  const ids = `${event.id} ${event.cursor ?? ''} ${String(requestId)} ${String(data?.callId ?? '')}`;
  return `${event.type} ${lineOf(event)} ${ids}`.toLowerCase().includes(words);
}

/** The stored events, one a line, and one of them whole. */
export function Events({
  watched,
  words,
  onWords,
}: {
  watched: WatchedSession;
  words: string;
  onWords: (words: string) => void;
}): JSX.Element {
  const turn = watched.turn.value;
  const [selected, setSelected] = useState<AgentEvent>();
  const { events } = watched;
  const wanted = words.trim().toLowerCase();
  const shown = useMemo(
    () => (wanted === '' ? events : events.filter((event) => has(event, wanted))),
    [wanted, turn, events.length],
  );
  return (
    <>
      <label class="filter">
        <span class="said">Search events by type, name or id</span>
        <input
          type="search"
          placeholder="type, name or id"
          value={words}
          onInput={(event) => onWords(event.currentTarget.value)}
        />
        <span class="count" role="status">
          {wanted === ''
            ? `${events.length.toLocaleString()} events`
            : `${shown.length.toLocaleString()} of ${events.length.toLocaleString()} events`}
        </span>
      </label>
      <Lines
        part="events"
        label="Stored events"
        count={shown.length}
        class="event-list"
        linePx={22}
        line={(index) => {
          const event = shown[index];
          if (!event) return null;
          return (
            <button
              type="button"
              class="event"
              aria-pressed={selected?.id === event.id}
              title={exactly(event.timestamp)}
              onClick={() => setSelected(selected?.id === event.id ? undefined : event)}
            >
              <span class="seq">{event.seq}</span>
              <span class="type">{event.type}</span>
              <span class="line-text">
                <Visible text={lineOf(event)} />
              </span>
            </button>
          );
        }}
      />
      {selected && (
        <>
          <h3>
            {selected.type} <code class="soft">{selected.id}</code>
          </h3>
          <div class="buttons">
            <button
              type="button"
              class="quiet"
              onClick={() => {
                watched.moment.value = events.indexOf(selected) + 1;
              }}
            >
              Show the session as it stood here
            </button>
            <Fork watched={watched} cursor={selected.cursor} />
            {selected.type === 'message' && selected.role === 'user' && selected.seq !== undefined && (
              <Rewind key={selected.id} watched={watched} through={selected.seq - 1} />
            )}
          </div>
          <Json key={selected.id} value={selected} part="event" label="The event as JSON" />
        </>
      )}
    </>
  );
}
