import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/contracts/values/error-table.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../../src/contracts/values/errors.ts';

const copyPath = '../../src/contracts/values/errors.ts?copy=1';

test('an error says status, code, message, whether to retry, details and cause', () => {
  const cause = new Error('inner');
  const error = new CoxswainError('UNAVAILABLE', 'E_MODEL', 'no answer', { retryable: true, details: { a: 1 }, cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'CoxswainError', status: 'UNAVAILABLE', code: 'E_MODEL', message: 'no answer' });
  expect(error).toMatchObject({ retryable: true, details: { a: 1 }, cause });
});

test('not retryable, without details or cause unless it is said', () => {
  const error = new CoxswainError('INTERNAL', 'E_INTERNAL', 'x');
  expect([error.retryable, error.details, 'cause' in error]).toEqual([false, undefined, false]);
});

test('whether to retry is what the table says of the code, unless the error says otherwise', () => {
  const retryable = (...given: ConstructorParameters<typeof CoxswainError>) => new CoxswainError(...given).retryable;
  expect([
    retryable('ABORTED', 'E_SESSION_CONFLICT', 'x'),
    retryable('ABORTED', 'E_SESSION_CONFLICT', 'x', { retryable: false }),
    retryable('UNAVAILABLE', 'E_STORE', 'x'),
    retryable('UNAVAILABLE', 'E_STORE', 'x', { retryable: true }),
    retryable('UNAVAILABLE', 'E_OF_ANOTHER', 'x'),
  ]).toEqual([true, false, false, true, false]);
});

test('errors of a second copy of the package are recognised', async () => {
  const copy: typeof import('../../src/contracts/values/errors.ts') = await import(copyPath);
  const foreign = new copy.CoxswainError('NOT_FOUND', 'E_NO_EXECUTOR', 'x');
  expect(copy.CoxswainError).not.toBe(CoxswainError);
  expect(foreign instanceof CoxswainError).toBe(false);
  expect(isCoxswainError(foreign)).toBe(true);
  expect(copy.isCoxswainError(new CoxswainError('INTERNAL', 'E_INTERNAL', 'x'))).toBe(true);
});

test.each([undefined, null, 'E_ID', {}, new Error('E_ID'), { status: 'INTERNAL', code: 'E_ID', message: 'x' }])(
  '%o is not one',
  (value) => {
    expect(isCoxswainError(value)).toBe(false);
  },
);

test('messageOf takes whatever was thrown', () => {
  expect([new Error('a'), 'b', 7, undefined, null, Symbol('c')].map(messageOf)).toEqual([
    'a',
    'b',
    '7',
    'undefined',
    'null',
    'Symbol(c)',
  ]);
  expect(messageOf(Object.create(null))).toBe('something that has no text was thrown');
});

test('codes are listed once, in capitals', () => {
  expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length);
  expect(ERROR_CODES.filter((code) => !/^E(_[A-Z]+)+$/.test(code))).toEqual([]);
});
