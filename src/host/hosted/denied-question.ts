import type { ApprovalQuestion, ReportedRequest } from '../../contracts/index.ts';
import { hasAnswer, putByPolicy, shownTerms } from '../../gate/index.ts';
import type { ControlledSession } from './controlled-session.ts';

/** What policy says to a question that was put before: no answer lets the call run. */
export interface DeniedSince {
  by: 'policy';
  reason?: string;
  ruleId?: string;
}

/**
 * A question that was put and that nobody has answered, about a call that policy denies now: as it is listed, with
 * policy's word. Whoever answers it, whatever they say, has that stored; so has whoever goes on with the session.
 */
export async function deniedQuestion(
  session: ControlledSession,
  request: ReportedRequest,
): Promise<{ request: ApprovalQuestion; denied: DeniedSince } | undefined> {
  const put = request.kind === 'tool' ? putByPolicy(request) : undefined;
  if (!put || hasAnswer(request, put.requestId)) return undefined;
  const { frame } = session;
  const step = await session.judge.step(request, frame.toolOf(request), undefined, true);
  if (step.kind !== 'settle' || step.decision?.by !== 'policy') return undefined;
  const { reason, ruleId } = step.decision;
  const { decision: _, questions: __, requestedSchema: ___, ...open } = request;
  const { callId = request.requestId, name = '', args = {} } = request;
  const title = `Run ${request.name}?`;
  return {
    request: {
      ...open,
      ...{ callId, name, args },
      requestId: put.requestId,
      kind: 'elicitation',
      elicitation: 'tool_confirmation',
      message: `${title} Policy denies it now${reason === undefined ? '' : `: ${reason}`}`,
      approval: {
        title,
        preview: [],
        previewDigest: '',
        requestedBy: frame.grounds(request).principal,
        remember: [],
        ...shownTerms(put),
      },
    },
    denied: {
      by: 'policy',
      ...(reason === undefined ? {} : { reason }),
      ...(ruleId === undefined ? {} : { ruleId }),
    },
  };
}
