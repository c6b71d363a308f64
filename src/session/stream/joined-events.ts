import type { AgentEvent } from '../../contracts/index.ts';
import { notesOf } from '../../contracts/index.ts';
import type { Joining } from './joining.ts';

type Message = Extract<AgentEvent, { type: 'message' }>;
type Update = Extract<AgentEvent, { type: 'tool_update' }>;

/**
 * Of what is shown and in no log, for a consumer that is behind: pieces of one message come as one longer piece, and of the
 * progress of one call the newest counts. Each event that is stored stands by itself.
 */
export const joinedEvents: Joining<AgentEvent> = {
  keyOf(event) {
    if (event.seq !== undefined || event.cursor !== undefined) return undefined;
    if (event.type === 'tool_update') return JSON.stringify(['update', event.threadId, event.requestId]);
    if (event.type !== 'message' || !event.partial || event.content.length !== 1) return undefined;
    const [piece] = event.content;
    if (piece?.type !== 'text' && piece?.type !== 'thought') return undefined;
    const { messageId, part } = notesOf(event);
    // What names no message is of the one that its agent says now.
    return JSON.stringify([piece.type, event.threadId, event.agentId, event.turnId, event.role, messageId, part]);
  },
  join(waiting, next) {
    if (waiting.type === 'tool_update') return joinedUpdate(waiting, next as Update);
    return joinedPiece(waiting as Message, next as Message);
  },
};

function joinedUpdate(waiting: Update, next: Update): Update {
  const { argsDelta: before = '' } = waiting;
  const { argsDelta: after } = next;
  const args = before === '' && after === undefined ? {} : { argsDelta: before + (after ?? '') };
  return { ...waiting, ...next, ...args };
}

function joinedPiece(waiting: Message, next: Message): Message {
  const [before] = waiting.content;
  const [after] = next.content;
  if (before?.type === 'text' && after?.type === 'text')
    return { ...waiting, content: [{ ...before, text: before.text + after.text }] };
  if (before?.type === 'thought' && after?.type === 'thought')
    return { ...waiting, content: [{ ...before, thought: before.thought + after.thought }] };
  return waiting;
}
