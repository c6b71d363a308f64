import { CoxswainError } from '../contracts/index.ts';

/**
 * Characters, as JSON, of what an agent, a tool or a server puts before a person in one question: words, form, context.
 * It is stored, and shown to everybody who may answer it. Arguments and previews have bounds of their own.
 */
const MAX_QUESTION_CHARS = 100_000;

/** Why a question is not put; undefined: it may be. */
export function whyTooLong(question: unknown): string | undefined {
  const chars = writtenChars(question) ?? Number.POSITIVE_INFINITY;
  if (chars <= MAX_QUESTION_CHARS) return undefined;
  return `a question of ${chars} characters is cancelled: it may have ${MAX_QUESTION_CHARS}, with its form`;
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_TOO_LARGE` for what is too long to be put before a person */
export function checkQuestionSize(question: unknown, where: string): void {
  const chars = writtenChars(question) ?? Number.POSITIVE_INFINITY;
  if (chars <= MAX_QUESTION_CHARS) return;
  const message = `${where}: what is asked with has ${chars} characters of JSON; give at most ${MAX_QUESTION_CHARS}`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_TOO_LARGE', message, {
    details: { chars, max: MAX_QUESTION_CHARS },
  });
}

/** Characters of a text, or of a value as JSON; of what is no JSON, none: it is refused where it is checked. */
export function charsOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (writtenChars(value) ?? 0);
}

/** Undefined: it is too deep, or too long, to be written at all. */
function writtenChars(value: unknown): number | undefined {
  if (typeof value === 'string') return value.length;
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch (error) {
    return error instanceof RangeError ? undefined : 0;
  }
}
