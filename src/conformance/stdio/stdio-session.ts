import type {
  AbortTarget,
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentStream,
  EventsOptions,
  ExecutorStreamOptions,
  HostAnswer,
  ReportedRequest,
  SessionInput,
  SessionUpdate,
  Settlement,
  SteerData,
} from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { StreamQueue } from '../../session/index.ts';
import { checkContent, EventStream, isoTime, normaliseInput } from '../../session/index.ts';
import type { RpcClient } from './rpc.ts';
import { broken } from './rpc.ts';

interface Live {
  queue: StreamQueue<AgentEvent>;
  streamId: string;
  /** Nothing is shown before the executor has taken the input. */
  accepted: boolean;
  early: AgentEvent[];
  end(): void;
}

/** A session of an executor on the other side of a pipe: `spec/EXECUTOR.md`. */
export class StdioSession implements AgentSession {
  readonly id: string;
  readonly descriptor: AgentDescriptor;
  readonly #rpc: RpcClient;
  readonly #live = new Map<string, Live>();
  /** What is open as far as this side has heard; executors with `resume` are asked. */
  readonly #open = new Map<string, ReportedRequest>();
  #closed = false;

  constructor(id: string, descriptor: AgentDescriptor, rpc: RpcClient) {
    this.id = id;
    this.descriptor = descriptor;
    this.#rpc = rpc;
  }

  stream(input: string | SessionInput | readonly SessionInput[], options: ExecutorStreamOptions = {}): AgentStream {
    const streamId = options.streamId ?? crypto.randomUUID();
    const { signal } = options;
    const onSignal = () => void this.#abort({ reason: 'the signal fired' }).catch(() => {});
    return new EventStream(
      streamId,
      async (out) => {
        try {
          await this.#run(out, streamId, input, options, onSignal);
        } finally {
          signal?.removeEventListener('abort', onSignal);
        }
      },
      (reason) => this.abort(reason === undefined ? {} : { reason }),
    );
  }

  async #run(
    queue: StreamQueue<AgentEvent>,
    streamId: string,
    input: string | SessionInput | readonly SessionInput[],
    { signal, deps: _, streamId: __, ...options }: ExecutorStreamOptions,
    onSignal: () => void,
  ): Promise<void> {
    this.#assertOpen();
    const inputs = normaliseInput(input).map(inParts);
    signal?.throwIfAborted();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const live: Live = { queue, streamId, accepted: false, early: [], end };
    this.#live.set(streamId, live);
    try {
      await this.#rpc.call('stream', { sessionId: this.id, streamId, input: inputs, options });
    } catch (error) {
      this.#live.delete(streamId);
      throw error;
    }
    live.accepted = true;
    for (const event of live.early) this.#show(live, event);
    signal?.addEventListener('abort', onSignal, { once: true });
    if (signal?.aborted) onSignal();
    await ended;
  }

  /** An `event` notification; false unless it is of a stream of this session that runs. */
  take(streamId: string, event: AgentEvent): boolean {
    const live = this.#live.get(streamId);
    if (!live) return false;
    if (live.accepted) this.#show(live, event);
    else live.early.push(event);
    return true;
  }

  #show(live: Live, event: AgentEvent): void {
    if (event.type === 'tool_response' || event.type === 'elicitation_response') this.#open.delete(event.requestId);
    live.queue.push(event);
    if (event.type !== 'stream_end') return;
    this.#open.clear();
    for (const request of event.data?.pending ?? []) this.#open.set(request.requestId, request);
    this.#live.delete(live.streamId);
    live.end();
  }

  /** Of the streams that are being read. */
  get queues(): readonly StreamQueue<AgentEvent>[] {
    return [...this.#live.values()].map(({ queue }) => queue);
  }

  /** The executor is gone: what runs ends as failed. */
  lose({ status, code, message, retryable }: CoxswainError): void {
    for (const live of this.#live.values()) {
      if (!live.accepted) continue;
      const base = { timestamp: isoTime(), sessionId: this.id, streamId: live.streamId };
      const error = { ...base, id: crypto.randomUUID(), type: 'error' as const };
      this.#show(live, { ...error, status, code, message, fatal: true, retryable });
      this.#show(live, { ...base, id: crypto.randomUUID(), type: 'stream_end', reason: 'failed', data: {} });
    }
  }

  async respond(requestId: string, answer: HostAnswer): Promise<Settlement> {
    this.#assertOpen();
    const action = answer.kind === 'elicitation' ? answer.action : 'accept';
    if (!['accept', 'decline', 'cancel'].includes(action)) {
      const what = `wrong answer to ${requestId}: its action is not accept, decline or cancel`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_WRONG_ANSWER', what);
    }
    const settled = (await this.#rpc.call('respond', { sessionId: this.id, requestId, answer })) as Settlement;
    if (typeof settled?.status !== 'string') throw broken('respond was answered without a status');
    if (settled.status !== 'waiting_quorum') this.#open.delete(requestId);
    return settled;
  }

  async steer(data: SteerData): Promise<{ steerId: string; disposition: 'current_turn' | 'next_turn' }> {
    this.#assertOpen();
    const content = checkContent(data.content);
    const given = { ...data, content };
    return (await this.#rpc.call('steer', { sessionId: this.id, data: given })) as Awaited<
      ReturnType<AgentSession['steer']>
    >;
  }

  async update(config: SessionUpdate): Promise<{ effective: 'next_step' }> {
    this.#assertOpen();
    return (await this.#rpc.call('update', { sessionId: this.id, config })) as { effective: 'next_step' };
  }

  async abort(target: AbortTarget = {}): Promise<void> {
    if (!this.#closed) await this.#abort(target);
  }

  async #abort(target: AbortTarget): Promise<void> {
    const running = [...this.#live.values()].map(({ queue }) => queue.ended);
    for (const { queue } of this.#live.values()) queue.release();
    await this.#rpc.call('abort', { sessionId: this.id, target });
    await Promise.all(running);
    if (target.requestId === undefined) this.#open.clear();
    else this.#open.delete(target.requestId);
  }

  async *events(options: EventsOptions = {}): AsyncGenerator<AgentEvent> {
    this.#assertOpen();
    if (options.live || !this.descriptor.capabilities.includes('resume')) throw unsupported('keeps no events to read');
    const { live: _, ...range } = options;
    const found = (await this.#rpc.call('events', { sessionId: this.id, ...range })) as { events?: AgentEvent[] };
    yield* found.events ?? [];
  }

  async pending(): Promise<ReportedRequest[]> {
    this.#assertOpen();
    if (!this.descriptor.capabilities.includes('resume')) return [...this.#open.values()];
    const found = (await this.#rpc.call('pending', { sessionId: this.id })) as { pending?: ReportedRequest[] };
    return found.pending ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#live.size > 0) await this.#abort({ reason: 'the session was closed' });
  }

  #assertOpen(): void {
    if (!this.#closed) return;
    const what = `session ${this.id} was closed; open it again`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_CLOSED', what);
  }
}

/** One form less for executors to know. */
function inParts(input: SessionInput): SessionInput {
  if (input.kind !== 'message' || typeof input.content !== 'string') return input;
  return { ...input, content: [{ type: 'text', text: input.content }] };
}

function unsupported(what: string): CoxswainError {
  return new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', `the executor ${what}`);
}
