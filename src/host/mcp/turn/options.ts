import type { Readable, Writable } from 'node:stream';
import type { McpServer, RequestStateCodec } from '@modelcontextprotocol/server';
import type { Limits, PermissionMode, Principal } from '../../../contracts/index.ts';

/** An approval that the caller could not be asked for. */
export interface OpenQuestion {
  requestId: string;
  sessionId: string;
  agent: string;
  /** Of the preview that the call was told: a yes is to that one. Absent where a yes is to none. */
  digest?: string;
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
  /**
   * Calls that run long, or wait for somebody whom the caller cannot ask, become tasks for 2026 clients that declare the
   * extension `io.modelcontextprotocol/tasks`. `false`: none do.
   */
  tasks?: McpTaskOptions | false;
  /**
   * A card for each call that waits for an approval, with its preview and all of its arguments, for clients of MCP Apps
   * (`io.modelcontextprotocol/ui`). It answers nothing. Default false.
   */
  cards?: boolean;
  permissionMode?: PermissionMode;
  /** Of each call; the stricter of these and the host's counts. */
  limits?: Limits;
  /** Adds resources, prompts or tools of one's own to each server that is made. A `requestState` is minted with `state`. */
  configure?: (server: McpServer, state: Pick<RequestStateCodec, 'mint'>) => void;
  /** Gets what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}

/**
 * Whether calls of an agent become tasks: `optional` where they take long; `required` at once, and clients that know no
 * tasks are refused; `forbidden` never.
 */
export type TaskSupport = 'forbidden' | 'optional' | 'required';

export interface McpTaskOptions {
  /** Milliseconds after which a call that has not ended becomes a task. Default 5,000. */
  afterMs?: number;
  /**
   * By name of the agent. Default `optional`; `forbidden` for agents whose sessions cannot be opened again (no
   * `resume`), as a task outlives the process.
   */
  support?: Readonly<Record<string, TaskSupport>>;
  /** Tasks of one principal that run in this process at a time; beyond them a call stays open instead. Default 100. */
  maxRunning?: number;
}

export interface McpHttpOptions extends McpOptions {
  /** Who it is; undefined: nobody we know, which is 401. Absent: everybody who can reach the socket is the host's user. */
  authenticate?: (request: Request) => Principal | undefined | Promise<Principal | undefined>;
  /** Host names without port that requests may be addressed to. Default: those of loopback, and the one listened on. */
  allowedHosts?: readonly string[];
  /**
   * Web pages that may call: whole origins (`https://app.example`), or names of hosts for any scheme and port. Default:
   * the names of loopback. A request without Origin comes from no page.
   */
  allowedOrigins?: readonly string[];
  /** Sessions of 2025 clients at one time. Default 1,000. */
  maxSessions?: number;
  /** Milliseconds after which an unused session is forgotten. Default 1,800,000. */
  sessionIdleMs?: number;
  /**
   * Bytes of the newest messages that are kept for each session of a 2025 client, in memory, for one that comes back
   * with `Last-Event-ID`; the newest is kept however large. Default 262,144.
   */
  resumeBytes?: number;
  /** Bytes of one request. Default 4 MiB. */
  maxBodyBytes?: number;
}

export interface McpServeOptions extends McpHttpOptions {
  /** Default 0: one that is free. */
  port?: number;
  /** Address to listen on. Default 127.0.0.1; others only with `authenticate`, and their names in `allowedHosts`. */
  hostname?: string;
  /** Default `/mcp`. */
  path?: string;
}

export interface McpStdioOptions extends McpOptions {
  /** Default: stdin. */
  input?: Readable;
  /** Where the protocol goes. Default: stdout, which nothing else in the process can write to from then on. */
  output?: Writable;
}

/** On whose behalf a call is made. */
export interface McpCaller {
  principal: Principal | undefined;
}

export const DEFAULT_PROGRESS_MS = 15_000;
export const DEFAULT_ANSWER_MS = 600_000;
export const DEFAULT_TASK_AFTER_MS = 5_000;
export const DEFAULT_TASKS = 100;
