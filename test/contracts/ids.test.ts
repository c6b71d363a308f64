import { expect, test } from 'vitest';
import { assertSafeId, isCoxswainError } from '../../src/contracts/index.ts';

test.each([
  'a',
  'user@example.org',
  'Ärger 7',
  '2026-01-02T03:04:05.678Z',
  '日本',
  'a..b',
  '...',
  '.env',
  'a:b',
  'می‌خواهم',
  '%41',
  'x'.repeat(128),
])('%s is a safe id', (id) => {
  expect(() => assertSafeId('session id', id)).not.toThrow();
});

test.each([
  ['', 'is empty'],
  ['.', 'folder step'],
  ['..', 'folder step'],
  ['a/b', 'separator'],
  ['a\\b', 'separator'],
  ['a\u0000', 'control character'],
  ['a\nb', 'control character'],
  ['%2e%2E', 'separator'],
  ['a%2fb', 'separator'],
  ['a%00', 'separator'],
  ['a\u0085b', 'control character'],
  ['a\u2028b', 'control character'],
  ['invoice\u202efdp.exe', 'control character'],
  ['a\u2067b', 'control character'],
  ['\u200b\u2060', 'shows nothing'],
  [' a', 'white space'],
  ['a\u00a0', 'white space'],
  ['a\ud800', 'lone surrogate'],
  ['x'.repeat(129), 'longer than 128'],
  [7, 'not a string'],
  [undefined, 'not a string'],
])('%j is refused', (id, why) => {
  try {
    assertSafeId('session id', id);
    expect.unreachable();
  } catch (error) {
    expect(isCoxswainError(error) && [error.status, error.code]).toEqual(['INVALID_ARGUMENT', 'E_ID']);
    expect((error as Error).message).toMatch(/^session id /);
    expect((error as Error).message).toContain(why);
    expect((error as Error).message.length).toBeLessThan(140);
  }
});
