import type { z } from 'zod';
import type * as schema from './schemas/protocol.ts';
import type { AgentDescriptor, AgentEvent, Principal } from './types/index.ts';
import type { Closed, StatusCode } from './values/index.ts';

/** Version of the session contract, as `initialize` events tell it. */
export const INTERFACE_VERSION = '1.0';
/** WebSocket subprotocol of `spec/PROTOCOL.md`. */
export const SUBPROTOCOL = 'coxswain.v1';
/** Path of the endpoint. */
export const PROTOCOL_PATH = '/v1';
export const PROTOCOL_VERSION = '1';
/** Prefix of the second subprotocol that carries a token, base64url, where a client can set no header. */
export const BEARER_PREFIX = 'bearer.';

/** A CoxswainError on the wire. */
export interface WireError {
  code: number;
  message: string;
  data?: { status: StatusCode; code: string; retryable: boolean; details?: Record<string, unknown> };
}

export type RpcParams = typeof schema.rpcParams;
export type RpcMethod = keyof RpcParams;
export type ParamsOf<M extends RpcMethod> = Closed<z.infer<RpcParams[M]>>;

export interface ProtocolLimits {
  /** Bytes of one message. */
  maxPayload: number;
  /** Frames of one session that may be unacknowledged. */
  window: number;
  /** Frames and bytes that a session keeps for whoever returns. */
  ringFrames: number;
  ringBytes: number;
  /** Milliseconds between pings. */
  heartbeatMs: number;
  /** Milliseconds that the key of a change is remembered after its answer. */
  keyMs: number;
}

export interface InitializeResult {
  protocolVersion: string;
  server: { name: string; version?: string };
  /** `host`: policy and tools stay with the server; `executor`: the client is the host. */
  serves: 'host' | 'executor';
  /** `operator`: this principal may look at sessions of others. */
  capabilities: { approvals: boolean; sessions: boolean; operator?: boolean; verify?: boolean; rewind?: boolean };
  limits: ProtocolLimits;
  principal: Principal;
  agents: AgentDescriptor[];
}

/** Whether the log of a session is as it was written. */
export interface AuditVerdict {
  /** Nothing is wrong, and there is a chain. */
  ok: boolean;
  /** Events that are evidence, and those of them with a link. */
  audited: number;
  linked: number;
  /** Binds the whole of it: kept elsewhere, it shows later that this log was not replaced. */
  head?: { seq: number; hash: string };
  faults: { seq: number; fault: string; message: string }[];
}

/** Where a client is in a session. */
export interface AttachResult {
  sessionId: string;
  descriptor: AgentDescriptor;
  /** Changes when the server has lost count: offsets of another epoch mean nothing. */
  epoch: string;
  /** True: exactly the missing frames follow. False: durable history after the client's cursor, then live frames. */
  recovered: boolean;
  /** Newest frame that the client has, or need not have: the next one with an offset is `offset + 1`. */
  offset: number;
  /** Of the newest durable event at or before `offset`. */
  cursor?: string;
  /** The stream that runs now. */
  streamId?: string;
  /** How the newest stream of this epoch ended. */
  lastEnd?: AgentEvent;
  /** Present where the client is in control. */
  fencingToken?: string;
}

/** Params of `session/event`. */
export interface EventFrame {
  sessionId: string;
  epoch: string;
  /** Contiguous in an epoch; absent on durable history. */
  offset?: number;
  /** First offset that the frame stands for, where deltas were joined. */
  from?: number;
  /** Of a delta: characters of its part that came before it. */
  at?: number;
  event: AgentEvent;
}

/** Params of `session/control`. */
export interface ControlNotice {
  sessionId: string;
  /** Whether this client is in control now. */
  controls: boolean;
  reason?: string;
}

/**
 * Params of `session/reset`: frames were lost; durable history follows, then frames after `offset`. Of `session/live`:
 * the history has been sent, frames after `offset` follow.
 */
export interface PlaceNotice {
  sessionId: string;
  epoch: string;
  offset: number;
}
