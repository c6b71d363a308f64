import { CoxswainError } from './errors.ts';

const MAX_ID = 128;
/** What most ids are. */
const plain = /^[\w@:-][\w@:.-]{0,127}$/;
/** Whatever ends a line, and what turns the direction of writing: an id is read by people too. */
const unsafe = /[/\\\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]|%(?:2e|2f|5c|00)/iu;
const invisible = /^\p{Default_Ignorable_Code_Point}+$/u;

/**
 * Refuses an id (app, user, session, artifact name) that is not one safe segment: it becomes a row key, a folder
 * and a line in a log, on every backend alike.
 * @throws CoxswainError `INVALID_ARGUMENT / E_ID`
 */
export function assertSafeId(kind: string, id: unknown): asserts id is string {
  const fault = faultOf(id);
  if (fault === undefined) return;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_ID', `${kind} ${describe(id)}${fault}; use one plain segment`);
}

export function isSafeId(id: unknown): boolean {
  return faultOf(id) === undefined;
}

function faultOf(id: unknown): string | undefined {
  if (typeof id !== 'string') return 'is not a string';
  if (plain.test(id)) return undefined;
  if (id === '') return 'is empty';
  if (id.length > MAX_ID) return `is longer than ${MAX_ID} characters`;
  if (id === '.' || id === '..') return 'is a folder step';
  if (unsafe.test(id)) return 'holds a separator or a control character';
  if (id.trim() !== id) return 'begins or ends with white space';
  if (!id.isWellFormed()) return 'holds a lone surrogate';
  if (invisible.test(id)) return 'shows nothing';
  return undefined;
}

function describe(id: unknown): string {
  return typeof id === 'string' ? `${JSON.stringify(id.slice(0, 40))} ` : '';
}
