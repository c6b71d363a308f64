import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Visible } from '../parts/visible.tsx';
import { remote } from '../state/connection.ts';
import { linkTo, route } from '../state/route.ts';
import type { Verdict } from '../state/sessions.ts';
import { WatchedSession } from '../state/sessions.ts';
import { AgentsView } from './agents.tsx';
import { Compose } from './compose.tsx';
import { Conversation } from './conversation.tsx';
import { Events } from './events.tsx';
import { Mode } from './mode.tsx';
import { Export, MomentBar } from './moment.tsx';
import { ArtifactsView, StateView } from './state.tsx';
import { TimelineView } from './timeline.tsx';

const sides = {
  conversation: 'Conversation',
  timeline: 'Timeline',
  events: 'Events',
  state: 'State',
  agents: 'Agents',
  artifacts: 'Artifacts',
} as const;
type Side = keyof typeof sides;
const all: readonly Side[] = ['conversation', 'timeline', 'events', 'state', 'agents', 'artifacts'];

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
  const isOwn = host?.userId === userId;
  const mayLook = isOwn || host?.operator !== undefined;
  const [watched, setWatched] = useState<WatchedSession>();
  const { query } = route.value;
  const eventId = query.get('event') ?? '';
  const callId = query.get('call') ?? undefined;
  const [words, setWords] = useState('');
  // A wide screen has the conversation beside one of the others.
  const [side, setSide] = useState<Side>('conversation');
  const why = side === 'conversation' ? 'timeline' : side;
  const showEvents = (of: string) => {
    setWords(of);
    setSide('events');
  };
  // The address may name a place in it.
  useEffect(() => {
    if (eventId !== '') showEvents(eventId);
    else if (callId !== undefined) setSide((now) => (now === 'events' ? 'conversation' : now));
  }, [eventId, callId]);
  useEffect(() => {
    if (!host || !mayLook) return;
    const made = new WatchedSession(host, agent, userId, sessionId);
    setWatched(made);
    return () => made.leave();
  }, [host, mayLook, agent, userId, sessionId]);
  if (host && !mayLook) {
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
      <MomentBar watched={watched} />
      <Tabs class="narrow-only" names={all} shown={side} onChoose={setSide} />
      <div class="halves">
        <section class="half conversation" aria-label="Conversation">
          <Conversation watched={watched} userId={userId} callId={callId} onEvents={showEvents} />
          {watched.isOwn && watched.moment.value === undefined && <Compose watched={watched} />}
        </section>
        <section class="half why" aria-label={sides[why]}>
          <Tabs class="wide-only" names={all.slice(1)} shown={why} onChoose={setSide} />
          <WhenWhole watched={watched}>
            {why === 'events' && <Events watched={watched} words={words} onWords={setWords} />}
            {why === 'timeline' && <TimelineView watched={watched} />}
            {why === 'state' && <StateView watched={watched} onEvent={showEvents} />}
            {why === 'agents' && <AgentsView watched={watched} onEvents={showEvents} />}
            {why === 'artifacts' && <ArtifactsView watched={watched} onEvent={showEvents} />}
          </WhenWhole>
        </section>
      </div>
    </div>
  );
}

function Tabs({
  names,
  shown,
  onChoose,
  class: kind,
}: {
  names: readonly Side[];
  shown: Side;
  onChoose: (side: Side) => void;
  class: string;
}): JSX.Element {
  return (
    <section class={`tabs ${kind}`} aria-label="What is shown">
      {names.map((name) => (
        <button key={name} type="button" aria-pressed={name === shown} onClick={() => onChoose(name)}>
          {sides[name]}
        </button>
      ))}
    </section>
  );
}

/** Sums and lists of all events are not made of a part of them. */
function WhenWhole({ watched, children }: { watched: WatchedSession; children: ComponentChildren }): JSX.Element {
  watched.turn.value;
  if (!watched.isPart) return <>{children}</>;
  if (watched.state.value === 'lost') return <p class="empty">Not all of the session could be read.</p>;
  return (
    <p class="empty">
      The session is long: {watched.read.value.toLocaleString()} events of it have been read. What was said and done
      last is here already.
    </p>
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
  const { shown } = watched;
  const isNow = watched.moment.value === undefined;
  const status = shown.status();
  const [text, tone] = words[status] ?? [status, 'bad'];
  const { input, output, cached, usd, isPriced } = shown.usage;
  return (
    <header class="head">
      <h1>
        <a href={linkTo('sessions')}>Sessions</a> / <Visible text={sessionId} />
      </h1>
      <span class={`chip ${tone}`}>{text}</span>
      <span class="soft">
        of <Visible text={userId} />
        {!watched.isOwn && ' · you look at it as an operator; what is not for you is left out'}
      </span>
      {input + output > 0 && !watched.isPart && (
        <span class="soft numbers">
          {input.toLocaleString()} tokens in{cached > 0 && ` (cached ${cached.toLocaleString()})`} ·{' '}
          {output.toLocaleString()} out
          {isPriced && ` · ${usd.toFixed(4)} USD`}
        </span>
      )}
      {isNow && watched.events.length > 0 && watched.state.value !== 'reading' && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            watched.moment.value = watched.events.length;
          }}
        >
          Earlier moments
        </button>
      )}
      <Mode watched={watched} />
      <Export watched={watched} />
      {watched.isOwn && <Audit watched={watched} />}
      {watched.state.value === 'reading' && (
        <span role="status">Reading {watched.read.value.toLocaleString()} events…</span>
      )}
      {watched.fault.value !== undefined && (
        <p class="notice bad" role="alert">
          <Visible text={watched.fault.value} />
        </p>
      )}
    </header>
  );
}

/** Whether anybody has changed the log since it was written. */
function Audit({ watched }: { watched: WatchedSession }): JSX.Element {
  const [verdict, setVerdict] = useState<Verdict>();
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    setVerdict(undefined);
    setFault(undefined);
    try {
      setVerdict(await watched.verify());
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class="quiet" disabled={isBusy} onClick={() => void check()}>
        Verify the log
      </button>
      <span role="status" title={verdict?.head && `head ${verdict.head.seq}:${verdict.head.hash}`}>
        {verdict?.ok && verdict.audited === 0 && <span class="chip">no event of it is evidence yet</span>}
        {verdict?.ok && verdict.audited > 0 && (
          <span class="chip good">
            ✓ as written: {verdict.audited.toLocaleString()} audited events, {verdict.linked.toLocaleString()} linked
          </span>
        )}
        {verdict && !verdict.ok && (
          <span class="chip bad">
            ✕ not as written: <Visible text={verdict.faults[0]?.message ?? 'nothing of it is linked'} />
            {verdict.faults.length > 1 && ` and ${verdict.faults.length - 1} more`}
          </span>
        )}
        {fault !== undefined && (
          <span class="chip bad">
            <Visible text={fault} />
          </span>
        )}
      </span>
    </>
  );
}
