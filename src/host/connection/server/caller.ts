import type { ParamsOf, Principal, RpcMethod } from '../../../contracts/index.ts';
import type { Channel } from '../stream/index.ts';
import type { Hub } from './hub.ts';
import type { SessionHold, SessionHolder } from './session-hold.ts';

/** A connection, as the methods that its client calls use it. */
export interface Caller extends SessionHolder {
  readonly hub: Hub;
  /** Sessions that the client holds, by id. */
  readonly holds: Map<string, SessionHold>;
  readonly principal: Principal;
  readonly isClosed: boolean;
  /** @throws CoxswainError for a session that the client does not hold */
  held(sessionId: string): SessionHold;
  hold(channel: Channel): SessionHold;
  /** @throws CoxswainError once the connection or what it was let in with is over */
  assertCurrent(): void;
  notify(method: string, params: object): void;
  /** Resolves when the client has read enough to be sent more. */
  room(): Promise<void> | undefined;
  /** Called when the connection ends, unless the returned function was called before. */
  atEnd(end: () => void): () => void;
}

/** What does each method. */
export type Handlers<M extends RpcMethod> = {
  [K in M]: (caller: Caller, params: ParamsOf<K>) => unknown;
};
