import type { Content, ContentPart } from 'coxswain';
import { textOfParts } from 'coxswain';

type FunctionResponse = Extract<ContentPart, { type: 'function_response' }>;

/** What a tool came back with. */
export interface Answer {
  name: string;
  /** What it says, or the reason why it failed. */
  text: string;
  /** `pending`: a placeholder stands for an outcome that is not known yet. */
  status: 'ok' | 'error' | 'pending';
  errorType?: string;
}

export interface Turn {
  /** What the user asked for, in order; words added while the turn ran come after the first. */
  requests: string[];
  /** Answers to the calls of each model response, in order. */
  batches: Answer[][];
}

/**
 * The turn that is open. It starts with the first user text after the last answer in words; user texts between tool
 * rounds belong to it.
 */
export function readTurn(contents: readonly Content[]): Turn {
  let requests: string[] = [];
  let calls: { id: string; name: string }[][] = [];
  const answers = new Map<string, Answer>();
  let answered = false;
  for (const { role, parts } of contents) {
    const batch: { id: string; name: string }[] = [];
    let responses = 0;
    for (const part of parts) {
      if (part.type === 'function_call') batch.push({ id: part.id, name: part.name });
      if (part.type !== 'function_response') continue;
      responses++;
      answers.set(part.id, answerOf(part));
    }
    if (role === 'model') {
      answered = batch.length === 0;
      if (!answered) calls.push(batch);
      continue;
    }
    const text = textOfParts(parts);
    if (text === '' && responses > 0) continue;
    if (answered) {
      requests = [];
      calls = [];
      answered = false;
    }
    requests.push(text);
  }
  const open = (name: string): Answer => ({ name, text: 'no answer yet', status: 'pending' });
  return { requests, batches: calls.map((batch) => batch.map(({ id, name }) => answers.get(id) ?? open(name))) };
}

const unsettled = new Set(['pending', 'running', 'waiting', 'in_progress', 'input_required', 'started', 'working']);

function answerOf(part: FunctionResponse): Answer {
  const { name, response, isError, errorType } = part;
  const text = textOf(part);
  if (isError || response.error !== undefined) {
    return { name, text, status: 'error', ...(errorType === undefined ? {} : { errorType }) };
  }
  const pending =
    response.pending === true ||
    part._meta?.placeholder === true ||
    (typeof response.status === 'string' && unsettled.has(response.status));
  return { name, text, status: pending ? 'pending' : 'ok' };
}

function textOf({ response, content }: FunctionResponse): string {
  const beside = textOfParts(content ?? []);
  return textOfResponse(response) ?? (beside !== '' ? beside : JSON.stringify(response));
}

/** Tools answer with plain text; hosts may wrap it in one of several ways. */
export function textOfResponse(response: Record<string, unknown>): string | undefined {
  for (const key of ['error', 'content', 'text', 'result', 'output', 'message']) {
    const value = response[key];
    const text = Array.isArray(value) ? value.map(wordsOf).join('') : wordsOf(value);
    if (text !== '') return text;
  }
  return undefined;
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const { text, message } = value as Record<string, unknown>;
  return typeof text === 'string' ? text : typeof message === 'string' ? message : '';
}
