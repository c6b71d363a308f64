import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { JsonSchema, Principal, ReportedRequest, RequestAnswer } from '../../../contracts/index.ts';
import { fitsSchema, hasVoted, whyNotApprover } from '../../../gate/index.ts';
import { charsOf, visible } from '../../../session/index.ts';
import { previewText } from './preview-text.ts';

/** What a person answered to one question, as it came over the wire. */
export interface Reply {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown> | undefined;
  /** Why it is no yes, where nobody said so. */
  reason?: string;
}

export interface FormQuestion {
  request: ReportedRequest;
  form: ElicitRequestFormParams;
}

/** Characters of a question that a client is given: its words and its form together. */
const MAX = 20_000;

/** The forms of the protocol's versions have flat objects of these. */
const PRIMITIVES = new Set(['string', 'number', 'integer', 'boolean']);

const decisionForm: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: {
    decision: { type: 'string', title: 'Decision', description: 'allow: run it this once', enum: ['allow', 'deny'] },
  },
  required: ['decision'],
};

const yesNo = new Set<unknown>(['tool_confirmation', 'user_approval', 'rerun_unknown']);

/** The question as a form; a sentence where the caller's person cannot be asked it. */
export function formQuestion(request: ReportedRequest, principal: Principal): FormQuestion | string {
  const { approval } = request;
  const message = visible(request.message ?? request.approval?.title ?? `${request.agentPath.at(-1)} asks`);
  if (approval) {
    const fault = whyNotApprover(approval, approval.requestedBy, principal);
    if (fault !== undefined) return fault;
    if (hasVoted(request, principal)) return 'the approval is counted; others must approve too';
    const shown = previewText(approval.preview, request.args);
    if ('why' in shown) return shown.why;
    return whole(request, `${message}\n\n${shown.text}`, decisionForm);
  }
  if (request.kind === 'tool') return `${request.name} is run by the client of the session, not here`;
  // The protocol forbids to ask for secrets in a form.
  if (request.elicitation === 'auth_required') return 'it asks for a credential, which may not pass through a form';
  if (request.requestedSchema === undefined) {
    return whole(request, message, isYesNo(request) ? decisionForm : textForm);
  }
  const form = flatForm(request.requestedSchema);
  return form ? whole(request, message, form) : 'its form is not one that the protocol can show';
}

/** An answer counts for all of a question: of one that is longer nobody is shown a part. */
function whole(
  request: ReportedRequest,
  message: string,
  requestedSchema: ElicitRequestFormParams['requestedSchema'],
): FormQuestion | string {
  const isOwn = requestedSchema === decisionForm || requestedSchema === textForm;
  const chars = message.length + (isOwn ? 0 : charsOf(requestedSchema));
  if (chars > MAX) return `what it asks takes ${chars} characters, and a form shows ${MAX}`;
  return { request, form: { message, requestedSchema } };
}

const textForm: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
};

/** Only an explicit yes is one: whatever does not say `allow` denies. */
export function answerOfForm(
  { request, form }: FormQuestion,
  reply: Reply,
  by: Principal,
  digest?: string,
): RequestAnswer {
  if (form.requestedSchema !== decisionForm) {
    const { action } = reply;
    const content = reply.content ?? {};
    if (action === 'accept' && !fitsSchema(form.requestedSchema as JsonSchema, content)) {
      return { kind: 'elicitation', action: 'cancel', reason: 'the answer does not fit the form', by };
    }
    return { kind: 'elicitation', action, ...(action === 'accept' ? { content } : {}), by };
  }
  const isYes = reply.action === 'accept' && reply.content?.decision === 'allow';
  if (!request.approval) return { kind: 'elicitation', action: isYes ? 'accept' : refused(reply.action), by };
  if (isYes) return { kind: 'approve', by, previewDigest: digest ?? request.approval.previewDigest };
  if (reply.action === 'cancel') return { kind: 'elicitation', action: 'cancel', by };
  const isMuddled = reply.action === 'accept' && reply.content?.decision !== 'deny';
  return { kind: 'deny', reason: reply.reason ?? (isMuddled ? 'the answer did not say allow' : 'declined'), by };
}

const refused = (action: Reply['action']) => (action === 'cancel' ? 'cancel' : 'decline');

function isYesNo({ elicitation }: ReportedRequest): boolean {
  return yesNo.has(elicitation);
}

/** The schema if every member is a primitive, as clients can show it. */
function flatForm(schema: JsonSchema): ElicitRequestFormParams['requestedSchema'] | undefined {
  const { type, properties, required } = schema;
  if (type !== 'object' || typeof properties !== 'object' || properties === null) return undefined;
  const members = Object.values(properties) as { type?: unknown }[];
  if (!members.every((member) => PRIMITIVES.has(String(member?.type)))) return undefined;
  return {
    type: 'object',
    properties: properties as ElicitRequestFormParams['requestedSchema']['properties'],
    ...(Array.isArray(required) ? { required: required as string[] } : {}),
  };
}
