import type { ReportedRequest, RunDecisionRecord } from '../../contracts/index.ts';
import { isRepeatable } from '../../gate/index.ts';
import { hasTails } from '../questions/index.ts';
import type { HostTool } from '../tools/index.ts';
import type { RunBase } from './run-base.ts';

/**
 * Whether the call runs without a start in the log: a crash makes it run twice, which does nothing that one run has not
 * done. One behind which a tail call has begun
 * is none. A sub-agent that asks is found again by the start of
 * its call, whatever it says of itself.
 */
export function isUnrecorded(
  request: ReportedRequest,
  tool: HostTool | undefined,
  called: { readonly isResumable: boolean } | undefined,
): boolean {
  if (request.handledBy !== 'host') return false;
  return called ? called.isResumable : !hasTails(request) && isRepeatable(tool?.descriptor.annotations);
}

/** Stores the start of a call alone, beside what streams. False: another host was faster. */
export async function recordStart(
  { session }: Pick<RunBase, 'session'>,
  request: ReportedRequest,
  decision: RunDecisionRecord,
): Promise<boolean> {
  const { args, by } = decision;
  const person = /^user:(.+)$/s.exec(by)?.[1];
  const settlement = await session.inner.respond(request.requestId, {
    kind: 'approve',
    starts: true,
    decision,
    ...(args ? { args } : {}),
    ...(person === undefined ? {} : { by: { id: person } }),
  });
  return settlement.status === 'settled';
}
