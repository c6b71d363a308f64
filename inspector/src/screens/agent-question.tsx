import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { draftOf, Form, fieldsOf, valuesOf } from '../parts/form.tsx';
import type { Card } from '../state/inbox.ts';
import { decide } from '../state/inbox.ts';

/** What an agent, or a tool of its own, asks by itself: yes or no, or a form. */
export function AgentQuestion({ card, request }: { card: Card; request: Card['request'] }): JSX.Element {
  const schema = request.kind === 'elicitation' ? request.requestedSchema : undefined;
  const fields = useMemo(() => fieldsOf(schema, {}), [schema]);
  const [draft, setDraft] = useState(() => draftOf(fields, {}));
  const [isTried, setTried] = useState(false);
  const { values, faults } = valuesOf(fields, draft);
  const isSending = card.state === 'sending';
  if (request.elicitation === 'auth_required') {
    return (
      <p class="notice waits">The agent needs a credential. It is given in the application, never on this page.</p>
    );
  }
  const yes = () => {
    setTried(true);
    if (faults.size > 0) return;
    void decide(card, { kind: 'elicitation', action: 'accept', ...(fields.length > 0 ? { content: values } : {}) });
  };
  return (
    <section class="answer" aria-label="Your answer">
      {fields.length > 0 && (
        <Form
          fields={fields}
          draft={draft}
          faults={isTried ? faults : new Map()}
          onDraft={setDraft}
          isDisabled={isSending}
        />
      )}
      <div class="buttons">
        <button
          type="button"
          class="deny"
          disabled={isSending}
          onClick={() => void decide(card, { kind: 'elicitation', action: 'decline' })}
        >
          Decline
        </button>
        <button type="button" class="primary" disabled={isSending} onClick={yes}>
          {fields.length > 0 ? 'Send the answer' : 'Yes'}
        </button>
      </div>
    </section>
  );
}
