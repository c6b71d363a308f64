import { describe, expect, test } from 'vitest';
import { loadPolicy, presetPolicy } from '../../../src/host/policy/index.ts';

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
      /rule 1 \("r"\).*"outcome" must be/,
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
