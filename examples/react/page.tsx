import { connect } from 'coxswain/client';
import { useApprovals, useSession } from 'coxswain/react';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** One connection a page, made outside of components: it comes back by itself when it is lost. */
const remote = connect(`${location.origin}/agents/v1`);

/** One conversation a browser; its id is the session's. */
const sessionId = localStorage.getItem('session') ?? crypto.randomUUID();
localStorage.setItem('session', sessionId);

function Letters() {
  const { items, status, pending, error, connection, send, respond, abort } = useSession(remote, 'writer', {
    sessionId,
    create: true,
  });
  const [text, setText] = useState('');
  return (
    <>
      <header>
        <h1>Letters</h1>
        <Inbox />
        <span className={`lamp ${connection}`} role="status" aria-label={connection} />
      </header>
      <ol aria-live="polite">
        {items.map((item) =>
          item.type === 'message' ? (
            <li key={item.message.id} className={item.message.role}>
              {item.message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')}
            </li>
          ) : (
            <li key={item.call.id} className="call">
              {item.call.content?.map((part) => (part.type === 'text' ? part.text : '')).join('') ??
                `${item.call.name}: ${item.call.status}`}
            </li>
          ),
        )}
      </ol>
      {pending.map((question) =>
        question.mayAnswer ? (
          <Question key={question.requestId} question={question} answer={respond} />
        ) : (
          <p key={question.requestId} className="question">
            {question.message} Waits for an editor.
          </p>
        ),
      )}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (text.trim() !== '' && (await send(text))) setText('');
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        {status === 'running' ? (
          <button type="button" onClick={() => abort('stopped by the person')}>
            Stop
          </button>
        ) : (
          <button type="submit" className="main">
            Write
          </button>
        )}
      </form>
    </>
  );
}

type Session = ReturnType<typeof useSession>;

/** A letter before it is sent: as it is, changed, or not at all. */
function Question({ question, answer }: { question: Session['pending'][number]; answer: Session['respond'] }) {
  const asked = String(question.args?.text ?? '');
  const [text, setText] = useState(asked);
  const isEdited = text !== asked;
  return (
    <div className="question">
      <p>
        {question.message} To {String(question.args?.to ?? '')}:
      </p>
      <textarea aria-label="Letter" rows={3} value={text} onChange={(event) => setText(event.target.value)} />
      <div className="actions">
        <button
          type="button"
          className="main"
          onClick={() =>
            answer(question.requestId, { kind: 'approve', ...(isEdited ? { args: { ...question.args, text } } : {}) })
          }
        >
          Send it
        </button>
        <button type="button" onClick={() => answer(question.requestId, { kind: 'deny', reason: 'not like this' })}>
          Do not
        </button>
      </div>
    </div>
  );
}

/** Letters of all sessions that wait for this person. */
function Inbox() {
  const { approvals, decide } = useApprovals(remote);
  const others = approvals.filter(({ request }) => request.sessionId !== sessionId);
  return (
    <>
      {others.map((approval) => (
        <button key={approval.request.requestId} type="button" onClick={() => decide(approval, { kind: 'approve' })}>
          Send the letter of {approval.userId}
        </button>
      ))}
    </>
  );
}

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <Letters />
    </StrictMode>,
  );
