import { guarded } from '../../base/index.ts';
import type {
  AnyTool,
  PolicyDecision,
  PolicyEvaluator,
  PolicyOutcome,
  PolicyRequest,
  ToolContract,
} from '../../contracts/index.ts';
import { CoxswainError, POLICY_OUTCOMES, policyOutcome, withPresentWord } from '../../contracts/index.ts';
import { isForeign } from '../../gate/index.ts';
import { anOutcome, checkIs, list, object } from '../../session/index.ts';

/** An outcome, and why: shown to people and, where the call does not run, to the model. */
export interface ReasonedVerdict {
  outcome: PolicyOutcome;
  reason?: string;
}

/** What a function of {@link policyFor} says of a call; undefined: nothing, so that `otherwise` counts. */
export type ToolVerdict = PolicyOutcome | ReasonedVerdict | undefined;

/** Of several tools, the arguments of the one of that name. */
type ArgsOfNamed<T extends AnyTool, Name> = T extends { readonly name: Name }
  ? T extends ToolContract<infer Args, infer _>
    ? Args
    : never
  : never;

/** By the name of a tool: its verdict, or what decides about the arguments of one call. */
export type ToolVerdicts<T extends AnyTool> = {
  readonly [Name in T['name']]?:
    | PolicyOutcome
    | ((args: ArgsOfNamed<T, Name>, request: PolicyRequest) => ToolVerdict | Promise<ToolVerdict>);
};

/**
 * A policy in code, for tools of one's own: their names and arguments are known while it is compiled.
 *
 * ```ts
 * policyFor([pay, read], { read: 'allow', pay: ({ amount }) => (amount < 100 ? 'allow' : 'ask') })
 * ```
 *
 * A function that is async gives its verdict as `{ outcome }`: of a bare one the compiler knows no more than that it is text.
 *
 * What is not named, what a function says nothing about, and the tools of foreign servers, whatever their names, get
 * `otherwise`, by default `ask`. A function that throws is a deny, as with any policy. For rules that are data, with
 * tiers, conditions and explanations, use {@link rulePolicy}.
 * @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_RULE` for a name that none of the tools has, or a verdict that is none
 */
export function policyFor<const T extends readonly AnyTool[]>(
  tools: T,
  verdicts: ToolVerdicts<NoInfer<T>[number]>,
  otherwise: PolicyOutcome = 'ask',
): PolicyEvaluator {
  checkIs(tools, 'policyFor: tools', list);
  checkIs(verdicts, 'policyFor: verdicts', object);
  checkIs(otherwise, 'policyFor: otherwise', anOutcome);
  const known = guarded('policyFor: tools', () => new Set(tools.map((tool) => tool.name)));
  const given = guarded(
    'policyFor: verdicts',
    () => new Map(Object.entries(verdicts as Readonly<Record<string, unknown>>)),
  );
  for (const [tool, verdict] of given) {
    if (!known.has(tool)) throw wrong(`none of the tools is called ${JSON.stringify(tool)}`);
    if (typeof verdict !== 'function' && policyOutcome(verdict) === undefined) {
      throw wrong(`the verdict on ${JSON.stringify(tool)} is a function or one of ${POLICY_OUTCOMES.join(', ')}`);
    }
  }
  const never = [...given].flatMap(([tool, verdict]) => (verdict === 'deny' ? [tool] : []));
  return {
    // What is never allowed is not even offered.
    getExcluded: () => never,
    evaluate(request) {
      const verdict = isForeign(request.context?.resource?.source) ? undefined : given.get(request.action);
      if (typeof verdict !== 'function') return decision(request.action, verdict, otherwise);
      const said: unknown = verdict(request.args, request);
      return isPromise(said)
        ? said.then((later) => decision(request.action, later, otherwise))
        : decision(request.action, said, otherwise);
    },
  };
}

/** What is no verdict, or says more than one does, is handed on as it is: the gate judges it, and says what it was. */
function decision(action: string, said: unknown, otherwise: PolicyOutcome): PolicyDecision {
  if (said === undefined) return { outcome: outcomeOf(otherwise), ruleId: 'otherwise' };
  const ruleId = `tool:${action}`;
  if (typeof said !== 'object' || said === null) return { outcome: outcomeOf(said), ruleId };
  return { ...said, outcome: outcomeOf((said as Partial<ReasonedVerdict>).outcome), ruleId };
}

const outcomeOf = (said: unknown) => withPresentWord(said) as PolicyDecision['outcome'];

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';

function wrong(what: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_POLICY_RULE', `policyFor: ${what}`);
}
