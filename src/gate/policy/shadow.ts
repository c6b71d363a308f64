import { amount, checkIs, checkOptions, fn, having } from '../../base/index.ts';
import type { PolicyEvaluator, PolicyRequest } from '../../contracts/index.ts';
import { messageOf } from '../../contracts/index.ts';
import type { CheckedDecision } from './policy.ts';
import { evaluatePolicy } from './policy.ts';

/** What a policy that is on trial would have said. */
export interface ShadowDecision {
  request: PolicyRequest;
  decision: CheckedDecision;
  /** What the policies beside it said, and what counted. */
  live: CheckedDecision;
  /** The outcome would have been another one. */
  differs: boolean;
}

const observe = Symbol('observe');

/** A policy that decides nothing. {@link denyOverrides} shows it each call; asked by itself it denies. */
export interface ShadowPolicy extends PolicyEvaluator {
  [observe](request: PolicyRequest, live: CheckedDecision | Promise<CheckedDecision>): void;
}

export interface ShadowOptions {
  /** Milliseconds that it may think; then its decision is a deny. Default 10,000. No call waits for it. */
  timeoutMs?: number;
  /** Told when `onDecision` fails. Default: a warning of the process. */
  onError?: (error: unknown) => void;
}

/**
 * A policy on trial: `denyOverrides(live, shadow(candidate, onDecision))`. What it says reaches `onDecision` together
 * with what counted, and nothing else. Nobody waits for it, and no failure of it is felt.
 * @example
 * ```ts
 * import { denyOverrides, rulePolicy, shadow } from 'coxswain';
 *
 * const live = rulePolicy([{ tool: '*', outcome: 'ask' }]);
 * const candidate = rulePolicy([{ tool: 'refund', outcome: 'deny' }]);
 * const policy = denyOverrides(
 *   live,
 *   shadow(candidate, ({ request, decision, differs }) => {
 *     if (differs) console.log(request.action, 'would be', decision.outcome);
 *   }),
 * );
 * ```
 */
export function shadow(
  policy: PolicyEvaluator,
  onDecision: (decision: ShadowDecision) => void | Promise<void>,
  options: ShadowOptions = {},
): PolicyEvaluator {
  checkIs(policy, 'shadow: policy', having('evaluate'));
  checkIs(onDecision, 'shadow: onDecision', fn);
  checkOptions<ShadowOptions>(options, 'shadow: options', { timeoutMs: amount, onError: fn });
  const { timeoutMs, onError = warn } = options;
  const look = async (request: PolicyRequest, counted: CheckedDecision | Promise<CheckedDecision>) => {
    try {
      const decision = await evaluatePolicy(policy, request, { timeoutMs });
      const live = await counted;
      await onDecision({ request, decision, live, differs: decision.outcome !== live.outcome });
    } catch (error) {
      onError(error);
    }
  };
  const shadowing: ShadowPolicy = {
    evaluate: () => ({ outcome: 'deny', reason: 'A shadow policy decides nothing; put it beside one that does.' }),
    [observe](request, live) {
      // A policy that answers at once must not hold the call up either.
      setImmediate(() => void look(request, live));
    },
  };
  return shadowing;
}

export function isShadow(policy: PolicyEvaluator): policy is ShadowPolicy {
  return observe in policy;
}

export function tellShadows(
  shadows: readonly ShadowPolicy[],
  request: PolicyRequest,
  live: CheckedDecision | Promise<CheckedDecision>,
): void {
  for (const one of shadows) one[observe](request, live);
}

function warn(error: unknown): void {
  process.emitWarning(`the decision of a shadow policy could not be reported: ${messageOf(error)}`, 'CoxswainWarning');
}
