import type { AgentEvent, ViewItem, ViewMessage, ViewToolCall } from 'coxswain/client';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { DisplayPart, TextLines } from '../parts/display.tsx';
import { Json } from '../parts/json.tsx';
import { argsLine } from '../parts/question-words.ts';
import { Ago } from '../parts/time.tsx';
import { TraceLink } from '../parts/trace.tsx';
import { Visible } from '../parts/visible.tsx';
import { Why } from '../parts/why.tsx';
import { remote } from '../state/connection.ts';
import { placesOf } from '../state/places.ts';
import { linkTo, linkWithin } from '../state/route.ts';
import { openedAs } from '../state/session-list.ts';
import type { WatchedSession } from '../state/sessions.ts';

/** Messages and calls that are made at once; earlier ones are asked for. */
const STEP = 100;
/** Characters of a message that are shown without being asked for more. */
const MAX_TEXT = 20_000;

export function Conversation({
  watched,
  userId,
  callId,
  onEvents,
}: {
  watched: WatchedSession;
  userId: string;
  /** The call that the address names. */
  callId: string | undefined;
  /** Shows the events of a call. */
  onEvents: (callId: string) => void;
}): JSX.Element {
  const turn = watched.turn.value;
  const isNow = watched.moment.value === undefined;
  const [shown, setShown] = useState(STEP);
  const box = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  // What comes is shown, unless somebody reads further up.
  useLayoutEffect(() => {
    if (isAtEnd.current && callId === undefined && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [turn, isNow]);
  const { items } = watched.shown.view;
  const { failure } = watched.shown;
  const named =
    callId === undefined ? -1 : items.findIndex((item) => item.type !== 'message' && item.call.id === callId);
  const from = Math.min(Math.max(0, items.length - shown), named < 0 ? items.length : named);
  return (
    <section
      ref={box}
      class="talk"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard.
      tabIndex={0}
      aria-label="What was said and done"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - clientHeight - scrollTop < 40;
      }}
    >
      {items.length === 0 && watched.state.value === 'live' && <p class="empty">Nothing was said yet.</p>}
      {watched.isPart && <p class="soft">Earlier messages and calls are being read…</p>}
      {from > 0 && (
        <button type="button" class="quiet" onClick={() => setShown(shown + STEP)}>
          {from.toLocaleString()} earlier
        </button>
      )}
      <ol class="items">
        {items.slice(from).map((item) => (
          <li key={item.type === 'message' ? item.message.id : item.call.id}>
            <Item item={item} watched={watched} userId={userId} callId={callId} onEvents={onEvents} />
          </li>
        ))}
      </ol>
      {failure && (
        <p class="notice bad">
          <Visible text={`${failure.code}: ${failure.message}`} />
        </p>
      )}
    </section>
  );
}

interface About {
  watched: WatchedSession;
  userId: string;
  callId: string | undefined;
  onEvents: (callId: string) => void;
}

function Item({ item, ...about }: { item: ViewItem } & About): JSX.Element {
  if (item.type === 'message') return <Message message={item.message} userId={about.userId} />;
  return <Call call={item.call} {...about} />;
}

function Message({ message, userId }: { message: ViewMessage; userId: string }): JSX.Element {
  const { role, agentId, content, streaming, interrupted } = message;
  return (
    <div class={`message ${role} ${streaming ? 'streaming' : ''}`}>
      <span class="author">
        <Visible text={role === 'user' ? userId : (agentId ?? role)} />
        {streaming && <span class="soft"> · streams, not stored yet</span>}
        {interrupted && <span class="soft"> · cut off</span>}
      </span>
      {content.map((part, at) => {
        if (part.type === 'text' || part.type === 'refusal') return <Text key={at} text={String(part.text)} />;
        if (part.type === 'thought') {
          return (
            <details key={at} class="soft">
              <summary>Thought</summary>
              <Text text={String(part.thought)} />
            </details>
          );
        }
        if (part.type === 'function_call') return null;
        if (part.type === 'media') return <DisplayPart key={at} shown={part} part={`media ${at}`} />;
        return <Json key={at} value={part} part={`part ${at}`} label={part.type} />;
      })}
    </div>
  );
}

function Text({ text }: { text: string }): JSX.Element {
  if (text.length > MAX_TEXT) return <TextLines text={text} part="text" label="A long text" />;
  return (
    <p class="words">
      <Visible text={text} />
    </p>
  );
}

const signs: Readonly<Record<ViewToolCall['status'], string>> = {
  requested: '?',
  started: '▸',
  done: '✓',
  failed: '✕',
};
const states: Readonly<Record<ViewToolCall['status'], string>> = {
  requested: 'waits',
  started: 'runs',
  done: 'done',
  failed: 'failed',
};

const tones: Readonly<Record<ViewToolCall['status'], string>> = {
  requested: 'waits',
  started: '',
  done: 'good',
  failed: 'bad',
};

/** A call: closed one line, opened what it was asked with, why it might run, who said so, and its result. */
function Call({ call, watched, callId, onEvents }: { call: ViewToolCall } & About): JSX.Element {
  // With state of its own it is drawn again for other props only, and a call that goes on is the same object.
  watched.turn.value;
  const isNow = watched.moment.value === undefined;
  const isNamed = callId === call.id;
  const [isOpen, setOpen] = useState(isNamed);
  const card = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!isNamed) return;
    setOpen(true);
    card.current?.scrollIntoView({ block: 'start' });
  }, [isNamed]);
  const { name, args, argsAsked, argsRun, status, content, errorType } = call;
  const facts = watched.shown.calls.get(call.id);
  const decision = facts?.decisions.at(-1);
  const called = facts?.decisions.findLast((one) => one.called !== undefined)?.called;
  return (
    <details
      ref={card}
      open={isOpen}
      class={`call ${status}`}
      aria-current={isNamed ? 'true' : undefined}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span class="sign" aria-hidden="true">
          {signs[status]}
        </span>
        <b>
          <Visible text={name} />
        </b>
        <span class="soft">
          <Visible text={argsLine(argsAsked ?? argsRun ?? args)} />
        </span>
        <span class={`chip ${tones[status]}`}>
          {errorType ?? states[status]}
          {decision?.ruleId !== undefined && ` · ${decision.ruleId}`}
        </span>
      </summary>
      {isOpen && (
        <div class="call-body">
          <h4>Arguments</h4>
          <Json value={args} part="args" label="Arguments" />
          {argsAsked && (
            <>
              <h4>Arguments that an approval lets run</h4>
              <Json value={argsAsked} part="argsAsked" label="Arguments that an approval lets run" />
            </>
          )}
          {argsRun && (
            <>
              <h4>Arguments that it ran with</h4>
              <Json value={argsRun} part="argsRun" label="Arguments that it ran with" />
            </>
          )}
          {facts && facts.decisions.length > 0 && (
            <>
              <h4>Decision</h4>
              <ul class="plain">
                {facts.decisions.map(({ outcome, by, ruleId, reason, at }, index) => (
                  <li key={index}>
                    <b>{outcome}</b> by <Visible text={by.replace(/^user:/, '')} />
                    {ruleId !== undefined && (
                      <>
                        {' '}
                        · rule{' '}
                        <code>
                          <Visible text={ruleId} />
                        </code>
                      </>
                    )}
                    {reason !== undefined && (
                      <>
                        {' '}
                        · <Visible text={reason} />
                      </>
                    )}{' '}
                    <Ago time={at} />
                  </li>
                ))}
              </ul>
            </>
          )}
          {watched.mayAskWhy && <Why requestId={call.id} place={watched.place} />}
          {watched.mayAskWhy && (
            <a href={linkTo('policy', watched.place.agent, watched.place.userId, watched.place.sessionId, call.id)}>
              Ask policy about it
            </a>
          )}
          {facts && facts.answers.length > 0 && (
            <>
              <h4>Answers</h4>
              <ul class="plain">
                {facts.answers.map(({ action, by = 'somebody', reason, at }, index) => (
                  <li key={index}>
                    <b>{action}</b> by <Visible text={by} />
                    {reason !== undefined && (
                      <>
                        : <Visible text={reason} />
                      </>
                    )}{' '}
                    <Ago time={at} />
                  </li>
                ))}
              </ul>
            </>
          )}
          <button type="button" class="quiet" onClick={() => onEvents(call.id)}>
            Events of this call
          </button>
          {called && (
            <p>
              <a
                href={linkTo(
                  'sessions',
                  openedAs(remote.value, called.agent, watched.place.agent),
                  watched.place.userId,
                  called.sessionId,
                )}
              >
                Session of the agent <Visible text={called.agent} />
              </a>
            </p>
          )}
          <CallLinks watched={watched} callId={call.id} />
          {status === 'requested' && watched.isOwn && isNow && (
            <p>
              <a href={linkTo('inbox')}>To the inbox, where it is answered</a>
            </p>
          )}
          {content && (
            <>
              <h4>Result</h4>
              {content.every((part) => part.type === 'text') ? (
                <TextLines
                  text={content.map((part) => String((part as { text: string }).text)).join('\n')}
                  part="result"
                  label="Result"
                />
              ) : (
                <Json value={content} part="result" label="Result" />
              )}
            </>
          )}
        </div>
      )}
    </details>
  );
}

/** Where the call stands: its events, and the trace of its turn. Each has an address that can be sent to somebody else. */
function CallLinks({ watched, callId }: { watched: WatchedSession; callId: string }): JSX.Element {
  const { events, place } = watched;
  const places = useMemo(() => placesOf(events, callId), [events.length, callId]);
  const { request, response, decisions, answers, trace } = places;
  const named: [string, AgentEvent | undefined][] = [
    ['Asked for', request],
    ...decisions.map((event): [string, AgentEvent] => ['Decided', event]),
    ...answers.map((event): [string, AgentEvent] => ['Answered', event]),
    ['Result', response],
  ];
  return (
    <>
      <p class="links">
        <a href={linkWithin(place, { call: callId })}>Link to this call</a>
        {named.map(
          ([word, event]) =>
            event && (
              <a key={event.id} href={linkWithin(place, { event: event.id })}>
                {word}: event {event.seq}
              </a>
            ),
        )}
      </p>
      {trace && <TraceLink trace={trace} />}
    </>
  );
}
