import type { Content, MessageInput } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { guarded } from '../../session/index.ts';
import type { AutoToolsInput } from './chat.ts';
import { Chat, openCalls } from './chat.ts';
import type { AutoToolsOptions } from './options.ts';
import { checkAutoTools } from './options-shape.ts';

/** A request's input, and what stood before it. */
export interface ChatWithOptions {
  chat: Chat;
  options: AutoToolsOptions;
}

/**
 * The chat that an input means, and the options with those of the chat beneath.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`: no content, or calls without a result
 */
export function conversationOf(
  input: AutoToolsInput,
  given: AutoToolsOptions | Partial<AutoToolsOptions>,
): ChatWithOptions {
  checkAutoTools(given);
  const isChat = guarded('contents', () => input instanceof Chat);
  const options = (isChat ? { ...(input as Chat).options, ...given } : given) as AutoToolsOptions;
  const chat = chatOf(input, options);
  if (chat.history.length === 0) throw bad('there is no content to answer to; give it a text or a history');
  const [open] = openCalls(chat.history);
  if (open) {
    throw bad(`call ${open.id} of ${open.name} has no result in this history; add one, for instance by executeCalls`);
  }
  if (options.model === undefined) throw bad('no model is given; pass a Model, or the name of one');
  return { chat, options };
}

function chatOf(input: AutoToolsInput, options: AutoToolsOptions): Chat {
  if (input instanceof Chat) return input;
  if (typeof input === 'string') return Chat.new(options).addTurn('user', input);
  if (guarded('contents', () => Array.isArray(input))) return Chat.new(options, input as readonly Content[]);
  throw bad('contents are a text, a list of contents, or a Chat');
}

/**
 * The history as a run takes it: its last turn is the message where it is the user's words, and all of it stands
 * before where it is not (results, or the model's words): `placeholder` then holds the message's place.
 */
export function split(history: readonly Content[]): {
  before: readonly Content[];
  input: MessageInput;
  placeholder: boolean;
} {
  const last = history.at(-1);
  const isMessage = last?.role === 'user' && !last.parts.some((part) => part.type === 'function_response');
  if (last && isMessage) {
    return { before: history.slice(0, -1), input: { kind: 'message', content: [...last.parts] }, placeholder: false };
  }
  return { before: history, input: { kind: 'message', content: [{ type: 'text', text: '' }] }, placeholder: true };
}

function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
