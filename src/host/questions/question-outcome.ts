import type {
  ApprovalQuestion,
  DisplayContent,
  PutQuestion,
  QuestionKind,
  ReportedRequest,
} from '../../contracts/index.ts';
import { callIdOf, canonicalJson, kindOfQuestion, questionId, questionNumber } from '../../contracts/index.ts';
import type { Approval, GateCall, HeldQuestion, Question } from '../../gate/index.ts';
import {
  decidingAnswer,
  editedVote,
  expiryOf,
  hasAnswer,
  hasExpired,
  heldTo,
  NOBODY_IN_TIME,
  orApprovers,
  putAs,
  recordFacts,
  yesesToEdited,
} from '../../gate/index.ts';
import { approvedForVersion } from '../terms/index.ts';
import type { HostRules, HostTool } from '../tools/index.ts';
import { askedByHook, floorOf, previewDigest } from '../tools/index.ts';
import type { QuestionOptions } from './approval-question.ts';
import { approvalQuestion } from './approval-question.ts';
import type { Confirmation } from './confirmation.ts';
import { questionForAll, questionForOthers } from './edited-args.ts';
import { previewOf } from './preview.ts';
import type { Step } from './step.ts';
import { cancelled, notAgain, refusal, underRule } from './step.ts';

/** A call that is judged: as it is open, as it would run, and what decides on it. */
export interface JudgedCall {
  readonly request: ReportedRequest;
  readonly hostTool: HostTool | undefined;
  readonly call: GateCall;
  readonly rules: HostRules;
}

/** Something that the host has to ask about one call. */
export interface Inquiry extends JudgedCall {
  question: Question;
  kind: QuestionKind;
  /** The handler's question that this one is, if it is one. */
  confirmation?: Confirmation | undefined;
}

export type QuestionOutcome =
  | { kind: 'open'; question: ApprovalQuestion }
  | { kind: 'refused'; step: Step }
  /** `preview`: what was shown to those who have approved it. */
  | { kind: 'approved'; approval: Approval; payload: unknown; preview: readonly DisplayContent[] };

type Answers = NonNullable<ReportedRequest['answers']>;

const carriedTo = new WeakMap<ApprovalQuestion, Answers>();

/** Yeses to what an open question shows that were given as edits of the question before it. */
export function carriedVotes(question: ApprovalQuestion): Answers {
  return carriedTo.get(question) ?? [];
}

/** What a question has come to, by the answers that the log holds: still open, refused, out of time, or approved. */
export async function questionOutcome(inquiry: Inquiry, options: QuestionOptions): Promise<QuestionOutcome> {
  const { request, hostTool, call, rules, kind, confirmation } = inquiry;
  const answers = request.answers ?? [];
  let question: HeldQuestion = inquiry.question;
  const no = (step: Step): QuestionOutcome => ({
    kind: 'refused',
    step: underRule(step, question, recordFacts(call, question.args, rules).asked),
  });
  if (!rules.interactive) return no(kind === 'rerun' ? notAgain('host') : refusal('nobody can be asked here', 'host'));
  const infoWith = (signal: AbortSignal) => options.callInfo(request, call.callId, signal);
  let preview = hostTool?.tool.preview ? await previewOf(hostTool.tool, question.args, rules.signal, infoWith) : [];
  const asked = confirmation?.asked ?? askedByHook(request);
  const version = approvedForVersion(request, options.present);
  let digest = previewDigest(call, question.args, preview, asked, version);
  /** Yeses to what is shown that were given as edits of the question before. */
  let carried: NonNullable<ReportedRequest['answers']> = [];
  const show = async (next: HeldQuestion) => {
    question = next;
    preview = await previewOf(hostTool?.tool, question.args, rules.signal, infoWith);
    digest = previewDigest(call, question.args, preview, asked, version);
  };
  for (let n = confirmation?.first ?? 0; ; n++) {
    const requestId = questionId(call.callId, kind, n);
    const given = answers.filter((answer) => answer.requestId === requestId);
    // This host's own rule first: what was put under another one holds beside it, not in its place.
    question = heldTo(orApprovers(question, options.approvers), putAs(request, requestId));
    // A yes is for one more run, not for the runs after that.
    if (kind === 'rerun' && given.some(({ spent }) => spent)) continue;
    const ballot = { requestId, digest, carried };
    const answer = decidingAnswer(given, ballot, question, rules.principal);
    const edit = answer ? undefined : editedVote(given, ballot, question, rules.principal);
    const forAll = edit?.args && (await questionForAll(call, rules, edit.args, question));
    if (forAll) {
      carried = yesesToEdited(given, { ...ballot, args: edit.args }, question, rules.principal);
      await show(forAll);
      continue;
    }
    // A yes holds for what was shown, from whoever may give it; what is not enough is asked again.
    if (!answer && hasAnswer({ answers: given })) continue;
    if (!answer) {
      const expiresAt = expiryOf(request, question);
      if (hasExpired(expiresAt)) {
        return no(kind === 'rerun' ? notAgain('expiry', NOBODY_IN_TIME) : refusal(NOBODY_IN_TIME, 'expiry'));
      }
      const isPolicys = kind === 'policy' && !confirmation && !floorOf(request, hostTool);
      const facts = { requestId, kind, preview, digest, expiresAt, isPolicys };
      const open = await approvalQuestion(request, call, rules, question, facts, options);
      if (carried.length > 0) carriedTo.set(open, carried);
      return { kind: 'open', question: open };
    }
    const by = `user:${answer.by?.id ?? 'unknown'}`;
    if (answer.action !== 'accept' && kind === 'rerun') return no(notAgain(by));
    if (answer.action === 'cancel') return no(cancelled(by));
    // Whatever else it says, it is no yes.
    if (answer.action !== 'accept') return no(refusal(answer.reason ?? 'denied', by, answer.reason));
    const voters = answer.args ? yesesToEdited(given, { ...ballot, args: answer.args }, question, rules.principal) : [];
    const people = voters.map(({ by }) => by);
    const others = answer.args && (await questionForOthers(call, rules, answer.args, people, question));
    if (others) {
      carried = voters;
      await show(others);
      continue;
    }
    // Another host has asked since, on terms of its own: those hold, too.
    const since = putSince(request, requestId).reduce<HeldQuestion>((held, put) => heldTo(held, put), question);
    if (since !== question && !decidingAnswer(given, ballot, since, rules.principal)) continue;
    const args = answer.args ?? (question.args === call.args ? undefined : question.args);
    const { payload, ruleId, redact } = question;
    // Also where somebody else has edited them, and this question showed what came of that.
    const isEdited = canonicalJson(args ?? call.args) !== canonicalJson(inquiry.question.args);
    return {
      kind: 'approved',
      approval: { by, args, reason: answer.reason, ruleId, redact, isEdited },
      payload,
      preview,
    };
  }
}

/** What later questions of the same kind about the call were put with. */
function putSince({ questions = [] }: ReportedRequest, requestId: string): PutQuestion[] {
  const kind = kindOfQuestion(requestId);
  return questions.filter(
    (put) =>
      callIdOf(put.requestId) === callIdOf(requestId) &&
      kindOfQuestion(put.requestId) === kind &&
      questionNumber(put.requestId) > questionNumber(requestId),
  );
}
