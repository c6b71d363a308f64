import type { OpenRequest, PermissionMode, RequestAnswer, SessionInput, Settlement } from '../../contracts/index.ts';
import type { RunResult, SessionView, ViewItem } from '../../session/index.ts';
import type { LinkState } from '../remote/index.ts';

/** A session on a server, for a page: what it shows as a value that changes, and what a person does in it. */
export interface SessionStore {
  /** Follows the session while somebody has subscribed; the function that it returns leaves. */
  subscribe(changed: () => void): () => void;
  /** What is shown now; the same object until something has changed. */
  getSnapshot(): {
    /** Of the connection: `ready`, or `waiting` for the next one. */
    connection: LinkState;
    sessionId: string;
    /** Messages and calls in their order, growing while they are streamed. */
    items: readonly ViewItem[];
    /** `running`, or how the newest turn ended; `idle` before the first, and where a turn was cut off. */
    status: SessionView['status'];
    /** Questions that are open. `mayAnswer` says whether they are this person's to answer. */
    pending: readonly (OpenRequest & { mayAnswer: boolean })[];
    /** What was refused or failed last; absent once something is accepted again. */
    error?: NonNullable<RunResult['error']>;
  };
  /** A message, or `{ kind: 'continue' }`. Whether it was accepted; if not, `error` says why. */
  send(input: string | SessionInput): Promise<boolean>;
  /** Answers a question for what is shown of it; the turn continues by itself. `undefined`: `error` says why not. */
  respond(requestId: string, answer: RequestAnswer): Promise<Settlement | undefined>;
  /** Words for the turn that runs. */
  steer(content: string): Promise<boolean>;
  /** Ends the turn that runs. */
  abort(reason?: string): Promise<boolean>;
}

export interface SessionStoreOptions {
  /** Default: a new session. */
  sessionId?: string;
  /** Make the session if it is not there. */
  create?: boolean;
  permissionMode?: PermissionMode;
  /** False: watch only. */
  control?: boolean;
}
