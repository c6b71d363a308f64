import { CoxswainError } from './errors.ts';

const MAX_ID = 128;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const unsafe = /[/\\\u0000-\u001f\u007f]|%(?:2e|2f|5c|00)/i;

/**
 * Refuses an id (app, user, session, artifact name) that is not one safe segment: it becomes a row key, a folder
 * and a line in a log, on every backend alike.
 * @throws CoxswainError `INVALID_ARGUMENT / E_ID`
 */
export function assertSafeId(kind: string, id: unknown): asserts id is string {
  let fault: string | undefined;
  if (typeof id !== 'string') fault = 'is not a string';
  else if (id === '') fault = 'is empty';
  else if (id.length > MAX_ID) fault = `is longer than ${MAX_ID} characters`;
  else if (id === '.' || id === '..') fault = 'is a folder step';
  else if (unsafe.test(id)) fault = 'holds a separator or a control character';
  else if (id.trim() !== id) fault = 'begins or ends with white space';
  else if (!id.isWellFormed()) fault = 'holds a lone surrogate';
  if (fault !== undefined) {
    throw new CoxswainError('INVALID_ARGUMENT', 'E_ID', `${kind} ${describe(id)} ${fault}; use one plain segment`);
  }
}

function describe(id: unknown): string {
  return typeof id === 'string' ? JSON.stringify(id.slice(0, 40)) : '';
}
