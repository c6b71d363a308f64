import type { Principal, RpcMethod } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import { nameOfPrincipal } from '../../../session/index.ts';
import type { ClaimedPosition } from '../../../session/resume/index.ts';
import type { Transport } from '../protocol/index.ts';
import type { Channel } from '../stream/index.ts';
import type { Authorize } from './authorize.ts';
import type { Caller } from './caller.ts';
import type { Identity } from './connection.ts';
import { COME_BACK, whyEnded } from './connection.ts';
import type { Hub } from './hub.ts';
import { assertMay, perform } from './perform.ts';
import type { RequestControl } from './request-control.ts';
import { SessionHold } from './session-hold.ts';

/** Where what a request is sent beside its answer goes. */
export interface RequestSink {
  notify(method: string, params: object): void;
  room(): Promise<void> | undefined;
  /** Its client does not read what it is sent: it is to come back. */
  slow(): void;
}

/** A request has its answer; nothing else is sent to it. */
const silent: Transport = {
  protocol: '',
  bufferedAmount: 0,
  unwritten: 0,
  send() {},
  close() {},
  pause() {},
  resume() {},
  onMessage() {},
  onDrain() {},
};

/** A session whose events the client of a request may be sent: made by {@link RequestCaller.follow} alone. */
class FollowedSession {
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  get channel(): Channel {
    return this.#channel;
  }
}

export type { FollowedSession };

/** Who asks by one request of plain HTTP: the same methods as over a connection, for the time of the request. */
export class RequestCaller implements Caller {
  readonly hub: Hub;
  readonly principal: Principal;
  readonly holds = new Map<string, SessionHold>();
  readonly transport = silent;
  readonly identity: Identity;
  readonly #authorize: Authorize | undefined;
  readonly #sink: RequestSink | undefined;
  readonly #endings = new Set<() => void>();
  #isClosed = false;

  constructor(
    hub: Hub,
    identity: Identity,
    options: { authorize: Authorize | undefined; sink?: RequestSink | undefined },
  ) {
    this.hub = hub;
    this.principal = identity.principal;
    this.identity = identity;
    this.#authorize = options.authorize;
    this.#sink = options.sink;
  }

  get controller(): RequestControl {
    return this.hub.requestControl;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @throws CoxswainError what is wrong with the request, or what refuses it */
  async call(method: string, params: object): Promise<unknown> {
    return perform(this, method, params, this.#authorize);
  }

  /**
   * The same, done once for a key, whose name is the caller's alone.
   * @throws CoxswainError `E_IDEMPOTENCY_CONFLICT`, `E_RATE_LIMIT`, and as above
   */
  async callOnce(method: RpcMethod, params: object, key: string | undefined): Promise<unknown> {
    const { hub, principal } = this;
    const change = { key, body: [method, params], isInLog: false };
    const once = (act: () => unknown) => hub.keys.run(nameOfPrincipal(principal), '', change, async () => act());
    return perform(this, method, params, this.#authorize, undefined, once);
  }

  /** Takes a session up, as `session/attach` does over a connection. */
  async takeUp(agent: string, sessionId: string, permissionMode?: string): Promise<SessionHold> {
    await this.call('session/open', {
      agent,
      sessionId,
      attach: false,
      control: false,
      ...(permissionMode === undefined ? {} : { permissionMode }),
    });
    return this.held(sessionId);
  }

  /**
   * Asks whether the client may be sent what happens in a session that was taken up: what `session/attach` is asked for.
   * @throws CoxswainError `PERMISSION_DENIED / E_FORBIDDEN`
   */
  async follow(sessionId: string, position: ClaimedPosition = {}): Promise<FollowedSession> {
    const { channel } = this.held(sessionId);
    const params = { agent: channel.options.agent, sessionId, ...position };
    await assertMay(this, 'session/attach', params, this.#authorize);
    return new FollowedSession(channel);
  }

  /**
   * Control for the time of this request: of whoever shows the token that is current, or, without one, of a session
   * that nobody else controls. A token that is not current is refused where it is used.
   */
  token({ channel }: SessionHold, shown: string | undefined): string {
    const offered = channel.control.offer(this.controller, shown, shown === undefined);
    return shown ?? offered ?? '';
  }

  held(sessionId: string): SessionHold {
    const hold = this.holds.get(sessionId);
    if (hold) return hold;
    const message = `there is no session ${JSON.stringify(sessionId)}`;
    throw new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', message);
  }

  hold(channel: Channel): SessionHold {
    try {
      this.assertCurrent();
    } catch (error) {
      this.hub.release(channel);
      throw error;
    }
    const known = this.holds.get(channel.session.id);
    if (known) {
      this.hub.release(channel);
      return known;
    }
    const hold = new SessionHold(this, channel);
    this.controller.enter(channel);
    this.holds.set(channel.session.id, hold);
    return hold;
  }

  assertCurrent(): void {
    if (this.#isClosed) {
      const message = 'the client went away before the request was done; nothing was changed';
      throw new CoxswainError('UNAVAILABLE', 'E_CONNECTION_LOST', message);
    }
    const why = whyEnded(this.identity);
    if (why !== undefined) throw new CoxswainError('UNAUTHENTICATED', 'E_UNAUTHENTICATED', why + COME_BACK);
  }

  notify(method: string, params: object): void {
    if (!this.#isClosed) this.#sink?.notify(method, params);
  }

  room(): Promise<void> | undefined {
    return this.#sink?.room();
  }

  slow(): void {
    this.#sink?.slow();
  }

  atEnd(end: () => void): () => void {
    this.#endings.add(end);
    return () => this.#endings.delete(end);
  }

  /** The request is over, or its client is gone. What it has set going goes on. */
  end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const end of this.#endings) end();
    for (const { channel } of this.holds.values()) {
      this.controller.leave(channel);
      this.hub.release(channel);
    }
    this.holds.clear();
  }
}
