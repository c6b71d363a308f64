import { hash } from 'node:crypto';
import type { ConfirmationRequest, DisplayContent } from '../../contracts/index.ts';
import { canonicalJson } from '../../contracts/index.ts';
import type { GateCall } from '../../gate/index.ts';

/** SHA-256 (base64url) of the canonical JSON. */
export function jsonDigest(value: unknown): string {
  return hash('sha256', canonicalJson(value), 'base64url');
}

/**
 * What a yes is bound to: SHA-256 (hex) over the canonical JSON of the tool (its name, and the digest of what was shown
 * of it), arguments and preview, and what a handler or hook asks with, where one does: its payload is handed on. `version`: of the agent, where one has taken
 * the turn over from another.
 */
export function previewDigest(
  { tool, digest = '' }: Pick<GateCall, 'tool' | 'digest'>,
  args: Record<string, unknown>,
  preview: readonly DisplayContent[],
  asked?: ConfirmationRequest,
  version?: string,
): string {
  const { hint, payload } = asked ?? {};
  const words = {
    ...(hint === undefined ? {} : { hint }),
    ...(payload === undefined ? {} : { payload }),
    ...(version === undefined ? {} : { version }),
  };
  return hash('sha256', canonicalJson({ tool: tool.name, digest, args, preview, ...words }));
}
