import type { z } from 'zod';
import type * as schema from '../schemas/approvals.ts';
import type { Closed } from '../values/index.ts';

/**
 * Who acts: a person, a service, an agent on somebody's behalf. Logs keep `id`, `roles` and `onBehalfOf` and nothing
 * else: a policy that goes by more does not see it when a turn is continued.
 */
export type Principal = Closed<z.infer<typeof schema.principal>>;
export type ApproverRule = Closed<z.infer<typeof schema.approverRule>>;
export type RememberOption = Closed<z.infer<typeof schema.rememberOption>>;
/** What policy obliged to when a host's question was put: whoever answers is held to it. */
export type PutQuestion = Closed<z.infer<typeof schema.putQuestion>>;
/** What a person decides on: bound to the exact call by `previewDigest`. */
export type ApprovalRequest = Closed<z.infer<typeof schema.approvalRequest>>;
export type ElicitationKind = z.infer<typeof schema.elicitationKind>;
/**
 * An open request as an executor reports it, on the wire and where a stream ends too: derived from the log, so it survives
 * restarts. What its kind does not need may be absent; `openRequestOf` makes an `OpenRequest` of it.
 */
export type ReportedRequest = Closed<z.infer<typeof schema.reportedRequest>>;
