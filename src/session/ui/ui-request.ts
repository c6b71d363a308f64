import { isObject } from '../../base/index.ts';
import type { ContentPart, MessageInput, RequestAnswer } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { readApprovalId } from './approval-id.ts';

/** What a page of the AI SDK asks for by one request. */
export interface UiRequest {
  /** Id of the chat: of the session. */
  sessionId: string;
  /** The person's new message, with the id that the page gave it. */
  message?: { id: string; input: MessageInput };
  /** Answers to questions that the page was shown. They count where the question is open, and no more than any answer. */
  answers: { requestId: string; answer: RequestAnswer }[];
  /** Calls that the message of the page has, which the answer is added to. */
  knownCalls: string[];
}

/**
 * Reads what `useChat` posts: the person's newest message, or their answers to approvals in the newest message of the agent.
 * All else of the history that comes with it is ignored: the session's own is the one that counts, so that nothing in it can
 * be forged. `edits` in the body, by approval id, are arguments to approve instead; `answers`, by request id, are answers to
 * other questions: `{ action: 'accept', content: {…} }`.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for what is no such request, and for what would change history
 * @example
 * ```ts
 * import { fromUiMessages } from 'coxswain/ui';
 *
 * const body = { id: 'chat-1', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello?' }] }] };
 * console.log(fromUiMessages(body).message?.input); // { kind: 'message', content: [ { type: 'text', text: 'Hello?' } ] }
 * ```
 */
export function fromUiMessages(body: unknown): UiRequest {
  if (!isObject(body)) throw bad('the body is no object');
  const { id, messages, trigger } = body;
  if (typeof id !== 'string' || id === '') throw bad('id is the id of the chat, a text');
  if (!Array.isArray(messages)) throw bad('messages is a list');
  if (trigger !== undefined && trigger !== 'submit-message') {
    throw bad(
      `trigger ${JSON.stringify(trigger)?.slice(0, 100)} is not served: the session keeps what was said; send a new message`,
    );
  }
  const named = messages.find((one) => isObject(one) && one.role === 'assistant' && one.id === body.messageId);
  const last: unknown = named ?? messages.at(-1);
  if (!isObject(last)) throw bad('messages has no message at its end');
  const answers = answersIn(body.answers);
  if (last.role === 'user') {
    if (body.messageId !== undefined) throw bad('a message that was sent cannot be changed; send a new one');
    if (typeof last.id !== 'string' || last.id === '') throw bad('the newest message has no id');
    return { sessionId: id, message: { id: last.id, input: messageOf(last.parts) }, answers, knownCalls: [] };
  }
  const parts = Array.isArray(last.parts) ? last.parts.filter(isObject) : [];
  const edits = isObject(body.edits) ? body.edits : {};
  return {
    sessionId: id,
    answers: [...parts.flatMap((part) => approvalIn(part, edits)), ...answers],
    knownCalls: parts.flatMap(({ toolCallId }) => (typeof toolCallId === 'string' ? [toolCallId] : [])),
  };
}

function approvalIn(part: Record<string, unknown>, edits: Record<string, unknown>): UiRequest['answers'] {
  const { state, approval } = part;
  if (state !== 'approval-responded' || !isObject(approval) || typeof approval.id !== 'string') return [];
  const named = readApprovalId(approval.id);
  if (!named) return [];
  const { requestId, previewDigest } = named;
  const reason = typeof approval.reason === 'string' ? { reason: approval.reason } : {};
  // What is no plain yes is a no.
  if (approval.approved !== true) return [{ requestId, answer: { kind: 'deny', ...reason } }];
  const args = Object.hasOwn(edits, approval.id) ? edits[approval.id] : undefined;
  if (args !== undefined && !isObject(args)) throw bad('edits has arguments, an object, for each approval');
  return [{ requestId, answer: { kind: 'approve', previewDigest, ...reason, ...(args ? { args } : {}) } }];
}

function answersIn(answers: unknown): UiRequest['answers'] {
  if (answers === undefined) return [];
  if (!isObject(answers)) throw bad('answers is an object: an answer for each request id');
  return Object.entries(answers).map(([requestId, answer]) => {
    if (!isObject(answer)) throw bad('an answer is an object with action and content');
    const { action, content } = answer;
    if (action !== 'accept' && action !== 'decline' && action !== 'cancel')
      throw bad('action is accept, decline or cancel');
    if (content !== undefined && !isObject(content)) throw bad('content is an object');
    return { requestId, answer: { kind: 'elicitation', action, ...(content ? { content } : {}) } };
  });
}

function messageOf(parts: unknown): MessageInput {
  if (!Array.isArray(parts)) throw bad('the newest message has no parts');
  const content = parts.flatMap((part, at) => contentOf(part, at));
  if (content.length === 0) throw bad('the newest message has neither text nor a file');
  return { kind: 'message', content };
}

function contentOf(part: unknown, at: number): ContentPart[] {
  if (!isObject(part)) throw bad(`part ${at} of the newest message is no object`);
  const { type, text, url, mediaType } = part;
  if (type === 'text' && typeof text === 'string') return [{ type: 'text', text }];
  if (type === 'file' && typeof url === 'string' && typeof mediaType === 'string') {
    const [, data] = /^data:[^,]*;base64,([A-Za-z0-9+/=\s]*)$/.exec(url) ?? [];
    if (data !== undefined) return [{ type: 'media', mimeType: mediaType, data }];
    if (/^https?:/i.test(url)) return [{ type: 'media', mimeType: mediaType, uri: url }];
    throw bad(`part ${at} of the newest message is a file with neither base64 data nor an http address`);
  }
  // Pages keep things of their own in a message.
  if (typeof type === 'string' && (type.startsWith('data-') || type === 'step-start')) return [];
  throw bad(`part ${at} of the newest message is ${JSON.stringify(type)?.slice(0, 100)}, and neither text nor a file`);
}

function bad(what: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `chat request: ${what}`);
}
