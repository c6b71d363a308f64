import type {
  AgentSession,
  ApprovalQuestion,
  HostAnswer,
  Principal,
  ReportedRequest,
  Settlement,
} from '../../contracts/index.ts';
import { canonicalJson } from '../../contracts/index.ts';
import { decidingAnswer, isVote, putAs, yesesNeeded } from '../../gate/index.ts';
import { openRequest } from '../../session/index.ts';
import { carriedVotes } from '../questions/index.ts';

type Answer = NonNullable<ReportedRequest['answers']>[number];

/**
 * What an answer to a question for several people has come to. Others may have answered meanwhile: which answer decides
 * is told from what is stored, the same for everybody.
 */
export async function afterAnswer(
  inner: AgentSession,
  question: ApprovalQuestion,
  given: HostAnswer,
  came: Settlement,
): Promise<Settlement> {
  const { requestId, approval } = question;
  const { previewDigest: digest, requestedBy } = approval;
  const request = await openRequest(inner, requestId);
  // Somebody has gone on since; a vote does not wait for others any more.
  if (!request) return came.status === 'waiting_quorum' ? { status: 'already_settled' } : came;
  const answers = (request.answers ?? []).filter((answer) => answer.requestId === requestId);
  const mine = placeOf(answers, given);
  const decides = decidingAnswer(
    answers,
    { requestId, digest, carried: carriedVotes(question) },
    approval,
    requestedBy,
  );
  const who = given.by ? { by: given.by.id } : {};
  if (!decides) {
    const waits = isVote(given) && (came.status === 'waiting_quorum' || mine < answers.length);
    return waits ? { status: 'waiting_quorum', ...who } : came;
  }
  const at = answers.indexOf(decides);
  if (came.status === 'already_settled' || mine > at) return settledBy(decides);
  return { status: mine === at ? 'settled' : 'waiting_quorum', ...who };
}

/** Votes have decided on a question of the host: nobody is asked it any more, and its call still waits. */
export function decidedByVotes(
  request: ReportedRequest,
  requestId: string,
  requestedBy: Principal,
): Settlement | undefined {
  const put = putAs(request, requestId);
  const { answers = [] } = request;
  if (!put || yesesNeeded(put) < 2) return undefined;
  for (const { digest } of answers) {
    const asked = digest === undefined ? undefined : { requestId, digest };
    const decides = asked && decidingAnswer(answers, asked, put, requestedBy);
    if (decides) return settledBy(decides);
  }
  return undefined;
}

function settledBy({ action, by }: Answer): Settlement {
  return { status: 'already_settled', outcome: action, ...(by ? { by: by.id } : {}) };
}

/** Of what is not there nobody knows where it stands: it came after all that is. */
function placeOf(answers: readonly Answer[], given: HostAnswer): number {
  const mine = answers.findLastIndex((answer) => isSame(answer, given));
  return mine < 0 ? answers.length : mine;
}

function isSame({ action, by, args }: Answer, given: HostAnswer): boolean {
  if (action !== actionOf(given) || by?.id !== given.by?.id || by?.onBehalfOf !== given.by?.onBehalfOf) return false;
  const edited = given.kind === 'approve' ? given.args : undefined;
  return canonicalJson({ args: args ?? null }) === canonicalJson({ args: edited ?? null });
}

function actionOf(given: HostAnswer): string {
  if (given.kind === 'elicitation') return given.action;
  return given.kind === 'approve' ? 'accept' : 'decline';
}
