import type { PermissionMode, PolicyDecision, PolicyEvaluator, PolicyRequest } from '../../contracts/index.ts';
import { asksNobody, onlyReads, traitsOfMode } from '../../contracts/index.ts';
import type { CheckedDecision } from '../../gate/index.ts';
import { answeringAtOnce, evaluatePolicy, isForeign, withRedact } from '../../gate/index.ts';
import type { Shape } from '../../session/index.ts';
import { checkIs, checkOptions, flag, having, permissionMode, text } from '../../session/index.ts';

export interface PresetOptions {
  /** Believe the annotations of foreign tools (source `mcp:…`). Default false. */
  trustAnnotations?: boolean | undefined;
}

const presetShape: Shape<PresetOptions> = { trustAnnotations: flag };

const editing = new Set<string | undefined>(['edit', 'move']);

const allow = (mode: string): CheckedDecision => ({ outcome: 'allow', ruleId: `preset:${mode}` });
const ask = (mode: string, reason: string): CheckedDecision => ({
  outcome: 'ask',
  ruleId: `preset:${mode}`,
  reason,
});
const deny = (mode: string, reason: string): CheckedDecision => ({ outcome: 'deny', ruleId: `preset:${mode}`, reason });

/**
 * A policy made of a permission mode; the mode of the request's context, if it has one, goes before `mode`.
 *
 * | mode | readOnly | kind edit, move | everything else | destructive |
 * |---|---|---|---|---|
 * | plan | allow | deny | deny | deny |
 * | default, and any unknown | allow | ask | ask | ask |
 * | auto_edit | allow | allow | ask | ask |
 * | autonomous | allow | allow | allow | ask |
 * | dont_ask | allow | deny | deny | deny |
 *
 * Third-party tools count as not readOnly and as destructive, unless their annotations are trusted.
 * @example
 * ```ts
 * import { createHost, LlmAgent, presetPolicy } from 'coxswain';
 *
 * const agents = [new LlmAgent({ name: 'clerk', model: 'gpt-5' })];
 * createHost({ app: 'shop', agents, policy: presetPolicy('auto_edit') });
 * ```
 */
export function presetPolicy(mode: PermissionMode = 'default', options: PresetOptions = {}): PolicyEvaluator {
  checkIs(mode, 'presetPolicy: mode', permissionMode);
  checkOptions<PresetOptions>(options, 'presetPolicy: options', presetShape);
  return answeringAtOnce({
    evaluate: (request) => decidePreset(request.context?.permissionMode ?? mode, request, options),
  });
}

function decidePreset(mode: string, request: PolicyRequest, options: PresetOptions): CheckedDecision {
  const { isReadOnly, isDestructive, kind } = traitsOf(request, options);
  if (isReadOnly) return allow(mode);
  if (onlyReads(mode)) return deny(mode, `In mode ${mode} nothing runs that changes anything.`);
  if (asksNobody(mode)) return deny(mode, 'This call needs approval and nobody is asked in this mode.');
  if (isDestructive) return ask(mode, 'The tool may destroy what cannot be brought back.');
  const unasked = traitsOfMode(mode)?.unasked;
  if (unasked === 'all' || (unasked === 'edits' && editing.has(kind))) return allow(mode);
  return ask(mode, 'The tool may change something.');
}

function traitsOf({ context }: PolicyRequest, { trustAnnotations = false }: PresetOptions) {
  const { annotations, source, kind } = context?.resource ?? {};
  const isTrusted = trustAnnotations || !isForeign(source);
  const isReadOnly = isTrusted && annotations?.readOnly === true;
  const isDestructive = !isTrusted || annotations?.destructive === true;
  return { isReadOnly: isReadOnly && annotations?.destructive !== true, isDestructive, kind };
}

/**
 * Puts a permission mode over any policy. A mode that only reads (`plan`) denies what is not readOnly and `dont_ask` turns every ask into a
 * deny, whether `mode` or the request's context says so. `auto_edit` and `autonomous` allow what the mode allows,
 * where a preset asked; the ask of anybody else (a rule, its default) stays. What the policy hides stays hidden.
 */
export function applyMode(policy: PolicyEvaluator, mode: PermissionMode, options: PresetOptions = {}): PolicyEvaluator {
  checkIs(policy, 'applyMode: policy', having('evaluate'));
  checkIs(mode, 'applyMode: mode', permissionMode);
  checkOptions<PresetOptions>(options, 'applyMode: options', presetShape);
  const adjust = (decision: CheckedDecision, request: PolicyRequest): CheckedDecision =>
    withRedact(moded(decision, request), decision.redact);
  const moded = (decision: CheckedDecision, request: PolicyRequest): CheckedDecision => {
    const current = request.context?.permissionMode;
    if (decision.outcome === 'deny') return decision;
    const reading = [mode, current].find(onlyReads);
    if (reading !== undefined && !traitsOf(request, options).isReadOnly) return decidePreset(reading, request, options);
    if (decision.outcome !== 'ask') return decision;
    const silent = [mode, current].find(asksNobody);
    if (silent !== undefined) {
      const reason = decision.reason === undefined ? '' : ` (${decision.reason})`;
      const denial = deny(silent, `This call needs approval and nobody is asked in this mode${reason}.`);
      return decision.ruleId === undefined ? denial : { ...denial, ruleId: decision.ruleId };
    }
    if (!decision.ruleId?.startsWith('preset:')) return decision;
    const loosened = decidePreset(current ?? mode, request, options);
    return loosened.outcome === 'allow' ? loosened : decision;
  };
  return {
    evaluate(request, signal) {
      // Whoever asks this policy has the clock.
      const decision = evaluatePolicy(policy, request, { signal, timeoutMs: 0 });
      return decision instanceof Promise ? decision.then((value) => adjust(value, request)) : adjust(decision, request);
    },
    getExcluded: (scope) => policy.getExcluded?.(scope) ?? [],
  };
}

/** The policy as it is in a session of this mode. */
export function underMode(policy: PolicyEvaluator, mode: PermissionMode | undefined): PolicyEvaluator {
  return mode === undefined || mode === 'default' ? policy : applyMode(policy, mode);
}

/** Everything runs, nobody is asked. */
export function allowAll(): PolicyEvaluator {
  const decision: PolicyDecision = Object.freeze({ outcome: 'allow' });
  return answeringAtOnce({ evaluate: () => decision });
}

/** Nothing runs. */
export function denyAll(reason = 'No tool may run here.'): PolicyEvaluator {
  checkIs(reason, 'denyAll: reason', text);
  const decision: PolicyDecision = Object.freeze({ outcome: 'deny', reason });
  return answeringAtOnce({ evaluate: () => decision });
}
