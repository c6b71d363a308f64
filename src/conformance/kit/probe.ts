import type {
  AgentEvent,
  AgentSession,
  DecisionRecord,
  ExecutionOptions,
  GrammarChecker,
  GrammarViolation,
  ReportedRequest,
  RequestAnswer,
  SessionInput,
  SessionUpdate,
  Settlement,
  SteerData,
} from '../../contracts/index.ts';
import { createGrammarChecker, isCoxswainError } from '../../contracts/index.ts';
import { Breach } from './breach.ts';
import type { Deadline } from './deadline.ts';
import { hostTools, textResult } from './host-tools.ts';
import type { EventOf } from './live-stream.ts';
import { LiveStream } from './live-stream.ts';
import type { Transcript } from './transcript.ts';

/** Why the kit's tools may run. */
const decision: DecisionRecord = { outcome: 'approved', by: 'user:kit' };

export type Input = string | SessionInput | readonly SessionInput[];

/** A session under test: what goes over it is bounded in time and written down. */
export class Probe {
  readonly session: AgentSession;
  /** Every stream that was begun, in order. */
  readonly streams: LiveStream[] = [];
  /** What the grammar says of the streams; empty unless {@link watchGrammar} was called. */
  readonly violations: GrammarViolation[] = [];
  readonly #transcript: Transcript;
  readonly #deadline: Deadline;
  #checker: GrammarChecker | undefined;

  constructor(session: AgentSession, transcript: Transcript, deadline: Deadline) {
    this.session = session;
    this.#transcript = transcript;
    this.#deadline = deadline;
  }

  get id(): string {
    return this.session.id;
  }

  can(capability: string): boolean {
    return this.session.descriptor.capabilities.includes(capability as never);
  }

  /** Begins a stream and goes on reading it. */
  begin(input: Input, options: ExecutionOptions = {}): LiveStream {
    const { signal: _, ...shown } = options;
    this.#transcript.sent('stream', Object.keys(shown).length > 0 ? [input, shown] : input);
    const stream = this.session.stream(input, { ...this.#hosting(), ...options });
    const checker = this.#nextChecker();
    const live = new LiveStream(stream, this.#deadline, {
      event: (event) => {
        this.#transcript.event(event);
        if (checker) this.violations.push(...checker.push(event));
      },
      over: () => {
        if (checker) this.violations.push(...checker.end());
      },
    });
    this.streams.push(live);
    return live;
  }

  /** From now on every stream is judged while it comes: what is written to later is seen then only. */
  watchGrammar(): void {
    this.#checker = createGrammarChecker({ immutability: true });
  }

  #nextChecker(): GrammarChecker | undefined {
    const before = this.#checker;
    if (before === undefined) return undefined;
    const { openRequests, initialized, places } = before;
    this.#checker = createGrammarChecker({ openRequests, initialized, places, immutability: true });
    return this.#checker;
  }

  /** One stream from its first event to its last. */
  say(input: Input, options: ExecutionOptions = {}): Promise<LiveStream> {
    return this.begin(input, options).ended();
  }

  /** A stream that has to end for `reason`. */
  async sayTo(reason: string, input: Input, options: ExecutionOptions = {}): Promise<LiveStream> {
    const live = await this.say(input, options);
    if (live.reason !== reason) throw new Breach(`a stream that ends ${reason}`, `a stream of ${live.summary}`);
    return live;
  }

  /** A stream that pauses with tool requests of the host, in the order of their calls. */
  async ask(input: Input, names: readonly string[]): Promise<{ live: LiveStream; ids: string[] }> {
    const live = await this.sayTo('input_required', input);
    const found = live.requests.map(({ name }) => name);
    if (found.join() !== names.join())
      throw new Breach(`tool requests ${names.join(', ')}`, found.join(', ') || 'none');
    return { live, ids: live.requests.map(({ requestId }) => requestId) };
  }

  /** Answers and goes on. */
  answer(requestId: string, text: string, extra: Parameters<typeof textResult>[1] = {}): SessionInput {
    return { kind: 'tool_result', requestId, result: textResult(text, extra), decision };
  }

  /** Gives a result beside the stream. */
  giveResult(requestId: string, text: string): Promise<Settlement> {
    return this.respond(requestId, { kind: 'result', result: textResult(text), decision });
  }

  respond(requestId: string, answer: RequestAnswer): Promise<Settlement> {
    return this.#call(`respond ${requestId}`, answer, () => this.session.respond(requestId, answer));
  }

  steer(data: SteerData): Promise<{ steerId: string; disposition: string }> {
    return this.#call('steer', data, () => this.session.steer(data));
  }

  update(config: SessionUpdate): Promise<{ effective: string }> {
    return this.#call('update', config, () => this.session.update(config));
  }

  abort(target: { reason?: string; requestId?: string } = {}): Promise<void> {
    return this.#call('abort', target, () => this.session.abort(target));
  }

  pending(): Promise<ReportedRequest[]> {
    return this.#call('pending', undefined, () => this.session.pending());
  }

  /**
   * Events of a type that answer a request, each once: those of the streams, and of the log where there is one. What
   * was answered between two streams need not be shown in either.
   */
  async answersTo<T extends 'tool_response' | 'elicitation_response'>(
    type: T,
    requestId: string,
  ): Promise<EventOf<T>[]> {
    const found = new Map<string, EventOf<T>>();
    const look = (event: AgentEvent) => {
      if (event.type === type && event.requestId === requestId) found.set(event.id, event as EventOf<T>);
    };
    for (const { events } of this.streams) events.forEach(look);
    for (const event of await this.stored()) look(event);
    return [...found.values()];
  }

  /** Durable events; none where there is no log. */
  async stored(): Promise<AgentEvent[]> {
    const events: AgentEvent[] = [];
    const read = async () => {
      for await (const event of this.session.events()) events.push(event);
    };
    try {
      await this.#deadline.within(read(), 'the durable events');
    } catch (error) {
      if (!isCoxswainError(error) || error.code !== 'E_UNSUPPORTED') throw error;
    }
    return events;
  }

  close(): Promise<void> {
    return this.#call('close', undefined, async () => this.session[Symbol.asyncDispose]());
  }

  #hosting(): ExecutionOptions {
    return this.can('host_tool_execution') ? { tools: hostTools, hostToolExecution: true } : {};
  }

  async #call<T>(what: string, value: unknown, work: () => Promise<T>): Promise<T> {
    this.#transcript.sent(what, value);
    try {
      const result = await this.#deadline.within(work(), `an answer to ${what}`);
      this.#transcript.received(`${what}:`, result);
      return result;
    } catch (error) {
      this.#transcript.received(`${what} fails: ${String(error)}`);
      throw error;
    }
  }
}
