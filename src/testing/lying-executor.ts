import type {
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentSource,
  ExecutorStreamOptions,
  HostAnswer,
  ReportedRequest,
  SessionInput,
  SessionStanding,
  Settlement,
} from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import type { Shape } from '../session/index.ts';
import {
  callIdOf,
  checkOptions,
  EventStream,
  fn,
  isoTime,
  listOf,
  name,
  newId,
  normaliseInput,
  object,
  required,
  StreamQueue,
} from '../session/index.ts';

/** A call that a lying executor asks for; by default of a tool that the host runs. */
export interface AskedCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  handledBy?: 'host' | 'agent';
}

/** What it says instead of what is so. */
export interface Lies {
  /** What it lists instead of what is open, in `pending()` and at the end of a stream. */
  open?(open: readonly ReportedRequest[], settled: readonly ReportedRequest[]): readonly unknown[];
  /** What it shows instead of one event; undefined: nothing. */
  event?(event: AgentEvent): AgentEvent | undefined;
  /** What it says that the session is held to. */
  standing?(): SessionStanding;
  /** What it says has happened. */
  history?(): readonly AgentEvent[];
  /** What it does with what it is handed, before it takes it: change it, or throw. */
  hears?(inputs: readonly SessionInput[], options: ExecutorStreamOptions): void;
  /** What it says has become of an answer, after it took it; or it throws. */
  settlement?(requestId: string, settlement: Settlement): Settlement;
}

const lieShape: Shape<Lies> = { open: fn, event: fn, standing: fn, history: fn, hears: fn, settlement: fn };

/**
 * An agent that lies, for the tests of hosts: each message asks for the same calls, and what it says of them is up to
 * the test. Its sessions outlive the host. A host is right when none of its tools runs but by its own word.
 */
export function lyingExecutor(options: { name?: string; calls: readonly AskedCall[]; lies?: Lies }): AgentSource {
  checkOptions<typeof options>(options, 'lyingExecutor: options', {
    name,
    calls: required(listOf(object)),
    lies: object,
  });
  if (options.lies) checkOptions<Lies>(options.lies, 'lyingExecutor: options.lies', lieShape);
  const { name: own = 'liar', calls, lies = {} } = options;
  const descriptor: AgentDescriptor = {
    name: own,
    description: 'lies',
    executor: 'lying',
    capabilities: ['streaming', 'host_tool_execution', 'resume'],
    ownTools: [],
    requiredTools: [],
    subAgents: [],
  };
  const states = new Map<string, State>();
  return {
    descriptor,
    async open({ sessionId = newId() }) {
      const state = states.get(sessionId) ?? { open: new Map(), settled: new Map(), turns: 0, shown: [] };
      states.set(sessionId, state);
      return new LyingSession(sessionId, descriptor, calls, lies, state);
    },
  };
}

interface State {
  readonly open: Map<string, ReportedRequest>;
  readonly settled: Map<string, ReportedRequest>;
  turns: number;
  readonly shown: AgentEvent[];
}

class LyingSession implements AgentSession {
  readonly id: string;
  readonly descriptor: AgentDescriptor;
  readonly #calls: readonly AskedCall[];
  readonly #lies: Lies;
  readonly #state: State;
  #begun = false;

  constructor(id: string, descriptor: AgentDescriptor, calls: readonly AskedCall[], lies: Lies, state: State) {
    this.id = id;
    this.descriptor = descriptor;
    this.#calls = calls;
    this.#lies = lies;
    this.#state = state;
  }

  stream(input: string | SessionInput | readonly SessionInput[], options: ExecutorStreamOptions = {}): EventStream {
    const streamId = options.streamId ?? newId();
    const run = async (out: EventStream) => {
      const show = (event: Record<string, unknown>) => this.#show(out, streamId, event);
      if (!this.#begun) show({ type: 'initialize', agentId: this.descriptor.name, interfaceVersion: '1.0' });
      this.#begun = true;
      this.#lies.hears?.(input as readonly SessionInput[], options);
      for (const one of normaliseInput(input)) this.#hear(one, show);
      const reason = options.signal?.aborted ? 'aborted' : this.#state.open.size > 0 ? 'input_required' : 'completed';
      if (reason === 'aborted') for (const id of [...this.#state.open.keys()]) this.#settle(id, show);
      show({ type: 'stream_end', reason, data: { pending: this.#listed() } });
    };
    return new EventStream(streamId, run, async () => {});
  }

  async respond(requestId: string, answer: HostAnswer): Promise<Settlement> {
    const callId = callIdOf(requestId);
    if (!this.#state.open.has(callId) && !this.#state.settled.has(callId)) {
      throw new CoxswainError('FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST', `there is no request ${requestId}`);
    }
    if (requestId === callId && answer.kind !== 'approve') this.#settle(callId, () => {});
    const waits = answer.kind === 'approve' && answer.quorum !== undefined;
    const settlement: Settlement = { status: waits ? 'waiting_quorum' : 'settled' };
    return this.#lies.settlement?.(requestId, settlement) ?? settlement;
  }

  async steer() {
    return { steerId: newId(), disposition: 'next_turn' as const };
  }

  async update() {
    return { effective: 'next_step' as const };
  }

  async abort({ requestId }: { requestId?: string } = {}): Promise<void> {
    for (const id of requestId === undefined ? [...this.#state.open.keys()] : [requestId]) this.#settle(id, () => {});
  }

  events(): AsyncIterable<AgentEvent> {
    const told = this.#lies.history?.() ?? this.#state.shown;
    return new StreamQueue<AgentEvent>(async (out) => {
      for (const event of told) out.push(event);
    });
  }

  async pending(): Promise<ReportedRequest[]> {
    return this.#listed();
  }

  async standing(): Promise<SessionStanding> {
    return this.#lies.standing?.() ?? { isOver: this.#state.open.size === 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #hear(input: SessionInput, show: (event: Record<string, unknown>) => void): void {
    if (input.kind === 'tool_result' && !input.interim) this.#settle(input.requestId, show);
    if (input.kind !== 'message') return;
    const turn = ++this.#state.turns;
    for (const { id, name, args, handledBy = 'host' } of this.#calls) {
      const callId = turn === 1 ? id : `${id}-${turn}`;
      const turnId = `turn-${turn}`;
      this.#state.open.set(callId, {
        requestId: callId,
        callId,
        sessionId: this.id,
        turnId,
        kind: 'tool',
        name,
        args,
        handledBy,
        started: false,
        path: '',
        agentPath: [this.descriptor.name],
        requestedAt: isoTime(),
      });
      show({ type: 'tool_request', requestId: callId, turnId, name, args, handledBy });
    }
  }

  #settle(callId: string, show: (event: Record<string, unknown>) => void): void {
    const request = this.#state.open.get(callId);
    if (!request) return;
    this.#state.open.delete(callId);
    this.#state.settled.set(callId, request);
    show({ type: 'tool_response', requestId: callId, turnId: request.turnId, name: request.name, content: [] });
  }

  #show(out: EventStream, streamId: string, fields: Record<string, unknown>): void {
    const base = { id: newId(), timestamp: isoTime(), sessionId: this.id, streamId };
    const event = { ...base, ...fields } as unknown as AgentEvent;
    this.#state.shown.push(event);
    const shown = this.#lies.event ? this.#lies.event(event) : event;
    if (shown) out.push(shown);
  }

  #listed(): ReportedRequest[] {
    const { open, settled } = this.#state;
    const listed = this.#lies.open?.([...open.values()], [...settled.values()]) ?? [...open.values()];
    return structuredClone(listed) as ReportedRequest[];
  }
}
