/** An approval is of what was shown: its id says of which question, and of what. */
const APPROVAL_ID = /^(.{1,600})@([0-9a-f]{64})$/s;

export function approvalIdOf(requestId: string, previewDigest: string): string {
  return `${requestId}@${previewDigest}`;
}

/** undefined: it is the id of no approval. */
export function readApprovalId(id: string): { requestId: string; previewDigest: string } | undefined {
  const [, requestId, previewDigest] = APPROVAL_ID.exec(id) ?? [];
  return requestId === undefined || previewDigest === undefined ? undefined : { requestId, previewDigest };
}
