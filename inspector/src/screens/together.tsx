import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { argsLine, titleOf } from '../parts/question-words.ts';
import { Visible } from '../parts/visible.tsx';
import { link } from '../state/connection.ts';
import type { Card } from '../state/inbox.ts';
import { decide, openCards } from '../state/inbox.ts';
import { chooseNone, chosen, requestOf } from '../state/read-whole.ts';

/** One answer to several questions: to those alone that were shown whole. */
export function Together(): JSX.Element | null {
  const [kind, setKind] = useState<'approve' | 'deny'>();
  const [said, setSaid] = useState<string>();
  const cards = chosen.value;
  if (openCards.value.length < 2 && said === undefined) return null;
  if (cards.length === 0) {
    return (
      <p class="soft together" role="status">
        {said ?? 'Questions that you have read whole can be marked here and answered together.'}
      </p>
    );
  }
  return (
    <section class="together" aria-label="Answer together">
      <span role="status">{cards.length} marked</span>
      <button type="button" onClick={() => setKind('approve')}>
        Approve {cards.length}…
      </button>
      <button type="button" class="deny" onClick={() => setKind('deny')}>
        Deny {cards.length}…
      </button>
      <button type="button" class="quiet" onClick={chooseNone}>
        Mark none
      </button>
      {kind && (
        <Confirm
          kind={kind}
          cards={cards}
          onClose={() => setKind(undefined)}
          onDone={(words) => {
            setKind(undefined);
            setSaid(words);
          }}
        />
      )}
    </section>
  );
}

function Confirm({
  kind,
  cards,
  onClose,
  onDone,
}: {
  kind: 'approve' | 'deny';
  cards: readonly Card[];
  onClose: () => void;
  onDone: (words: string) => void;
}): JSX.Element {
  const [reason, setReason] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isYes = kind === 'approve';
  const send = async () => {
    setBusy(true);
    const say = reason.trim() === '' ? {} : { reason: reason.trim() };
    // As they are listed here: of one that changes meanwhile the server takes no approval.
    const answered = await Promise.all(
      cards.map((card) => {
        const digest = requestOf(card).approval?.previewDigest;
        if (!isYes) return decide(card, { kind: 'deny', ...say });
        return digest === undefined ? false : decide(card, { kind: 'approve', previewDigest: digest, ...say });
      }),
    );
    const taken = answered.filter(Boolean).length;
    const left = cards.length - taken;
    const words = `${taken} ${isYes ? 'approved' : 'denied'}.`;
    onDone(left === 0 ? words : `${words} ${left} not: open ${left === 1 ? 'it' : 'them'} to see why.`);
  };
  return (
    <Dialog title={`${isYes ? 'Approve' : 'Deny'} ${cards.length} questions`} onClose={onClose}>
      <ul class="plain" aria-label="What is answered">
        {cards.map((card) => (
          <li key={card.key}>
            <b>
              <Visible text={titleOf(card)} />
            </b>{' '}
            <Visible text={argsLine(requestOf(card).args)} />{' '}
            <span class="soft">
              for <Visible text={card.userId} />
            </span>
          </li>
        ))}
      </ul>
      <label class="reason">
        <span>Reason {isYes ? '(kept in the log)' : '(the agents get it)'}</span>
        <textarea rows={2} dir="auto" value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      <div class="buttons">
        <button type="button" class="quiet" onClick={onClose}>
          Answer none
        </button>
        <button
          type="button"
          class={isYes ? 'primary' : 'danger'}
          disabled={isBusy || link.value !== 'ready'}
          onClick={() => void send()}
        >
          {isBusy ? 'Sending your answers…' : `${isYes ? 'Approve' : 'Deny'} these ${cards.length}`}
        </button>
      </div>
    </Dialog>
  );
}
