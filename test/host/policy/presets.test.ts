import { describe, expect, test } from 'vitest';
import type { PolicyEvaluator, PolicyRequest } from '../../../src/contracts/index.ts';
import { allowAll, applyMode, denyAll, presetPolicy, rulePolicy } from '../../../src/host/policy/index.ts';

type Context = NonNullable<PolicyRequest['context']>;
type Resource = NonNullable<Context['resource']>;

const tool = (resource: Partial<Resource>, context: Partial<Context> = {}): PolicyRequest => ({
  action: 't',
  context: { resource: { type: 'tool', id: 't', ...resource }, ...context },
});
const reader = { annotations: { readOnly: true } };
const writer = { kind: 'other' };
const editor = { kind: 'edit' };
const mover = { kind: 'move' };
const remover = { kind: 'delete', annotations: { destructive: true } };
const foreignReader = { source: 'mcp:x', annotations: { readOnly: true } };

const outcome = (policy: PolicyEvaluator, request: PolicyRequest) => policy.evaluate(request) as { outcome: string };

describe('S3-20 a permission mode is a policy', () => {
  test.each<[string, string, string, string, string, string, string]>([
    // mode, reader, other, edit, move, destructive, foreign reader
    ['plan', 'allow', 'deny', 'deny', 'deny', 'deny', 'deny'],
    ['default', 'allow', 'ask', 'ask', 'ask', 'ask', 'ask'],
    ['auto_edit', 'allow', 'ask', 'allow', 'allow', 'ask', 'ask'],
    ['autonomous', 'allow', 'allow', 'allow', 'allow', 'ask', 'ask'],
    ['dont_ask', 'allow', 'deny', 'deny', 'deny', 'deny', 'deny'],
    ['of the future', 'allow', 'ask', 'ask', 'ask', 'ask', 'ask'],
  ])('%s', (mode, ...expected) => {
    const requests = [reader, writer, editor, mover, remover, foreignReader];
    const asked = (policy: PolicyEvaluator, context: Partial<Context> = {}) =>
      requests.map((resource) => outcome(policy, tool(resource, context)).outcome);
    expect(asked(presetPolicy(mode))).toEqual(expected);
    expect(asked(presetPolicy('autonomous'), { permissionMode: mode })).toEqual(expected);
  });

  test('plan denies a writer, and says why', () => {
    expect(presetPolicy('plan').evaluate(tool(writer))).toEqual({
      outcome: 'deny',
      ruleId: 'preset:plan',
      reason: 'In mode plan nothing runs that changes anything.',
    });
  });

  test('annotations of foreign tools count once they are trusted', () => {
    expect(outcome(presetPolicy('default', { trustAnnotations: true }), tool(foreignReader)).outcome).toBe('allow');
  });

  test('a tool that says it only reads and that it destroys is not believed the first', () => {
    const both = { annotations: { readOnly: true, destructive: true } };
    expect(outcome(presetPolicy('plan'), tool(both)).outcome).toBe('deny');
    expect(outcome(presetPolicy('default'), tool(both)).outcome).toBe('ask');
  });

  test('nobody to ask: still a question here, the host answers it', () => {
    expect(outcome(presetPolicy('default'), tool(writer, { interactive: false })).outcome).toBe('ask');
  });

  test('an unknown call is asked about', () => {
    expect(outcome(presetPolicy(), { action: 't' }).outcome).toBe('ask');
  });
});

describe('applyMode', () => {
  const asks = rulePolicy([{ id: 'r', tool: '*', outcome: 'ask', reason: 'rule' }]);
  const by = (policy: PolicyEvaluator, mode: string, resource: Partial<Resource>, permissionMode?: string) =>
    outcome(applyMode(policy, mode), tool(resource, permissionMode === undefined ? {} : { permissionMode }));

  test('plan and dont_ask tighten whatever the policy says', () => {
    expect(by(allowAll(), 'plan', writer)).toMatchObject({ outcome: 'deny' });
    expect(by(allowAll(), 'plan', reader)).toMatchObject({ outcome: 'allow' });
    expect(by(allowAll(), 'dont_ask', writer)).toMatchObject({ outcome: 'allow' });
    expect(by(asks, 'dont_ask', reader)).toMatchObject({
      outcome: 'deny',
      ruleId: 'r',
      reason: expect.stringContaining('(rule)'),
    });
    expect(by(denyAll(), 'autonomous', reader)).toMatchObject({ outcome: 'deny' });
  });

  test('so they do when the context says them', () => {
    expect(by(allowAll(), 'autonomous', writer, 'plan')).toMatchObject({ outcome: 'deny' });
    expect(by(asks, 'autonomous', writer, 'dont_ask')).toMatchObject({ outcome: 'deny' });
    expect(by(asks, 'plan', writer, 'autonomous')).toMatchObject({ outcome: 'deny' });
  });

  test('looser modes loosen what a preset asked', () => {
    const preset = presetPolicy('default');
    expect(by(preset, 'auto_edit', editor)).toMatchObject({ outcome: 'allow', ruleId: 'preset:auto_edit' });
    expect(by(preset, 'auto_edit', writer)).toMatchObject({ outcome: 'ask' });
    expect(by(preset, 'autonomous', writer)).toMatchObject({ outcome: 'allow' });
    expect(by(preset, 'autonomous', remover)).toMatchObject({ outcome: 'ask' });
    expect(by(preset, 'autonomous', writer, 'default')).toMatchObject({ outcome: 'ask' });
  });

  test('and nothing else: the ask of a rule, or of its default, stays', () => {
    expect(by(asks, 'autonomous', writer)).toMatchObject({ outcome: 'ask', ruleId: 'r' });
    expect(by(rulePolicy([]), 'autonomous', writer)).toMatchObject({ outcome: 'ask' });
    const withPreset = rulePolicy([{ tool: 'x', outcome: 'deny' }], { fallback: presetPolicy() });
    expect(by(withPreset, 'autonomous', writer)).toMatchObject({ outcome: 'allow' });
  });

  test('a policy that answers later, or fails, is one all the same', async () => {
    const later: PolicyEvaluator = { evaluate: async () => ({ outcome: 'ask' }), getExcluded: () => ['x'] };
    const wrapped = applyMode(later, 'dont_ask');
    expect(await wrapped.evaluate(tool(writer))).toMatchObject({ outcome: 'deny' });
    expect(await wrapped.getExcluded?.()).toEqual(['x']);
    const broken: PolicyEvaluator = { evaluate: () => Promise.reject(new Error('down')) };
    expect(await applyMode(broken, 'autonomous').evaluate(tool(reader))).toMatchObject({ outcome: 'deny' });
  });
});

test('allowAll and denyAll', () => {
  expect(outcome(allowAll(), tool(remover)).outcome).toBe('allow');
  expect(denyAll('closed').evaluate(tool(reader))).toEqual({ outcome: 'deny', reason: 'closed' });
});
