/** Turns of a command or of a conversation. */
export { chat } from './chat.ts';
export { Conversation } from './conversation.ts';
export { greet } from './greeting.ts';
export { outputCheck } from './output-schema.ts';
export type { TurnFrame } from './turn.ts';
export { runStreamOnScreen, viewOf } from './turn.ts';
