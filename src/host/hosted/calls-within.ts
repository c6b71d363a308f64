import type { AbortTarget, ReportedRequest } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';

/**
 * Open calls that end with a thread, or with a call that runs an agent, as far as a host can tell: they are not started
 * while the end is on its way into the log.
 */
export function callsWithin(open: readonly ReportedRequest[], { threadId, requestId }: AbortTarget): string[] {
  const owner = requestId === undefined ? undefined : callIdOf(requestId);
  const places = open.filter((request) => isOf(threadId, request.threadId)).map(({ path }) => path);
  const isWithin = ({ path, callId }: ReportedRequest) =>
    owner === undefined
      ? places.some((place) => path === place || path.startsWith(`${place}/`) || path.startsWith(`${place}~`))
      : callId !== owner && path.includes(owner);
  return open.filter(isWithin).flatMap(({ callId }) => callId ?? []);
}

function isOf(threadId: string | undefined, thread: string | undefined): boolean {
  return threadId !== undefined && (thread === threadId || thread?.startsWith(`${threadId}.`) === true);
}
