import type { McpServer, RequestStateCodec } from '@modelcontextprotocol/server';
import type { Limits, PermissionMode, Principal } from '../../../contracts/index.ts';

/** An approval that the caller could not be asked for. */
export interface OpenQuestion {
  requestId: string;
  sessionId: string;
  agent: string;
}

export interface McpOptions {
  /** Names of the agents that become tools. Default: all of the host. */
  agents?: readonly string[];
  /** What the server calls itself. Default `coxswain`. */
  name?: string;
  /** Of what is served. Default: this package's. */
  version?: string;
  /** Told to clients: how to use these tools. */
  instructions?: string;
  /** Milliseconds between signs of life to a caller who wants progress. Default 15,000. */
  progressMs?: number;
  /**
   * Milliseconds that a person has to answer a question; then it is a deny. Default 600,000. A call that is held open
   * for the answer waits for 24 days at most.
   */
  answerMs?: number;
  /**
   * Secret of at least 32 bytes that signs what a 2026 caller holds while a question is open; the same in every
   * process that may get the answer. Default: random, so that an answer after a restart is refused.
   */
  stateKey?: string | Uint8Array;
  /**
   * What becomes of a question that the caller cannot be asked: `park` (default) leaves it open for
   * `host.approvals`, `deny` denies it at once: right where nobody else can reach the store.
   */
  unanswerable?: 'park' | 'deny';
  /** Where such a question is settled, in words for a person. Default: the command line's. */
  settleAt?: (question: OpenQuestion) => string;
  /** Agents take an optional `session_id` and say theirs. Default true. */
  conversations?: boolean;
  permissionMode?: PermissionMode;
  /** Of each call; the stricter of these and the host's counts. */
  limits?: Limits;
  /** Adds resources, prompts or tools of one's own to each server that is made. A `requestState` is minted with `state`. */
  configure?: (server: McpServer, state: Pick<RequestStateCodec, 'mint'>) => void;
  /** Told of what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}

/** On whose behalf a call is made. */
export interface Caller {
  principal: Principal | undefined;
}

export const DEFAULT_PROGRESS_MS = 15_000;
export const DEFAULT_ANSWER_MS = 600_000;
