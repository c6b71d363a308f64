import type { AgentEvent } from '../../contracts/index.ts';
import { notesOf, textOfParts } from '../../contracts/index.ts';
import { notRewound } from '../ui/index.ts';
import type { AgUiMessage } from './ag-ui-event.ts';
import { AgUiWriter, shownText } from './ag-ui-writer.ts';

/** Stored events of a session as messages of AG-UI. */
export function agUiMessages(events: readonly AgentEvent[]): AgUiMessage[] {
  const messages: AgUiMessage[] = [];
  const writer = new AgUiWriter({ threadId: '', runId: '' });
  for (const event of notRewound(events)) {
    if (event.type === 'message' && event.role === 'user') {
      if (event.turnId !== undefined || notesOf(event).steer !== undefined)
        messages.push({ id: event.id, role: 'user', content: shownText(event.content) });
    } else if (event.type === 'tool_request') {
      const { requestId: id, name, args } = event;
      const call = { id, type: 'function' as const, function: { name, arguments: JSON.stringify(args) } };
      messages.push({ id: event.id, role: 'assistant', toolCalls: [call] });
    } else if (event.type === 'tool_response') {
      const { id, requestId: toolCallId, content, isError } = event;
      const error = isError ? { error: textOfParts(content) } : {};
      messages.push({ id, role: 'tool', toolCallId, content: shownText(content), ...error });
    } else for (const one of writer.write(event)) add(messages, one);
  }
  return messages;
}

/** Adds what a writer says of words to the messages, as a client does. */
function add(messages: AgUiMessage[], event: ReturnType<AgUiWriter['write']>[number]): void {
  if (event.type === 'TEXT_MESSAGE_START') {
    const { messageId: id, name } = event;
    messages.push({ id, role: 'assistant', content: '', ...(name === undefined ? {} : { name }) });
  } else if (event.type === 'REASONING_MESSAGE_START') {
    messages.push({ id: event.messageId, role: 'reasoning', content: '' });
  } else if (event.type === 'TEXT_MESSAGE_CONTENT' || event.type === 'REASONING_MESSAGE_CONTENT') {
    const message = messages.findLast(({ id }) => id === event.messageId);
    if (message) message.content = (message.content ?? '') + event.delta;
  }
}
