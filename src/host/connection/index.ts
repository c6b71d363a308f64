export type { Opened, ServerLimits, Transport } from './protocol/index.ts';
export {
  DEFAULT_LIMITS,
  isTooDeep,
  loadProtocol,
  protocolError,
  Quota,
  RateLimit,
  serverLimits,
  wireError,
} from './protocol/index.ts';
export type {
  Authenticate,
  AuthenticationRequest,
  Authorize,
  ConnectionOptions,
  ExecutorOptions,
  FollowedSession,
  HubOptions,
  Identity,
  OpenSessionParams,
  OperatorOf,
  PageCredentials,
  RequestHead,
  RequestSink,
  Rewind,
  Served,
  ServedApprovals,
  ServerOptions,
  Verify,
} from './server/index.ts';
export {
  bearerOf,
  Connection,
  Gatekeeper,
  Hub,
  LOOPBACK_NAMES,
  RequestCaller,
  servedExecutor,
  servedHost,
  whenEnded,
} from './server/index.ts';
export type { Channel, FramePlace, FrameWriter } from './stream/index.ts';
export { Attachment, BackPressure } from './stream/index.ts';
