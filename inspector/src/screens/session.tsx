import type { AgentEvent } from 'coxswain/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Json } from '../parts/json.tsx';
import { Lines } from '../parts/lines.tsx';
import { short } from '../parts/short.ts';
import { Visible } from '../parts/visible.tsx';
import { exactly } from '../state/clock.ts';
import { remote } from '../state/connection.ts';
import { linkTo } from '../state/route.ts';
import { WatchedSession } from '../state/sessions.ts';
import { Conversation } from './conversation.tsx';

/** One session: on the left what its user saw, on the right why. */
export function SessionScreen({
  agent,
  userId,
  sessionId,
}: {
  agent: string;
  userId: string;
  sessionId: string;
}): JSX.Element {
  const host = remote.value;
  const isOwn = host?.principal.id === userId;
  const [watched, setWatched] = useState<WatchedSession>();
  const [event, setEvent] = useState<AgentEvent>();
  const [side, setSide] = useState<'conversation' | 'events'>('conversation');
  useEffect(() => {
    if (!host || !isOwn) return;
    const made = new WatchedSession(host, agent, sessionId);
    setWatched(made);
    return () => made.leave();
  }, [host, isOwn, agent, sessionId]);
  if (host && !isOwn) {
    return (
      <div class="empty big">
        <p>This session is somebody else&apos;s.</p>
        <p>Its owner sees it here. What waits for you in it is in the inbox.</p>
        <a href={linkTo('inbox')}>To the inbox</a>
      </div>
    );
  }
  if (!watched) return <p class="empty big">Opening the session…</p>;
  return (
    <div class={`session on-${side}`}>
      <Head watched={watched} sessionId={sessionId} userId={userId} />
      <section class="tabs narrow-only" aria-label="What is shown">
        <button type="button" aria-pressed={side === 'conversation'} onClick={() => setSide('conversation')}>
          Conversation
        </button>
        <button type="button" aria-pressed={side === 'events'} onClick={() => setSide('events')}>
          Events
        </button>
      </section>
      <div class="halves">
        <section class="half conversation" aria-label="Conversation">
          <Conversation watched={watched} />
        </section>
        <section class="half events" aria-label="Events">
          <Events watched={watched} selected={event} onSelect={setEvent} />
        </section>
      </div>
    </div>
  );
}

const words: Readonly<Record<string, [text: string, tone: string]>> = {
  idle: ['✓ rests', ''],
  running: ['▸ runs', 'good'],
  completed: ['✓ completed', ''],
  input_required: ['? waits for an answer', 'waits'],
  failed: ['✕ failed', 'bad'],
  aborted: ['✕ aborted', 'bad'],
};

function Head({
  watched,
  sessionId,
  userId,
}: {
  watched: WatchedSession;
  sessionId: string;
  userId: string;
}): JSX.Element {
  watched.turn.value;
  const status = statusOf(watched);
  const [text, tone] = words[status] ?? [status, 'bad'];
  const { input, output, cached, usd, isPriced } = watched.usage;
  return (
    <header class="head">
      <h1>
        <a href={linkTo('sessions')}>Sessions</a> / <Visible text={sessionId} />
      </h1>
      <span class={`chip ${tone}`}>{text}</span>
      <span class="soft">
        of <Visible text={userId} />
      </span>
      {input + output > 0 && (
        <span class="soft numbers">
          {input.toLocaleString()} tokens in{cached > 0 && ` (cached ${cached.toLocaleString()})`} ·{' '}
          {output.toLocaleString()} out
          {isPriced && ` · ${usd.toFixed(4)} USD`}
        </span>
      )}
      {watched.state.value === 'reading' && (
        <span role="status">Reading {watched.events.length.toLocaleString()} events…</span>
      )}
      {watched.fault.value !== undefined && (
        <p class="notice bad" role="alert">
          <Visible text={watched.fault.value} />
        </p>
      )}
    </header>
  );
}

/** A log that waits says no end of its turn: what it waits for is a call that nobody has started. */
function statusOf({ view }: WatchedSession): string {
  if (view.status !== 'running') return view.status;
  const calls = [...view.toolCalls.values()];
  const isBusy = calls.some(({ status }) => status === 'started') || view.messages.some(({ streaming }) => streaming);
  return !isBusy && calls.some(({ status }) => status === 'requested') ? 'input_required' : 'running';
}

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
    default:
      return '';
  }
}

function Events({
  watched,
  selected,
  onSelect,
}: {
  watched: WatchedSession;
  selected: AgentEvent | undefined;
  onSelect: (event: AgentEvent | undefined) => void;
}): JSX.Element {
  watched.turn.value;
  const { events } = watched;
  return (
    <>
      <h2>
        Events <span class="count">{events.length.toLocaleString()}</span>
      </h2>
      <Lines
        part="events"
        label="Stored events"
        count={events.length}
        class="event-list"
        line={(index) => {
          const event = events[index];
          if (!event) return null;
          return (
            <button
              type="button"
              class="event"
              aria-pressed={selected?.id === event.id}
              title={exactly(event.timestamp)}
              onClick={() => onSelect(selected?.id === event.id ? undefined : event)}
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
          <Json key={selected.id} value={selected} part="event" label="The event as JSON" />
        </>
      )}
    </>
  );
}
