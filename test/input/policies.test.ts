import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import {
  assertSafeId,
  canonicalJson,
  checkStream,
  copyJson,
  createGrammarChecker,
  hooks,
} from '../../src/contracts/index.ts';
import { retryTool, toJsonSchema } from '../../src/gate/index.ts';
import {
  applyMode,
  createSessionFactory,
  denyAll,
  loadPolicy,
  loadPolicyCases,
  presetPolicy,
  rulePolicy,
  runPolicyCases,
} from '../../src/host/index.ts';
import { createHost, denyOverrides, fromAgent, shadow } from '../../src/index.ts';
import { agentStream, auditOf, createView, run, textOf } from '../../src/session/index.ts';
import { bot, readOnly, tool } from '../host/kit.ts';
import { CALLED, doorsOf, outcomeOf, taken, UNAWAITABLE } from './rubbish.ts';

type Door = [string, (value: unknown) => unknown];

const policy = presetPolicy();
const rule = { tool: 'a', outcome: 'deny' as const };
const members = [
  'id',
  'tool',
  'args',
  'principal',
  'role',
  'kind',
  'annotations',
  'mode',
  'agent',
  'outcome',
  'reason',
];
const more = ['approvers', 'expiresIn', 'redact', 'priority', 'overridable'];
const text = async (stream: unknown) => {
  for await (const _ of textOf(stream as never));
};
const one = async function* (value: unknown) {
  yield value as never;
};
const event = (type: string) => ({ id: 'a', type, requestId: 'r', content: [], data: { through: 1 } });

const doors: Door[] = [
  ['rulePolicy', (value) => rulePolicy(value as never)],
  ['rulePolicy list', (value) => rulePolicy([value as never])],
  ['rulePolicy tier', (value) => rulePolicy({ user: value as never })],
  ['rulePolicy options', (value) => rulePolicy([], value as never)],
  ...doorsOf('rulePolicy', {}, ['defaultOutcome', 'fallback', 'trustAnnotations', 'placeOf'] as never[], (options) =>
    rulePolicy([], options),
  ),
  ...doorsOf('rule', rule, [...members, ...more] as ['tool'], (given) => rulePolicy([given])),
  ['with', (value) => rulePolicy([]).with(value as never, 'user')],
  ['with tier', (value) => rulePolicy([]).with(rule, value as never)],
  ['presetPolicy', (value) => presetPolicy(value as never)],
  ['presetPolicy options', (value) => presetPolicy('plan', value as never)],
  ['applyMode', (value) => applyMode(value as never, 'plan')],
  ['applyMode mode', (value) => applyMode(policy, value as never)],
  ['denyAll', (value) => denyAll(value as never)],
  ['denyOverrides', (value) => denyOverrides(value as never)],
  ['shadow', (value) => shadow(value as never, () => undefined)],
  ['shadow onDecision', (value) => shadow(policy, value as never)],
  ['shadow options', (value) => shadow(policy, () => undefined, value as never)],
  ['loadPolicy', (value) => loadPolicy(value as never)],
  ['loadPolicy options', (value) => loadPolicy('version: 1', value as never)],
  ['loadPolicyCases', (value) => loadPolicyCases(value as never)],
  ['loadPolicyCases options', (value) => loadPolicyCases('version: 1', value as never)],
  ['runPolicyCases', (value) => runPolicyCases(value as never, [])],
  ['runPolicyCases cases', (value) => runPolicyCases(policy, value as never)],
  ['hooks', (value) => hooks(value as never)],
  ['hooks handler', (value) => hooks({ beforeTool: value as never })],
  ['register', (value) => createSessionFactory().register(value as never, async () => undefined as never)],
  ['register creator', (value) => createSessionFactory().register('a', value as never)],
  ['create', (value) => createSessionFactory().create(value as never, { app: 'shop' })],
  ['run', (value) => run(value as never, 'hi')],
  ['run options', (value) => run({ stream: () => one(1) } as never, 'hi', value as never)],
  ['textOf', text],
  ['agentStream', (value) => agentStream(value as never).next()],
  ['agentStream options', (value) => agentStream(() => one(1), value as never)],
  ['auditOf', (value) => auditOf(value as never)],
  ['auditOf event', (value) => auditOf(one(value))],
  ['auditOf options', (value) => auditOf([], value as never)],
  ['auditOf rules', (value) => auditOf([], { rules: value as never })],
  ['auditOf rule', (value) => auditOf([], { rules: [value as never] })],
  ['auditOf viewer', (value) => auditOf([], { viewer: value as never })],
  ['createView', (value) => createView().apply(value as never)],
  ...['message', 'tool_request', 'tool_response', 'elicitation_request', 'elicitation_response', 'custom'].flatMap(
    (type): Door[] => [
      [`createView ${type} requestId`, (value) => createView().apply({ ...event(type), requestId: value } as never)],
      [`createView ${type} content`, (value) => createView().apply({ ...event(type), content: value } as never)],
      [
        `createView ${type} data`,
        (value) => createView().apply({ ...event(type), kind: 'rewound', data: value } as never),
      ],
    ],
  ),
  ['createGrammarChecker', (value) => createGrammarChecker(value as never)],
  ...doorsOf('createGrammarChecker', {}, ['initialized', 'openRequests', 'places'] as never[], createGrammarChecker),
  ['checkStream', (value) => checkStream(value as never)],
  ['checkStream event', (value) => checkStream([value as AgentEvent])],
  ['assertSafeId', (value) => assertSafeId('app', value)],
  ['copyJson', (value) => copyJson(value)],
  ['canonicalJson', (value) => canonicalJson(value)],
  ['toJsonSchema', (value) => toJsonSchema(value as never)],
  ['toJsonSchema options', (value) => toJsonSchema({}, value as never)],
  ['retryTool', (value) => retryTool(value as never)],
  [
    'retryTool options',
    (value) =>
      retryTool(
        tool('a', () => 1, readOnly),
        value as never,
      ),
  ],
];

const exceptions: Record<string, readonly string[]> = { agentStream: CALLED, 'auditOf event': UNAWAITABLE };

test.each(doors)('%s', async (name, door) => {
  await taken(name, door, exceptions[name]);
});

describe('policies', () => {
  test.each(['Plan', 'plann', 'dontask', 'auto-edit'])('a rule or preset for the mode %s would never speak', (mode) => {
    expect(() => rulePolicy([{ ...rule, mode }])).toThrow(/write one of default, auto_edit/);
    expect(() => presetPolicy(mode)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    expect(() => applyMode(policy, mode)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  });

  test('a tier that is not there is refused', () => {
    expect(() => rulePolicy({ team: [rule] } as never)).toThrow('rules.team is not known; give nothing but org');
  });

  test('an outcome is text, not a list of it', () => {
    expect(() => rulePolicy([{ ...rule, outcome: ['allow'] as never }])).toThrow(/must be allow, deny or ask/);
  });

  test('a policy beside others must be one', () => {
    for (const given of [undefined, null, 5, {}, [policy]] as never[]) {
      expect(() => denyOverrides(policy, given)).toThrow('denyOverrides: policy 2 is');
    }
  });

  test('a hook point that is nearly one would never be fired', () => {
    const agents = [fromAgent(bot(['ok']))];
    const misspelt = hooks({ beforeTools: () => ({ action: 'block' }) } as never);
    expect(() => createHost({ app: 'shop', agents, hooks: misspelt })).toThrow(
      'the hook point before_tools is not known; write before_tool',
    );
    const own = hooks({ onPayment: () => undefined } as never);
    expect(() => createHost({ app: 'shop', agents, hooks: own })).not.toThrow();
  });

  test.each([
    '5',
    'null',
    '[]',
    '"text"',
    'version: 1\nrules: 5',
    'version: 1\nrules: [5, null]',
    'version: 1\nrules: &a [*a]',
    'version: 1\nrules:\n  - &a { tool: x, outcome: deny, args: *a }',
    'version: 1\nrules: [{ tool: !!binary aGk=, outcome: deny }]',
    'version: 1\nrules: [{ tool: !!timestamp 2026-11-28, outcome: deny }]',
    'version: 1\nrules: [{ tool: x, outcome: deny, args: { /a: .nan } }]',
    'version: 1\nrules: [{ tool: x, outcome: deny, expiresIn: .inf }]',
    'version: 1\nrules: !!set { a, b }',
    'version: 1\nrules: !!omap [a: 1]',
    'version: 1\n? { a: b }\n: c',
    '? [version]\n: 1',
    'version: 1\n__proto__: { rules: [] }',
    'version: 1\ntiers: { org: { tool: x } }',
    'version: 1\ntiers: []',
    'version: 1\n<<: { rules: [] }',
    'version: 0x1\nrules: {}',
    '!!js/function "x"',
    '--- {}\n--- {}',
    '\u0000',
  ])('a policy of odd YAML is refused in words: %j', async (yaml) => {
    expect(await outcomeOf(yaml, () => loadPolicy(yaml))).toBe('refused');
    expect(await outcomeOf(yaml, () => loadPolicyCases(yaml))).toBe('refused');
    const asCases = yaml.replaceAll('rules', 'cases').replaceAll('tool:', 'call:').replaceAll('outcome:', 'expect:');
    await outcomeOf(asCases, () => loadPolicyCases(asCases));
  });

  test('an audit rule that cannot be read is refused, not left out', async () => {
    for (const rules of [[{ args: '/secret' }], [{ arg: ['/secret'] }], 5] as never[]) {
      await expect(auditOf([], { rules })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    }
  });

  test('what is no event changes nothing of a view', () => {
    const view = createView();
    expect(() => view.apply({ id: 'm', type: 'message', role: 'agent' } as never)).toThrow(/has no list as content/);
    expect(view.messages).toEqual([]);
    expect(view.status).toBe('idle');
    view.apply({ id: 'm', type: 'message', role: 'agent', content: [{ type: 'text', text: 'hi' }] } as never);
    expect(view.messages).toHaveLength(1);
  });
});
