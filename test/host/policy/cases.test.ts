import { describe, expect, test } from 'vitest';
import { loadPolicyCases, rulePolicy, runPolicyCases } from '../../../src/host/index.ts';
import { refusal } from '../kit.ts';

const policy = rulePolicy([
  { id: 'reads', tool: '*', annotations: { readOnly: true }, outcome: 'allow' },
  { id: 'payments', tool: 'pay', outcome: 'ask', approvers: { roles: ['finance'] }, expiresIn: 60 },
  { id: 'interns', tool: 'note', agent: 'lead/intern', outcome: 'deny' },
  { id: 'plan', tool: '*', mode: 'plan', outcome: 'deny' },
  { id: 'ann', tool: '*', principal: 'ann', role: 'boss', args: { '/n': '^1$' }, kind: 'edit', outcome: 'allow' },
]);

const table = `version: 1
cases:
  - { call: look, annotations: { readOnly: true }, expect: allow }
  - { call: look, source: "mcp:x", annotations: { readOnly: true }, expect: ask }
  - name: payments
    call: pay
    args: { eur: 5 }
    expect: { outcome: ask, rule: payments, approvers: { roles: [finance] }, expiresIn: 60 }
  - { call: note, agents: [lead, intern], expect: { outcome: deny, rule: interns } }
  - { call: edit, mode: plan, expect: deny }
  - { call: edit, as: ann, roles: [boss], kind: edit, args: { n: 1 }, expect: { outcome: allow, rule: ann } }
  - name: wrong on purpose
    call: pay
    expect: { outcome: deny, rule: payments, expiresIn: 61 }
`;

describe('a table of cases', () => {
  test('tries a policy on each, and says what is otherwise', async () => {
    const results = await runPolicyCases(policy, await loadPolicyCases(table));
    expect(results.map(({ wrong }) => wrong)).toEqual([[], [], [], [], [], [], ['outcome', 'expiresIn']]);
    expect(results.map(({ case: { name, line } }) => `${line} ${name}`).slice(-2)).toEqual([
      '11 edit {"n":1}',
      '12 wrong on purpose',
    ]);
  });

  test('APP-F11 members that are given must be so at every depth; lists are compared whole', async () => {
    const refund = rulePolicy([
      { tool: 'refund', outcome: 'ask', approvers: { roles: ['boss', 'owner'], notRequester: true } },
    ]);
    const expected = [
      'approvers: { notRequester: true }',
      'approvers: { roles: [boss, owner] }',
      'approvers: { notRequester: false }',
      'approvers: { roles: [boss] }',
      'approvers: { quorum: 2 }',
    ];
    const lines = expected.map((said) => `  - { call: refund, expect: { outcome: ask, ${said} } }`);
    const results = await runPolicyCases(refund, await loadPolicyCases(['version: 1', 'cases:', ...lines].join('\n')));
    expect(results.map(({ wrong }) => wrong)).toEqual([[], [], ['approvers'], ['approvers'], ['approvers']]);
  });

  test('a policy that fails denies in a case, too', async () => {
    const broken = {
      evaluate: () => {
        throw new Error('down');
      },
    };
    const cases = await loadPolicyCases('version: 1\ncases: [{ call: x, expect: deny }]');
    expect((await runPolicyCases(broken, cases))[0]).toMatchObject({ wrong: [], decision: { outcome: 'deny' } });
  });

  test.each([
    ['cases: []', /^c\.yaml:1: "version"/],
    ['version: 1\ncases: []', /^c\.yaml:2: "cases"/],
    ['version: 1\ncases:\n  - { call: x, expect: sure }', /^c\.yaml:3: "expect"/],
    ['version: 1\ncases:\n  - { call: x, expects: deny }', /^c\.yaml:3: "expects" is unknown/],
    ['version: 1\ncases:\n  - call: x\n    roles: clerk\n    expect: deny', /^c\.yaml:4: "roles"/],
    ['version: 1\ncases:\n  - call: x\n    expect: { outcome: deny, rle: y }', /^c\.yaml:4: "rle" is unknown/],
    ['version: 1\ncases: [{ call: "", expect: deny }]', /"call" must name a tool/],
    ['version: 1\ncases: {', /^c\.yaml:/],
  ])('a fault names file and line: %s', async (text, message) => {
    const error = await refusal(loadPolicyCases(text, { file: 'c.yaml' }));
    expect([error.code, error.message]).toEqual(['E_POLICY_FILE', expect.stringMatching(message)]);
  });
});
