import { CoxswainError } from '../../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../../gate/index.ts';
import { kindOf } from '../../../session/index.ts';

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
  /**
   * Bytes that may wait in a client's socket; above it, it is sent no events and nothing is read from it. At least
   * 64 KiB. Default 256 KiB.
   */
  highWaterBytes: number;
  /** Bytes that may wait in a client's socket at all; above it, it is closed, to come back. Default 16 MiB. */
  maxUnsentBytes: number;
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
  /** Sessions of one principal that may be open, idle ones excepted. Default 1,024. */
  maxSessionsPerPrincipal: number;
  /** Connections of one principal. Default 256. */
  maxConnectionsPerPrincipal: number;
  /** Connections, initialised or not. Default 10,000. */
  maxConnections: number;
  /** Connections that have not initialised, and upgrades whose credentials are being looked up. Default 1,024. */
  maxUninitialised: number;
  /** Milliseconds that a session stays open with nobody on it and nothing running. Default 300,000. */
  idleMs: number;
  /** Milliseconds that a session has to close; the server goes on without one that does not. Default 10,000. */
  closeMs: number;
  /** Milliseconds that the key of a change is remembered after its answer. Default 900,000. */
  keyMs: number;
  /** Keys that one session remembers. Default 4,096. */
  maxKeys: number;
  /**
   * Milliseconds of one turn of the event loop that new sessions and new turns may take to start; those above it wait
   * for the next turn of the loop. What goes on after a tool, an answer or an approval never waits. Default 2.
   */
  startMs: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  maxPayload: 4 * 1024 * 1024,
  initTimeoutMs: 10_000,
  heartbeatMs: 25_000,
  window: 1024,
  highWaterBytes: 256 * 1024,
  maxUnsentBytes: 16 * 1024 * 1024,
  stallMs: 30_000,
  ringFrames: 4096,
  ringBytes: 1024 * 1024,
  messagesPerSecond: 1000,
  maxRequests: 256,
  maxSessions: 256,
  maxSessionsPerPrincipal: 1024,
  maxConnectionsPerPrincipal: 256,
  maxConnections: 10_000,
  maxUninitialised: 1024,
  idleMs: 300_000,
  closeMs: 10_000,
  keyMs: 900_000,
  maxKeys: 4096,
  startMs: 2,
};

/** A socket tells that it has room again only where it was full: what Node calls full has 64 KiB. */
const MIN_HIGH_WATER = 64 * 1024;

/** Limits that a timer watches. */
const timers: ReadonlySet<string> = new Set<keyof ServerLimits>([
  'initTimeoutMs',
  'heartbeatMs',
  'stallMs',
  'idleMs',
  'closeMs',
]);

/** The defaults with what was given. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function serverLimits(given: Partial<ServerLimits> = {}): ServerLimits {
  const limits = { ...DEFAULT_LIMITS };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(DEFAULT_LIMITS, name))
      throw bad(`there is no limit ${name}; there are: ${Object.keys(limits).join(', ')}`);
    if (!Number.isSafeInteger(value) || value < 1)
      throw bad(`limits.${name} is ${kindOf(value)}; it must be a whole number above 0`);
    if (timers.has(name) && value > MAX_TIMER_MS)
      throw bad(`limits.${name} is ${value}; a timer reaches ${MAX_TIMER_MS} milliseconds`);
    limits[name as keyof ServerLimits] = value;
  }
  if (limits.highWaterBytes < MIN_HIGH_WATER)
    throw bad(`limits.highWaterBytes is ${limits.highWaterBytes}; it must be at least ${MIN_HIGH_WATER}`);
  return limits;
}

function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
