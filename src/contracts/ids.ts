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
  const fault = faultOf(id);
  if (fault === undefined) return;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_ID', `${kind} ${describe(id)} ${fault}; use one plain segment`);
}

export function isSafeId(id: unknown): boolean {
  return faultOf(id) === undefined;
}

function faultOf(id: unknown): string | undefined {
  if (typeof id !== 'string') return 'is not a string';
  if (id === '') return 'is empty';
  if (id.length > MAX_ID) return `is longer than ${MAX_ID} characters`;
  if (id === '.' || id === '..') return 'is a folder step';
  if (unsafe.test(id)) return 'holds a separator or a control character';
  if (id.trim() !== id) return 'begins or ends with white space';
  if (!id.isWellFormed()) return 'holds a lone surrogate';
  return undefined;
}

function describe(id: unknown): string {
  return typeof id === 'string' ? JSON.stringify(id.slice(0, 40)) : '';
}
