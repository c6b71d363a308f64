import type { useChat } from '@ai-sdk/react';
import type { ToolUIPart, UIMessage } from 'ai';
import { isToolUIPart } from 'ai';
import { useState } from 'react';

type Answer = ReturnType<typeof useChat>['addToolApprovalResponse'];

/** Words, a call, or what a call waits for. */
export function Part({ part, answer }: { part: UIMessage['parts'][number]; answer: Answer }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'data-waiting') return <p className="waits">Waits for a supervisor.</p>;
  if (part.type === 'data-arguments') {
    const { input } = part.data as { input: unknown };
    return (
      <p className="waits">
        Approved with other arguments: <code>{JSON.stringify(input)}</code>
      </p>
    );
  }
  if (!isToolUIPart(part)) return null;
  return (
    <div className={`call ${part.state}`}>
      <strong>{part.type.slice('tool-'.length)}</strong> <code>{JSON.stringify(part.input)}</code>
      {part.state === 'output-available' && <p>{String(part.output)}</p>}
      {part.state === 'output-denied' && <p>Denied.</p>}
      {part.state === 'output-error' && <p className="error">{part.errorText}</p>}
      {part.state === 'approval-requested' && (
        <Question key={part.approval.id} approval={part.approval} input={part.input} answer={answer} />
      )}
    </div>
  );
}

/** What a person is asked: what would happen, and with which arguments. They may change these. */
function Question({
  approval: { id, descriptor },
  input,
  answer,
}: {
  approval: NonNullable<ToolUIPart['approval']> & { descriptor?: unknown };
  input: unknown;
  answer: Answer;
}) {
  const [edited, setEdited] = useState<string>();
  const [fault, setFault] = useState<string>();
  const {
    title,
    preview = [],
    fixedArgs,
  } = (descriptor ?? {}) as {
    title?: string;
    preview?: { text?: string }[];
    fixedArgs?: boolean;
  };
  const approve = () => {
    try {
      const options = edited === undefined ? {} : { options: { body: { edits: { [id]: JSON.parse(edited) } } } };
      void answer({ id, approved: true, ...options });
    } catch (error) {
      setFault(String(error));
    }
  };
  return (
    <div className="question">
      <p>
        {title} {preview.map(({ text }) => text).join(' ')}
      </p>
      {edited !== undefined && (
        <textarea
          aria-label="Arguments"
          value={edited}
          rows={edited.split('\n').length}
          onChange={(event) => setEdited(event.target.value)}
        />
      )}
      {fault && (
        <p role="alert" className="error">
          {fault}
        </p>
      )}
      <div className="buttons">
        <button type="button" className="primary" onClick={approve}>
          {edited === undefined ? 'Approve' : 'Approve these arguments'}
        </button>
        {edited === undefined && !fixedArgs && (
          <button type="button" onClick={() => setEdited(JSON.stringify(input, null, 2))}>
            Edit
          </button>
        )}
        <button type="button" onClick={() => void answer({ id, approved: false, reason: 'not this one' })}>
          Deny
        </button>
      </div>
    </div>
  );
}
