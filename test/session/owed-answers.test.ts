import { expect, test } from 'vitest';
import { OwedAnswers } from '../../src/session/index.ts';

const asked = (id: unknown, more: object = {}) => ({ jsonrpc: '2.0', id, method: 'x/y', ...more });
const answer = (id: unknown) => ({ jsonrpc: '2.0', id, result: {} });

test('ATK5-11 answers are owed from the request until they have left, whatever their order', () => {
  const owed = new OwedAnswers();
  for (let n = 0; n < 1000; n++) owed.asked(asked(n % 2 === 0 ? n : `${n}`));
  expect(owed.areTooMany).toBe(true);
  for (let n = 99; n >= 0; n--) owed.answered(answer(n % 2 === 0 ? n : `${n}`));
  // What nobody asked for, and requests of one's own, are no answers.
  for (const frame of [answer('unknown'), asked(500), { method: 'told' }]) owed.answered(frame);
  expect(owed.areTooMany).toBe(false);
  for (let n = 0; n < 100; n++) owed.asked(asked(n));
  expect(owed.areTooMany).toBe(true);
});

test.each<[string, (n: number) => object, number]>([
  ['an id that is asked under twice', () => asked('same'), 1000],
  ['long ids', (n) => asked(`${n}`.padStart(100_000)), 12],
  ['long names of methods', (n) => asked(n, { method: 'm'.repeat(50_000) }), 12],
  ['what is no message', (n) => ({ n, rubbish: 'r'.repeat(100_000) }), 12],
  ['ids of no kind', (n) => asked({ n }), 1000],
])('ATK5-11 of %s so many are too many', (_, frame, most) => {
  const owed = new OwedAnswers();
  let n = 0;
  while (!owed.areTooMany && n < 5000) owed.asked(frame(n++));
  expect(n).toBeLessThanOrEqual(most);
});

test('ATK5-11 nothing is owed for what nobody answers', () => {
  const owed = new OwedAnswers();
  for (let n = 0; n < 5000; n++) {
    owed.asked({ method: 'told', params: { n } });
    owed.asked(answer(n));
    owed.asked({ id: n, error: { code: 1, message: 'no' } });
  }
  expect(owed.areTooMany).toBe(false);
});
