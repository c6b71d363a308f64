import type { RemoteApprovals } from 'coxswain/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Json } from '../parts/json.tsx';
import { argsLine } from '../parts/question-words.ts';
import { Visible } from '../parts/visible.tsx';
import { Judgement } from '../parts/why.tsx';
import { link, remote } from '../state/connection.ts';
import { useExplained } from '../state/explain.ts';
import type { Card } from '../state/inbox.ts';
import { closedCards, idsOf, openCards, othersCards } from '../state/inbox.ts';
import { linkTo, route } from '../state/route.ts';

type Decided = Awaited<ReturnType<RemoteApprovals['decided']>>['decided'][number];

/** Decided calls that are looked at: what is older is found in the inbox. */
const LISTED = 200;
const NO_RULE = 'no rule matches';

/** What policy says of stored calls, and would say of others like them. */
export function PolicyScreen(): JSX.Element {
  const { ids } = route.value;
  const isChosen = ids.length === 4;
  return (
    <div class={`split ${isChosen ? 'on-detail' : ''}`}>
      <section class="list" aria-label="Calls">
        <Calls selected={isChosen ? ids.join('/') : undefined} />
      </section>
      <section class="detail" aria-label="What policy says">
        {isChosen ? (
          <Judged key={ids.join('/')} ids={ids} />
        ) : (
          <div class="empty big">
            <p>Choose a call on the left: policy is asked about it as it is now, rule by rule.</p>
            <p>
              Calls that were not asked about are in their sessions: open one there and follow “Ask policy about it”.
            </p>
          </div>
        )}
      </section>
    </div>
  );
}

/** Calls by the rule that decided them, the newest first. */
function Calls({ selected }: { selected: string | undefined }): JSX.Element {
  const [decided, setDecided] = useState<Decided[]>();
  const [fault, setFault] = useState<string>();
  const host = remote.value;
  const isReady = link.value === 'ready';
  const closed = closedCards.value.length;
  useEffect(() => {
    if (!host || !isReady) return;
    let isLeft = false;
    host.approvals.decided({ limit: LISTED }).then(
      (found) => {
        if (!isLeft) setDecided(found.decided);
      },
      (error: unknown) => {
        if (!isLeft) setFault(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      isLeft = true;
    };
  }, [host, isReady, closed]);
  const open = [...openCards.value, ...othersCards.value];
  const byRule = new Map<string, Decided[]>();
  for (const one of decided ?? []) {
    const rule = one.ruleId ?? NO_RULE;
    byRule.set(rule, [...(byRule.get(rule) ?? []), one]);
  }
  return (
    <>
      <h1>Calls by rule</h1>
      {fault !== undefined && (
        <p class="notice bad" role="alert">
          What was decided could not be read: <Visible text={fault} />
        </p>
      )}
      {!decided && fault === undefined && (
        <p class="empty" role="status">
          Reading what was decided…
        </p>
      )}
      {decided?.length === 0 && open.length === 0 && (
        <p class="empty">Nothing was asked or decided yet, in your sessions and of you.</p>
      )}
      {open.length > 0 && (
        <>
          <h2>
            Open <span class="count">{open.length}</span>
          </h2>
          <ul class="cards" aria-label="Open calls">
            {open.map((card) => (
              <li key={card.key}>
                <OpenRow card={card} selected={selected} />
              </li>
            ))}
          </ul>
        </>
      )}
      {[...byRule].map(([rule, calls]) => (
        <section key={rule} aria-label={`Rule ${rule}`}>
          <h2>
            <Visible text={rule} /> <span class="count">{counted(calls)}</span>
          </h2>
          <ul class="cards">
            {calls.map((one) => (
              <li key={`${one.sessionId} ${one.requestId}`}>
                <DecidedRow one={one} selected={selected} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function counted(calls: readonly Decided[]): string {
  const yes = calls.filter(({ action }) => action === 'accept').length;
  return `${yes.toLocaleString()} approved, ${(calls.length - yes).toLocaleString()} not`;
}

function OpenRow({ card, selected }: { card: Card; selected: string | undefined }): JSX.Element {
  const ids = idsOf(card);
  return (
    <a class="card" href={linkTo('policy', ...ids)} aria-current={selected === ids.join('/') ? 'true' : undefined}>
      <span class="sign" aria-hidden="true">
        ?
      </span>
      <b class="head">
        <Visible text={card.request.name ?? 'a question'} />
      </b>
      <span class="args">
        <Visible text={argsLine(card.request.args)} />
      </span>
    </a>
  );
}

function DecidedRow({ one, selected }: { one: Decided; selected: string | undefined }): JSX.Element {
  const { agent, userId, sessionId, requestId, tool, action } = one;
  const ids = [agent, userId, sessionId, requestId];
  const isNo = action !== 'accept';
  return (
    <a
      class={`card decided ${isNo ? 'no' : 'yes'}`}
      href={linkTo('policy', ...ids)}
      aria-current={selected === ids.join('/') ? 'true' : undefined}
    >
      <span class="sign" aria-hidden="true">
        {isNo ? '✕' : '✓'}
      </span>
      <b class="head">
        <Visible text={tool ?? 'a question'} />
      </b>
      <span class="foot">
        for <Visible text={userId} /> · <Visible text={sessionId} />
      </span>
    </a>
  );
}

function Judged({ ids }: { ids: readonly string[] }): JSX.Element {
  const [agent = '', userId = '', sessionId = '', requestId = ''] = ids;
  const place = { agent, userId, sessionId };
  const answer = useExplained(requestId, place, undefined, true);
  return (
    <article class="question">
      <div class="scroll">
        <div class="body">
          <a class="back" href={linkTo('policy')}>
            ← Calls
          </a>
          <p class="soft">
            call <code>{<Visible text={requestId} />}</code> of session{' '}
            <a href={linkTo('sessions', agent, userId, sessionId)}>
              <Visible text={sessionId} />
            </a>{' '}
            of <Visible text={userId} />
          </p>
          {answer?.said && (
            <>
              <h3>Its arguments, as far as you may see them</h3>
              <Json value={answer.said.args} part="judged" label="Arguments of the call" />
            </>
          )}
          <h3>What policy says now</h3>
          <Judgement requestId={requestId} place={place} answer={answer} />
        </div>
      </div>
    </article>
  );
}
