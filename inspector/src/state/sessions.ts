import { computed, signal } from '@preact/signals';
import type { AgentEvent, RemoteHost, RemoteSession } from 'coxswain/client';
import { isCoxswainError } from 'coxswain/client';
import { Replay, replayed } from './replay.ts';
import { Timeline } from './timeline.ts';

export type Kept = Awaited<ReturnType<RemoteSession['artifact']>>;
export type Verdict = Awaited<ReturnType<RemoteSession['verify']>>;

/** Milliseconds between two looks at what others do. */
const LOOK_MS = 2000;

/** Milliseconds between two numbers of events that have been read. */
const READ_MS = 250;

/** The id of a new session whose first turn has begun; it is read to its end, whoever looks. */
export async function beginSession(host: RemoteHost, agent: string, text: string): Promise<string> {
  const session = await host.open(agent, {});
  const stream = session.stream(text);
  await stream.next();
  void (async () => {
    for await (const _ of stream);
  })()
    // What goes wrong in it is in its log, which the page shows.
    .catch(() => {})
    .then(() => session[Symbol.asyncDispose]());
  return session.id;
}

/** Newest events with which a long session is shown while all of it is read. */
const NEWEST = 1000;

/** Events of a session, and what they come to. */
class Reading {
  readonly now = new Replay();
  /** Stored ones. */
  readonly events: AgentEvent[] = [];
  readonly timeline = new Timeline();
  readonly #known = new Set<string>();

  take(event: AgentEvent): void {
    this.now.see(event);
    if (event.cursor === undefined || this.#known.has(event.id)) return;
    this.#known.add(event.id);
    this.events.push(event);
    this.timeline.take(event);
    this.now.take(event);
  }
}

/** A session that is looked at: its stored events, what streams now, and what they come to. */
export class WatchedSession {
  /** What all events come to, as far as they are read. */
  readonly #whole = new Reading();
  /** What the newest ones come to, as long as older ones are being read. */
  #newest: Reading | undefined;
  /** How many of the events count for what is shown; undefined: all of them, and what streams. */
  readonly moment = signal<number | undefined>(undefined);
  readonly #then = computed(() =>
    this.moment.value === undefined ? undefined : replayed(this.events, this.moment.value),
  );
  /** Counts up with each change that is to be drawn. */
  readonly turn = signal(0);
  readonly state = signal<'reading' | 'live' | 'lost'>('reading');
  readonly fault = signal<string | undefined>(undefined);
  /** Events of the whole log that have come, now and then. */
  readonly read = signal(0);
  readonly #host: RemoteHost;
  #session: RemoteSession | undefined;
  #wake = () => {};
  #isLeft = false;
  /** What was said here is being answered. */
  #answering: Promise<void> = Promise.resolve();
  #frame: number | undefined;
  #readShownAt = Number.NEGATIVE_INFINITY;

  /** Of the person who looks; another one's is looked at, no more. */
  readonly isOwn: boolean;
  readonly place: { agent: string; userId: string; sessionId: string };

  constructor(host: RemoteHost, agent: string, userId: string, sessionId: string) {
    this.place = { agent, userId, sessionId };
    this.#host = host;
    this.isOwn = host.userId === userId;
    void (this.isOwn ? this.#follow(host, agent, sessionId) : this.#lookAt(host));
  }

  /** What its newest events come to: all of what happens now is in it, and of what was before as much as is read. */
  get now(): Replay {
    return (this.#newest ?? this.#whole).now;
  }

  /** Stored events from the first one on. */
  get events(): readonly AgentEvent[] {
    return this.#whole.events;
  }

  get timeline(): Timeline {
    return this.#whole.timeline;
  }

  /** Its end is shown, and what was before is being read. */
  get isPart(): boolean {
    return this.#newest !== undefined;
  }

  leave(): void {
    this.#isLeft = true;
    this.#wake();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    // To leave a stream ends its turn: it is read to its end, whoever looks.
    const session = this.#session;
    if (session) void this.#answering.then(() => session[Symbol.asyncDispose]());
  }

  /** The session as it is, or as it stood at the moment that was chosen. */
  get shown(): Replay {
    return this.#then.value ?? this.now;
  }

  /** Begins a turn. Rejects where the message is refused. */
  async say(text: string): Promise<void> {
    const session = await this.#controlled();
    const stream = session.stream(text);
    await stream.next();
    this.#answering = (async () => {
      for await (const _ of stream);
    })().catch((error: unknown) => {
      this.fault.value = isCoxswainError(error) ? error.message : String(error);
    });
  }

  /** Whoever owns it, and operators: the server says what they may know. */
  get mayAskWhy(): boolean {
    return this.isOwn || this.#host.operator !== undefined;
  }

  /** Its state as the store has it. */
  async storedState(): Promise<Record<string, unknown>> {
    return (await this.#session?.state()) ?? {};
  }

  /** Sessions of the agents that this one has called, as far as they are among the newest. */
  async below(): Promise<{ id: string; agent?: string }[]> {
    const { agent, userId, sessionId } = this.place;
    const found = this.isOwn
      ? await this.#host.sessions(agent).list({ limit: 1000 })
      : ((await this.#host.operator?.sessions({ user: userId, search: sessionId, limit: 200 }))?.sessions ?? []);
    const own = found.filter(({ id }) => id.startsWith(`${sessionId}.`));
    return own.map(({ id, agent: of }) => (typeof of === 'string' ? { id, agent: of } : { id }));
  }

  /** A new session with what stands before and at this event, and nothing behind it; its id. */
  async fork(cursor: string): Promise<string> {
    const { agent, sessionId } = this.place;
    const copy = await this.#host.open(agent, { sessionId, fork: { after: cursor }, control: false });
    await copy[Symbol.asyncDispose]();
    return copy.id;
  }

  /** Takes it back to where a turn began: the log grows by a mark, and what stands behind `through` no longer counts. */
  async rewind(through: number): Promise<void> {
    await (await this.#controlled()).rewind(through);
  }

  /** Whether its log is as it was written. */
  async verify(): Promise<Verdict> {
    if (!this.#session) throw new Error('The session is not open yet.');
    return this.#session.verify();
  }

  /** What is in an artifact, as far as this person may see it. */
  async artifact(name: string, version: number): Promise<Kept> {
    const { operator } = this.#host;
    if (this.isOwn && this.#session) return this.#session.artifact(name, version);
    if (this.isOwn || !operator) throw new Error('The session is not open yet.');
    return operator.artifact(this.place, name, version);
  }

  async steer(text: string): Promise<'current_turn' | 'next_turn'> {
    const session = await this.#controlled();
    return (await session.steer({ content: text })).disposition;
  }

  /** From the next step on; `null`: what policy lets it do. */
  async setMode(permissionMode: string | null): Promise<void> {
    const session = await this.#controlled();
    await session.update({ permissionMode });
  }

  /** Ends the turn, also one that waits. */
  async stop(): Promise<void> {
    const session = await this.#controlled();
    await session.abort({ reason: 'stopped by its user' });
  }

  /** Another client of the same person gives way. */
  async #controlled(): Promise<RemoteSession> {
    const session = this.#session;
    if (!session) throw new Error('The session is not open yet.');
    if (!session.controls) await session.takeControl();
    return session;
  }

  async #follow(host: RemoteHost, agent: string, sessionId: string): Promise<void> {
    try {
      const session = await host.open(agent, { sessionId, control: false });
      this.#session = session;
      if (this.#isLeft) return this.leave();
      // What comes while the log is read is in neither only: it is taken once.
      const live = session.watch();
      const early: AgentEvent[] = [];
      let isRead = false;
      const following = (async () => {
        for await (const event of live) {
          if (isRead) this.#take(event);
          else {
            early.push(event);
            this.#newest?.take(event);
            this.#draw();
          }
          // A vote may have other arguments.
          if (event.type === 'custom' && event.kind === 'ext:approval_vote') void this.#ask(session);
        }
      })();
      await this.#showEnd(session, early);
      for await (const event of session.events()) this.#take(event);
      isRead = true;
      for (const event of early) this.#take(event);
      this.#newest = undefined;
      await this.#ask(session);
      this.state.value = 'live';
      this.#draw();
      await following;
    } catch (error) {
      if (this.#isLeft) return;
      this.state.value = 'lost';
      this.fault.value = isCoxswainError(error) ? error.message : String(error);
    }
  }

  /** A session of somebody else: as much of it as this person may see. */
  async #lookAt(host: RemoteHost): Promise<void> {
    let after: string | undefined;
    while (!this.#isLeft) {
      try {
        const { operator } = host;
        if (!operator) throw new Error('This session is somebody else’s.');
        for await (const event of operator.events(this.place, after === undefined ? {} : { after })) {
          this.#take(event);
          after = event.cursor ?? after;
        }
        this.state.value = 'live';
        this.fault.value = undefined;
        this.#draw();
      } catch (error) {
        if (this.#isLeft) return;
        this.fault.value = error instanceof Error ? error.message : String(error);
        // It is not there, or not for this person: it will not come.
        if (isCoxswainError(error) && !error.retryable) {
          this.state.value = 'lost';
          return;
        }
      }
      // What nobody looks at is not asked for.
      do await this.#later(LOOK_MS);
      while (!this.#isLeft && document.visibilityState === 'hidden');
    }
  }

  #later(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** What is asked about may be other than what was asked for, and stored events do not say so. */
  async #ask(session: RemoteSession): Promise<void> {
    try {
      const open = await session.pending();
      if (this.#isLeft) return;
      const { now } = this;
      now.view.ask(open);
      now.asksBelow = open.some(({ callId }) => callId !== undefined && !now.view.toolCalls.has(callId));
      this.#draw();
    } catch (error) {
      if (!this.#isLeft) this.fault.value = isCoxswainError(error) ? error.message : String(error);
    }
  }

  /** Of a long session its end comes first: nobody waits for all of it to see where it stands. */
  async #showEnd(session: RemoteSession, early: readonly AgentEvent[]): Promise<void> {
    const { events, more } = await session.newest(NEWEST);
    if (!more || this.#isLeft) return;
    const newest = new Reading();
    for (const event of events) newest.take(event);
    for (const event of early) newest.take(event);
    this.#newest = newest;
    await this.#ask(session);
    this.#draw();
  }

  #take(event: AgentEvent): void {
    if (this.#isLeft) return;
    this.#whole.take(event);
    const { length } = this.events;
    if (this.state.value === 'reading' && length % 1000 === 0) this.#showRead(length);
    // As long as its end is shown, nothing else of it is.
    if (!this.isPart) this.#draw();
  }

  /** To draw a number takes longer than to read a page: it is shown now and then. */
  #showRead(count: number): void {
    const now = performance.now();
    if (now - this.#readShownAt < READ_MS) return;
    this.#readShownAt = now;
    this.read.value = count;
  }

  /** Many changes are drawn at once. */
  #draw(): void {
    if (this.#frame !== undefined || (this.state.value === 'reading' && this.events.length > 200 && !this.isPart))
      return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = undefined;
      this.turn.value++;
    });
  }
}
