import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { TextLines } from '../parts/display.tsx';
import { Json } from '../parts/json.tsx';
import { Ago } from '../parts/time.tsx';
import { Visible } from '../parts/visible.tsx';
import { remote } from '../state/connection.ts';
import type { Card } from '../state/inbox.ts';
import { lookUntilOver } from '../state/inbox.ts';

const words: Readonly<Record<string, string>> = { accept: 'approved', decline: 'denied', cancel: 'cancelled' };

/** Who has decided, and what came of it. It stays until the question is left. */
export function OutcomePanel({ card }: { card: Card }): JSX.Element {
  const { key, outcome, request, isMine } = card;
  useEffect(() => lookUntilOver(key), [key]);
  const call = outcome?.call;
  const answer = call?.answers.findLast(({ requestId }) => requestId === request.requestId);
  const decision = call?.decisions.at(-1);
  const me = remote.value?.principal.id;
  const isNo = answer ? answer.action !== 'accept' : decision?.outcome === 'denied';
  const who = answer?.by === undefined ? undefined : answer.by === me ? 'you' : answer.by;
  return (
    <section class={`outcome ${isNo ? 'denied' : 'allowed'}`} aria-label="What came of it" role="status">
      <p class="verdict">
        <span aria-hidden="true">{isNo ? '✕' : '✓'} </span>
        {answer ? (
          <>
            <b>{words[answer.action] ?? answer.action}</b> by{' '}
            <b>
              <Visible text={who ?? 'somebody'} />
            </b>{' '}
            {!isMine && who !== 'you' && 'meanwhile '}
            <Ago time={answer.at} />
          </>
        ) : decision ? (
          <>
            <b>{decision.outcome}</b> by <Visible text={decision.by} /> <Ago time={decision.at} />
          </>
        ) : (
          'This question is closed: it was answered, has expired, or its turn was ended.'
        )}
      </p>
      {answer?.reason !== undefined && (
        <blockquote>
          <Visible text={answer.reason} />
        </blockquote>
      )}
      {call && <Result call={call} isNo={isNo} />}
    </section>
  );
}

function Result({
  call,
  isNo,
}: {
  call: NonNullable<NonNullable<Card['outcome']>['call']>;
  isNo: boolean;
}): JSX.Element | null {
  const text = (call.result ?? []).map((part) =>
    'text' in part && typeof part.text === 'string' ? part.text : undefined,
  );
  return (
    <>
      {call.argsRun && (
        <>
          <h3>Arguments that it ran with</h3>
          <Json value={call.argsRun} part="argsRun" label="Arguments that it ran with" />
        </>
      )}
      {!isNo && call.outcome === 'open' && (
        <p class="running">{call.startedAt.length > 0 ? 'It runs now…' : 'It will run when its turn continues…'}</p>
      )}
      {call.outcome !== 'open' && !isNo && (
        <p>
          <span class={`chip ${call.outcome === 'completed' ? 'good' : 'bad'}`}>{call.outcome}</span>{' '}
          {call.startedAt.length > 1 && `started ${call.startedAt.length} times `}
          {call.endedAt !== undefined && <Ago time={call.endedAt} />}
        </p>
      )}
      {call.result && !isNo && (
        <>
          <h3>Result</h3>
          {text.every((one) => one !== undefined) ? (
            <TextLines text={text.join('\n')} part="result" label="Result" />
          ) : (
            <Json value={call.result} part="result" label="Result" />
          )}
        </>
      )}
    </>
  );
}
