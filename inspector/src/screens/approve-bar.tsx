import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { argsLine } from '../parts/question-words.ts';
import type { Seen } from '../parts/seen.ts';
import { Visible } from '../parts/visible.tsx';
import { link } from '../state/connection.ts';
import type { Explained } from '../state/explain.ts';
import type { Card } from '../state/inbox.ts';
import { decide } from '../state/inbox.ts';
import { isTyping, isTypingKey } from '../state/keys.ts';

/** The answer to an approval. Its button says what it does, and is there once all of that has been on the screen. */
export function ApproveBar({
  card,
  request,
  seen,
  edited,
  isFit,
  onEdit,
}: {
  card: Card;
  request: Card['request'];
  seen: Seen;
  edited: Record<string, unknown> | undefined;
  isFit: boolean;
  /** What policy says of what is edited; absent: nothing is, or it is being asked. */
  onEdit: Explained | undefined;
}): JSX.Element {
  const [isDenying, setDenying] = useState(false);
  const [isReasoning, setReasoning] = useState(false);
  const [reason, setReason] = useState('');
  const [remember, setRemember] = useState(-1);
  const approve = useRef<HTMLButtonElement>(null);
  const why = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const { approval, name = '', kind } = request;
  const isRerun = kind === 'rerun_unknown';
  const blocked = whyBlocked(card, seen.left.value, isFit, onEdit);
  const act = isRerun ? `Run ${name} once more` : edited ? `Approve ${name} as edited` : `Approve ${name}`;
  const what = argsLine(edited ?? request.args);
  useEffect(() => {
    if (isDenying || isReasoning) why.current?.focus();
  }, [isDenying, isReasoning]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || isTypingKey(event)) return;
      if (event.key === 'a') approve.current?.focus();
      else if (event.key === 'd') setDenying(true);
      else if (event.key === 'e') document.querySelector<HTMLButtonElement>('[data-key="e"]')?.click();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  const say = reason.trim() === '' ? {} : { reason: reason.trim() };
  const yes = () => {
    if (blocked !== undefined || !approval) return;
    void decide(card, {
      kind: 'approve',
      previewDigest: approval.previewDigest,
      ...say,
      ...(edited ? { args: edited } : {}),
      ...(remember >= 0 && !edited ? { remember } : {}),
    });
  };
  const no = () => void decide(card, { kind: 'deny', ...say });
  const options = approval?.remember ?? [];
  return (
    <section class="answer" aria-label="Your answer">
      {options.length > 0 && !isRerun && (
        <label class="remember">
          Ask again?{' '}
          <select
            value={String(remember)}
            disabled={edited !== undefined}
            onChange={(event) => setRemember(Number(event.currentTarget.value))}
          >
            <option value="-1">each time</option>
            {options.map((option, at) => (
              <option key={at} value={String(at)}>
                {option.label}
              </option>
            ))}
          </select>
        </label>
      )}
      {(isDenying || isReasoning) && (
        <label class="reason">
          <span>Reason {isDenying ? '(the agent gets it)' : '(kept in the log)'}</span>
          <textarea
            ref={why}
            rows={2}
            dir="auto"
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
      )}
      <p id={`${id}-blocked`} class="blocked" role="status">
        {blocked}
      </p>
      <div class="buttons">
        {isDenying ? (
          <>
            <button type="button" class="danger" disabled={card.state === 'sending'} onClick={no}>
              Deny <Visible text={name} />
            </button>
            <button type="button" class="quiet" onClick={() => setDenying(false)}>
              Do not deny
            </button>
          </>
        ) : (
          <>
            <button type="button" class="deny" onClick={() => setDenying(true)}>
              {isRerun ? 'Do not run it…' : 'Deny…'}
            </button>
            {!isReasoning && (
              <button type="button" class="quiet" onClick={() => setReasoning(true)}>
                Add a reason
              </button>
            )}
          </>
        )}
        <button
          ref={approve}
          type="button"
          class="primary"
          aria-disabled={blocked !== undefined}
          aria-describedby={`${id}-blocked`}
          onClick={yes}
        >
          <span class="act">{card.state === 'sending' ? 'Sending your answer…' : <Visible text={act} />}</span>
          {what !== '' && (
            <span class="what">
              <Visible text={what} />
            </span>
          )}
        </button>
      </div>
    </section>
  );
}

/** Why nobody can say yes now, in words. */
function whyBlocked(card: Card, left: number, isFit: boolean, onEdit: Explained | undefined): string | undefined {
  if (card.state === 'sending') return 'Your answer is on its way.';
  if (card.denied) return 'Policy denies this call now: it cannot be approved.';
  if (card.cut) return 'What it is about could not be sent whole: it cannot be approved here.';
  if (link.value !== 'ready') return 'Not connected: what is shown may be old.';
  if (!isFit) return 'The edited arguments are not complete yet.';
  if (onEdit?.unfit !== undefined) return 'The tool does not take the edited arguments.';
  if (onEdit?.decision.outcome === 'deny') {
    const { reason } = onEdit.decision;
    return `Policy denies the edited arguments${reason === undefined ? '' : `: ${reason}`}.`;
  }
  if (left === Number.POSITIVE_INFINITY) return 'What it is about is being put on the screen.';
  if (left > 0)
    return `${left.toLocaleString()} ${left === 1 ? 'line has' : 'lines have'} not been on the screen yet: scroll through all of it.`;
  return undefined;
}
