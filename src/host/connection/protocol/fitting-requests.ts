import type { OpenRequest, ReportedRequest } from '../../../contracts/index.ts';
import { headOf } from '../../../gate/index.ts';
import { ENVELOPE } from './wire-event.ts';

/** Bytes of what is left of a text that is too long. */
const HEAD = 200;

/**
 * What is open in a session, as one message takes it: the largest previews give way first. Arguments stay, as a host on
 * the other side judges them: where they are too large by themselves, there is no answer.
 */
export function fittingPending(pending: readonly ReportedRequest[], maxPayload: number): ReportedRequest[] {
  const fitted = [...pending];
  let left = maxPayload - ENVELOPE - sizeOf(pending);
  if (left >= 0) return fitted;
  const previews = pending
    .map((request, index) => ({ request, index, bytes: sizeOf(request.approval?.preview ?? []) }))
    .sort((a, b) => b.bytes - a.bytes);
  for (const { request, index } of previews) {
    if (left >= 0) break;
    const small = withoutPreview(request);
    const saved = sizeOf(request) - sizeOf(small);
    // Those behind it are smaller still.
    if (saved <= 0) break;
    fitted[index] = small;
    left += saved;
  }
  return fitted;
}

/** A question to people, as a message takes it: without its preview, or without all that may be large. */
export function fittingQuestion<A extends { request: OpenRequest }>(open: A, maxBytes: number): A & { cut?: true } {
  if (sizeOf(open) <= maxBytes) return open;
  const small = { ...open, cut: true as const, request: withoutPreview(open.request) };
  return sizeOf(small) <= maxBytes ? small : { ...small, request: bare(open.request) };
}

function withoutPreview<R extends ReportedRequest>(request: R): R {
  const { approval } = request;
  if (!approval || approval.preview.length === 0) return request;
  const text = notShown('its preview', sizeOf(approval.preview), approval.previewDigest);
  return { ...request, approval: { ...approval, preview: [{ type: 'text', text }] } };
}

function bare(request: OpenRequest): OpenRequest {
  const { context: _, requestedSchema: __, approval, ...rest }: ReportedRequest = request;
  const text = notShown('what it is about, its arguments among it,', sizeOf(request), approval?.previewDigest);
  const small = { ...rest, ...('args' in rest ? { args: {} } : {}), message: text };
  if (!approval) return small as OpenRequest;
  const { title, reason } = approval;
  const words = { title: headOf(title, HEAD), ...(reason === undefined ? {} : { reason: headOf(reason, HEAD) }) };
  return {
    ...small,
    approval: { ...approval, ...words, preview: [{ type: 'text', text }], remember: [] },
  } as OpenRequest;
}

function notShown(what: string, bytes: number, digest: string | undefined): string {
  const bound = digest === undefined ? '' : ` An approval applies to the digest ${digest}.`;
  return `Not shown: ${what} has ${bytes} bytes, more than one message may have.${bound}`;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
