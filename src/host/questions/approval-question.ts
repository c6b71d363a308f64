import type {
  ApprovalQuestion,
  ApproverRule,
  CallInfo,
  DisplayContent,
  PolicyEvaluator,
  Principal,
  QuestionKind,
  RememberOption,
  ReportedRequest,
} from '../../contracts/index.ts';
import type { GateCall, GateRules, Question } from '../../gate/index.ts';
import { evaluatePolicy, isForeign, isForNamed, policyRequest, shownTerms } from '../../gate/index.ts';
import type { PolicyRule } from '../policy/index.ts';
import type { PresentAgent } from '../terms/index.ts';
import { isRulePolicy } from '../terms/index.ts';

/** What the making of a question takes from its host. */
export interface QuestionOptions {
  base: PolicyEvaluator;
  callInfo(request: ReportedRequest, callId: string, signal?: AbortSignal): CallInfo;
  /** The agent as it is here; absent: of a foreign one nobody knows. */
  readonly present?: PresentAgent | undefined;
  /** Of questions for which policy names none. */
  readonly approvers: ApproverRule | undefined;
  /** What people want always for tools of this name. */
  rememberedFor(tool: string): readonly PolicyRule[];
}

/** The question as people and programs are shown it, with the answers that the host's policy would let be remembered. */
export async function approvalQuestion(
  request: ReportedRequest,
  call: GateCall,
  rules: GateRules & { principal: Principal },
  question: Question,
  facts: {
    requestId: string;
    kind: QuestionKind;
    preview: DisplayContent[];
    digest: string;
    expiresAt: number | undefined;
    /** Policy alone asks: neither the author of the tool nor its handler. */
    isPolicys: boolean;
  },
  options: Pick<QuestionOptions, 'base' | 'rememberedFor'>,
): Promise<ApprovalQuestion> {
  // What earlier questions were put with is for whoever judges.
  const { decision: _, expiresAt: __, questions: ___, requestedSchema: ____, attempts: _____, ...open } = request;
  // What a foreign server calls its tool may be the name of another one, or a question of its own.
  const named = isForeign(call.source) ? undefined : call.tool.displayName;
  const title = `Run ${named ?? call.tool.name}?`;
  const asks = question.hint ?? (question.reason === undefined ? title : `${title} (${question.reason})`);
  const other = whyAgain(call, options.rememberedFor(call.tool.name));
  const message = other === undefined ? asks : `${asks} ${other}`;
  return {
    ...open,
    callId: call.callId,
    name: call.tool.name,
    requestId: facts.requestId,
    kind: facts.kind === 'rerun' ? 'rerun_unknown' : 'elicitation',
    elicitation: facts.kind === 'rerun' ? 'rerun_unknown' : 'tool_confirmation',
    args: question.args,
    message,
    ...(question.payload === undefined ? {} : { context: { payload: question.payload } }),
    ...(facts.expiresAt === undefined ? {} : { expiresAt: new Date(facts.expiresAt).toISOString() }),
    approval: {
      title,
      preview: facts.preview,
      previewDigest: facts.digest,
      requestedBy: rules.principal,
      remember: facts.isPolicys ? await rememberOptions(call, question, rules, options.base) : [],
      ...(question.reason === undefined ? {} : { reason: question.reason }),
      ...(question.ruleId === undefined ? {} : { ruleId: question.ruleId }),
      ...shownTerms(question),
      // What was started can run once more as it was, or not at all.
      ...(facts.kind === 'rerun' || call.tool.annotations?.fixedArgs === true ? { fixedArgs: true } : {}),
    },
  };
}

/** Somebody said always to a tool of this name, which is not this one. */
function whyAgain({ tool, source, digest }: GateCall, remembered: readonly PolicyRule[]): string | undefined {
  const said = `Somebody said always to ${tool.name}, but`;
  if (remembered.some((rule) => rule.source === source && rule.digest === digest)) return undefined;
  if (remembered.some((rule) => rule.source === source)) {
    return `${said} what ${source} says of it has changed since.`;
  }
  const [other] = remembered;
  return other && `${said} that one is of ${String(other.source)}, and this one of ${source}.`;
}

/** "Always" is offered only where such a rule would really let the call run. */
async function rememberOptions(
  call: GateCall,
  question: Question,
  rules: GateRules,
  base: PolicyEvaluator,
): Promise<RememberOption[]> {
  const { name } = call.tool;
  // A name that reads as a pattern would open more than this tool.
  if (isForNamed(question) || !isRulePolicy(base) || /[*?]/.test(name)) return [];
  const options: RememberOption[] = [];
  const request = policyRequest(call, question.args, rules);
  const { source, digest } = request.context?.resource ?? {};
  if (source === undefined || digest === undefined || /[*?]/.test(source)) return [];
  // Bound to the tool that was shown: one of this name from elsewhere, or one that has changed, is another.
  const rule: PolicyRule = { id: `remembered:${name}@${source}`, tool: name, source, digest, outcome: 'allow' };
  for (const [scope, label] of [
    ['session', `Always run ${name} in this session`],
    ['user', `Always run ${name}`],
  ] as const) {
    // Mostly this is plain without making such a rule.
    if (base.mayLet?.(request, scope) === false) continue;
    const would = await evaluatePolicy(base.with(rule, scope), request);
    if (would.outcome === 'allow') options.push({ label, scope, rule: { ...rule } });
  }
  return options;
}
