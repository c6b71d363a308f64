/** JSON-RPC, messages, limits. */
export { Counts } from './counts.ts';
export { EventPage } from './event-page.ts';
export { fittingPending, fittingQuestion } from './fitting-requests.ts';
export { readIncoming } from './incoming.ts';
export { errorText, isTooDeep, noticeText, protocolError, resultText, wireError } from './json-rpc.ts';
export type { ServerLimits } from './limits.ts';
export { DEFAULT_LIMITS, serverLimits } from './limits.ts';
export { assertFits, checkParams, loadProtocol, numberOf } from './messages.ts';
export { Quota } from './quota.ts';
export { RateLimit } from './rate-limit.ts';
export type { RingEntry } from './ring.ts';
export { Ring } from './ring.ts';
export type { Opened, Transport } from './transport.ts';
export { fittingEvent, wireEvent } from './wire-event.ts';
