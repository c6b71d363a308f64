import { Chat } from '@ai-sdk/react';
import type { ChatInit, UIMessage } from 'ai';
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';

export interface PageOptions extends Omit<ChatInit<UIMessage>, 'transport'> {
  token?: string;
  query?: string;
}

/** The chat of a page, as `useChat` keeps it: its transport, its parser and its state are the AI SDK's. */
export function page(
  front: { url: string },
  { token = 'anna', query = '', ...init }: PageOptions = {},
): Chat<UIMessage> {
  const api = `${front.url}/v1/agents/bot/chat${query}`;
  const headers = { authorization: `Bearer ${token}` };
  return new Chat({
    id: 's',
    transport: new DefaultChatTransport({ api, headers }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    ...init,
  });
}

/** Resolves when the chat rests in a state that fits. */
export function resting(chat: Chat<UIMessage>, fits: (chat: Chat<UIMessage>) => boolean = () => true): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (chat.status !== 'ready' && chat.status !== 'error') return;
    if (!fits(chat)) return;
    stop();
    stopMessages();
    resolve();
  };
  const stop = chat['~registerStatusCallback'](look);
  const stopMessages = chat['~registerMessagesCallback'](look);
  look();
  return promise;
}

/** Resolves when something has come over the stream. */
export function streaming(chat: Chat<UIMessage>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = chat['~registerStatusCallback'](() => {
    if (chat.status !== 'streaming') return;
    stop();
    resolve();
  });
  return promise;
}

export const toolsOf = (chat: { messages: UIMessage[] }) =>
  chat.messages.flatMap(({ parts }) => parts.filter(isToolUIPart));

/** What a reader sees: texts, and calls with their states. */
export function seen(messages: readonly UIMessage[]): string[][] {
  return messages.map(({ role, parts }) => [
    role,
    ...parts.flatMap((part) => {
      if (part.type === 'text' || part.type === 'reasoning') return [`${part.type}: ${part.text}`];
      if (isToolUIPart(part))
        return [
          `${part.type} ${part.state}${'output' in part && part.output !== undefined ? ` ${JSON.stringify(part.output)}` : ''}`,
        ];
      return part.type.startsWith('data-') ? [part.type] : [];
    }),
  ]);
}
