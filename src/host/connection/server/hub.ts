import type { AgentSession, InitializeResult, Principal } from '../../../contracts/index.ts';
import { CoxswainError, isCoxswainError, PROTOCOL_VERSION } from '../../../contracts/index.ts';
import { isPipeable, nameOfPlace, nameOfPrincipal } from '../../../session/index.ts';
import { HostedSession, isStillThere } from '../../hosted/index.ts';
import type { ServerLimits } from '../protocol/index.ts';
import { Counts, Quota } from '../protocol/index.ts';
import type { KeyedChange } from '../stream/index.ts';
import { Channel, KeyBook, StartPace } from '../stream/index.ts';
import { RequestControl } from './request-control.ts';
import type { OpenSessionParams, Served, SessionOwner } from './served.ts';

export interface HubOptions {
  limits: ServerLimits;
  warn(message: string, error?: unknown): void;
}

/** The sessions that a server has open, shared by its connections. */
export class Hub {
  readonly served: Served;
  readonly options: HubOptions;
  /** What each principal has, by {@link nameOfPrincipal}. */
  readonly connections: Quota;
  readonly sessions: Quota;
  readonly counts = new Counts();
  readonly starts: StartPace;
  /** Changes that were made, by their keys; a session that is closed meanwhile does not lose its own. */
  readonly keys: KeyBook;
  /** Requests of plain HTTP, as one of those who may be in control of a session. */
  readonly requestControl = new RequestControl();
  /** By {@link keyOf}: what whoever opens a session of this name is given. */
  readonly #channels = new Map<string, Promise<Channel>>();
  /** All that are open, with what they stand as in `#channels`, whether they still do or not. */
  readonly #open = new Map<Channel, Promise<Channel>>();
  #retired = false;
  /** Changes that are under way. */
  readonly #changes = new Set<Promise<void>>();
  readonly #idle = new Map<Channel, NodeJS.Timeout>();

  constructor(served: Served, options: HubOptions) {
    this.served = served;
    this.options = options;
    this.keys = new KeyBook(options.limits);
    this.starts = new StartPace(options.limits.startMs);
    this.connections = new Quota(options.limits.maxConnectionsPerPrincipal, 'connections');
    this.sessions = new Quota(options.limits.maxSessionsPerPrincipal, 'sessions open');
  }

  /** What a client is told at first. */
  welcome(principal: Principal, version: string | undefined): InitializeResult {
    const { maxPayload, window, ringFrames, ringBytes, heartbeatMs, keyMs } = this.options.limits;
    const { kind, approvals, agents, operator, verify, rewind } = this.served;
    return {
      protocolVersion: PROTOCOL_VERSION,
      server: { name: 'coxswain', ...(version === undefined ? {} : { version }) },
      serves: kind,
      capabilities: {
        approvals: approvals !== undefined,
        sessions: true,
        ...(operator?.scopeOf(principal) ? { operator: true } : {}),
        ...(verify ? { verify: true } : {}),
        ...(rewind ? { rewind: true } : {}),
      },
      limits: { maxPayload, window, ringFrames, ringBytes, heartbeatMs, keyMs },
      principal,
      agents: [...agents],
    };
  }

  /** From now on nothing begins here; what runs goes on. */
  retire(): void {
    this.#retired = true;
  }

  /** @throws CoxswainError `UNAVAILABLE / E_GOING_AWAY` */
  assertTaking(): void {
    if (!this.#retired) return;
    const message = 'this server goes away and begins nothing new; connect again, then ask again';
    throw new CoxswainError('UNAVAILABLE', 'E_GOING_AWAY', message);
  }

  /** A change that a server which goes away sees through: what it sets going runs, or is waited for, once it is over. */
  during<T>(change: Promise<T>): Promise<T> {
    const over = change.then(
      () => {},
      () => {},
    );
    this.#changes.add(over);
    void over.then(() => this.#changes.delete(over));
    return change;
  }

  /** Resolves when nothing runs, and nothing is about to. */
  async quiet(): Promise<void> {
    for (;;) {
      const running = (await this.#all()).flatMap((channel) => channel.running ?? []);
      const busy = [...this.#changes, ...running];
      if (busy.length === 0) return;
      await Promise.all(busy);
    }
  }

  /** Ends what runs; its end is stored, and shown to whoever watches. */
  async abort(reason: string): Promise<void> {
    const aborted = (await this.#all()).map(async (channel) => {
      const { running } = channel;
      if (!running) return;
      await channel.session.abort({ reason });
      await running;
    });
    for (const one of await Promise.allSettled(aborted)) {
      if (one.status === 'rejected') this.options.warn('a run could not be aborted', one.reason);
    }
  }

  get size(): number {
    return this.#channels.size;
  }

  /** What is so now, and what was done since the start, by name. */
  async figures(): Promise<Record<string, number>> {
    const channels = await this.#all();
    const { counts } = this;
    const waits = ({ running, lastEnd }: Channel) =>
      !running && lastEnd?.type === 'stream_end' && lastEnd.reason === 'input_required';
    return {
      sessions_open: this.size,
      sessions_idle: this.#idle.size,
      sessions_running: channels.filter(({ running }) => running).length,
      sessions_waiting: channels.filter(waits).length,
      sessions_closing: counts.sessionsClosing,
      turns_begun_total: counts.turnsBegun,
      turns_failed_total: counts.turnsFailed,
      turns_refused_total: counts.turnsRefused,
      turns_full_total: counts.turnsFull,
      ring_bytes: channels.reduce((sum, { ring }) => sum + ring.bytes, 0),
    };
  }

  /** The channel of a session that is open here. */
  find(agent: string, userId: string, sessionId: string): Promise<Channel> | undefined {
    return this.#channels.get(keyOf(agent, userId, sessionId));
  }

  /** Opens a session, or joins it where it is open; the caller holds it from now on. */
  hold(agent: string, request: OpenSessionParams, principal: Principal): Promise<Channel> {
    return this.#hold(agent, request, { userId: nameOfPrincipal(principal), principal });
  }

  async #hold(agent: string, request: OpenSessionParams, whose: SessionOwner): Promise<Channel> {
    const { userId, principal } = whose;
    const isFresh = request.sessionId === undefined || request.fork || request.snapshot;
    const key = isFresh ? undefined : keyOf(agent, userId, request.sessionId ?? '');
    const opening = key === undefined ? undefined : this.#channels.get(key);
    const known = await opening;
    if (known && (await this.#isDeleted(known))) this.#giveUp(known);
    // Idle, it has made room for another meanwhile; or its session is another one by now.
    if (key !== undefined && this.#channels.get(key) !== opening) return this.#hold(agent, request, whose);
    // Whoever makes one, or opens one that is not stored, is given no other one of that id.
    if (known && (request.ephemeral || request.create) && known.options.ephemeral !== (request.ephemeral === true))
      throw otherKind(known.session.id, known.options.ephemeral);
    const channel = known ?? (await this.#openNew(agent, request, whose, key));
    channel.holders++;
    this.#stay(channel);
    if (!known || !principal) return channel;
    try {
      await this.served.join(channel.session, request, principal);
    } catch (error) {
      this.release(channel);
      throw error;
    }
    return channel;
  }

  /** The same on nobody's behalf: whoever has opened the session, or has begun its turn, stays who it is for. */
  async keep(agent: string, userId: string, sessionId: string): Promise<Channel> {
    const opening = this.find(agent, userId, sessionId);
    const known = await opening;
    if (known && (await this.#isDeleted(known))) this.#giveUp(known);
    if (!known || this.find(agent, userId, sessionId) !== opening) return this.#hold(agent, { sessionId }, { userId });
    known.holders++;
    this.#stay(known);
    return known;
  }

  /** Nobody new is let in; the last to leave a session that runs nothing closes it after a while. */
  release(channel: Channel): void {
    channel.holders--;
    this.#leaveLater(channel);
  }

  /** Forgets a session at once: it is about to be deleted. */
  async drop(agent: string, userId: string, sessionId: string): Promise<void> {
    const channel = await this.find(agent, userId, sessionId);
    if (!channel) return;
    if (channel.holders > 0 || channel.running) {
      const message = channel.running
        ? `session ${sessionId} runs; wait for its end or abort it first`
        : `session ${sessionId} is open; close it everywhere first`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_BUSY', message, { retryable: false });
    }
    await this.#close(channel);
  }

  /** A change of a session, done once for its key. */
  changeOf<T>({ session, options }: Channel, change: KeyedChange, act: () => Promise<T>): Promise<T> {
    // Of this very session: what was done in one that had its id before it was not done in this.
    const changed = `${keyOf(options.agent, options.userId, session.id)}${madeAt(session)}`;
    return this.keys.run(options.userId, changed, change, act);
  }

  /** The session is no more. */
  forgetKeys(agent: string, userId: string, sessionId: string): void {
    this.keys.forget(userId, keyOf(agent, userId, sessionId));
  }

  /** Nobody has opened it since it was dropped. @throws CoxswainError `FAILED_PRECONDITION / E_SESSION_BUSY` */
  assertDropped(agent: string, userId: string, sessionId: string): void {
    if (!this.find(agent, userId, sessionId)) return;
    const message = `session ${sessionId} is open; close it everywhere first`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_BUSY', message, { retryable: false });
  }

  async close(): Promise<void> {
    await Promise.all((await this.#all()).map((channel) => this.#close(channel)));
    this.keys.close();
  }

  async #all(): Promise<Channel[]> {
    await Promise.allSettled(this.#channels.values());
    return [...this.#open.keys()];
  }

  async #openNew(
    agent: string,
    request: OpenSessionParams,
    whose: SessionOwner,
    key: string | undefined,
  ): Promise<Channel> {
    this.assertTaking();
    const opening: Promise<Channel> = this.#begin(agent, request, whose).then((channel) => {
      this.#open.set(channel, opening);
      return channel;
    });
    if (key !== undefined) this.#channels.set(key, opening);
    const leave = () => {
      if (key !== undefined && this.#channels.get(key) === opening) this.#channels.delete(key);
    };
    let channel: Channel;
    try {
      channel = await opening;
    } catch (error) {
      leave();
      throw error;
    }
    const name = keyOf(agent, whose.userId, channel.session.id);
    if (name === key) return channel;
    // Which session it is its executor says, and it may be one that is open here.
    leave();
    const known = await this.#channels.get(name);
    if (!known) this.#channels.set(name, opening);
    else await this.#close(channel);
    return known ?? channel;
  }

  async #begin(agent: string, request: OpenSessionParams, whose: SessionOwner): Promise<Channel> {
    const { userId } = whose;
    if (this.sessions.isFull(userId)) await this.#closeIdle(userId);
    this.sessions.take(userId);
    try {
      const ephemeral = request.ephemeral === true;
      if (ephemeral) await this.#assertNotStored(agent, request, whose);
      const session = await this.served.open(agent, request, whose);
      return await Channel.open(session, { agent, userId, ephemeral, counts: this.counts, ...this.options });
    } catch (error) {
      this.sessions.give(userId);
      throw error;
    }
  }

  /** What is said in a session that is not stored would be said to the stored one's clients, too, and be kept nowhere. */
  async #assertNotStored(agent: string, { sessionId, fork }: OpenSessionParams, whose: SessionOwner): Promise<void> {
    if (sessionId === undefined || fork || !this.#isStored({ agent, ephemeral: false })) return;
    try {
      const stored = await this.served.open(agent, { sessionId }, whose);
      await stored[Symbol.asyncDispose]();
    } catch (error) {
      if (isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND') return;
      throw error;
    }
    throw otherKind(sessionId, false);
  }

  #isStored({ agent, ephemeral }: { agent: string; ephemeral: boolean }): boolean {
    const descriptor = this.served.agents.find(({ name }) => name === agent);
    return !ephemeral && descriptor?.capabilities.includes('resume') === true;
  }

  /** Makes room: the session that has been idle for longest is opened again when it is asked for. */
  async #closeIdle(userId: string): Promise<void> {
    const idle = [...this.#idle.keys()].find((channel) => channel.options.userId === userId);
    if (idle) await this.#close(idle);
  }

  #leaveLater(channel: Channel): void {
    if (channel.holders > 0) return;
    if (channel.running) {
      void channel.running.then(() => this.#leaveLater(channel));
      return;
    }
    this.#stay(channel);
    if (channel.isGone) {
      void this.#close(channel);
      return;
    }
    const close = () => {
      if (channel.holders === 0 && !channel.running) void this.#close(channel);
      else this.#leaveLater(channel);
    };
    this.#idle.set(channel, setTimeout(close, this.options.limits.idleMs).unref());
  }

  #stay(channel: Channel): void {
    clearTimeout(this.#idle.get(channel));
    this.#idle.delete(channel);
  }

  /** The session was deleted elsewhere: what a store has under its id by now is another one, or none. */
  async #isDeleted({ session, options }: Channel): Promise<boolean> {
    return this.#isStored(options) && !(await isStillThere(session));
  }

  /** Nobody new is given it; those who have it leave it. */
  #giveUp(channel: Channel): void {
    const { agent, userId } = channel.options;
    const name = keyOf(agent, userId, channel.session.id);
    if (this.#channels.get(name) === this.#open.get(channel)) this.#channels.delete(name);
    channel.isGone = true;
    this.#leaveLater(channel);
  }

  async #close(channel: Channel): Promise<void> {
    this.#stay(channel);
    const { agent, userId } = channel.options;
    const opening = this.#open.get(channel);
    // Closed already.
    if (!this.#open.delete(channel)) return;
    const name = keyOf(agent, userId, channel.session.id);
    // Another one may stand there by now.
    if (this.#channels.get(name) === opening) this.#channels.delete(name);
    this.sessions.give(userId);
    if (!this.#isStored(channel.options)) this.forgetKeys(agent, userId, channel.session.id);
    try {
      await channel.close();
    } catch (error) {
      this.options.warn(`session ${channel.session.id} could not be closed`, error);
    }
  }
}

function otherKind(sessionId: string, isEphemeral: boolean): CoxswainError {
  const what = isEphemeral ? 'is open, and is not stored' : 'is stored';
  const message = `session ${sessionId} ${what}: open another id, or none`;
  return new CoxswainError('ALREADY_EXISTS', 'E_SESSION_EXISTS', message, { details: { sessionId } });
}

/** When a session was made, where this is known. */
function madeAt(session: AgentSession): string {
  const inner = session instanceof HostedSession ? session.inner : session;
  return isPipeable(inner) ? String(inner.createdAt) : '';
}

function keyOf(agent: string, userId: string, sessionId: string): string {
  return nameOfPlace({ agent, userId, sessionId });
}
