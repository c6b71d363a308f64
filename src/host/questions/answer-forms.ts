import type { RequestAnswer, SessionInput } from '../../contracts/index.ts';
import { unreachable } from '../../session/index.ts';

/** A session input as the answer that it is. */
export function answerOf(input: Exclude<SessionInput, { kind: 'message' | 'continue' }>): RequestAnswer {
  const by = 'by' in input && input.by ? { by: input.by } : {};
  switch (input.kind) {
    case 'tool_result':
      return { kind: 'result', result: input.result };
    case 'tool_approval':
      return {
        kind: 'approve',
        ...(input.args ? { args: input.args } : {}),
        ...(input.previewDigest === undefined ? {} : { previewDigest: input.previewDigest }),
        ...by,
      };
    case 'elicitation_response':
      return { kind: 'elicitation', ...input.response, ...by };
    default:
      return unreachable(input, 'an answer');
  }
}

/** Yes and no, however they were said. */
export function fromElicitation(answer: Extract<RequestAnswer, { kind: 'elicitation' }>): RequestAnswer {
  const { kind: _, action, content: __, ...rest } = answer;
  if (action === 'accept') return { kind: 'approve', ...rest };
  return action === 'decline' ? { kind: 'deny', ...rest } : answer;
}

/** The answer to a host's question as an input of the inner session. */
export function inputOf(requestId: string, answer: RequestAnswer): SessionInput {
  const by = answer.by ? { by: answer.by } : {};
  if (answer.kind === 'approve') {
    const { args, previewDigest } = answer;
    return {
      kind: 'tool_approval',
      requestId,
      ...(args ? { args } : {}),
      ...(previewDigest === undefined ? {} : { previewDigest }),
      ...by,
    };
  }
  const action = answer.kind === 'elicitation' ? answer.action : 'decline';
  return { kind: 'elicitation_response', requestId, response: { action }, ...by };
}
