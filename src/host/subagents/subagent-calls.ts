import type { ReportedRequest } from '../../contracts/index.ts';

export function callOf(request: ReportedRequest): string {
  return request.callId ?? request.requestId;
}

/** What is open, as one text to compare. */
export function namesOf(requests: readonly ReportedRequest[]): string {
  return JSON.stringify(requests.map(({ requestId }) => requestId).sort());
}

/** The words that a sub-agent is asked with. */
export function subagentPrompt(args: Record<string, unknown>): string {
  const { request, ...rest } = args;
  return typeof request === 'string' && Object.keys(rest).length === 0 ? request : JSON.stringify(args);
}
