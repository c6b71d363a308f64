'use client';

import { useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { useState } from 'react';
import { Part } from './part.tsx';

const api = '/agents/v1/agents/clerk/chat';

/** The whole history is the server's: a request needs the newest message alone. */
const transport = new DefaultChatTransport({
  api,
  prepareSendMessagesRequest: ({ id, messages, body, messageId }) => ({
    body: { ...body, id, messages: messages.slice(-1), ...(messageId === undefined ? {} : { messageId }) },
  }),
  prepareReconnectToStreamRequest: ({ id }) => ({ api: `${api}/${id}/stream?wait=true` }),
});

export function Chat({ id, before, person }: { id: string; before: UIMessage[]; person: string }) {
  const [text, setText] = useState('');
  const { messages, sendMessage, addToolApprovalResponse, status, error, stop } = useChat({
    id,
    messages: before,
    transport,
    resume: before.length > 0,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const isBusy = status === 'submitted' || status === 'streaming';
  const other = person === 'anna' ? 'bert' : 'anna';
  return (
    <main>
      <header>
        <h1>Refund desk</h1>
        <span>You are {person}.</span>
        <a href={`/as/${other}?chat=${id}`}>Be {other}</a>
        {/* Another page, which is loaded: not a link of the router. */}
        <a href="/">New chat</a>
      </header>
      <ol aria-live="polite">
        {messages.map(({ id: key, role, parts }) => (
          <li key={key} className={role}>
            {parts.map((part, at) => (
              <Part key={`${key}:${at}`} part={part} answer={addToolApprovalResponse} />
            ))}
          </li>
        ))}
        {messages.length === 0 && <li className="hint">Write: pay order 7 back.</li>}
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
    </main>
  );
}
