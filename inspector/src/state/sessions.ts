import { signal } from '@preact/signals';
import type { AgentEvent, RemoteHost, RemoteSession, SessionView } from 'coxswain/client';
import { createView, isCoxswainError } from 'coxswain/client';
import { Timeline } from './timeline.ts';

export type Verdict = Awaited<ReturnType<RemoteSession['verify']>>;

/** Milliseconds between two looks at what others do. */
const LOOK_MS = 2000;

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

/** What one call came to, by the log alone. */
export interface CallFacts {
  decisions: { by: string; outcome: string; ruleId?: string; reason?: string; at: string; args?: unknown }[];
  answers: { by?: string; action: string; reason?: string; at: string }[];
}

/** A session that is looked at: its stored events, what streams now, and what they come to. */
export class WatchedSession {
  readonly view: SessionView = createView();
  /** Stored ones. */
  readonly events: AgentEvent[] = [];
  readonly calls = new Map<string, CallFacts>();
  readonly timeline = new Timeline();
  /** What went wrong in the newest turn, as its log says. */
  failure: { code: string; message: string } | undefined;
  /** Counts up with each change that is to be drawn. */
  readonly turn = signal(0);
  readonly state = signal<'reading' | 'live' | 'lost'>('reading');
  readonly fault = signal<string | undefined>(undefined);
  usage = { input: 0, output: 0, cached: 0, usd: 0, isPriced: false };
  readonly #known = new Set<string>();
  readonly #host: RemoteHost;
  #session: RemoteSession | undefined;
  #wake = () => {};
  #isLeft = false;
  /** What was said here is being answered. */
  #answering: Promise<void> = Promise.resolve();
  #frame: number | undefined;

  /** Of the person who looks; another one's is looked at, no more. */
  readonly isOwn: boolean;
  readonly place: { agent: string; userId: string; sessionId: string };

  constructor(host: RemoteHost, agent: string, userId: string, sessionId: string) {
    this.place = { agent, userId, sessionId };
    this.#host = host;
    this.isOwn = host.userId === userId;
    void (this.isOwn ? this.#follow(host, agent, sessionId) : this.#lookAt(host));
  }

  leave(): void {
    this.#isLeft = true;
    this.#wake();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    // To leave a stream ends its turn: it is read to its end, whoever looks.
    const session = this.#session;
    if (session) void this.#answering.then(() => session[Symbol.asyncDispose]());
  }

  /** As the view says; a log that waits says no end of its turn: what it waits for is a call that nobody has started. */
  status(): string {
    const { view } = this;
    if (view.status !== 'running') return view.status;
    const calls = [...view.toolCalls.values()];
    const isBusy = calls.some(({ status }) => status === 'started') || view.messages.some(({ streaming }) => streaming);
    return !isBusy && calls.some(({ status }) => status === 'requested') ? 'input_required' : 'running';
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

  /** A new session with what stands before and at this event, and nothing behind it; its id. */
  async fork(cursor: string): Promise<string> {
    const { agent, sessionId } = this.place;
    const copy = await this.#host.open(agent, { sessionId, fork: { after: cursor }, control: false });
    await copy[Symbol.asyncDispose]();
    return copy.id;
  }

  /** Whether its log is as it was written. */
  async verify(): Promise<Verdict> {
    if (!this.#session) throw new Error('The session is not open yet.');
    return this.#session.verify();
  }

  async steer(text: string): Promise<'current_turn' | 'next_turn'> {
    const session = await this.#controlled();
    return (await session.steer({ content: text })).disposition;
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
          else early.push(event);
          // A vote may have other arguments.
          if (event.type === 'custom' && event.kind === 'ext:approval_vote') void this.#ask(session);
        }
      })();
      for await (const event of session.events()) this.#take(event);
      isRead = true;
      for (const event of early) this.#take(event);
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
      await this.#later(LOOK_MS);
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
      this.view.ask(open);
      this.#draw();
    } catch (error) {
      if (!this.#isLeft) this.fault.value = isCoxswainError(error) ? error.message : String(error);
    }
  }

  #take(event: AgentEvent): void {
    if (this.#isLeft) return;
    this.view.apply(event);
    if (event.cursor !== undefined && !this.#known.has(event.id)) {
      this.#known.add(event.id);
      this.events.push(event);
      this.timeline.take(event);
      this.#note(event);
    }
    this.#draw();
  }

  #note(event: AgentEvent): void {
    if (event.type === 'custom' && event.kind === 'policy_decision') {
      const data = event.data as {
        callId: string;
        by: string;
        outcome: string;
        ruleId?: string;
        reason?: string;
        args?: unknown;
      };
      this.#factsOf(data.callId).decisions.push({ ...data, at: event.timestamp });
    } else if (event.type === 'elicitation_response') {
      const { requestId, action, by, reason } = event as unknown as Record<string, string>;
      const callId = (requestId ?? '').split('#')[0] ?? '';
      const facts = { action: action ?? '', at: event.timestamp };
      this.#factsOf(callId).answers.push({
        ...facts,
        ...(by === undefined ? {} : { by }),
        ...(reason === undefined ? {} : { reason }),
      });
    } else if (event.type === 'error') {
      const { code, message } = event;
      this.failure = { code, message };
    } else if (event.type === 'message' && event.role === 'user') {
      this.failure = undefined;
    } else if (event.type === 'usage') {
      const {
        inputTokens = 0,
        outputTokens = 0,
        cachedInputTokens = 0,
        cost,
      } = event as {
        inputTokens?: number;
        outputTokens?: number;
        cachedInputTokens?: number;
        cost?: { usd: number };
      };
      const { input, output, cached, usd, isPriced } = this.usage;
      this.usage = {
        input: input + inputTokens,
        output: output + outputTokens,
        cached: cached + cachedInputTokens,
        usd: usd + (cost?.usd ?? 0),
        isPriced: isPriced || cost !== undefined,
      };
    }
  }

  #factsOf(callId: string): CallFacts {
    const known = this.calls.get(callId) ?? { decisions: [], answers: [] };
    this.calls.set(callId, known);
    return known;
  }

  /** Many changes are drawn at once. */
  #draw(): void {
    if (this.#frame !== undefined || (this.state.value === 'reading' && this.events.length > 200)) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = undefined;
      this.turn.value++;
    });
  }
}
