import { useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const api = '/agents/v1/agents/clerk/chat';

/** One chat a browser; its id is the session's. */
const chatId = localStorage.getItem('chat') ?? crypto.randomUUID();
localStorage.setItem('chat', chatId);

/** The whole history is the server's: a request needs the newest message alone. */
const transport = new DefaultChatTransport({
  api,
  prepareSendMessagesRequest: ({ id, messages, body, messageId }) => ({
    body: { ...body, id, messages: messages.slice(-1), ...(messageId === undefined ? {} : { messageId }) },
  }),
  prepareReconnectToStreamRequest: ({ id }) => ({ api: `${api}/${id}/stream?wait=true` }),
});

function Chat({ messages: before, person }: { messages: UIMessage[]; person: string }) {
  const [text, setText] = useState('');
  const { messages, sendMessage, addToolApprovalResponse, status, error, stop } = useChat({
    id: chatId,
    messages: before,
    transport,
    resume: before.length > 0,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const isBusy = status === 'submitted' || status === 'streaming';
  return (
    <>
      <header>
        <h1>Refund desk</h1>
        <span>You are {person}.</span>
        {['anna', 'bert']
          .filter((other) => other !== person)
          .map((other) => (
            <a key={other} href={`/as/${other}`}>
              Be {other}
            </a>
          ))}
      </header>
      <ol aria-live="polite">
        {messages.map(({ id, role, parts }) => (
          <li key={id} className={role}>
            {parts.map((part, at) => (
              <Part key={`${id}:${at}`} part={part} answer={addToolApprovalResponse} />
            ))}
          </li>
        ))}
      </ol>
      {error && (
        <p role="alert" className="error">
          {error.message}
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') void sendMessage({ text });
          setText('');
        }}
      >
        <input
          aria-label="Message"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="pay order 7 back"
        />
        {isBusy ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button type="submit" className="primary">
            Send
          </button>
        )}
      </form>
    </>
  );
}

function Part({
  part,
  answer,
}: {
  part: UIMessage['parts'][number];
  answer: ReturnType<typeof useChat>['addToolApprovalResponse'];
}) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'data-waiting') return <p>Waits for a supervisor.</p>;
  if (!isToolUIPart(part)) return null;
  const { approval } = part;
  const { title, preview = [] } = (approval?.descriptor ?? {}) as { title?: string; preview?: { text?: string }[] };
  return (
    <div className="call">
      <strong>{part.type.slice('tool-'.length)}</strong> <code>{JSON.stringify(part.input)}</code>
      {part.state === 'output-available' && <p>{String(part.output)}</p>}
      {part.state === 'output-denied' && <p>Denied.</p>}
      {part.state === 'output-error' && <p className="error">{part.errorText}</p>}
      {part.state === 'approval-requested' && approval && (
        <p>
          {title} {preview.map(({ text }) => text).join(' ')}{' '}
          <button type="button" className="primary" onClick={() => void answer({ id: approval.id, approved: true })}>
            Approve
          </button>{' '}
          <button
            type="button"
            onClick={() => void answer({ id: approval.id, approved: false, reason: 'not this one' })}
          >
            Deny
          </button>
        </p>
      )}
    </div>
  );
}

function App() {
  const [loaded, setLoaded] = useState<{ messages: UIMessage[]; person: string }>();
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    const load = async () => {
      const [me, history] = await Promise.all([fetch('/me'), fetch(`${api}/${chatId}`)]);
      const { id: person } = (await me.json()) as { id: string };
      // A chat that nobody has begun yet is no session.
      if (!history.ok && history.status !== 404) throw new Error(await history.text());
      const { messages } = history.ok ? ((await history.json()) as { messages: UIMessage[] }) : { messages: [] };
      setLoaded({ messages, person });
    };
    load().catch((error: Error) => setFault(error.message));
  }, []);
  if (fault !== undefined) return <p role="alert">{fault}</p>;
  return loaded ? <Chat {...loaded} /> : <p>…</p>;
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
