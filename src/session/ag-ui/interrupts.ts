import { isObject } from '../../base/index.ts';
import type { ReportedRequest, RequestAnswer } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { approvalIdOf, readApprovalId, shownApproval } from '../ui/index.ts';
import type { AgUiInterrupt } from './ag-ui-event.ts';

/** A question as an event, the end of a stream, or `pending()` reports it. */
export type AgUiQuestion = Pick<ReportedRequest, 'requestId'> & Partial<ReportedRequest>;

const flag = { type: 'boolean' };

/** Schema of the answer to an approval: what is no plain `approved: true` is a no. */
const approvalSchema = (isEditable: boolean) => ({
  type: 'object',
  properties: {
    approved: flag,
    reason: { type: 'string' },
    ...(isEditable ? { editedArgs: { type: 'object' } } : {}),
  },
  required: ['approved'],
});

export function interruptOf(question: AgUiQuestion, mayAnswer: boolean): AgUiInterrupt {
  const { requestId, callId, approval, expiresAt, requestedSchema, message, name, args } = question;
  const about = {
    ...(message === undefined ? {} : { message }),
    ...(callId === undefined ? {} : { toolCallId: callId }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  if (approval) {
    return {
      id: approvalIdOf(requestId, approval.previewDigest),
      reason: 'tool_call',
      message: approval.title,
      ...about,
      responseSchema: approvalSchema(!approval.fixedArgs),
      metadata: { coxswain: { mayAnswer, name, args, ...shownApproval(approval, expiresAt) } },
    };
  }
  const isForm = requestedSchema !== undefined;
  return {
    id: requestId,
    reason: isForm ? 'input_required' : 'confirmation',
    ...about,
    responseSchema: isForm
      ? (requestedSchema as Record<string, unknown>)
      : { type: 'object', properties: { approved: flag }, required: ['approved'] },
    metadata: { coxswain: { mayAnswer, kind: question.elicitation ?? question.kind ?? 'elicitation' } },
  };
}

/**
 * An entry of `resume`, as an answer; what it is to is looked up in `open`. Undefined: nothing that is open.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for edited arguments that are no object
 */
export function answerOfResume(
  { interruptId, status, payload }: { interruptId: string; status: string; payload?: unknown },
  open: readonly AgUiQuestion[],
): { requestId: string; answer: RequestAnswer } | undefined {
  const named = readApprovalId(interruptId);
  const question = open.find(({ requestId }) => requestId === (named?.requestId ?? interruptId));
  if (!question) return undefined;
  const { requestId, approval, requestedSchema } = question;
  const given = isObject(payload) ? payload : {};
  const isYes = status === 'resolved' && given.approved === true;
  const reason = typeof given.reason === 'string' ? { reason: given.reason } : {};
  if (approval) {
    if (!isYes || !named) return { requestId, answer: { kind: 'deny', ...reason } };
    const { editedArgs } = given;
    // Else what was edited away would run.
    if (editedArgs !== undefined && !isObject(editedArgs)) {
      const message =
        'AG-UI request: editedArgs of an answer is an object, the arguments to approve; leave it out to approve those that are shown';
      throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
    }
    const { previewDigest } = named;
    return {
      requestId,
      answer: { kind: 'approve', previewDigest, ...reason, ...(editedArgs ? { args: editedArgs } : {}) },
    };
  }
  if (status !== 'resolved') return { requestId, answer: { kind: 'elicitation', action: 'cancel' } };
  if (requestedSchema === undefined)
    return { requestId, answer: { kind: 'elicitation', action: isYes ? 'accept' : 'decline' } };
  return { requestId, answer: { kind: 'elicitation', action: 'accept', content: given } };
}
