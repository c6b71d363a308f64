import { describe, expect, test } from 'vitest';
import { loadPolicy, loadPolicyCases, presetPolicy, runPolicyCases } from '../../../src/host/policy/index.ts';

const call = (action: string, args = {}) => ({ action, args });

describe('S3-62 policies from files', () => {
  test('rules are the org tier', async () => {
    const policy = await loadPolicy(`
version: 1
default: deny
rules:
  - id: tmp
    tool: [write_*, read_file]   # globs
    args: { /path: ^/tmp/ }
    outcome: allow
  - tool: pay
    outcome: ask
    approvers: { roles: [finance], notRequester: true, quorum: 2 }
    expiresIn: 3600
`);
    expect(policy.evaluate(call('write_file', { path: '/tmp/a' }))).toMatchObject({ outcome: 'allow', ruleId: 'tmp' });
    expect(policy.evaluate(call('write_file', { path: '/etc' }))).toMatchObject({ outcome: 'deny' });
    expect(policy.evaluate(call('pay'))).toEqual({
      outcome: 'ask',
      ruleId: 'org[1]',
      approvers: { roles: ['finance'], notRequester: true, quorum: 2 },
      expiresIn: 3600,
    });
  });

  test('tiers, anchors and JSON', async () => {
    const tiered = await loadPolicy(`
version: 1
tiers:
  org:
    - &shell { tool: shell, outcome: ask, overridable: true }
  user: [{ tool: shell, outcome: allow }]
  session: [*shell]
`);
    expect(tiered.evaluate(call('shell'))).toMatchObject({ outcome: 'ask' });
    const json = await loadPolicy(JSON.stringify({ version: 1, rules: [{ tool: 'x', outcome: 'allow' }] }));
    expect(json.evaluate(call('x'))).toMatchObject({ outcome: 'allow' });
  });

  test('NEW-P5 obligations and roles may be spelt both ways, in rules and in cases', async () => {
    const file = 'version: 1\nrules:\n';
    const both = ['{ notRequester: true }, expiresIn: 60', '{ not_requester: true }, expires_in: 60'];
    for (const [place, words] of both.entries()) {
      const policy = await loadPolicy(`${file}  - { tool: pay, roles: [boss], outcome: ask, approvers: ${words} }\n`);
      const asked = { outcome: 'ask', approvers: { notRequester: true }, expiresIn: 60 };
      expect(policy.evaluate({ ...call('pay'), principal: { id: 'ann', roles: ['boss'] } })).toMatchObject(asked);
      const expected = `{ outcome: ask, approvers: ${both.at(place - 1)} }`;
      const cases = await loadPolicyCases(
        `version: 1\ncases:\n  - { call: pay, as: ann, role: boss, expect: ${expected} }\n`,
      );
      expect((await runPolicyCases(policy, cases)).map(({ wrong }) => wrong)).toEqual([[]]);
    }
    const refusals: [string, string][] = [
      ['expires_in: 60, expiresIn: 60', '3: the rule says expiresIn twice'],
      ['approvers: { not_requester: true, notRequester: false }', '3: approvers says notRequester twice'],
      ['expires_in: soon', '3: "expiresIn" must be seconds'],
    ];
    for (const [words, message] of refusals) {
      await expect(loadPolicy(`${file}  - { tool: pay, outcome: ask, ${words} }\n`)).rejects.toThrow(
        `policy:${message}`,
      );
    }
    // The line is that of the member as the file spells it.
    const lines = `${file}  - tool: pay\n    outcome: ask\n    expires_in: soon\n`;
    await expect(loadPolicy(lines)).rejects.toThrow('policy:5: "expiresIn"');
  });

  test('NEW-P5 whoever has one file is told of no tiers, and of no places in them', async () => {
    const rules = 'version: 1\nrules:\n  - { id: a, tool: x, outcome: ask }\n';
    const message = await loadPolicy(`${rules}  - { id: a, tool: y, outcome: deny }\n`, { file: 'team.yaml' }).then(
      () => 'taken',
      (error: Error) => error.message,
    );
    expect(message).toBe('team.yaml:4: rule "a": "id" is taken by an earlier rule');
  });

  test('a default of the file goes before the fallback', async () => {
    const request = { action: 'x', context: { resource: { type: 'tool', id: 'x', annotations: { readOnly: true } } } };
    const fallback = presetPolicy('default');
    expect((await loadPolicy('version: 1', { fallback })).evaluate(request)).toMatchObject({ outcome: 'allow' });
    expect((await loadPolicy('{version: 1, default: ask}', { fallback })).evaluate(request)).toMatchObject({
      outcome: 'ask',
    });
  });

  test.each<[string, string, number, RegExp]>([
    ['nothing', '', 1, /a policy is an object/],
    ['a list', '- a', 1, /a policy is an object/],
    ['broken YAML', 'version: 1\nrules:\n  - {tool: x', 3, /./],
    ['a key twice', 'version: 1\nversion: 1', 2, /unique/],
    ['two documents', 'version: 1\n---\nversion: 1', 2, /documents/],
    ['an unknown tag', 'version: 1\ndefault: !!js/function x', 2, /tag/i],
    ['no version', 'rules: []', 1, /"version" must be 1/],
    ['another version', 'rules: []\nversion: 2', 2, /"version" must be 1/],
    ['an unknown member', 'version: 1\nrule: []', 2, /"rule" is unknown/],
    ['an unknown tier', 'version: 1\ntiers:\n  team: []', 3, /"team" is unknown/],
    ['a tier that is no list', 'version: 1\ntiers:\n  user: x', 3, /"user" must be a list/],
    ['rules that are no list', 'version: 1\nrules: x', 2, /"rules" must be a list/],
    ['both', 'version: 1\ntiers: {}\nrules: []', 3, /exclude/],
    ['a bad default', 'version: 1\n\ndefault: maybe', 3, /"default" must be/],
    [
      'a bad outcome',
      'version: 1\nrules:\n  - tool: x\n    outcome: allow\n  - id: r\n    tool: x\n    outcome: yes',
      7,
      /team.yaml:7: rule "r": "outcome" must be/,
    ],
    ['a missing member', 'version: 1\nrules:\n  - outcome: deny', 3, /"tool" is missing/],
    [
      'an unknown member of a rule',
      'version: 1\nrules:\n  - tool: x\n    outcome: deny\n    toool: y',
      5,
      /"toool" is unknown/,
    ],
    [
      'a bad pattern',
      'version: 1\ntiers:\n  session:\n    - tool: x\n      args: {/a: "("}\n      outcome: deny',
      5,
      /regular expression/,
    ],
    ['a fault behind an anchor', 'version: 1\nrules:\n  - &r\n    tool: x\n    outcome: no\n  - *r', 5, /"outcome"/],
    ['an alias bomb', bomb(), 1, /alias/i],
  ])('%s names file, line and reason', async (_, text, line, reason) => {
    const error = await loadPolicy(text, { file: 'team.yaml' }).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      code: 'E_POLICY_FILE',
      details: { file: 'team.yaml', line },
    });
    expect(error.message).toMatch(new RegExp(`^team\\.yaml:${line}: `));
    expect(error.message).toMatch(reason);
  });
});

function bomb(): string {
  let text = 'a0: &a0 [x, x]\n';
  for (let n = 1; n < 20; n++) text += `a${n}: &a${n} [*a${n - 1}, *a${n - 1}, *a${n - 1}]\n`;
  return text;
}
