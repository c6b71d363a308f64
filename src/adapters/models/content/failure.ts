import { messageOf } from '../../../contracts/index.ts';
import type { FinishReason } from '../../../runtime/index.ts';
import { CONTEXT_OVERFLOW, finishReasonOf, unknownEnd } from '../../../runtime/index.ts';

/** What went wrong at a provider, in its adapter's own words. Never shown as it is: it ends as an error frame. */
export class ProviderFailure extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(code: string, message: string, retryable: boolean) {
    super(message);
    this.name = 'ProviderFailure';
    this.code = code;
    this.retryable = retryable;
  }
}

/**
 * What the provider's word for the end of an answer means.
 * @throws ProviderFailure for a word that is not known: with `tool_calls` for it, half an answer would run
 */
export function knownEnd(word: string): FinishReason {
  const reason = finishReasonOf(word);
  if (reason) return reason;
  const { code, message, retryable } = unknownEnd(word);
  throw new ProviderFailure(code, message, retryable);
}

/** The end of an answer that tells of more than one: what one has cut short or refused, no later word makes whole. */
export function laterEnd(before: string | undefined, next: string): string {
  const known = typeof before === 'string' && before !== 'FINISH_REASON_UNSPECIFIED' ? finishReasonOf(before) : 'stop';
  return before === undefined || known === 'stop' || known === 'tool_calls' ? next : before;
}

/**
 * A text of an answer; null and nothing are none.
 * @throws ProviderFailure for any other value: what is made of it would be no answer
 */
export function checkedText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  const what = Array.isArray(value) ? 'a list' : `of type ${typeof value}`;
  throw new ProviderFailure('bad_response', `a text in the answer is ${what}`, true);
}

export interface ModelFailure {
  /** `http_<status>`, `request_error`, `timeout`, `stream_ended`, or the provider's own word. */
  code: string;
  message: string;
  retryable: boolean;
  /** Milliseconds that the provider asks to wait. */
  waitMs?: number | undefined;
}

const retryableStatus = new Set([408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);
const retryableWords = /overloaded|rate_limit|server_error|api_error|unavailable|timeout|internal|resource_exhausted/i;
/** Out of money is not out of breath. */
const exhausted = /insufficient_quota|billing|credit balance/i;
/**
 * A request that is longer than its model's window, in the words of OpenAI and of servers like it, of Anthropic, Gemini, GitHub
 * Copilot, xAI, Mistral, llama.cpp and Bedrock.
 */
const overflow = new RegExp(
  [
    'context_length_exceeded|exceed_context_size|max_prompt_tokens_exceeded',
    'maximum (context|prompt) length|prompt token count of \\d+ exceeds the limit',
    "exceeds? (the |your |its )?(available |model's )?context (size|window|length|limit)",
    // Of bytes rather than tokens: what is left out of a request makes it shorter in both.
    'request_too_large',
    'prompt is too long|input is too long|prompt contains \\d+ tokens and .*too large',
    'input token count.*exceeds the maximum number of tokens',
  ].join('|'),
  'i',
);
const MAX_MESSAGE = 600;

/** What an SDK threw, by shape: the SDKs need not be loaded to read it. */
export function modelFailureOf(thrown: unknown): ModelFailure {
  if (thrown instanceof ProviderFailure) {
    return { code: thrown.code, message: thrown.message, retryable: thrown.retryable };
  }
  const { status, error, name } = fieldsOf(thrown);
  if (name === 'ApiError' && typeof status === 'number') return fromBody(parsed(messageOf(thrown)), status);
  if (typeof status === 'number') return fromBody(error ?? messageOf(thrown), status);
  if (error !== undefined && error !== null) return fromBody(error, undefined);
  if (thrown instanceof SyntaxError) return { code: 'bad_response', message: messageOf(thrown), retryable: true };
  const cause = causeOf(thrown);
  if (cause !== undefined && /^UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT$/.test(cause)) {
    return { code: 'timeout', message: `${messageOf(thrown)} (${cause})`, retryable: true };
  }
  const message = cause === undefined ? messageOf(thrown) : `${messageOf(thrown)} (${cause})`;
  return { code: 'request_error', message, retryable: true };
}

/** An error that a provider sent, as a body or inside a stream. */
export function fromBody(body: unknown, status: number | undefined): ModelFailure {
  const { error: inner } = fieldsOf(body);
  const said = fieldsOf(typeof inner === 'object' && inner !== null ? inner : body);
  const numeric = status ?? statusOf(said.code);
  const words = [said.type, said.code, said.status].filter((word): word is string => typeof word === 'string');
  const message =
    typeof said.message === 'string' ? said.message : typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
  const code = numeric === undefined ? (words.find((word) => word !== 'error') ?? 'request_error') : `http_${numeric}`;
  const may = numeric === undefined ? words.some((word) => retryableWords.test(word)) : retryableStatus.has(numeric);
  const all = `${words.join(' ')} ${message}`;
  // A rate limit by the minute speaks of tokens, too: such a request may succeed later.
  if (numeric !== 429 && overflow.test(all)) return { code: CONTEXT_OVERFLOW, message, retryable: false };
  const retryable = may && !exhausted.test(all);
  return { code, message, retryable, waitMs: retryInfo(said.details) };
}

/** A status as a number, or as text. */
function statusOf(code: unknown): number | undefined {
  if (typeof code === 'number') return code;
  return typeof code === 'string' && /^[45]\d\d$/.test(code) ? Number(code) : undefined;
}

export function bodyFailure(body: unknown): ProviderFailure {
  const { code, message, retryable } = fromBody(body, undefined);
  return new ProviderFailure(code, message, retryable);
}

/** `google.rpc.RetryInfo` among the details of an error: `{"retryDelay": "34.5s"}`. */
function retryInfo(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const { retryDelay } = fieldsOf(detail);
    const seconds = typeof retryDelay === 'string' ? Number.parseFloat(retryDelay) : Number.NaN;
    if (Number.isFinite(seconds)) return seconds * 1000;
  }
  return undefined;
}

function parsed(text: string): unknown {
  const start = text.indexOf('{');
  if (start < 0) return text;
  try {
    return JSON.parse(text.slice(start));
  } catch {
    return text;
  }
}

/** What is at the bottom of it: `ECONNREFUSED`, say, where the SDK speaks of a connection error. */
function causeOf(thrown: unknown): string | undefined {
  let cause: unknown;
  for (let depth = 0, next = fieldsOf(thrown).cause; next instanceof Error && depth < 8; depth++) {
    cause = next;
    next = next.cause;
  }
  if (!(cause instanceof Error)) return undefined;
  const { code } = fieldsOf(cause);
  return typeof code === 'string' ? code : cause.message;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const secretForms =
  /\b(?:sk|rk|pk|key|tok)-[\w*-]{6,}|\bAIza[\w-]{8,}|\b(?:Bearer|Basic)\s+\S+|(?<=[?&](?:key|token)=)[^&\s"]+/gi;

/** The text without the secrets given, or anything that looks like one; cut to a readable length. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 8) clean = clean.replaceAll(secret, '***');
  clean = clean.replaceAll(secretForms, '***');
  return clean.length <= MAX_MESSAGE ? clean : `${clean.slice(0, MAX_MESSAGE)}…`;
}
