import { isObject } from '../../base/index.ts';
import type { ContentPart, MessageInput } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';

/** What a client of AG-UI asks for by one request. */
export interface AgUiRequest {
  /** The session. */
  threadId: string;
  runId: string;
  /** The newest message, where it is the person's. */
  message?: { id: string; input: MessageInput };
  resume: { interruptId: string; status: string; payload?: unknown }[];
}

/**
 * Reads a `RunAgentInput`. Of its messages the newest alone counts, and only if it is the person's: the history is the session's own, so that
 * nothing in it can be forged. State, tools and context of the client are left out.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function readAgUi(body: unknown): AgUiRequest {
  if (!isObject(body)) throw bad('the body is no object');
  const { threadId, runId, messages = [], resume = [] } = body;
  if (typeof threadId !== 'string' || threadId === '') throw bad('threadId is the id of the session, a text');
  if (typeof runId !== 'string' || runId === '') throw bad('runId is a text');
  if (!Array.isArray(messages)) throw bad('messages is a list');
  if (!Array.isArray(resume)) throw bad('resume is a list');
  const entries = resume.map((entry) => {
    if (!isObject(entry) || typeof entry.interruptId !== 'string')
      throw bad('an entry of resume is an object with interruptId, status and payload');
    return { interruptId: entry.interruptId, status: String(entry.status), payload: entry.payload };
  });
  const newest: unknown = messages.at(-1);
  if (!isObject(newest) || newest.role !== 'user') return { threadId, runId, resume: entries };
  if (typeof newest.id !== 'string' || newest.id === '') throw bad('the newest message has no id');
  return { threadId, runId, message: { id: newest.id, input: messageOf(newest.content) }, resume: entries };
}

function messageOf(content: unknown): MessageInput {
  if (typeof content === 'string' && content !== '')
    return { kind: 'message', content: [{ type: 'text', text: content }] };
  if (!Array.isArray(content) || content.length === 0) throw bad('the newest message has no content');
  return { kind: 'message', content: content.map(partOf) };
}

function partOf(part: unknown, at: number): ContentPart {
  const { type, text, source } = isObject(part) ? part : { type: undefined, text: undefined, source: undefined };
  if (type === 'text' && typeof text === 'string') return { type: 'text', text };
  const { type: kind, value, mimeType } = isObject(source) ? source : {};
  if (typeof value === 'string' && typeof mimeType === 'string') {
    if (kind === 'data') return { type: 'media', mimeType, data: value };
    if (kind === 'url' && /^https?:/i.test(value)) return { type: 'media', mimeType, uri: value };
  }
  throw bad(
    `part ${at} of the newest message is neither text nor a file with a mimeType, as data or as an http address`,
  );
}

function bad(what: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `AG-UI request: ${what}`);
}
