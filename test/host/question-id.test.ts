import { expect, test } from 'vitest';
import { callIdOf, isHostQuestion, isPolicyQuestion, questionId } from '../../src/contracts/values/question-id.ts';

test.each(['c1', 'toolu_01', 'a#b'])(
  'S3-63 a question about call %s is found by its id, however often it is asked',
  (callId) => {
    for (const kind of ['policy', 'rerun'] as const) {
      for (const n of [0, 1, 12]) {
        const id = questionId(callId, kind, n);
        expect([callIdOf(id), isHostQuestion(id), isPolicyQuestion(id)]).toEqual([callId, true, kind === 'policy']);
      }
    }
    // An agent's own question is not the host's.
    expect([callIdOf(`${callId}#0`), isHostQuestion(`${callId}#0`)]).toEqual([callId, false]);
  },
);

test('a call without a question is itself', () => {
  expect([callIdOf('c1'), isHostQuestion('c1'), isHostQuestion('c1#policy.x')]).toEqual(['c1', false, false]);
});
