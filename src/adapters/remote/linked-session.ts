import type {
  AbortTarget,
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentStream,
  ArtifactShown,
  AttachResult,
  AuditVerdict,
  Compaction,
  EventFrame,
  EventsOptions,
  ExecutorSession,
  ExecutorStreamOptions,
  GivenAnswer,
  HostAnswer,
  OpenRequest,
  PlaceNotice,
  ReportedRequest,
  RpcMethod,
  SessionInput,
  SessionStanding,
  SessionUpdate,
  Settlement,
  SteerData,
} from '../../contracts/index.ts';
import { CoxswainError, copyJson, INTERFACE_VERSION, openRequestOf } from '../../contracts/index.ts';
import {
  checkAbort,
  checkAnswer,
  checkEvents,
  checkExecution,
  checkIs,
  checkRequestId,
  checkSteer,
  count,
  isoTime,
  normaliseInput,
  streamIdOf,
} from '../../session/index.ts';
import { Feed } from './feed.ts';
import type { Link } from './link.ts';
import { liveEvents, newestOf, storedEvents } from './log.ts';
import { Position } from './position.ts';
import type { RemoteSession } from './remote-host.ts';
import { RemoteStream } from './remote-stream.ts';
import { lostStreamEnd, wireOptions } from './wire.ts';

/** Events between two parts of one stream that are kept for the second part. */
const MAX_BETWEEN = 1000;

export interface LinkedSessionOptions {
  agent: string;
  link: Link;
  /** False: watch only. */
  control: boolean;
  closed(): void;
}

/** A session over the connection of a client. */
export class LinkedSession implements RemoteSession, ExecutorSession {
  readonly id: string;
  readonly descriptor: AgentDescriptor;
  readonly #options: LinkedSessionOptions;
  readonly #link: Link;
  readonly #position: Position;
  readonly #feed = new Feed();
  /** The stream that the server runs, whoever began it, as far as it has said. */
  #running: string | undefined;
  /** The stream whose end was shown last: an answer that left before it may still name it as one that runs. */
  #over: string | undefined;
  #token: string | undefined;
  #stream: RemoteStream | undefined;
  /** The newest stream of this handle that has ended, and what was stored since. */
  #last: { streamId: string; since: AgentEvent[] } | undefined;
  #initialized = false;
  /** Set while history is on its way: what the server said of its streams. */
  #taking: AttachResult | undefined;
  #closed = false;
  #isClosing = false;
  /** Openings of this client that have not been closed: one session, one place in its frames. */
  #holders = 1;

  constructor(at: AttachResult, cursor: string | undefined, options: LinkedSessionOptions) {
    this.id = at.sessionId;
    this.descriptor = at.descriptor;
    this.#options = options;
    this.#link = options.link;
    this.#token = at.fencingToken;
    this.#running = at.streamId;
    this.#position = new Position(at, cursor, {
      show: (event) => this.#show(event),
      ack: (epoch, offset) => this.#link.notify('session/ack', { sessionId: this.id, epoch, offset }),
      hole: () => this.#link.drop('a frame is missing'),
    });
  }

  get controls(): boolean {
    return this.#token !== undefined;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Is opened once more by the same client: until it is, and after, nobody else's closing ends it. False: it is over. */
  expect(): boolean {
    if (this.#closed || this.#isClosing) return false;
    this.#holders++;
    return true;
  }

  /** Opened once more. */
  join(fencingToken: string | undefined): this {
    this.#token ??= fencingToken;
    return this;
  }

  watch(): AsyncIterableIterator<AgentEvent> {
    return this.#feed.open();
  }

  async takeControl(): Promise<void> {
    const { fencingToken } = await this.#ask<{ fencingToken: string }>('session/takeControl', {});
    this.#token = fencingToken;
  }

  stream(input: string | SessionInput | readonly SessionInput[], options: ExecutorStreamOptions = {}): AgentStream {
    const streamId = streamIdOf(options, () => crypto.randomUUID());
    const abort = async (reason?: string) => {
      if (this.#stream !== made || made.isEnded) return;
      await this.abort(reason === undefined ? {} : { reason });
      await made.ended;
    };
    const made = new RemoteStream(streamId, (stream) => this.#begin(stream, input, options), abort);
    return made.stream;
  }

  async respond(requestId: string, answer: HostAnswer | GivenAnswer): Promise<Settlement> {
    checkRequestId(requestId);
    return this.#change('session/respond', { requestId, answer: checkAnswer(answer) });
  }

  async steer(data: SteerData): Promise<{ steerId: string; disposition: 'current_turn' | 'next_turn' }> {
    checkSteer(data);
    // A server that is gone may have taken it: the same words twice would be worse than asking.
    return this.#change('session/steer', { data: copyJson(data, 'steer') }, true);
  }

  async update(config: SessionUpdate): Promise<{ effective: 'next_step' }> {
    return this.#change('session/update', { config: copyJson(config, 'update') });
  }

  async compact(): Promise<Compaction> {
    return this.#change('session/compact', {});
  }

  async rewind(through: number): Promise<void> {
    checkIs(through, 'rewind: through', count);
    await this.#change('session/rewind', { through });
  }

  async state(): Promise<Record<string, unknown>> {
    const { state } = await this.#ask<{ state: Record<string, unknown> }>('session/load', {
      agent: this.descriptor.name,
    });
    return state;
  }

  async verify(): Promise<AuditVerdict> {
    return this.#ask('session/verify', {});
  }

  async artifact(name: string, version?: number): Promise<ArtifactShown> {
    return this.#ask('session/artifact', { name, ...(version === undefined ? {} : { version }) });
  }

  async abort(target: AbortTarget = {}): Promise<void> {
    checkAbort(target);
    const { reason, threadId, requestId } = target;
    await this.#change('session/abort', { target: { reason, threadId, requestId } });
  }

  events(options: EventsOptions = {}): AsyncIterable<AgentEvent> {
    checkEvents(options);
    const page = (after: string | undefined, limit: number) =>
      this.#ask<{ events: AgentEvent[]; more: boolean }>('session/events', { after, limit });
    return options.live ? liveEvents(page, this.#feed, options) : storedEvents(page, options);
  }

  newest(limit: number): Promise<{ events: AgentEvent[]; more: boolean }> {
    return newestOf(limit, () => this.#ask('session/events', { limit, newest: true }));
  }

  async pending(): Promise<OpenRequest[]> {
    const told = await this.#ask<{ pending: ReportedRequest[]; streamId?: string }>('session/pending', {});
    this.#running = told.streamId === this.#over ? undefined : told.streamId;
    return told.pending.map(openRequestOf);
  }

  async standing(): Promise<SessionStanding> {
    const { standing } = await this.#ask<{ standing?: SessionStanding }>('session/pending', {});
    return standing ?? { isOver: false };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed || --this.#holders > 0) return;
    try {
      if (this.#stream && !this.#stream.isEnded) await this.abort({ reason: 'the session was closed' });
      // Opened again meanwhile.
      if (this.#holders > 0) return;
      this.#isClosing = true;
      await this.#ask('session/close', {});
    } catch {
      // Gone already, with its connection or its control.
    }
    this.#end();
  }

  /** A frame or a notice of the server. */
  notice(method: string, params: Record<string, unknown>): void {
    if (method === 'session/event') {
      this.#position.take(params as unknown as EventFrame);
      return;
    }
    if (method === 'session/control') {
      if (params.controls === false) this.#token = undefined;
      return;
    }
    const { epoch, offset } = params as unknown as PlaceNotice;
    if (method === 'session/reset') this.#position.move(epoch, offset, false);
    if (method === 'session/live' && epoch === this.#position.epoch) {
      this.#position.live(offset);
      void this.#tookUp();
    }
  }

  /** Takes the session up on a new connection. */
  async resume(): Promise<void> {
    const place = {
      agent: this.#options.agent,
      sessionId: this.id,
      ...this.#position.known,
      // Whoever took control later comes back with it, also to a server that knows no token any more.
      control: this.#options.control || this.controls,
      fencingToken: this.#token,
    };
    await this.#link.now<AttachResult>('session/attach', place, (at) => {
      this.#token = at.fencingToken;
      this.#running = at.streamId;
      this.#position.move(at.epoch, at.offset, at.recovered);
      this.#taking = at.recovered ? undefined : at;
    });
  }

  /** There will be no connection any more; `isOwn`: this side wants none, so that watching it is no failure. */
  fail(error: CoxswainError, isOwn = false): void {
    const stream = this.#stream;
    if (stream?.isAccepted && !stream.isEnded)
      for (const event of lostStreamEnd(this.id, stream.streamId, error)) stream.push(event);
    this.#end(isOwn ? undefined : error);
  }

  async #begin(
    stream: RemoteStream,
    given: Parameters<AgentSession['stream']>[0],
    options: ExecutorStreamOptions,
  ): Promise<void> {
    const input = normaliseInput(given);
    checkExecution(options);
    await this.#start(stream, input, options);
  }

  async #start(stream: RemoteStream, input: SessionInput[], options: ExecutorStreamOptions): Promise<void> {
    this.#assertOpen();
    if (this.#stream && !this.#stream.isEnded) {
      const message = `session ${this.id} has a live stream; wait for its end or abort it`;
      throw new CoxswainError('ABORTED', 'E_SESSION_BUSY', message);
    }
    options.signal?.throwIfAborted();
    const key = crypto.randomUUID();
    // What cannot be sent must not leave the session busy.
    const body = { streamId: stream.streamId, input, options: wireOptions(options), key };
    this.#stream = stream;
    const follow = () => void stream.stream.abort(String(options.signal?.reason ?? 'aborted')).catch(() => {});
    try {
      const { duplicate } = await this.#link.request<{ duplicate?: boolean }>('session/stream', (attempt) => ({
        ...this.#signed(body),
        ...(attempt > 1 ? { retry: true } : {}),
      }));
      this.#accept(stream);
      // Accepted by a server that is gone: its end will not come.
      if (duplicate && !stream.isEnded) await this.#endLost(stream);
    } catch (error) {
      if (stream.isAccepted) return;
      this.#stream = undefined;
      throw error;
    }
    options.signal?.addEventListener('abort', follow, { once: true });
    // It may have fired while the input was on its way.
    if (options.signal?.aborted) follow();
    void stream.ended.then(() => options.signal?.removeEventListener('abort', follow));
  }

  #accept(stream: RemoteStream): void {
    if (stream.isAccepted) return;
    stream.isAccepted = true;
    if (!this.#initialized) {
      this.#initialized = true;
      const { id: sessionId, descriptor } = this;
      const base = { id: crypto.randomUUID(), timestamp: isoTime(), sessionId, streamId: stream.streamId };
      stream.push({ ...base, type: 'initialize', agentId: descriptor.name, interfaceVersion: INTERFACE_VERSION });
    }
    if (this.#last?.streamId === stream.streamId) for (const event of this.#last.since) stream.push(event);
    this.#last = undefined;
  }

  #show(event: AgentEvent): void {
    // Of the server's handle; this one says it for itself.
    if (event.type === 'initialize') return;
    if (event.type === 'stream_end') {
      this.#over = event.streamId;
      if (event.streamId === this.#running) this.#running = undefined;
    }
    this.#feed.push(event);
    const stream = this.#stream;
    if (stream && !stream.isEnded) {
      if (event.streamId === stream.streamId) this.#accept(stream);
      if (stream.isAccepted) {
        stream.push(event);
        if (stream.isEnded) this.#last = { streamId: stream.streamId, since: [] };
        return;
      }
    }
    if (event.cursor !== undefined && this.#last && this.#last.since.length < MAX_BETWEEN) this.#last.since.push(event);
  }

  /** The durable history has come: a stream whose end was not in it has ended unseen, or is lost. */
  async #tookUp(): Promise<void> {
    const at = this.#taking;
    this.#taking = undefined;
    const stream = this.#stream;
    if (!at || !stream?.isAccepted || stream.isEnded || at.streamId === stream.streamId) return;
    if (at.lastEnd?.streamId === stream.streamId) this.#show(at.lastEnd);
    else await this.#endLost(stream);
  }

  async #endLost(stream: RemoteStream): Promise<void> {
    let pending: ReportedRequest[] = [];
    try {
      pending = await this.pending();
    } catch {
      // Then nothing is known to be open.
    }
    if (stream.isEnded) return;
    const error = new CoxswainError(
      'UNAVAILABLE',
      'E_STREAM_LOST',
      'the server lost this stream; what is durable is in the log, and continue resumes the turn',
    );
    for (const event of lostStreamEnd(this.id, stream.streamId, error, pending)) this.#show(event);
  }

  #change<T>(method: RpcMethod, params: object, isOnce = false): Promise<T> {
    const key = crypto.randomUUID();
    const { epoch } = this.#position;
    const since = Date.now();
    return this.#link.request<T>(method, (attempt) => {
      // A server knows a key of its own time, for a while.
      const isForgotten = this.#position.epoch !== epoch || Date.now() - since > this.#link.keyMs;
      if (isOnce && attempt > 1 && isForgotten) {
        const message = `${method} was sent to a server that has forgotten it since; whether it was taken is not known`;
        throw new CoxswainError('UNAVAILABLE', 'E_CONNECTION_LOST', message, { retryable: false });
      }
      return this.#signed({ ...params, key });
    });
  }

  #signed(params: object): object {
    this.#assertOpen();
    if (this.#token === undefined) {
      const message = `this client only watches session ${this.id}; take control first`;
      throw new CoxswainError('ABORTED', 'E_CONTROL_LOST', message);
    }
    return { sessionId: this.id, fencingToken: this.#token, ...params };
  }

  #ask<T>(method: RpcMethod, params: object): Promise<T> {
    return this.#link.request<T>(method, { sessionId: this.id, ...params });
  }

  #end(error?: CoxswainError): void {
    this.#closed = true;
    this.#position.stop();
    this.#stream?.finish();
    this.#feed.close(error);
    this.#options.closed();
  }

  #assertOpen(): void {
    if (!this.#closed) return;
    const message = `session ${this.id} was closed; open it again`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_CLOSED', message);
  }
}
