import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { DisplayPart } from '../parts/display.tsx';
import { Json } from '../parts/json.tsx';
import { titleOf } from '../parts/question-words.ts';
import { Seen } from '../parts/seen.ts';
import { Ago, Until } from '../parts/time.tsx';
import { Visible } from '../parts/visible.tsx';
import { EditVerdict, Why } from '../parts/why.tsx';
import { useExplained } from '../state/explain.ts';
import type { Card } from '../state/inbox.ts';
import { look, placeOf } from '../state/inbox.ts';
import { noteReadWhole, requestOf } from '../state/read-whole.ts';
import { linkTo, linkWithin } from '../state/route.ts';
import { AgentQuestion } from './agent-question.tsx';
import { ApproveBar } from './approve-bar.tsx';
import { Editor } from './editor.tsx';
import { OutcomePanel } from './outcome.tsx';

/** One question: what would happen, why it is asked, and the answer. */
export function QuestionView({ card }: { card: Card }): JSX.Element {
  const request = requestOf(card);
  const { approval } = request;
  const digest = approval?.previewDigest;
  const seen = useMemo(() => new Seen(), [digest]);
  const [edited, setEdited] = useState<Record<string, unknown>>();
  const [isEditing, setEditing] = useState(false);
  const [isFit, setFit] = useState(true);
  useEffect(() => void look(card.key), [card.key, digest]);
  const isRead = seen.left.value === 0 && card.isLooked === true;
  useEffect(() => {
    if (isRead && digest !== undefined) noteReadWhole(card.key, digest);
  }, [isRead, card.key, digest]);
  useEffect(() => {
    setEdited(undefined);
    setEditing(false);
  }, [digest]);
  const isOpen = card.state !== 'closed';
  const place = placeOf(card);
  const onEdit = useExplained(request.requestId, place, edited, edited !== undefined && isOpen);
  const mayAnswer = isOpen && card.whyNot === undefined;
  const preview = approval?.preview ?? [];
  // Other arguments than these run, or have run: they are no promise of what happens.
  const asAsked = !isOpen || edited !== undefined;
  return (
    <article class="question">
      <div class="scroll" id="question">
        <div class="body">
          <a class="back" href={linkTo('inbox')}>
            ← Inbox
          </a>
          <header>
            <h2>
              <Visible text={titleOf(card)} />
            </h2>
            <p class="asked">
              asked by{' '}
              <b>
                <Visible text={request.agentPath.join(' → ') || card.agent} />
              </b>{' '}
              for{' '}
              <b>
                <Visible text={(approval?.requestedBy ?? request.requestedBy)?.id ?? card.userId} />
              </b>{' '}
              · <Ago time={request.requestedAt} />
              {isOpen && request.expiresAt !== undefined && (
                <>
                  {' · '}
                  <Until time={request.expiresAt} />
                </>
              )}
            </p>
          </header>
          {!isOpen && <OutcomePanel card={card} />}
          {isOpen && card.whyNot !== undefined && <WhyNot why={card.whyNot} />}
          {isOpen && card.denied && (
            <p class="notice bad">
              Policy denies this call since it was asked{card.denied.reason === undefined ? '' : ': '}
              <Visible text={card.denied.reason ?? ''} />. No answer lets it run; each is stored.
            </p>
          )}
          {isOpen && card.cut && (
            <p class="notice bad">
              This question is too large to be sent whole. Nobody can approve here what they have not seen: answer it
              where its host runs, or deny it.
            </p>
          )}
          {request.kind === 'rerun_unknown' && isOpen && (
            <p class="notice unknown">
              <span aria-hidden="true">◇ </span>
              <Visible text={request.message ?? ''} />
            </p>
          )}
          {request.message !== undefined &&
            !request.message.startsWith(approval?.title ?? '\0') &&
            request.kind !== 'rerun_unknown' && (
              <p class="message">
                <Visible text={request.message} />
              </p>
            )}
          <Facts card={card} request={request} />
          {approval && <Why requestId={request.requestId} place={place} />}
          {preview.length > 0 && (
            <section aria-label={asAsked ? 'What was asked for' : 'What will happen'}>
              <h3>{asAsked ? 'What was asked for' : 'What will happen'}</h3>
              {preview.map((shown, at) => (
                <DisplayPart key={at} shown={shown} part={`preview ${at}`} {...(isOpen ? { seen } : {})} />
              ))}
            </section>
          )}
          {request.args !== undefined && (approval || Object.keys(request.args).length > 0) && (
            <section aria-label="Arguments">
              <h3>
                {asAsked ? 'Arguments that were asked for' : 'Arguments'}
                {mayAnswer && approval && card.isLooked && !card.cut && !approval.fixedArgs && !isEditing && (
                  <button type="button" class="quiet" data-key="e" onClick={() => setEditing(true)}>
                    Edit…
                  </button>
                )}
              </h3>
              <Json value={request.args} part="arguments" label="Arguments as JSON" {...(isOpen ? { seen } : {})} />
              {isEditing && mayAnswer && (
                <Editor
                  verdict={edited && <EditVerdict answer={onEdit} isForAnswer />}
                  args={request.args}
                  schema={card.outcome?.tool?.inputSchema}
                  onArgs={(args) => {
                    setFit(args !== 'unfit');
                    setEdited(args === 'unfit' ? undefined : args);
                  }}
                  onLeave={() => {
                    setEditing(false);
                    setFit(true);
                    setEdited(undefined);
                  }}
                />
              )}
            </section>
          )}
          {card.said && (
            <p class={`notice ${card.said.tone}`} role="alert">
              <Visible text={card.said.text} />
            </p>
          )}
        </div>
      </div>
      {mayAnswer &&
        (approval ? (
          <ApproveBar
            card={card}
            request={request}
            seen={seen}
            edited={edited}
            isFit={isFit}
            onEdit={edited && onEdit?.said}
          />
        ) : (
          <AgentQuestion card={card} request={request} />
        ))}
    </article>
  );
}

/** Instead of a button that is not there. */
function WhyNot({ why }: { why: string }): JSX.Element {
  const words = why.startsWith('the requester')
    ? 'You asked for this yourself, and policy wants another person to look at it: you may not approve it.'
    : `You may not answer this: ${why}.`;
  return (
    <p class="notice waits">
      <span aria-hidden="true">… </span>
      <Visible text={words} /> The turn continues when somebody who may answer has done so.
    </p>
  );
}

/** The rule that asks, who may answer, and who has. */
function Facts({ card, request }: { card: Card; request: Card['request'] }): JSX.Element | null {
  const { approval, answers = [] } = request;
  if (!approval) return null;
  const { ruleId, reason, approvers } = approval;
  const votes = answers.filter((one) => one.requestId === request.requestId && one.action === 'accept');
  const roles = [approvers?.roles ?? [], ...(approvers?.also ?? [])].filter((list) => list.length > 0);
  return (
    <dl class="facts" aria-label="Why it is asked">
      {ruleId !== undefined && (
        <div>
          <dt>rule</dt>
          <dd>
            <code>
              <Visible text={ruleId} />
            </code>
          </dd>
        </div>
      )}
      {reason !== undefined && (
        <div>
          <dt>reason</dt>
          <dd>
            <Visible text={reason} />
          </dd>
        </div>
      )}
      {roles.map((list) => (
        <div key={list.join()}>
          <dt>who may answer</dt>
          <dd>
            <Visible text={list.join(' or ')} />
            {approvers?.notRequester && ', but not who asked for it'}
          </dd>
        </div>
      ))}
      {roles.length === 0 && approvers?.notRequester && (
        <div>
          <dt>who may answer</dt>
          <dd>anybody but who asked for it</dd>
        </div>
      )}
      {approvers?.quorum !== undefined && approvers.quorum > 1 && (
        <div>
          <dt>approvals</dt>
          <dd>
            {votes.length} of {approvers.quorum}
            {votes.length > 0 && (
              <>
                {': '}
                <Visible text={votes.map(({ by }) => by?.id ?? 'somebody').join(', ')} />
              </>
            )}
          </dd>
        </div>
      )}
      <div>
        <dt>session</dt>
        <dd>
          <a
            href={linkWithin(
              { ...card, sessionId: request.sessionId },
              { call: request.requestId.split('#')[0] ?? '' },
            )}
          >
            <Visible text={request.sessionId} />
          </a>
        </dd>
      </div>
    </dl>
  );
}
