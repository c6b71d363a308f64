import { checkIs, checkOptions, flag, object, text } from '../../base/index.ts';
import type { OpenRequest, PermissionMode, RequestAnswer, SessionInput, Settlement } from '../../contracts/index.ts';
import type { RunResult, SessionView, ViewItem } from '../../session/index.ts';
import type { LinkState, RemoteHost } from '../remote/index.ts';
import { ShownSession } from './shown-session.ts';

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

/**
 * A session of a server as a store for user interfaces: `subscribe` and `getSnapshot` are what React's `useSyncExternalStore`
 * takes, and what stores of Svelte, Vue and Solid are made of. Its functions are bound. It opens the session when somebody
 * subscribes, shows its history, follows it over lost connections and restarts of the server, and closes it when nobody is
 * subscribed any more; a turn that runs continues.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 * @example
 * ```ts
 * import { connect, sessionStore } from 'coxswain/client';
 *
 * const store = sessionStore(connect('ws://127.0.0.1:4747', { token: 'secret' }), 'clerk', { sessionId: 'main', create: true });
 * const leave = store.subscribe(() => console.log(store.getSnapshot().status));
 * await store.send('Where is order 7?');
 * leave();
 * ```
 */
export function sessionStore(
  remote: RemoteHost | Promise<RemoteHost>,
  agent: string,
  options: SessionStoreOptions = {},
): SessionStore {
  checkIs(remote, 'sessionStore: the first argument', object);
  checkIs(agent, 'sessionStore: agent', text);
  const shape = { sessionId: text, create: flag, permissionMode: text, control: flag };
  checkOptions<SessionStoreOptions>(options, 'sessionStore: options', shape);
  return new ShownSession(remote, agent, options);
}
