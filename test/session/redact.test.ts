import { expect, test } from 'vitest';
import { auditOf } from '../../src/index.ts';
import { REDACTED } from '../../src/session/index.ts';
import { hiddenTexts, withoutTexts } from '../../src/session/redact.ts';
import { all, bot, hostOf, policyOf, say, tool } from '../host/kit.ts';

const hidden = (args: Record<string, unknown>) =>
  hiddenTexts(
    [args],
    Object.keys(args).map((name) => `/${name}`),
  );

test.each([[{ a: 'abc', b: 'abcdef' }], [{ a: 'abcdef', b: 'abc' }]])(
  'MUT-D4 of two hidden texts no end of the longer one is left: %j',
  (args) => {
    expect(withoutTexts({ said: 'x abcdef, y abc' }, hidden(args))).toEqual({ said: `x ${REDACTED}, y ${REDACTED}` });
  },
);

test.each([
  ['that overlap', { a: 'abcd', b: 'cdef' }, 'x abcdef y', `x ${REDACTED} y`],
  ['that overlap themselves', { a: 'aba' }, 'x ababa y', `x ${REDACTED} y`],
  ['in JSON', { a: 'say "hi"\n' }, JSON.stringify({ a: 'say "hi"\n' }), `{"a":"${REDACTED}"}`],
  ['beside one another', { a: 'abc' }, 'abcabc', `${REDACTED}${REDACTED}`],
  ['of what stands for them', { a: 'hunter2', b: 'redacted' }, 'hunter2', REDACTED],
])('MUT-D4 hidden texts %s', (_, args, said, shown) => {
  expect(withoutTexts(said, hidden(args))).toBe(shown);
});

test('MUT-D4 a hidden text as the name of a member, and as such that every object has', () => {
  const value = { response: { hunter2: { n: 1 }, said: 'hunter2' }, hunter2: 1 };
  expect(withoutTexts(value, hidden({ a: 'hunter2' }))).toEqual({
    response: { [REDACTED]: { n: 1 }, said: REDACTED },
    hunter2: 1,
  });
  const own = JSON.parse('{"response":{"__proto__":"hunter2"}}') as object;
  expect(JSON.stringify(withoutTexts(own, hidden({ a: 'hunter2' })))).toBe(`{"response":{"__proto__":"${REDACTED}"}}`);
});

test('MUT-D4 what a tool answers in JSON shows no hidden argument in an audit', async () => {
  const secret = 'pass "word"\\1';
  const login = tool('login', (args) => JSON.stringify({ took: args }));
  const { host } = hostOf(bot([{ calls: [['login', { secret, part: 'word' }]] }, 'end']), {
    tools: [login],
    policy: policyOf({ login: { outcome: 'allow', redact: ['/secret'] } }),
  });
  const session = await host.open('bot');
  await say(session, 'go');
  const [entry] = await auditOf(await all(session.events()));
  expect(entry?.result).toEqual([{ type: 'text', text: `{"took":{"secret":"${REDACTED}","part":"word"}}` }]);
});
