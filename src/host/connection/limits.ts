/** Bounds of a server; each is refused with a typed error or a close code, never silently. */
export interface ServerLimits {
  /** Bytes of one message, either way. Default 4 MiB. */
  maxPayload: number;
  /** Milliseconds until `initialize` must have come. Default 10,000. */
  initTimeoutMs: number;
  /** Milliseconds between pings; a peer that misses two is gone. Default 25,000. */
  heartbeatMs: number;
  /** Frames of one session that a client may leave unacknowledged. Default 1,024. */
  window: number;
  /** Bytes that may wait in a client's socket. Default 256 KiB. */
  highWaterBytes: number;
  /** Milliseconds without progress after which a client that is behind is closed, to come back. Default 30,000. */
  stallMs: number;
  /** Frames that a session keeps for whoever returns. Default 4,096. */
  ringFrames: number;
  /** Characters of frames that a session keeps for whoever returns. Default 1 MiB. */
  ringBytes: number;
  /** Messages that a client may send in one second. Default 1,000. */
  messagesPerSecond: number;
  /** Requests of one connection that may be unanswered. Default 256. */
  maxRequests: number;
  /** Sessions that one connection may hold. Default 256. */
  maxSessions: number;
  /** Connections, initialised or not. Default 10,000. */
  maxConnections: number;
  /** Connections that have not initialised. Default 1,024. */
  maxUninitialised: number;
  /** Milliseconds that a session stays open with nobody on it and nothing running. Default 300,000. */
  idleMs: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  maxPayload: 4 * 1024 * 1024,
  initTimeoutMs: 10_000,
  heartbeatMs: 25_000,
  window: 1024,
  highWaterBytes: 256 * 1024,
  stallMs: 30_000,
  ringFrames: 4096,
  ringBytes: 1024 * 1024,
  messagesPerSecond: 1000,
  maxRequests: 256,
  maxSessions: 256,
  maxConnections: 10_000,
  maxUninitialised: 1024,
  idleMs: 300_000,
};
