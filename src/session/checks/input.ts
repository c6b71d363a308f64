import { badInput as bad, guarded, unreachable } from '../../base/index.ts';
import type { ContentPart, Principal, SessionInput } from '../../contracts/index.ts';
import { CoxswainError, copyJson } from '../../contracts/index.ts';
import { checkInputMembers } from './answer-members.ts';
import { checkPrincipal } from './principal.ts';

/** Largest text of one message, tool result or answer, in characters. */
export const MAX_INPUT_CHARS = 4 * 1024 * 1024;

const kinds = new Set(['message', 'tool_result', 'tool_approval', 'elicitation_response', 'continue']);

/**
 * The inputs of one stream call in the order in which they take effect: answers first. Values are copied, so that
 * a caller who goes on writing to them changes nothing.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT | E_NOT_JSON | E_TOO_DEEP | E_TOO_LARGE`
 */
export function normaliseInput(input: string | SessionInput | readonly SessionInput[]): SessionInput[] {
  return guarded('the input', () => normalised(input));
}

function normalised(input: string | SessionInput | readonly SessionInput[]): SessionInput[] {
  if (typeof input === 'string') return [{ kind: 'message', content: checkText(input) }];
  const list = Array.isArray(input) ? (input as readonly SessionInput[]) : [input as SessionInput];
  if (list.length === 0) throw bad('an empty list of inputs; pass a message, answers, or {kind: "continue"}');
  const inputs = list.map((item, index) => checkInput(item, index));
  const messages = inputs.filter((item) => item.kind === 'message').length;
  if (messages > 1) throw bad('more than one message; send one, the others as steers or as later turns');
  if (messages === 1 && inputs.some((item) => item.kind === 'continue')) {
    throw bad('a message and continue; a message opens a new turn, continue resumes the old one');
  }
  return inputs.sort((a, b) => rank(a) - rank(b));
}

function checkInput(item: SessionInput, index: number): SessionInput {
  if (typeof item !== 'object' || item === null || !kinds.has(item.kind)) {
    throw bad(`input ${index} has no known kind; use ${[...kinds].join(', ')}`);
  }
  const copy = copyJson(item, `input ${index}`);
  switch (copy.kind) {
    case 'message':
      copy.content = checkedContent(copy.content);
      break;
    case 'tool_result':
      checkRequestId(copy.requestId, index);
      if (!Array.isArray(copy.result?.content)) throw bad(`input ${index}: result.content is not an array of parts`);
      checkSize(copy.result);
      break;
    case 'tool_approval':
      checkRequestId(copy.requestId, index);
      checkGiver(copy.by, index);
      if (!isRecordOrNone(copy.args)) throw bad(`input ${index}: args is not an object`);
      checkRemember(copy, index);
      checkSize(copy.args);
      break;
    case 'elicitation_response':
      checkRequestId(copy.requestId, index);
      if (!['accept', 'decline', 'cancel'].includes(copy.response?.action)) {
        throw bad(`input ${index}: response.action is not accept, decline or cancel`);
      }
      checkGiver(copy.by, index);
      if (!isRecordOrNone(copy.response.content)) throw bad(`input ${index}: response.content is not an object`);
      checkRemember(copy, index);
      checkRemember(copy.response, index);
      checkSize(copy.response);
      break;
    case 'continue':
      break;
    default:
      unreachable(copy, `input ${index}`);
  }
  checkInputMembers(copy, `input ${index}`);
  return copy;
}

/** Message content as parts, checked. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT | E_TOO_LARGE` */
export function checkContent(content: string | ContentPart[]): ContentPart[] {
  return guarded('content', () => checkedContent(content));
}

function checkedContent(content: string | ContentPart[]): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: checkText(content) }];
  if (!Array.isArray(content)) throw bad('content is neither text nor an array of parts');
  for (const part of content) {
    if (typeof part !== 'object' || part === null || typeof part.type !== 'string') {
      throw bad('a content part has no type');
    }
    if (part.type === 'function_call' || part.type === 'function_response') {
      throw bad(`a message may not carry ${part.type} parts; answer requests by their id`);
    }
    if (part.type === 'text' && typeof part.text !== 'string') throw bad('a text part has no text');
  }
  checkSize(content);
  return content;
}

function checkText(text: string): string {
  if (text.length > MAX_INPUT_CHARS) throw tooLarge(text.length);
  return text;
}

export function checkSize(value: unknown): void {
  if (value === undefined) return;
  const size = JSON.stringify(value).length;
  if (size > MAX_INPUT_CHARS) throw tooLarge(size);
}

function tooLarge(size: number): CoxswainError {
  return new CoxswainError(
    'INVALID_ARGUMENT',
    'E_TOO_LARGE',
    `input of ${size} characters; at most ${MAX_INPUT_CHARS} are taken: pass large data as an artifact or by reference`,
  );
}

function checkRequestId(id: unknown, index: number): void {
  if (typeof id !== 'string' || id === '') throw bad(`input ${index} has no requestId`);
}

function checkGiver(by: Principal | undefined, index: number): void {
  if (by !== undefined) checkPrincipal(by, `input ${index}: by`);
}

function isRecordOrNone(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

function rank(input: SessionInput): number {
  return input.kind === 'message' || input.kind === 'continue' ? 1 : 0;
}

/** An answer for more than this call is an answer of its own, which says which of the offered rules it means. */
function checkRemember(given: object, index: number): void {
  if (!('remember' in given)) return;
  throw bad(`input ${index}: remember is for respond() and approvals.decide(); answer there, then continue`);
}
