import type { HostAnswer, RequestAnswer, SessionInput } from '../../contracts/index.ts';
import { isVote } from '../../gate/index.ts';
import { withoutHostFacts } from '../../session/link/index.ts';
import type { Handle } from '../frame/index.ts';
import { answerOf, inputOf } from '../questions/index.ts';
import { asCallers } from './answer-checks.ts';
import type { ControlledSession } from './controlled-session.ts';
import { findOpen } from './open-request.ts';

/**
 * Inputs of a caller as inputs of the inner session. Answers to the host's questions pass the same checks as `respond`,
 * all before one is stored.
 */
export async function takeAnswers(
  session: ControlledSession,
  inputs: readonly SessionInput[],
): Promise<SessionInput[]> {
  if (inputs.length > 0 && inputs.every(({ kind }) => kind === 'message' || kind === 'continue')) return inputs.slice();
  const translated: SessionInput[] = [];
  const stored: [requestId: string, answer: HostAnswer][] = [];
  const below: [child: Handle, requestId: string, answer: RequestAnswer][] = [];
  const unasked: string[] = [];
  for (const input of inputs) {
    if (input.kind === 'message' || input.kind === 'continue') {
      translated.push(input);
      continue;
    }
    const open = await findOpen(session, input.requestId);
    const answer = withoutHostFacts(answerOf(input));
    const child = open ? undefined : await session.subagents?.find({ requestId: input.requestId });
    if (child) {
      await child.checkResponse(input.requestId, answer);
      below.push([child, input.requestId, answer]);
      continue;
    }
    if (!open) unasked.push(input.requestId);
    if (!open?.question) {
      const checked = await session.answerChecks.direct(input.requestId, open?.request, answer);
      translated.push(asCallers(input, checked));
      continue;
    }
    const checked = await session.answerChecks.decision(open.request, open.question, answer);
    if (isVote(checked) || open.request.detached) stored.push([open.question.requestId, checked]);
    else {
      session.liveRun?.questions.answering(open.question);
      translated.push(inputOf(open.question.requestId, checked));
    }
  }
  // These are stored in logs of their own: a later input that is bound to be refused must not come too late.
  if (below.length > 0) for (const requestId of unasked) await session.answerChecks.wasAsked(requestId);
  for (const [child, requestId, answer] of below) await child.respond(requestId, answer);
  // One of several votes is no approval yet; a call that has outlived its turn runs before a new one is opened.
  for (const [requestId, answer] of stored) await session.inner.respond(requestId, answer);
  return translated.length > 0 ? translated : [{ kind: 'continue' }];
}
