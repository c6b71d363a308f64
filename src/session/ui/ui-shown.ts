import type { ApprovalRequest, ContentPart, MediaPart, StreamEndEvent } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import type { UiApproval, UiFinishReason, UiMessageChunk } from './chunk.ts';

/** A result as a page shows it: text, or parts where there is more. */
export function shownOutput(content: readonly ContentPart[]): unknown {
  return content.every(({ type }) => type === 'text') ? textOfParts(content) : content;
}

/** Types that a browser shows without running anything of them. */
const PLAIN =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+|application\/pdf|text\/plain)$/i;

/** An address that a page may be led to: no script, no file of the reader. */
export function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/** Where a page finds a file of an agent; undefined: nowhere that is safe to open. */
export function urlOfMedia({ mimeType, data, uri }: MediaPart): string | undefined {
  if (data !== undefined) return PLAIN.test(mimeType) ? `data:${mimeType};base64,${data}` : undefined;
  return uri !== undefined && isWebAddress(uri) ? uri : undefined;
}

export function shownApproval(approval: ApprovalRequest, expiresAt: string | undefined): UiApproval {
  const { title, reason, preview, requestedBy, approvers, fixedArgs } = approval;
  return {
    title,
    preview,
    requestedBy: requestedBy.id,
    ...(reason === undefined ? {} : { reason }),
    ...(approvers ? { approvers } : {}),
    ...(fixedArgs ? { fixedArgs } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** What is asked beside the calls of a message: a form, a sign-in, an approval of a call that the page does not have. */
export function shownQuestion(question: object): Record<string, unknown> {
  const { requestId, message, title, requestedSchema, context, expiresAt, kind, elicitation, ...rest } =
    question as Record<string, unknown>;
  const about = rest.approval ? { name: rest.name, args: rest.args } : {};
  const members = {
    requestId,
    kind: elicitation ?? kind,
    message,
    title,
    requestedSchema,
    context,
    expiresAt,
    ...about,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

const FINISH: Readonly<Record<string, UiFinishReason>> = {
  completed: 'stop',
  failed: 'error',
  input_required: 'tool-calls',
  refusal: 'content-filter',
};

export function finish(reason: string, data: StreamEndEvent['data'] = {}): UiMessageChunk {
  const finishReason = data.truncated ? 'length' : (FINISH[reason] ?? 'other');
  return { type: 'finish', finishReason, messageMetadata: { reason, ...(data.usage ? { usage: data.usage } : {}) } };
}

/** Of a part: its words, where it has some. */
export function wordsOfPart(part: ContentPart): { kind: 'text' | 'reasoning'; text: string } | undefined {
  if (part.type === 'text' || part.type === 'refusal') return { kind: 'text', text: part.text };
  return part.type === 'thought' ? { kind: 'reasoning', text: part.thought } : undefined;
}
