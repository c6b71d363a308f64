import { describe, expect, test } from 'vitest';
import type { NextStep, OpenCallFacts } from '../../src/gate/index.ts';
import { nextStep, questionState } from '../../src/gate/index.ts';

const fresh: OpenCallFacts = { mover: 'here', isRepeatable: false, isJudgedElsewhere: false };
type State = NonNullable<OpenCallFacts['question']>['state'];
const asked = (state: State, isRerun = false, isCurrent = true) => ({ question: { state, isRerun, isCurrent } });
const settle = (as: Extract<NextStep, { kind: 'settle' }>['as']): NextStep => ({ kind: 'settle', as });
const run = (on: 'decision' | 'answer', isRerun = false): NextStep => ({ kind: 'run', on, isRerun });
const wait: NextStep = { kind: 'wait' };
const judge: NextStep = { kind: 'judge' };
const inquire: NextStep = { kind: 'inquire' };
const lost = { begun: 'lost' } as const;

// What is recorded, and what is to be done: one row for each rung.
test.each<[string, Partial<OpenCallFacts>, NextStep]>([
  ['nothing on record', {}, judge],
  ['nothing on record, and a host decides', { isJudgedElsewhere: true }, wait],
  ['nothing on record, and somebody else has the handler', { mover: 'elsewhere' }, wait],
  ['let run', { decision: 'approved' }, run('decision')],
  ['let run, and somebody else has the handler', { decision: 'approved', mover: 'elsewhere' }, wait],
  ['let run by its host', { decision: 'approved', isJudgedElsewhere: true }, run('decision')],
  ['denied', { decision: 'denied' }, settle('denied')],
  ['denied, whoever has the handler', { decision: 'denied', mover: 'elsewhere' }, settle('denied')],
  ['asked', asked('open'), wait],
  ['asked, and let run before', { ...asked('open'), decision: 'approved' }, wait],
  ['asked in vain', asked('expired'), settle('expired')],
  ['asked, and somebody said no', asked('declined'), settle('denied')],
  ['asked, and it was called off', asked('cancelled'), settle('cancelled')],
  ['asked, and somebody said yes', asked('accepted'), run('answer')],
  ['a yes after a no', { ...asked('accepted'), decision: 'denied' }, run('answer')],
  ['a yes, and somebody else has the handler', { ...asked('accepted'), mover: 'elsewhere' }, wait],
  ['it runs in another process', { begun: 'elsewhere', decision: 'approved' }, wait],
  ['it runs in another process and may be repeated', { begun: 'elsewhere', isRepeatable: true }, wait],
  ['begun and lost', lost, inquire],
  ['begun and lost, let run', { ...lost, decision: 'approved' }, inquire],
  ['begun and lost by somebody else', { ...lost, mover: 'elsewhere' }, wait],
  ['a yes to its start is none to another run', { ...lost, ...asked('accepted') }, inquire],
  ['a yes to an earlier run is none to the next', { ...lost, ...asked('accepted', true, false) }, inquire],
  ['asked whether to run it again', { ...lost, ...asked('open', true) }, wait],
  ['a yes to another run', { ...lost, ...asked('accepted', true) }, run('answer', true)],
  ['a no to another run', { ...lost, ...asked('declined', true) }, settle('not_again')],
  ['another run is called off', { ...lost, ...asked('cancelled', true) }, settle('not_again')],
  ['nobody said whether to run it again', { ...lost, ...asked('expired', true) }, settle('not_again')],
  ['repeatable, lost, let run', { ...lost, isRepeatable: true, decision: 'approved' }, run('decision', true)],
  ['repeatable, lost, a yes', { ...lost, isRepeatable: true, ...asked('accepted') }, run('answer', true)],
  ['repeatable, lost, never let run', { ...lost, isRepeatable: true }, judge],
  ['repeatable, lost by somebody else', { ...lost, isRepeatable: true, mover: 'elsewhere' }, wait],
  ['its tool is gone', { mover: 'gone' }, settle('not_found')],
  ['gone, and a host has to decide', { mover: 'gone', isJudgedElsewhere: true }, wait],
  [
    'gone, and its host let it run',
    { mover: 'gone', isJudgedElsewhere: true, decision: 'approved' },
    settle('not_found'),
  ],
  ['gone, and others have it', { mover: 'gone', isOthers: true }, wait],
  ['gone, and others have it, begun', { mover: 'gone', isOthers: true, ...lost }, wait],
  ['gone, asked', { mover: 'gone', ...asked('open') }, wait],
  ['gone, a no', { mover: 'gone', ...asked('declined') }, settle('denied')],
  ['gone, a yes', { mover: 'gone', ...asked('accepted') }, settle('not_found')],
  ['gone, begun and lost', { mover: 'gone', ...lost }, inquire],
  ['gone, asked whether to run it again', { mover: 'gone', ...lost, ...asked('open', true) }, wait],
  ['gone, a yes to another run', { mover: 'gone', ...lost, ...asked('accepted', true) }, settle('not_again_gone')],
  ['gone, a no to another run', { mover: 'gone', ...lost, ...asked('declined', true) }, settle('not_again')],
])('%s', (_title, facts, step) => {
  expect(nextStep({ ...fresh, ...facts })).toEqual(step);
});

function* all(): Generator<OpenCallFacts> {
  const booleans = [false, true];
  const states: State[] = ['open', 'expired', 'accepted', 'declined', 'cancelled'];
  const questions = states.flatMap((state) =>
    booleans.flatMap((isRerun) => booleans.map((isCurrent) => ({ state, isRerun, isCurrent }))),
  );
  for (const mover of ['here', 'elsewhere', 'gone'] as const)
    for (const begun of [undefined, 'elsewhere', 'lost'] as const)
      for (const isRepeatable of booleans)
        for (const decision of [undefined, 'approved', 'denied'] as const)
          for (const question of [undefined, ...questions])
            for (const isJudgedElsewhere of booleans)
              yield { mover, begun, isRepeatable, decision, question, isJudgedElsewhere };
}

describe('of all that can be recorded', () => {
  const every = [...all()].map((facts) => ({ facts, step: nextStep(facts) }));

  test('nothing runs that nobody has let run, and nothing on an open, late or negative answer', () => {
    for (const { facts, step } of every) {
      if (step.kind !== 'run') continue;
      if (step.on === 'answer') expect(facts.question?.state, JSON.stringify(facts)).toBe('accepted');
      else expect([facts.decision, facts.question], JSON.stringify(facts)).toEqual(['approved', undefined]);
    }
  });

  test('what may have had effects runs again on a yes to just that alone', () => {
    for (const { facts, step } of every) {
      if (facts.begun !== 'lost' || facts.isRepeatable || step.kind !== 'run') continue;
      expect(facts.question, JSON.stringify(facts)).toEqual({ state: 'accepted', isRerun: true, isCurrent: true });
    }
  });

  test('nothing runs that runs elsewhere, or has its handler there or nowhere', () => {
    const wrong = every.filter(
      ({ facts, step }) => step.kind === 'run' && (facts.begun === 'elsewhere' || facts.mover !== 'here'),
    );
    expect(wrong).toEqual([]);
  });
});

test.each([
  [{}, 'open'],
  [{ expiresAt: 11 }, 'open'],
  [{ expiresAt: 10 }, 'expired'],
  [{ expiresAt: 9, answer: { action: 'accept' } }, 'accepted'],
  [{ answer: { action: 'decline' } }, 'declined'],
  [{ answer: { action: 'cancel' } }, 'cancelled'],
] as const)('a question %j is %s at 10', (question, state) => {
  expect(questionState(question, 10)).toBe(state);
});
