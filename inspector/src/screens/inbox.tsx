import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { argsLine, titleOf } from '../parts/question-words.ts';
import { Ago, Until } from '../parts/time.tsx';
import { Visible } from '../parts/visible.tsx';
import { link, remote } from '../state/connection.ts';
import type { Card } from '../state/inbox.ts';
import {
  cards,
  closedCards,
  find,
  forget,
  idsOf,
  isListed,
  keyOf,
  listFault,
  openCards,
  othersCards,
} from '../state/inbox.ts';
import { isTyping, isTypingKey } from '../state/keys.ts';
import { changeNotifying, notifying } from '../state/notify.ts';
import { choose, chosen, mayBeChosen } from '../state/read-whole.ts';
import { go, linkTo, route } from '../state/route.ts';
import { DecidedList } from './decided.tsx';
import { QuestionView } from './question.tsx';
import { Together } from './together.tsx';

export function InboxScreen(): JSX.Element {
  const { ids } = route.value;
  const key = ids.length === 4 ? keyOf(ids) : undefined;
  const selected = key === undefined ? undefined : cards.value.get(key);
  useEffect(() => forget(key), [key]);
  useMoving(key);
  return (
    <div class={`split ${key === undefined ? '' : 'on-detail'}`}>
      <section class="list" aria-label="Questions">
        <List selected={key} />
      </section>
      <section class="detail" aria-label="Question">
        {key === undefined ? (
          <Nothing />
        ) : selected ? (
          <QuestionView key={key} card={selected} />
        ) : (
          <Missing key={key} ids={ids} />
        )}
      </section>
    </div>
  );
}

/** `j` and `k` move, `Enter` opens the first, `Esc` goes back to the list. */
function useMoving(key: string | undefined): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || isTypingKey(event)) return;
      const all = [...openCards.value, ...othersCards.value, ...closedCards.value];
      const at = all.findIndex((card) => card.key === key);
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
      if (step !== 0 && all.length > 0) {
        const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + step))];
        if (next) go('inbox', ...idsOf(next));
      } else if (event.key === 'x' && key !== undefined) choose(key, !chosen.value.some((card) => card.key === key));
      else if (event.key === 'Escape' && key !== undefined) go('inbox');
      else if (event.key === 'Enter' && at < 0 && all[0] && event.target === document.body)
        go('inbox', ...idsOf(all[0]));
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [key]);
}

function List({ selected }: { selected: string | undefined }): JSX.Element {
  const [isPast, setPast] = useState(false);
  return (
    <>
      <section class="tabs" aria-label="Which questions">
        <button type="button" aria-pressed={!isPast} onClick={() => setPast(false)}>
          Open
        </button>
        <button type="button" aria-pressed={isPast} onClick={() => setPast(true)}>
          Decided
        </button>
        {notifying.value !== 'none' && (
          <button
            type="button"
            class="quiet"
            aria-pressed={notifying.value === 'on'}
            disabled={notifying.value === 'denied'}
            title={notifying.value === 'denied' ? 'The settings of this browser keep the page from it' : ''}
            onClick={() => void changeNotifying()}
          >
            {notifying.value === 'on' ? 'Notifies you' : 'Notify me'}
          </button>
        )}
      </section>
      {isPast ? <DecidedList selected={selected} /> : <OpenList selected={selected} />}
    </>
  );
}

function OpenList({ selected }: { selected: string | undefined }): JSX.Element {
  const open = openCards.value;
  const others = othersCards.value;
  const closed = closedCards.value;
  return (
    <>
      <h1>
        Waiting for you <span class="count">{isListed.value ? open.length : ''}</span>
      </h1>
      {listFault.value !== undefined && (
        <p class="notice bad" role="alert">
          The list could not be read: {listFault.value}
        </p>
      )}
      {!isListed.value && listFault.value === undefined && <Skeleton />}
      {isListed.value && open.length === 0 && (
        <p class="empty">Nothing waits for you. New questions come up here by themselves.</p>
      )}
      <Together />
      <Cards cards={open} selected={selected} />
      {others.length > 0 && (
        <>
          <h2>
            Waiting for others <span class="count">{others.length}</span>
          </h2>
          <Cards cards={others} selected={selected} />
        </>
      )}
      {closed.length > 0 && (
        <>
          <h2>Closed just now</h2>
          <Cards cards={closed} selected={selected} />
        </>
      )}
    </>
  );
}

function Skeleton(): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label="Reading what waits for you">
      <div />
      <div />
      <div />
    </div>
  );
}

function Cards({ cards: shown, selected }: { cards: readonly Card[]; selected: string | undefined }): JSX.Element {
  return (
    <ul class="cards">
      {shown.map((card) => (
        <li key={card.key} class={mayBeChosen(card) ? 'choosable' : ''}>
          {mayBeChosen(card) && <Mark card={card} />}
          <Row card={card} isSelected={card.key === selected} />
        </li>
      ))}
    </ul>
  );
}

/** One of several that are answered together. */
function Mark({ card }: { card: Card }): JSX.Element {
  return (
    <label class="mark" title="Answer together with others">
      <span class="said">Mark {titleOf(card)}</span>
      <input
        type="checkbox"
        aria-description={argsLine(card.request.args)}
        checked={chosen.value.includes(card)}
        onChange={(event) => choose(card.key, event.currentTarget.checked)}
      />
    </label>
  );
}

/** What a list says of a question: enough to choose by, never enough to decide by. */
function Row({ card, isSelected }: { card: Card; isSelected: boolean }): JSX.Element {
  const { request, userId, agent, state, whyNot } = card;
  const sign = state === 'closed' ? '✓' : whyNot === undefined ? '?' : '…';
  return (
    <a class={`card ${state}`} href={linkTo('inbox', ...idsOf(card))} aria-current={isSelected ? 'true' : undefined}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      <b class="head">
        <Visible text={titleOf(card)} />
      </b>
      <span class="args">
        <Visible text={argsLine(request.args)} />
      </span>
      <span class="foot">
        for <Visible text={userId} /> by <Visible text={request.agentPath.at(-1) ?? agent} />
        {request.approval?.ruleId !== undefined && (
          <>
            {' · '}
            <Visible text={request.approval.ruleId} />
          </>
        )}
      </span>
      <span class="when">
        {state === 'closed' ? (
          'closed'
        ) : request.expiresAt === undefined ? (
          <Ago time={request.requestedAt} />
        ) : (
          <Until time={request.expiresAt} />
        )}
      </span>
    </a>
  );
}

function Nothing(): JSX.Element {
  return (
    <div class="empty big">
      <p>Choose a question on the left.</p>
      <p>
        <kbd>j</kbd> <kbd>k</kbd> move, <kbd>?</kbd> shows all keys.
      </p>
    </div>
  );
}

/** Somebody has sent the address of a question that is in no list of this person's. */
function Missing({ ids }: { ids: readonly string[] }): JSX.Element {
  const [isKnown, setKnown] = useState<boolean>();
  const host = remote.value;
  const isReady = link.value === 'ready' && isListed.value;
  useEffect(() => {
    if (!host || !isReady) return;
    let isLeft = false;
    void find(ids).then((found) => {
      if (!isLeft) setKnown(found);
    });
    return () => {
      isLeft = true;
    };
  }, [host, isReady, ids]);
  if (isKnown !== false) return <p class="empty big">Looking for the question…</p>;
  return (
    <div class="empty big">
      <p>There is no such question for you.</p>
      <p>It was answered some time ago, or it is for other people. What waits for you is on the left.</p>
      <a href={linkTo('inbox')}>To the inbox</a>
    </div>
  );
}
