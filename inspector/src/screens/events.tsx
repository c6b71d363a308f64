import type { AgentEvent } from 'coxswain/client';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Json } from '../parts/json.tsx';
import { Lines } from '../parts/lines.tsx';
import { short } from '../parts/short.ts';
import { TraceLink } from '../parts/trace.tsx';
import { Visible } from '../parts/visible.tsx';
import { exactly } from '../state/clock.ts';
import { callOf, traceOf } from '../state/places.ts';
import { linkWithin } from '../state/route.ts';
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
  const { events, place } = watched;
  const wanted = words.trim().toLowerCase();
  const shown = useMemo(
    () => (wanted === '' ? events : events.filter((event) => has(event, wanted))),
    [wanted, turn, events.length],
  );
  // What the address names is shown whole.
  const chosen = selected ?? (wanted !== '' && shown.length === 1 ? shown[0] : undefined);
  const callId = chosen && callOf(chosen);
  const trace = useMemo(() => chosen && traceOf(events, chosen), [chosen, events.length]);
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
              aria-pressed={chosen?.id === event.id}
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
      {chosen && (
        <>
          <h3>
            {chosen.type} <code class="soft">{chosen.id}</code>
          </h3>
          <div class="buttons">
            <button
              type="button"
              class="quiet"
              onClick={() => {
                watched.moment.value = events.indexOf(chosen) + 1;
              }}
            >
              Show the session as it stood here
            </button>
            <a href={linkWithin(place, { event: chosen.id })}>Link to this event</a>
            {callId !== undefined && <a href={linkWithin(place, { call: callId })}>To its call</a>}
            <Fork watched={watched} cursor={chosen.cursor} />
            {chosen.type === 'message' && chosen.role === 'user' && chosen.seq !== undefined && (
              <Rewind key={chosen.id} watched={watched} through={chosen.seq - 1} />
            )}
          </div>
          {trace && <TraceLink trace={trace} />}
          <Json key={chosen.id} value={chosen} part="event" label="The event as JSON" />
        </>
      )}
    </>
  );
}
