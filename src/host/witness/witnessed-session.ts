import type {
  AbortTarget,
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentStream,
  EventsOptions,
  ExecutorSession,
  ExecutorStreamOptions,
  HostAnswer,
  PutQuestion,
  ReportedRequest,
  SessionInput,
  SessionStanding,
  SessionUpdate,
  Settlement,
  SteerData,
} from '../../contracts/index.ts';
import {
  CoxswainError,
  callIdOf,
  copyJson,
  isCoxswainError,
  isHostQuestion,
  MAX_JSON_DEPTH,
  messageOf,
} from '../../contracts/index.ts';
import type { ResultBounds } from '../../gate/index.ts';
import { boundedResult } from '../../gate/index.ts';
import {
  derived,
  EventStream,
  isoTime,
  newId,
  normaliseInput,
  putQuestions,
  streamIdOf,
  whyTooLong,
} from '../../session/index.ts';
import type { Contradiction } from './believed.ts';
import { believed } from './believed.ts';
import { jointStanding, standingIn } from './joint-standing.ts';
import { announced, isKeptId } from './records.ts';
import type { SessionJournal } from './session-journal.ts';
import { Witness } from './witness.ts';

/** Contradictions that are told of one handle: one that lies without an end is known as a liar. */
const MOST_TOLD = 1_000;

/**
 * A session of an executor that its host does not believe: the host notes what it says and decides itself, before the
 * executor hears of it, and takes from the executor what it wants, and nothing else.
 */
export class WitnessedSession implements AgentSession {
  readonly id: string;
  readonly #inner: ExecutorSession;
  readonly #journal: SessionJournal;
  readonly #witness: Witness;
  readonly #agent: string;
  readonly #tell: (error: CoxswainError) => void;
  readonly #bounds: ResultBounds;
  readonly #told = new Set<string>();
  /** What is open was looked at. */
  #hasLooked = false;

  constructor(
    inner: ExecutorSession,
    id: string,
    agent: string,
    journal: SessionJournal,
    tell: (error: CoxswainError) => void,
    bounds: ResultBounds = {},
  ) {
    this.id = id;
    this.#inner = inner;
    this.#agent = agent;
    this.#journal = journal;
    this.#witness = new Witness(journal);
    this.#tell = tell;
    this.#bounds = bounds;
  }

  get descriptor(): AgentDescriptor {
    return this.#inner.descriptor;
  }

  stream(input: string | SessionInput | readonly SessionInput[], options: ExecutorStreamOptions = {}): AgentStream {
    const streamId = streamIdOf(options, newId);
    let inner: AgentStream | undefined;
    return new EventStream(
      streamId,
      async (out) => {
        const inputs = await Promise.all(normaliseInput(input).map((each) => this.#bounded(each)));
        if (inputs.some(({ kind }) => kind === 'message')) await this.#look();
        const said = await this.#witness.hears(inputs, options);
        let last: AgentEvent | undefined;
        let hasEnded = false;
        /** What fails now is the host's own, not its executor's. */
        let isHosts = false;
        let broken: { error: unknown } | undefined;
        try {
          inner = this.#inner.stream(copyJson(inputs, 'input'), { ...handed(options), streamId });
          for await (const given of inner) {
            if (hasEnded) {
              this.#contradicts({ what: 'its stream continued after stream_end' }, undefined);
              break;
            }
            const event = copyEvent(given);
            last = event;
            isHosts = true;
            if (event.type === 'stream_end') {
              hasEnded = true;
              await this.#witness.took(inputs);
            }
            await this.#pass(event, out);
            isHosts = false;
          }
        } catch (error) {
          // Nothing was taken: it is refused. After its end nothing counts.
          if (!last || isHosts) throw error;
          if (hasEnded) this.#tell(this.#failure(error));
          else broken = { error };
        } finally {
          if (!hasEnded) await this.#witness.takeBack(last ? { goes: said.goes } : said);
        }
        if (last && !hasEnded) await this.#end(out, last, broken, options.signal?.aborted === true);
      },
      async (reason) => inner?.abort(reason),
    );
  }

  /** A result that somebody hands in is as large as any other when the executor gets it. */
  async #bounded(input: SessionInput): Promise<SessionInput> {
    if (input.kind !== 'tool_result') return input;
    return { ...input, result: await boundedResult(this.#bounds, input.requestId, input.result) };
  }

  /** The end of a stream that its executor has not ended. */
  async #end(
    out: EventStream,
    last: AgentEvent,
    broken: { error: unknown } | undefined,
    isAborted: boolean,
  ): Promise<void> {
    if (!isAborted) {
      const error = broken
        ? this.#failure(broken.error)
        : new CoxswainError('DATA_LOSS', 'E_INTERNAL', `session ${this.id}: its stream ended without stream_end`);
      this.#tell(error);
      if (!out.hasFailed) out.push(this.#error(error, last, true));
    }
    const pending = await this.pending().catch((error: unknown) => {
      this.#tell(this.#failure(error));
      return undefined;
    });
    out.push({
      ...this.#place(last),
      type: 'stream_end',
      reason: isAborted ? 'aborted' : 'failed',
      data: pending ? { pending } : {},
    });
  }

  /**
   * What is open before the first turn of this handle belongs to turns before it. An executor that cannot say is asked
   * again when it has begun.
   */
  async #look(): Promise<void> {
    if (this.#hasLooked) return;
    this.#hasLooked = true;
    let claims: unknown;
    try {
      claims = await this.#inner.pending();
    } catch {
      return;
    }
    await this.#open(claims);
  }

  async #pass(event: AgentEvent, out: EventStream): Promise<void> {
    if (!this.#isBelieved(event)) return;
    if (event.type === 'tool_request') this.#journal.known.hear(event.requestId, announced(event));
    if (event.type !== 'stream_end' || event.data?.pending === undefined) {
      out.push(event);
    } else {
      const pending = await this.#open(event.data.pending, (error) => out.push(this.#error(error, event)));
      out.push({ ...event, data: { ...event.data, pending } });
    }
    const room = out.room(event.type === 'message' && event.partial === true);
    if (room) await room;
  }

  /** Nobody asks in the host's name, or says that somebody has answered it. What is named has names that can be kept. */
  #isBelieved(event: AgentEvent): boolean {
    if (event.type === 'elicitation_response' && isHostQuestion(event.requestId)) {
      return this.#journal.known.isAnswered(callIdOf(event.requestId), event.requestId);
    }
    if ('requestId' in event && !isKeptId(event.requestId)) return false;
    if (event.type !== 'elicitation_request') return true;
    const { args: _, ...words } = event;
    return !isHostQuestion(event.requestId) && event.approval === undefined && whyTooLong(words) === undefined;
  }

  async respond(requestId: string, answer: HostAnswer): Promise<Settlement> {
    const given =
      answer.kind === 'result'
        ? { ...answer, result: await boundedResult(this.#bounds, requestId, answer.result) }
        : answer;
    return this.#witness.respond(requestId, given, () => this.#inner.respond(requestId, copyJson(given, 'answer')));
  }

  [putQuestions](questions: readonly PutQuestion[]): Promise<void> {
    return this.#witness.puts(questions);
  }

  steer(data: SteerData): Promise<{ steerId: string; disposition: 'current_turn' | 'next_turn' }> {
    return this.#inner.steer(copyJson(data, 'steer'));
  }

  async update(config: SessionUpdate): Promise<{ effective: 'next_step' }> {
    const { permissionMode: mode } = config;
    if (mode !== undefined) await this.#journal.note(() => [{ kind: 'mode', mode }]);
    return this.#inner.update(copyJson(config, 'update'));
  }

  async abort(target?: AbortTarget): Promise<void> {
    await this.#inner.abort(target && { ...target });
    if (target?.requestId !== undefined) await this.#witness.ended(target.requestId);
  }

  events(options?: EventsOptions): AsyncIterableIterator<AgentEvent> {
    return derived(this.#inner.events(options), (given) => {
      const event = copyEvent(given);
      return this.#isBelieved(event) ? event : undefined;
    });
  }

  async pending(): Promise<ReportedRequest[]> {
    return this.#open(await this.#inner.pending());
  }

  /** What tightens is believed of the executor. Where nobody knows who began a turn, it is told what it says itself. */
  async standing(): Promise<SessionStanding> {
    // As it is now, before anything is waited for.
    const said = standingIn(await this.#inner.standing?.());
    await this.#journal.catchUp();
    return jointStanding(said, this.#journal.known);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]();
  }

  async #open(claims: unknown, show?: (error: CoxswainError) => void): Promise<ReportedRequest[]> {
    this.#hasLooked = true;
    await this.#journal.catchUp();
    const { open, contradictions } = believed(claims, this.#journal.known, { sessionId: this.id, agent: this.#agent });
    for (const contradiction of contradictions) this.#contradicts(contradiction, show);
    await this.#witness.gone(open);
    this.#witness.saw(open);
    return open;
  }

  /** Told once for each call. */
  #contradicts({ requestId, what }: Contradiction, show: ((error: CoxswainError) => void) | undefined): void {
    const key = JSON.stringify([requestId, what]);
    if (this.#told.has(key) || this.#told.size >= MOST_TOLD) return;
    this.#told.add(key);
    const about = requestId === undefined ? '' : ` of ${JSON.stringify(requestId.slice(0, 100))}`;
    const error = new CoxswainError(
      'FAILED_PRECONDITION',
      'E_EXECUTOR_CONTRADICTION',
      `session ${this.id}: what its executor says${about} is not so, and is not acted upon: ${what}`,
      { details: { sessionId: this.id, ...(requestId === undefined ? {} : { requestId }) } },
    );
    this.#tell(error);
    show?.(error);
  }

  #failure(error: unknown): CoxswainError {
    if (isCoxswainError(error)) return error;
    const message = `session ${this.id}: its executor failed: ${messageOf(error)}`;
    return new CoxswainError('INTERNAL', 'E_INTERNAL', message, { cause: error });
  }

  #error({ status, code, message, retryable }: CoxswainError, beside: AgentEvent, fatal = false): AgentEvent {
    return { ...this.#place(beside), type: 'error', status, code, message, fatal, retryable };
  }

  /** Where an event of the host's own stands. */
  #place({ streamId, turnId }: AgentEvent) {
    return {
      id: newId(),
      timestamp: isoTime(),
      sessionId: this.id,
      streamId,
      source: 'host' as const,
      ...(turnId === undefined ? {} : { turnId }),
    };
  }
}

/**
 * As it is now: whoever made it cannot change it later.
 * @throws CoxswainError `INVALID_ARGUMENT / E_NOT_JSON | E_TOO_DEEP`
 */
function copyEvent(given: AgentEvent): AgentEvent {
  // Around what a tool or a model said stand some levels of the event's own.
  return copyJson(given, 'an event of the executor', 2 * MAX_JSON_DEPTH);
}

/** What an executor does to data that it was handed is its own affair. */
function handed(options: ExecutorStreamOptions): ExecutorStreamOptions {
  const { terms, principal, limits, excludeTools } = options;
  return {
    ...options,
    ...(terms ? { terms: copyJson(terms, 'terms') } : {}),
    ...(principal ? { principal: { ...principal, ...(principal.roles ? { roles: [...principal.roles] } : {}) } } : {}),
    ...(limits ? { limits: copyJson(limits, 'limits') } : {}),
    ...(excludeTools ? { excludeTools: [...excludeTools] } : {}),
  };
}
