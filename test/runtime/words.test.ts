import { describe, expect, test } from 'vitest';
import { CoxswainError } from '../../src/contracts/index.ts';
import { failureOf, limitReason, thrownOutcome } from '../../src/runtime/agent/failure.ts';
import { SUSPENDED } from '../../src/runtime/log/outcome.ts';
import { finishReasonOf, unknownEnd } from '../../src/runtime/model/finish-reason.ts';
import { isResponse, modelFailure, thrownFailure, unknownEndOf } from '../../src/runtime/model/model-failure.ts';
import { secretsIn, withoutSecrets } from '../../src/runtime/services/secrets.ts';

describe('the end of an answer', () => {
  test.each([
    ['stop', 'stop'],
    ['STOP', 'stop'],
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['eos', 'stop'],
    ['tool_use', 'tool_calls'],
    ['Tool_Calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
    ['refusal', 'refusal'],
    ['SAFETY', 'safety'],
    ['content_filter', 'safety'],
    ['IMAGE_SAFETY', 'safety'],
    ['length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['max_output_tokens', 'length'],
    ['max_completion_tokens', 'length'],
    ['maxtokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tokens', undefined],
    ['', undefined],
    ['constructor', undefined],
    ['OTHER', undefined],
  ])('by %j is %s', (word, reason) => {
    expect(finishReasonOf(word)).toBe(reason);
    expect(unknownEndOf({ finishReason: word }) === undefined).toBe(reason !== undefined);
  });

  test.each([
    ['overloaded', true],
    ['server_busy', true],
    ['insufficient_system_resource', true],
    ['network_error', true],
    ['timeout', true],
    ['time_out', true],
    ['cancelled', true],
    ['MALFORMED_FUNCTION_CALL', true],
    ['pause_turn', true],
    ['OTHER', false],
    ['unexpected', false],
  ])('by %j may be worth another try: %s', (word, retryable) => {
    expect(unknownEnd(word)).toEqual({ code: word, retryable, message: expect.stringContaining(JSON.stringify(word)) });
    expect(unknownEndOf({ finishReason: word })).toMatchObject({ errorCode: word, retryable });
  });

  test('of which nothing is said is none that is not known', () => {
    expect(unknownEndOf({})).toBeUndefined();
  });
});

describe('what went wrong', () => {
  const coded = (code: string, more: object = {}) =>
    new CoxswainError('RESOURCE_EXHAUSTED', code as 'E_MODEL', 'why', { retryable: true, ...more });

  test.each([
    ['E_MAX_TIME', 'max_time'],
    ['E_MAX_BUDGET', 'max_budget'],
    ['E_MAX_LLM_CALLS', 'max_turns'],
    ['E_REFUSED', 'refusal'],
    ['E_MODEL', undefined],
  ])('%s ends a turn with %s, and is fatal only where that is no limit', (code, reason) => {
    expect(limitReason(coded(code))).toBe(reason);
    expect(failureOf(coded(code))).toEqual({
      ...{ status: 'RESOURCE_EXHAUSTED', code, message: 'why', retryable: true },
      ...{ reason: reason ?? 'failed', fatal: reason === undefined },
    });
  });

  test('without a code is internal; with details it keeps them', () => {
    expect(limitReason(new Error('E_MAX_TIME'))).toBeUndefined();
    expect(failureOf(new Error('why'))).toEqual({
      ...{ reason: 'failed', status: 'INTERNAL', code: 'E_INTERNAL', message: 'why', fatal: true, retryable: false },
    });
    expect(failureOf(coded('E_MODEL', { details: { a: 1 } }))).toMatchObject({ details: { a: 1 } });
    expect(thrownFailure('m', coded('E_MODEL', { details: { a: 1 } }))).toEqual({
      ...{ reason: 'failed', status: 'RESOURCE_EXHAUSTED', code: 'E_MODEL', message: 'why', fatal: true },
      ...{ retryable: true, details: { a: 1 } },
    });
    expect(thrownFailure('m', coded('E_MODEL'))).not.toHaveProperty('details');
    expect(thrownFailure('m', new Error('away'))).toEqual({
      ...{ reason: 'failed', status: 'UNAVAILABLE', code: 'E_MODEL', message: 'model m failed: away' },
      ...{ fatal: true, retryable: false },
    });
  });

  test('in a run that was aborted is no failure', () => {
    expect(thrownOutcome(AbortSignal.abort(), new Error('why'))).toBe(SUSPENDED);
    expect(thrownOutcome(new AbortController().signal, new Error('why'))).toMatchObject({
      kind: 'failed',
      failure: { message: 'why' },
    });
  });

  test('at a model is told as it says', () => {
    expect(modelFailure({ errorCode: 'x', retryable: true })).toEqual({
      ...{ reason: 'failed', status: 'UNAVAILABLE', code: 'E_MODEL', message: 'the model failed: x' },
      ...{ fatal: true, retryable: true, details: { errorCode: 'x' } },
    });
    expect(modelFailure({ errorCode: 'x', errorMessage: 'why' })).toMatchObject({
      ...{ status: 'INTERNAL', message: 'why', retryable: false },
    });
    const values = [{ errorCode: 'x' }, {}, null, undefined, 'x', Object.assign(new Error('no'), { errorCode: 'x' })];
    expect(values.map(isResponse)).toEqual([true, false, false, false, false, false]);
  });
});

describe('secrets of a credential', () => {
  test('are its texts, whatever says whose it is left out, in each form that a text of an error may have', () => {
    const credential = {
      type: 'oauth2-bearer',
      client_id: 'client-one',
      clientSecret: 'cli"ent/secret',
      user: 'ann-the-user',
      nested: { list: ['in-a-list', 5, null], token: 'in-nested' },
      short: 'abc12',
      expires_at: '2026-11-29T00:00:00Z',
    };
    expect(secretsIn(credential).toSorted()).toEqual(
      ['cli"ent/secret', 'cli\\"ent/secret', 'cli%22ent%2Fsecret', 'in-a-list', 'in-nested'].toSorted(),
    );
    expect(secretsIn('123456')).toEqual(['123456']);
    expect(secretsIn('12345')).toEqual([]);
    expect(secretsIn(undefined)).toEqual([]);
    const deep = (depth: number): unknown => (depth === 0 ? 'the-secret' : { a: deep(depth - 1) });
    expect([secretsIn(deep(8)), secretsIn(deep(9))]).toEqual([['the-secret'], []]);
  });

  test('are hidden wherever they stand, the longest first', () => {
    const value = { 'a-secret-b': ['x secret-one y', 1, null, { c: 'secret' }], n: true };
    expect(withoutSecrets(value, ['secret', 'secret-one'])).toEqual({
      'a-***-b': ['x *** y', 1, null, { c: '***' }],
      n: true,
    });
    expect(withoutSecrets(value, [])).toBe(value);
  });
});
